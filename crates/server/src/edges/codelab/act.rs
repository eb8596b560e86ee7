//! What a message does: it becomes an input of the session's run, or its next run. Never waits for what follows.

use std::sync::Arc;

use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::interrupt::{About, Decision, Interrupt, Kind};
use holdshort_core::run::{ClientOutcome, Input, Run};
use holdshort_protocol::Code;
use serde_json::json;

use super::frame::Frame;
use super::message::{Message, PlanDecision, SwitchAgent, ToolDecision, ToolResult, Verdict};
use super::session::Session;
use super::{ids, open, plan};
use crate::problem::{Answer, Refused};

/// How often a message is looked at again because somebody else was first.
const ATTEMPTS: usize = 10;

/// Frames that answer the message beside what the journal tells; most messages have none.
pub(super) async fn carry_out(session: &Session, message: Message) -> Answer<Vec<Frame>> {
    match message {
        Message::User { content, request: Some(request) } => answer(session, &request, &content).await,
        Message::User { content, request: None } => say(session, &content).await,
        Message::Plan(decision) => decide_plan(session, decision).await,
        Message::Tool(decision) => decide_call(session, decision).await,
        Message::Result(result) => take_result(session, result).await,
        Message::Switch(switch) => switch_agent(session, &switch).await,
    }
}

async fn say(session: &Session, content: &str) -> Answer<Vec<Frame>> {
    for attempt in 0..ATTEMPTS {
        let last = session.last().await?;
        let Some(live) = last.as_ref().filter(|run| run.ended.is_none()) else {
            if session.start(last.as_deref(), None, content).await? {
                return Ok(Vec::new());
            }
            continue;
        };
        if let Some(waiting) = plan_notice(live) {
            return Ok(vec![waiting]);
        }
        if let Some(question) = asked(live, attempt == 0)? {
            // Whoever was first has answered it: these words are for no other question.
            session.send(&live.id, decision(&question, "answer", Some(content.to_owned()))).await?;
            return Ok(Vec::new());
        }
        if let Some(waiting) = limit_notice(live) {
            return Ok(vec![waiting]);
        }
        match session.send(&live.id, Input::Message { text: content.to_owned() }).await {
            Ok(_) => return Ok(Vec::new()),
            // It ended between the look and the word.
            Err(refused) if is_late(&refused) => {}
            Err(refused) => return Err(refused),
        }
    }
    Err(Refused::of(Code::Busy))
}

/// The answer to the question that it names.
async fn answer(session: &Session, request: &str, content: &str) -> Answer<Vec<Frame>> {
    let run = session.last().await?.ok_or_else(|| Refused::not_found("question"))?;
    let Some((id, interrupt)) = run.interrupts.iter().find(|(id, _)| id.as_str() == request) else {
        return Err(Refused::new(Code::NotFound, format!("no question `{request}` waits in this session")));
    };
    if interrupt.opened.kind != Kind::Question {
        return Err(Refused::invalid_at("/request_id", "names no question: words do not decide it"));
    }
    session.send(&run.id, decision(id, "answer", Some(content.to_owned()))).await?;
    Ok(Vec::new())
}

/// The question that words answer which name none. There must be no doubt which one it is: words that were said again,
/// and words beside which another question was answered, may be meant for that one.
fn asked(run: &Run, is_first_look: bool) -> Answer<Option<InterruptId>> {
    let is_question = |interrupt: &Interrupt| interrupt.opened.kind == Kind::Question;
    let open: Vec<_> =
        open::interrupts(run).into_iter().filter(|(_, interrupt)| is_question(interrupt)).collect();
    let had_company = |only: &Interrupt| {
        run.interrupts
            .values()
            .filter(|each| is_question(each))
            .any(|each| each.resolution.as_ref().is_some_and(|resolution| resolution.seq > only.opened_seq))
    };
    match &open[..] {
        [] => Ok(None),
        [(id, only)] if is_first_look && !had_company(only) => Ok(Some((*id).clone())),
        questions => {
            let named = |(id, question): &(&InterruptId, &Interrupt)| {
                format!("`{id}` ({})", question.content_text("title"))
            };
            let named: Vec<String> = questions.iter().map(named).collect();
            let rule = format!("say which question this answers: {}", named.join(", "));
            Err(Refused::invalid_at("/request_id", rule))
        }
    }
}

