//! Frames for open requests. A client that connects after a request has opened receives the same frames as a client
//! that was connected (contract B12).

use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{About, Interrupt, Kind};
use holdshort_core::run::Run;
use holdshort_core::tool::Runs;
use holdshort_protocol::plain;
use serde_json::{Value, json};

use super::frame::Frame;
use super::{ids, names, plan};
use crate::assignment;
use crate::change::{self, Change};

/// Returns the open interrupts of a run, oldest first.
pub(super) fn interrupts(run: &Run) -> Vec<(&InterruptId, &Interrupt)> {
    let mut open: Vec<_> = run.open_interrupts().collect();
    open.sort_by_key(|(_, interrupt)| interrupt.opened_seq);
    open
}

pub(super) fn frames(run: &Run, interrupt: &Interrupt) -> Vec<Frame> {
    let mut frames = render_request(run, interrupt);
    // A request that a client runs a call has no approvers.
    if let Some(told) = assignment::summarize(interrupt).filter(|_| interrupt.opened.kind != Kind::ClientCall)
    {
        for frame in &mut frames {
            frame.assign(&told);
        }
    }
    frames
}

fn render_request(run: &Run, interrupt: &Interrupt) -> Vec<Frame> {
    match interrupt.opened.kind {
        Kind::PlanApproval => plan_frames(run, interrupt),
        Kind::ToolApproval if runs_elsewhere(run, interrupt) => vec![on_the_server(run, interrupt)],
        Kind::ToolApproval => call_frame(run, interrupt, true).into_iter().collect(),
        Kind::ClientCall => call_frame(run, interrupt, false).into_iter().collect(),
        Kind::Question => vec![question(interrupt)],
        Kind::Continuation => vec![limit(interrupt)],
        Kind::Checkpoint
        | Kind::Error
        | Kind::Choice
        | Kind::Turn
        | Kind::Escalation
        | Kind::Review
        | Kind::UnknownOutcome => vec![elsewhere(interrupt)],
    }
}

fn plan_frames(run: &Run, interrupt: &Interrupt) -> Vec<Frame> {
    let Some(found) = interrupt.plan() else { return vec![elsewhere(interrupt)] };
    let (plan_summary, metadata) = plan::waiting(run, interrupt, &found);
    let (plan_id, count) = (metadata.plan_id.clone(), metadata.subtask_count);
    let noun = if count == 1 { "subtask" } else { "subtasks" };
    let content = format!(
        "Plan of {count} {noun}:\n{}\n\nNo subtask runs before you decide. To approve the plan, answer with \
         {{\"type\": \"plan_decision\", \"plan_id\": \"{plan_id}\", \"decision\": \"approve\"}}. To change \
         the plan, send the decision \"edit\" and `modified_subtasks`. To reject it, send \"reject\" and \
         `feedback`.",
        plan::lines(&metadata.subtasks)
    );
    vec![
        Frame::PlanApprovalRequired {
            content: format!("A plan of {count} {noun} waits for your decision."),
            approval_request_id: metadata.approval_request_id.clone(),
            plan_id: plan_id.clone(),
            plan_summary,
        },
        Frame::PlanNotification { content, plan_id, metadata, is_final: true },
    ]
}

/// Returns the frames of an open interrupt for a client that connects after the interrupt has opened. A frame that asks
/// to run a call is marked as redelivered, because a client may already have run the call.
pub(super) fn frames_for_reconnect(run: &Run, interrupt: &Interrupt) -> Vec<Frame> {
    let mut frames = frames(run, interrupt);
    frames.iter_mut().for_each(redelivered);
    frames
}

/// Returns a frame that reports changed votes or approvers of an interrupt, both as text and as data. The data contains
/// the ids in the form that the client knows.
pub(super) fn changed(run: &Run, interrupt: &Interrupt) -> Option<Frame> {
    let told = assignment::summarize(interrupt)?;
    let opened = &interrupt.opened;
    let mut metadata = json!({ "request_id": opened.interrupt.as_str() });
    match &opened.about {
        About::Call(call) => metadata["call_id"] = json!(ids::call(&run.id, call)),
        About::Plan(_) => metadata["plan_id"] = json!(ids::plan(&opened.interrupt)),
        _ => {}
    }
    let content = interrupt.content_text("title").to_owned();
    let mut frame = Frame::Status { status: "votes_changed", content, metadata: Some(metadata) };
    frame.assign(&told);
    Some(frame)
}

/// Marks a frame that asks to run a call as redelivered, because a client may already have run this call.
pub(super) fn redelivered(frame: &mut Frame) {
    if let Frame::ToolCall { requires_approval: false, metadata, .. } = frame {
        metadata.get_or_insert_with(|| json!({}))["redelivered"] = json!(true);
    }
}

