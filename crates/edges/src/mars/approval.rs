//! Approvals in the MARS wire format: requests and their resolutions. The member `approved` is computed from the effect
//! of the decision, never from the option's name (lesson 31). `subject.rs` renders the text of what a person decides
//! about.

use holdshort_core::interrupt::{About, Cause, Interrupt, Kind, Offer, Opened, Outcome, Resolution};
use holdshort_core::run::Run;
use holdshort_protocol::plain;
use holdshort_web::view::variant_name;
use serde_json::{Map, Value, json};

use super::config::{self, Display};
use super::{options, subject, summary};
use crate::assignment;
use crate::change::{self, Change};
use crate::limits::{MARS_PROMPT_CHARS, MARS_SAID_CHARS};

/// Returns the data of an `approval_requested` frame. `with` is the content of the event that opened the interrupt.
///
///
/// For a question, `message` is the question. For every other interrupt, Holdshort writes `message`, and
/// `context.agent_says` contains the agent's text. `description` contains the message and the full text of what the
/// person decides about. The client shows the description first, and other members only on demand (contract A32).
pub(super) fn requested(run: &Run, opened: &Opened, with: &Value) -> Value {
    let display = config::display_of(&config::from_run(run));
    let asked = heading(run, opened, with);
    let mut context = context(run, opened, with, display);
    let said = text_at(with, "/message").filter(|said| !said.trim().is_empty()).map(quoted);
    let message = match said {
        None => asked,
        Some(said) if is_the_runtimes(opened) => format!("{asked}\n{said}"),
        Some(said) => {
            context.insert("agent_says".to_owned(), said.into());
            asked
        }
    };
    let whole = subject::render(opened, with, &context);
    let assigned =
        run.interrupts.get(&opened.interrupt).and_then(|interrupt| assignment::summarize(interrupt));
    let (assigned, who) = assigned.map(|told| (told.data, told.words)).unzip();
    context.extend(assigned.map(|assigned| ("assignment".to_owned(), assigned)));
    let parts = std::iter::once(message.as_str()).chain(whole.as_deref()).chain(who.as_deref());
    let description = parts.collect::<Vec<_>>().join("\n\n");
    let detail = |offer: &Offer| {
        json!({
            "id": options::name(opened, &offer.id),
            "label": offer.label,
            "needs_feedback": offer.needs_text,
            "needs_modifications": offer.needs_edit,
        })
    };
    json!({
        "approval_id": opened.interrupt.to_string(),
        "step_id": step_id(opened),
        "agent": opened.agent,
        "action": action(opened),
        "description": description,
        "message": message,
        "options": options::buttons(opened, is_copilot(run)),
        "option_details": options::drawn(opened).map(detail).collect::<Vec<_>>(),
        "checkpoint_type": options::style(run, opened),
        "position": options::position(run, opened),
        "context": context,
        "expires_at": opened.expires_at.map(|at| at.to_string()),
        "default_on_timeout": options::name(opened, opened.on_expiry()),
    })
}

/// Returns the data of the `approval_requested` frame with which an open interrupt is sent again.
pub(super) fn asked_again(run: &Run, interrupt: &Interrupt) -> Value {
    requested(run, &interrupt.opened, &interrupt.content)
}

/// Returns true if the client shows the run in its copilot's view.
fn is_copilot(run: &Run) -> bool {
    config::is_mode("copilot", &config::from_run(run))
}

fn text_at<'v>(with: &'v Value, pointer: &str) -> Option<&'v str> {
    with.pointer(pointer).and_then(Value::as_str)
}