fn is_late(refused: &Refused) -> bool {
    matches!(refused.code(), Code::RunEnded | Code::AlreadyResolved | Code::Expired)
}

/// While a limit waits no words let it go on: "no, stop" are words too (contract B4).
fn limit_notice(run: &Run) -> Option<Frame> {
    let (id, _) = open::interrupts(run)
        .into_iter()
        .find(|(_, interrupt)| interrupt.opened.kind == Kind::Continuation)?;
    Some(Frame::AssistantMessage {
        content: format!(
            "A limit waits for your decision: send `hitl_decision` with the `call_id` `{id}`, and `approve` to let it \
             go on or `reject` to end it. What you said was not heard by anybody."
        ),
        metadata: Some(json!({ "request_id": id.as_str(), "waiting": true })),
        is_final: true,
    })
}

/// While a plan waits no words run it (contract B4).
fn plan_notice(run: &Run) -> Option<Frame> {
    let (id, _) = open::interrupts(run)
        .into_iter()
        .find(|(_, interrupt)| interrupt.opened.kind == Kind::PlanApproval)?;
    let plan_id = ids::plan(id);
    Some(Frame::AssistantMessage {
        content: format!(
            "The plan {plan_id} waits for your decision, and nothing runs before it: send `plan_decision` with \
             `approve`, `edit` or `reject`. What you said was not heard by anybody."
        ),
        metadata: Some(json!({ "plan_id": plan_id, "approval_request_id": id.as_str(), "waiting": true })),
        is_final: true,
    })
}

async fn decide_plan(session: &Session, wish: PlanDecision) -> Answer<Vec<Frame>> {
    let run = session.last().await?.ok_or_else(|| Refused::not_found("plan"))?;
    let asked = run.interrupts.iter().find(|(id, interrupt)| {
        interrupt.opened.kind == Kind::PlanApproval && (ids::plan(id) == wish.id || id.as_str() == wish.id)
    });
    let Some((id, _)) = asked else {
        return Err(Refused::new(Code::NotFound, format!("no plan `{}` waits in this session", wish.id)));
    };
    let (option, edit) = match (wish.verdict, &wish.subtasks) {
        (Verdict::Approve, _) => ("approve", None),
        (Verdict::Edit | Verdict::Modify, Some(subtasks)) => ("edit", Some(plan::edit(subtasks)?)),
        (Verdict::Modify, None) => ("revise", None),
        (Verdict::Reject, _) => ("reject", None),
        (Verdict::Edit, None) => return Err(Refused::invalid_at("/modified_subtasks", "is missing")),
    };
    let decision = Decision {
        option: option.to_owned(),
        text: wish.feedback,
        edit: edit.unwrap_or_default(),
        version: None,
    };
    let input = Input::Decide { interrupt: id.clone(), decision };
    let decided = session.send(&run.id, input).await;
    decided.map_err(|refused| plan::in_their_words(refused, "/modified_subtasks"))?;
    Ok(Vec::new())
}

async fn decide_call(session: &Session, wish: ToolDecision) -> Answer<Vec<Frame>> {
    if let Some((run, limit)) = limit_of(session, &wish.call_id).await? {
        let option = match wish.verdict {
            Verdict::Approve => "continue",
            Verdict::Reject => "finish",
            Verdict::Edit | Verdict::Modify => {
                return Err(Refused::invalid_at(
                    "/decision",
                    "is not `approve` or `reject`: this is a limit",
                ));
            }
        };
        let decided = session.send(&run, decision(&limit, option, wish.feedback)).await;
        decided.map_err(|refused| plan::in_their_words(refused, "/modified_arguments"))?;
        return Ok(Vec::new());
    }
    let (run, call) = call_of(session, &wish.call_id).await?;
    let asked = run.calls.get(&call).and_then(|call| call.interrupt.clone());
    // The last interrupt about it may be the hand-out that followed: the approval before it says what stands.
    let approval = asked
        .filter(|id| run.interrupts.get(id).is_some_and(|each| each.opened.kind == Kind::ToolApproval))
        .or_else(|| approval_of(&run, &call));
    let Some(interrupt) = approval else {
        let rule = format!("nobody is asked about the call `{}`", wish.call_id);
        return Err(Refused::new(Code::NotFound, rule));
    };
    let option = match wish.verdict {
        Verdict::Approve => "approve",
        Verdict::Edit | Verdict::Modify => "edit",
        Verdict::Reject => "reject",
    };
    let decision = Decision {
        option: option.to_owned(),
        text: wish.feedback,
        edit: wish.arguments.unwrap_or_default(),
        version: None,
    };
    let decided = session.send(&run.id, Input::Decide { interrupt, decision }).await;
    decided.map_err(|refused| plan::in_their_words(refused, "/modified_arguments"))?;
    Ok(Vec::new())
}