/// Returns the frame of an interrupt about a call. If `asks` is true, the frame asks a person to approve the call. If
/// `asks` is false, the frame asks the client to run the call at once.
fn call_frame(run: &Run, interrupt: &Interrupt, asks: bool) -> Option<Frame> {
    let About::Call(id) = &interrupt.opened.about else { return None };
    let call = run.calls.get(id)?;
    let reasons: Vec<&str> =
        interrupt.opened.risk.reasons.iter().map(|reason| reason.text.as_str()).collect();
    Some(Frame::ToolCall {
        call_id: ids::call(&run.id, id),
        tool_name: names::tool(&call.tool).to_owned(),
        arguments: names::arguments(&call.tool, &call.arguments),
        requires_approval: asks,
        agent: interrupt.opened.agent.as_deref().map(|agent| names::agent(agent).to_owned()),
        reason: (asks && !reasons.is_empty()).then(|| reasons.join("; ")),
        metadata: (!asks && run.is_approved(id)).then(|| json!({ "approved": true })),
    })
}

/// Returns true if an interrupt asks for the approval of a call that runs on the server. Such an interrupt is sent as
/// text, because a client may run the call of a `tool_call` frame as soon as it is approved (contract B11).
pub(super) fn runs_elsewhere(run: &Run, interrupt: &Interrupt) -> bool {
    let About::Call(id) = &interrupt.opened.about else { return false };
    let spec = run.calls.get(id).and_then(|call| run.definition.tools.get(&call.tool));
    spec.is_some_and(|spec| !matches!(spec.runs, Runs::Client { .. }))
}

/// Returns a text frame that describes a call of a server-side tool, with all changes that the call would make.
fn on_the_server(run: &Run, interrupt: &Interrupt) -> Frame {
    let id = interrupt.opened.interrupt.as_str();
    let payload = interrupt.content.get("payload").unwrap_or(&Value::Null);
    let arguments = payload.get("arguments").map(change::arguments);
    let reasons = interrupt.opened.risk.reasons.iter().map(|reason| reason.text.as_str());
    let why = Some(reasons.collect::<Vec<_>>().join("; ")).filter(|why| !why.is_empty());
    let mut parts = vec![interrupt.content_text("title").to_owned()];
    parts.extend(why.map(|why| format!("Asked because {why}.")));
    parts.extend(arguments.into_iter().chain(change::render_trial(payload)).filter(|part| !part.is_empty()));
    parts.push(format!(
        "The call runs on the server, not in your editor. To approve it, answer with {{\"type\": \
         \"hitl_decision\", \"call_id\": \"{id}\", \"decision\": \"approve\"}}. To reject it, send the \
         decision \"reject\" and `feedback`."
    ));
    Frame::says(plain::text(&parts.join("\n\n")), Some(about_the_call(run, interrupt)), true)
}

/// Returns the call that an interrupt asks about, as data for clients.
pub(super) fn about_the_call(run: &Run, interrupt: &Interrupt) -> Value {
    let mut about = json!({ "request_id": interrupt.opened.interrupt.as_str(), "approval": true });
    if let Some(agent) = &interrupt.opened.agent {
        about["agent"] = json!(names::agent(agent));
    }
    if let About::Call(id) = &interrupt.opened.about
        && let Some(call) = run.calls.get(id)
    {
        about["call_id"] = json!(ids::call(&run.id, id));
        about["tool_name"] = json!(call.tool);
        about["arguments"] = call.arguments.clone();
    }
    if let Some(change) = interrupt.content.get("payload").and_then(Change::from_payload) {
        about["change"] = change.to_value();
    }
    about
}

/// Returns a frame which says that the run has reached a limit. Only a decision resolves an interrupt about a limit,
/// never a text message (contract B4).
fn limit(interrupt: &Interrupt) -> Frame {
    let id = interrupt.opened.interrupt.as_str();
    let content = format!(
        "{}. To continue the work with a new budget, answer with {{\"type\": \"hitl_decision\", \"call_id\": \
         \"{id}\", \"decision\": \"approve\"}}. To end the work with its current result, send the decision \
         \"reject\" instead.",
        interrupt.content_text("title")
    );
    Frame::says(content, Some(json!({ "request_id": id, "limit": true })), true)
}

/// Returns a frame that describes an agent's question. The client's next `user_message` is the reply.
fn question(interrupt: &Interrupt) -> Frame {
    let payload = interrupt.content.get("payload").unwrap_or(&Value::Null);
    let text = |field| payload.get(field).and_then(Value::as_str).unwrap_or_default();
    let mut content = String::new();
    if !text("context").is_empty() {
        content.extend([text("context"), "\n\n"]);
    }
    content.push_str(match text("question") {
        "" => interrupt.content_text("title"),
        question => question,
    });
    let mut metadata = json!({ "request_id": interrupt.opened.interrupt.as_str(), "question": true });
    if let Some(choices) = payload.get("choices").filter(|choices| !choices.is_null()) {
        metadata["choices"] = choices.clone();
    }
    Frame::says(content, Some(metadata), true)
}

/// Returns a text frame for an interrupt of a kind for which the IDE knows no frame type. A person decides on the
/// interrupt in Holdshort's inbox.
fn elsewhere(interrupt: &Interrupt) -> Frame {
    let id = interrupt.opened.interrupt.as_str();
    Frame::Status {
        status: "waiting",
        content: format!(
            "{}. Decide on this request in Holdshort's inbox, or with `holdshort decide {id}`.",
            interrupt.content_text("title")
        ),
        metadata: Some(json!({ "request_id": id, "kind": interrupt.opened.kind.as_str() })),
    }
}