/// Returns the first part of the message about an interrupt. Questions and the messages of checkpoint phases are
/// sentences, so their line breaks are kept. Every other title contains names and values, and is one line.
fn heading(run: &Run, opened: &Opened, with: &Value) -> String {
    let title = text_at(with, "/title").unwrap_or_default();
    match (opened.kind, &opened.about) {
        // The payload of a printed question has the agent's whole reply.
        (Kind::Question, About::Printed(_)) | (Kind::Checkpoint, About::Phase(_)) => quoted(title),
        // The title has only the beginning of a long question.
        (Kind::Question, _) => quoted(&questions(with).unwrap_or_else(|| title.to_owned())),
        _ => done_step(run, opened).unwrap_or_else(|| plain::line(title).into_owned()),
    }
}

/// Returns the question of an interrupt. Several questions are numbered, because the copilot's view of the client shows
/// line breaks as spaces.
fn questions(with: &Value) -> Option<String> {
    let listed = with.pointer("/payload/questions").and_then(Value::as_array).map(Vec::as_slice);
    let listed: Vec<&str> = listed.unwrap_or_default().iter().filter_map(Value::as_str).collect();
    if listed.len() < 2 {
        return text_at(with, "/payload/question").map(str::to_owned);
    }
    let numbered = (1..).zip(listed).map(|(number, question)| format!("{number}. {question}"));
    Some(numbered.collect::<Vec<_>>().join("\n"))
}

/// Returns the title of an interrupt that opens after a step. If the step belongs to a plan, the title has the number
/// of the step and the first line of its description. If the step belongs to no plan, the title has the name of the
/// step's agent.
fn done_step(run: &Run, opened: &Opened) -> Option<String> {
    let About::AfterStep(step) = &opened.about else { return None };
    let Some(part) = run.part(step) else {
        return opened.agent.as_ref().map(|agent| format!("The step of `{agent}` is done"));
    };
    let first = part.subtask.description.lines().next().unwrap_or_default();
    Some(format!("Step {} is done: {}", part.number, quoted(first)))
}

/// Returns the id of the step that an interrupt is about or, if there is none, the id of the phase.
fn step_id(opened: &Opened) -> &str {
    let phase = match &opened.about {
        About::Phase(phase) | About::Plan(phase) => phase,
        _ => "",
    };
    opened.step.as_deref().unwrap_or(phase)
}

/// Returns the name of an interrupt's kind in the MARS wire format (contract E3). Interrupts that agents cause during
/// their conversations have names of their own (contract A5).
fn action(opened: &Opened) -> &'static str {
    if options::is_of_an_agent(opened) || opened.kind == Kind::Escalation {
        "ag2_dynamic"
    } else {
        opened.kind.as_str()
    }
}

/// Returns true if Holdshort wrote the message of the interrupt, and false if the agent wrote the message.
fn is_the_runtimes(opened: &Opened) -> bool {
    let is_its_kind = matches!(opened.kind, Kind::Error | Kind::UnknownOutcome | Kind::Continuation);
    is_its_kind || matches!(opened.about, About::Printed(_))
}

/// Escapes an agent's text and truncates it to a readable length.
fn quoted(said: &str) -> String {
    let said = said.trim();
    match said.char_indices().nth(MARS_SAID_CHARS) {
        Some((end, _)) => format!("{}…", plain::text(&said[..end])),
        None => plain::text(said).into_owned(),
    }
}

fn context(run: &Run, opened: &Opened, asked: &Value, display: Display) -> Map<String, Value> {
    let mut context = asked.get("payload").and_then(Value::as_object).cloned().unwrap_or_default();
    if let Some(plan) = context.get("plan").filter(|_| opened.kind == Kind::PlanApproval).map(steps) {
        context.insert("plan".to_owned(), plan);
        context.insert("previous_feedback".to_owned(), summary::plan_feedback(run).into());
    }
    if let Some(change) = asked.get("payload").and_then(Change::from_payload) {
        context.insert("change".to_owned(), change.to_value());
    }
    context.extend(collect_kind_members(run, opened, &context));
    if matches!(opened.about, About::Phase(_))
        && let Some(results) = context.remove("results")
    {
        let planned = results
            .as_object()
            .and_then(|all| all.values().find_map(|one| one.get("subtasks").map(|_| steps(one))));
        if let Some(plan) = planned.filter(|_| display.plan) {
            context.insert("plan".to_owned(), plan);
        }
        if display.results {
            context.insert("results".to_owned(), results);
        }
    }
    if !display.step {
        context.remove("input");
    }
    let reasons = &opened.risk.reasons;
    if !reasons.is_empty() {
        context.insert("reasons".to_owned(), reasons.iter().map(|reason| reason.text.clone()).collect());
    }
    context
}