/// The limit that an id names, with its run.
async fn limit_of(session: &Session, id: &str) -> Answer<Option<(RunId, InterruptId)>> {
    let Ok(id) = id.parse::<InterruptId>() else { return Ok(None) };
    let run = session.last().await?;
    let limit = run.filter(|run| {
        run.interrupts.get(&id).is_some_and(|interrupt| interrupt.opened.kind == Kind::Continuation)
    });
    Ok(limit.map(|run| (run.id.clone(), id)))
}

/// The last time that a person was asked about a call.
fn approval_of(run: &Run, call: &str) -> Option<InterruptId> {
    let about = About::Call(call.to_owned());
    let asked = run.interrupts.iter().filter(|(_, interrupt)| {
        interrupt.opened.kind == Kind::ToolApproval && interrupt.opened.about == about
    });
    asked.max_by_key(|(_, interrupt)| interrupt.opened_seq).map(|(id, _)| id.clone())
}

async fn take_result(session: &Session, wish: ToolResult) -> Answer<Vec<Frame>> {
    let (run, call) = call_of(session, &wish.call_id).await?;
    let outcome = match wish.outcome {
        Ok(text) => ClientOutcome::Done { text },
        Err(text) => ClientOutcome::Failed { text },
    };
    session.send(&run.id, Input::ClientResult { call, outcome }).await?;
    Ok(Vec::new())
}

/// The run and the call that an id names. Calls of earlier runs are over.
async fn call_of(session: &Session, id: &str) -> Answer<(Arc<Run>, String)> {
    let unknown = || Refused::new(Code::NotFound, format!("there is no call `{id}` in this session's run"));
    let run = session.last().await?.ok_or_else(unknown)?;
    let call = ids::call_of(&run.id, id).filter(|call| run.calls.contains_key(*call)).ok_or_else(unknown)?;
    let call = call.to_owned();
    Ok((run, call))
}

/// Another agent goes on with what the person says. What the one before it was about is given up: it hears what was
/// said, and no two agents work in one session.
async fn switch_agent(session: &Session, wish: &SwitchAgent) -> Answer<Vec<Frame>> {
    // Nothing is given up for what can not begin.
    session.can_start(&wish.agent, &wish.content)?;
    for _ in 0..ATTEMPTS {
        let last = session.last().await?;
        if let Some(live) = last.as_ref().filter(|run| run.ended.is_none()) {
            if let Some(waiting) = plan_notice(live) {
                return Ok(vec![waiting]);
            }
            let reason = wish.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let text = Some(format!("`{}` goes on instead{reason}", wish.agent));
            match session.send(&live.id, Input::Cancel { text }).await {
                Ok(_) => continue,
                Err(refused) if is_late(&refused) => continue,
                Err(refused) => return Err(refused),
            }
        }
        if session.start(last.as_deref(), Some(&wish.agent), &wish.content).await? {
            return Ok(Vec::new());
        }
    }
    Err(Refused::of(Code::Busy))
}

fn decision(interrupt: &InterruptId, option: &str, text: Option<String>) -> Input {
    let decision = Decision { option: option.to_owned(), text, ..Decision::default() };
    Input::Decide { interrupt: interrupt.clone(), decision }
}

impl Session {
    pub(super) async fn send(&self, run: &RunId, input: Input) -> Answer<Arc<Run>> {
        Ok(self.app.send(run, input, self.actor.clone()).await?)
    }
}