/// Returns the additional members of an `approval_requested` frame that the client shows for some kinds of interrupts.
/// The members have the names that the client expects (contracts A24, A32).
fn collect_kind_members(run: &Run, opened: &Opened, payload: &Map<String, Value>) -> Map<String, Value> {
    let more = match (opened.kind, &opened.about) {
        (Kind::Question, _) => {
            json!({ "requires_text_input": true, "input_placeholder": "Type your answer." })
        }
        (Kind::Turn, About::Round(phase)) => json!({
            "requires_text_input": true,
            "input_placeholder": "Say what to do next.",
            "result_preview": payload.get("output"),
            "turn": payload.get("round"),
            "phases_executed": phases_executed(run, phase),
        }),
        (Kind::Turn, _) => {
            json!({ "requires_text_input": true, "input_placeholder": "Say how to continue." })
        }
        (Kind::ToolApproval, _) => {
            let whole = payload.get("arguments").map(change::arguments).unwrap_or_default();
            json!({
                "tool_category": payload.get("category").and_then(Value::as_str).unwrap_or("code_exec"),
                "agent_name": opened.agent.as_deref().unwrap_or("unknown"),
                "prompt": whole.chars().take(MARS_PROMPT_CHARS).collect::<String>(),
                "can_auto_allow": opened.options.iter().any(|offer| offer.id == "approve_session"),
                "session_permissions": permissions(payload),
            })
        }
        (Kind::Checkpoint, About::BeforeStep(step) | About::AfterStep(step)) => {
            let part = run.part(step);
            json!({
                "step": part.map_or(step.as_str(), |part| part.subtask.description.as_str()),
                "step_num": part.map_or(1, |part| part.number),
            })
        }
        _ => Value::Null,
    };
    more.as_object().cloned().unwrap_or_default()
}

/// Returns an object with a member for each category of calls that the session's grants allowed when the interrupt
/// opened. The value of each member of this object is `true`.
fn permissions(payload: &Map<String, Value>) -> Map<String, Value> {
    let granted = payload.get("granted_categories").and_then(Value::as_array).into_iter().flatten();
    granted.filter_map(Value::as_str).map(|category| (category.to_owned(), true.into())).collect()
}

/// Returns the name of the copilot's phase, and the names of the ended phases that the copilot's agents had started.
fn phases_executed(run: &Run, phase: &str) -> Vec<&'static str> {
    let own = run.definition.phases.iter().filter(|each| each.id == phase).map(|each| each.kind.name());
    let ended =
        run.called.values().filter(|called| matches!(run.phases.get(&called.phase.id), Some(Some(_))));
    own.chain(ended.map(|called| called.phase.kind.name())).collect()
}

/// Returns the JSON of a plan in the form that MARS uses (contract A8).
pub(super) fn plan(native: &Value) -> Value {
    json!({ "sub_tasks": steps(native) })
}

fn steps(native: &Value) -> Value {
    let subtasks = native.get("subtasks").and_then(Value::as_array);
    subtasks.into_iter().flatten().map(subtask).collect()
}

fn subtask(native: &Value) -> Value {
    let description = native.get("description").and_then(Value::as_str).unwrap_or_default();
    let (words, bullets) = parts(description);
    json!({
        "id": native.get("id"),
        "sub_task": words,
        "sub_task_agent": native.get("agent"),
        "bullet_points": bullets,
        "depends_on": native.get("depends_on").cloned().unwrap_or_else(|| json!([])),
    })
}

/// Splits a subtask's description into a text and the bullets at the end of the description. Joining the text and the
/// bullets gives the original description, so a plan that a client sends back without edits is unchanged.
pub(super) fn parts(description: &str) -> (&str, Vec<&str>) {
    let (mut words, mut bullets) = (description, Vec::new());
    while let Some((before, bullet)) = words.rsplit_once('\n')
        && let Some(bullet) = bullet.strip_prefix("- ")
    {
        words = before;
        bullets.push(bullet);
    }
    // Clients remove white space at the ends of the text. Text and bullets would then not join to the same description.
    if words.trim() != words {
        return (description, Vec::new());
    }
    bullets.reverse();
    (words, bullets)
}

/// Returns the data of an `approval_received` frame, or null while the interrupt is open.
pub(super) fn received(run: &Run, interrupt: &Interrupt) -> Value {
    let (opened, Some(resolution)) = (&interrupt.opened, &interrupt.resolution) else { return Value::Null };
    let offer = resolution.option.as_deref().and_then(|id| interrupt.offers(id));
    // A decision is not the only approval: a grant approves without an option, and so does a checkpoint that asks no
    // person.
    let released = match resolution.outcome {
        Outcome::Approved => true,
        Outcome::Expired => offer.is_some_and(Offer::releases),
        Outcome::Answered | Outcome::Rejected | Outcome::Cancelled | Outcome::Superseded => false,
    };
    let vote = interrupt.settled_by();
    // The event's actor decided only if the cause is a decision or a grant.
    let spoke = matches!(resolution.cause, Cause::Decision | Cause::Grant(_));
    json!({
        "approval_id": opened.interrupt.to_string(),
        "step_id": step_id(opened),
        "checkpoint_type": options::style(run, opened),
        "position": options::position(run, opened),
        "approved": released,
        "resolution": resolution.option.as_deref().map(|id| options::name(opened, id)),
        "approval_status": status(offer, resolution, released),
        "effect": offer.map(|offer| variant_name(&offer.effect)),
        "outcome": variant_name(&resolution.outcome),
        "cause": variant_name(&resolution.cause),
        "feedback": vote.and_then(|vote| vote.text.as_deref()).unwrap_or_default(),
        "modifications": vote.map(|vote| &vote.edit),
        "by": if spoke { &resolution.by } else { "engine" },
    })
}

/// Returns the status of an interrupt's resolution in the MARS wire format. All kinds of interrupts have the status
/// values of contract A12.
fn status(offer: Option<&Offer>, resolution: &Resolution, released: bool) -> &'static str {
    match (resolution.outcome, &resolution.cause) {
        (Outcome::Expired, _) if released => "timeout_auto_approved",
        (Outcome::Expired, _) => "timeout",
        (Outcome::Cancelled, _) => "cancelled",
        (Outcome::Superseded, _) => "superseded",
        (Outcome::Approved, Cause::Grant(_) | Cause::Unasked | Cause::Rule { .. }) => "auto_approved",
        (Outcome::Approved, _) if offer.is_some_and(|offer| offer.id == "edit") => "modified",
        (Outcome::Approved, _) => "approved",
        (Outcome::Rejected, _) => "rejected",
        (Outcome::Answered, _) => "answered",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_that_nobody_changed_is_the_same_plan() {
        for description in [
            "build",
            "build\n- carefully\n- today",
            "build\n- first this\nand between\n- then that",
            "- a list\n- from the start",
            "build\n\n- after a gap",
            "build\n  - deeper",
            "build\n- ",
        ] {
            let subtask = json!({ "id": "s1", "description": description, "agent": "engineer" });
            let mut native = json!({ "subtasks": [subtask] });
            let back = holdshort_core::plan::read(&plan(&native));
            native["subtasks"][0]["depends_on"] = json!([]);
            assert_eq!(back, Some(native), "{description:?}");
        }
    }
}
