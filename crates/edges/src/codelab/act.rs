//! Carries out messages. A message becomes an input of the session's run or starts its next run. The client does not
//! wait until the message has taken effect.

use std::sync::Arc;

use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{About, ClaimHolder, Decision, Interrupt, Kind, Outcome, Resolution};
use holdshort_core::run::{Call, CallEnd, CallState, ClientOutcome, Input, Run};
use holdshort_protocol::Code;
use holdshort_store::Tables;
use holdshort_web::call_claims::Client;
use holdshort_web::limits::SESSION_RUNS;
use holdshort_web::problem::{Answer, Refused};
use serde_json::{Value, json};

use super::frame::Frame;
use super::message::{Message, PlanDecision, SwitchAgent, ToolDecision, ToolResult, Verdict};
use super::session::{Session, SessionMessage};
use super::{ids, names, open_requests, plan};

/// Carries out a message of a client. Returns only the frames that answer the message directly, usually none. The
/// client receives all other effects of the message as frames that are derived from the journal.
pub(super) async fn carry_out(session: &Session, client: &Client, message: Message) -> Answer<Vec<Frame>> {
    match message {
        Message::User { content, request: Some(request) } => answer(session, &request, &content).await,
        Message::User { content, request: None } => say(session, &content).await,
        Message::Plan(decision) => decide_plan(session, decision).await,
        Message::Tool(decision) => decide_call(session, client, decision).await,
        Message::Result(result) => take_result(session, result).await,
        Message::Switch(switch) => switch_agent(session, &switch).await,
    }
}

async fn say(session: &Session, content: &str) -> Answer<Vec<Frame>> {
    let last = session.last().await?;
    let mut to = None;
    if let Some(live) = last.as_ref().filter(|run| run.ended.is_none()) {
        if let Some(waiting) = plan_notice(live) {
            return Ok(vec![waiting]);
        }
        to = find_answered_question(live)?;
        if let Some(waiting) = limit_notice(live).filter(|_| to.is_none()) {
            return Ok(vec![waiting]);
        }
    }
    session.say(SessionMessage { text: content, to: to.as_ref(), ..SessionMessage::default() }).await?;
    Ok(Vec::new())
}

async fn answer(session: &Session, request: &str, content: &str) -> Answer<Vec<Frame>> {
    let Some((run, id)) = find_interrupt_by_id(session, request).await? else {
        return Err(Refused::new(Code::NotFound, format!("no question `{request}` is open in this session")));
    };
    if run.interrupts.get(&id).is_none_or(|asked| asked.opened.kind != Kind::Question) {
        return Err(Refused::invalid_at(
            "/request_id",
            "is not the id of a question, and a message can answer only questions",
        ));
    }
    let decision =
        Decision { option: "answer".to_owned(), text: Some(content.to_owned()), ..Decision::default() };
    decide(session, &run, &id, decision, None).await?;
    Ok(Vec::new())
}

async fn find_interrupt_by_id(session: &Session, id: &str) -> Answer<Option<(Arc<Run>, InterruptId)>> {
    let Ok(id) = id.parse::<InterruptId>() else { return Ok(None) };
    let (row, of) = (session.caller.app.journal().interrupt(&id).await?, session.id().await?);
    match row.filter(|row| Some(&row.session) == of.as_ref()) {
        Some(row) => Ok(Some((session.load(&row.run).await?, id))),
        None => Ok(None),
    }
}

/// Searches the runs of the session, newest first, for an interrupt for which `is_it` returns true.
async fn find(
    session: &Session,
    is_it: impl Fn(&InterruptId, &Interrupt) -> bool,
) -> Answer<Option<(Arc<Run>, InterruptId)>> {
    for run in session.runs().await?.iter().rev().take(SESSION_RUNS) {
        let run = session.load(run).await?;
        let found = run.interrupts.iter().find(|(id, asked)| is_it(id, asked)).map(|(id, _)| id.clone());
        if let Some(id) = found {
            return Ok(Some((run, id)));
        }
    }
    Ok(None)
}

/// Records a decision on an interrupt. Repeating the same decision changes nothing, even after the run has ended
/// (lesson 9). If a client has to run the approved call, the connection `holder` is asked to run it.
async fn decide(
    session: &Session,
    run: &Run,
    interrupt: &InterruptId,
    decision: Decision,
    holder: Option<ClaimHolder>,
) -> Answer<()> {
    let made = run.interrupts.get(interrupt).and_then(|asked| asked.settled_by());
    let is_same = made.is_some_and(|made| {
        made.option == decision.option && made.text == decision.text && made.edit == decision.edit
    });
    if run.ended.is_some() && is_same {
        return Ok(());
    }
    session.caller.count_decision()?;
    session.send(&run.id, Input::Decide { interrupt: interrupt.clone(), decision, holder }).await?;
    Ok(())
}

/// Returns the question that a message without `request_id` answers. Refuses the message if the person possibly meant a
/// different question. A message is possibly meant for a different question in two cases: several questions are open,
/// or another question was resolved after the open question was asked.
fn find_answered_question(run: &Run) -> Answer<Option<InterruptId>> {
    let is_question = |interrupt: &Interrupt| interrupt.opened.kind == Kind::Question;
    let open: Vec<_> =
        open_requests::interrupts(run).into_iter().filter(|(_, interrupt)| is_question(interrupt)).collect();
    let had_company = |only: &Interrupt| {
        run.interrupts
            .values()
            .filter(|each| is_question(each))
            .any(|each| each.resolution.as_ref().is_some_and(|resolution| resolution.seq > only.opened_seq))
    };
    match &open[..] {
        [] => Ok(None),
        [(id, only)] if !had_company(only) => Ok(Some((*id).clone())),
        questions => {
            let named = |(id, question): &(&InterruptId, &Interrupt)| {
                format!("`{id}` ({})", question.content_text("title"))
            };
            let named: Vec<String> = questions.iter().map(named).collect();
            let rule = format!("is missing: name the question that this answers: {}", named.join(", "));
            Err(Refused::invalid_at("/request_id", rule))
        }
    }
}

/// Returns a notice if the run waits for a decision about a limit. A text message never resolves the interrupt about
/// the limit: the server would have to guess what a text such as "no, stop" decides (contract B4).
fn limit_notice(run: &Run) -> Option<Frame> {
    let (id, _) = open_requests::interrupts(run)
        .into_iter()
        .find(|(_, interrupt)| interrupt.opened.kind == Kind::Continuation)?;
    let content = format!(
        "Your message was not delivered: the work has reached a limit and waits for your decision. Send \
         `hitl_decision` with the `call_id` `{id}`, and `approve` to continue or `reject` to end the work."
    );
    Some(Frame::says(content, Some(json!({ "request_id": id.as_str(), "waiting": true })), true))
}

/// Returns a notice if the run waits for a decision about a plan. A text message never approves a plan (contract B4).
fn plan_notice(run: &Run) -> Option<Frame> {
    // While a new version of an approved plan is proposed, the old version continues and messages are delivered.
    let (id, _) = open_requests::interrupts(run).into_iter().find(|(_, interrupt)| {
        interrupt.opened.kind == Kind::PlanApproval && !run.replaces_a_plan(interrupt)
    })?;
    let plan_id = ids::plan(id);
    let content = format!(
        "Your message was not delivered: the plan {plan_id} waits for your decision, and no subtask runs \
         before your decision. Send `plan_decision` with `approve`, `edit` or `reject`."
    );
    let metadata = json!({ "plan_id": plan_id, "approval_request_id": id.as_str(), "waiting": true });
    Some(Frame::says(content, Some(metadata), true))
}

async fn decide_plan(session: &Session, wish: PlanDecision) -> Answer<Vec<Frame>> {
    let asked = find(session, |id, interrupt| {
        interrupt.opened.kind == Kind::PlanApproval && (ids::plan(id) == wish.id || id.as_str() == wish.id)
    });
    let Some((run, id)) = asked.await? else {
        return Err(Refused::new(
            Code::NotFound,
            format!("no plan `{}` waits for a decision in this session", wish.id),
        ));
    };
    let (option, edit) = match (wish.verdict, &wish.subtasks) {
        (Verdict::Approve, _) => ("approve", None),
        (Verdict::Edit | Verdict::Modify, Some(subtasks)) => {
            ("edit", Some(plan::edit(&run.definition, subtasks)?))
        }
        (Verdict::Modify, None) => ("revise", None),
        (Verdict::Reject, _) => ("reject", None),
        (Verdict::Edit, None) => return Err(Refused::invalid_at("/modified_subtasks", "is missing")),
    };
    let decision = Decision {
        option: option.to_owned(),
        text: wish.feedback,
        edit: edit.unwrap_or_default(),
        ..Decision::default()
    };
    let decided = decide(session, &run, &id, decision, None).await;
    let subtasks = wish.subtasks.as_ref();
    decided.map_err(|refused| plan::translate_error(refused, "/modified_subtasks", subtasks))?;
    Ok(Vec::new())
}

async fn decide_call(session: &Session, client: &Client, wish: ToolDecision) -> Answer<Vec<Frame>> {
    let (run, interrupt) = find_interrupt_for_decision(session, &wish.id).await?;
    let asked = run.interrupts.get(&interrupt).map(|asked| &asked.opened);
    if let Some(call) = &wish.call {
        let is_about = |about: &About| matches!(about, About::Call(id) if *call == ids::call(&run.id, id));
        if call != interrupt.as_str() && !asked.is_some_and(|asked| is_about(&asked.about)) {
            return Err(Refused::invalid_at("/request_id", "names a different call than `call_id`"));
        }
    }
    let option = match (asked.map(|asked| asked.kind), wish.verdict) {
        (Some(Kind::Continuation), Verdict::Approve) => "continue",
        (Some(Kind::Continuation), Verdict::Reject) => "finish",
        (Some(Kind::Continuation), Verdict::Edit | Verdict::Modify) => {
            return Err(Refused::invalid_at(
                "/decision",
                "is not `approve` or `reject`, the only decisions about a limit",
            ));
        }
        (_, Verdict::Approve) => "approve",
        (_, Verdict::Edit | Verdict::Modify) => "edit",
        (_, Verdict::Reject) => "reject",
    };
    let decision = Decision {
        option: option.to_owned(),
        text: wish.feedback,
        edit: wish.arguments.map(|edit| edited(&run, &interrupt, edit)).unwrap_or_default(),
        ..Decision::default()
    };
    let decided = decide(session, &run, &interrupt, decision, Some(client.decides_in(&run.id))).await;
    decided.map_err(|refused| plan::translate_error(refused, "/modified_arguments", None))?;
    Ok(Vec::new())
}

/// Returns the interrupt on which a client decides with a `hitl_decision`. `id` is the id of a call or of an interrupt.
async fn find_interrupt_for_decision(session: &Session, id: &str) -> Answer<(Arc<Run>, InterruptId)> {
    let unknown = || Refused::new(Code::NotFound, format!("the call `{id}` does not wait for a decision"));
    if id.parse::<InterruptId>().is_ok() {
        let (run, interrupt) = find_interrupt_by_id(session, id).await?.ok_or_else(unknown)?;
        let kind = run.interrupts.get(&interrupt).map(|asked| asked.opened.kind);
        return match kind {
            Some(Kind::Continuation | Kind::ToolApproval) => Ok((run, interrupt)),
            _ => Err(unknown()),
        };
    }
    let (run, call) = call_of(session, id).await?;
    let asked = run.approval_of(&call).ok_or_else(unknown)?.opened.interrupt.clone();
    Ok((run, asked))
}

/// Returns the approval request about a call if this request is open or if a person rejected it.
fn undecided(run: &Run, call: &str) -> Option<InterruptId> {
    let asked = run.approval_of(call)?;
    let was_rejected = |resolution: &Resolution| resolution.outcome == Outcome::Rejected;
    asked.resolution.as_ref().is_none_or(was_rejected).then(|| asked.opened.interrupt.clone())
}

/// Renames the arguments of a call that a person edited, from the IDE's names to the server's names.
fn edited(run: &Run, interrupt: &InterruptId, edit: Value) -> Value {
    let about = run.interrupts.get(interrupt).map(|asked| &asked.opened.about);
    match about {
        Some(About::Call(call)) => match run.calls.get(call) {
            Some(call) => names::edited(&call.tool, edit),
            None => edit,
        },
        _ => edit,
    }
}

/// Returns the user's reason if an error text reports that the user rejected a call. In this case, the IDE sends an
/// error text instead of a decision.
pub(super) fn rejection(error: &str) -> Option<&str> {
    let why = error.trim().strip_prefix("User rejected")?;
    if why.is_empty() { Some(why) } else { why.strip_prefix(':').map(str::trim) }
}

async fn take_result(session: &Session, wish: ToolResult) -> Answer<Vec<Frame>> {
    let (run, call) = call_of(session, &wish.call_id).await?;
    if let Err(text) = &wish.outcome
        && let Some(why) = rejection(text)
        && let Some(asked) = undecided(&run, &call)
    {
        let text = Some(why.to_owned()).filter(|why| !why.is_empty());
        let decision = Decision { option: "reject".to_owned(), text, ..Decision::default() };
        decide(session, &run, &asked, decision, None).await?;
        return Ok(Vec::new());
    }
    let outcome = match wish.outcome {
        Ok(text) => ClientOutcome::Done { text },
        Err(text) => ClientOutcome::Failed { text },
    };
    let input = Input::ClientResult { call: call.clone(), outcome: outcome.clone() };
    match session.send(&run.id, input).await {
        Ok(_) => {}
        // The client may send the same result again after the run has ended (lesson 9). The result itself may have
        // ended the run.
        Err(refused) if refused.code() == Code::RunEnded => {
            let run = session.load(&run.id).await?;
            if !run.calls.get(&call).is_some_and(|call| has_brought(call, &outcome)) {
                return Err(refused);
            }
        }
        Err(refused) => return Err(refused),
    }
    Ok(Vec::new())
}

/// Returns true if a call has already ended with the outcome that the client reports.
fn has_brought(call: &Call, outcome: &ClientOutcome) -> bool {
    let result = call.result.as_deref().unwrap_or_default();
    match (&call.state, outcome) {
        (CallState::Ended(CallEnd::Done), ClientOutcome::Done { text }) => result == text,
        // An empty error is stored with a substitute text.
        (CallState::Ended(CallEnd::Failed), ClientOutcome::Failed { text }) => {
            result == text || text.trim().is_empty()
        }
        _ => false,
    }
}

/// Returns the run that contains the call with this id, and the id of the call within that run.
async fn call_of(session: &Session, id: &str) -> Answer<(Arc<Run>, String)> {
    let unknown = || Refused::new(Code::NotFound, format!("there is no call `{id}` in this session"));
    let runs = session.runs().await?;
    let named = runs.iter().find_map(|run| Some((run, ids::call_of(run, id)?)));
    let (run, call) = named.ok_or_else(unknown)?;
    let run = session.load(run).await?;
    if run.calls.contains_key(call) { Ok((run, call.to_owned())) } else { Err(unknown()) }
}

/// Cancels the work of the session's current agent, and sends the message and the conversation to the agent that the
/// client chose. Only one agent at a time works in a session.
async fn switch_agent(session: &Session, wish: &SwitchAgent) -> Answer<Vec<Frame>> {
    let chosen = session.agent(&wish.agent)?;
    let last = session.last().await?;
    let live = last.as_ref().filter(|run| run.ended.is_none());
    if let Some(waiting) = live.and_then(|live| plan_notice(live)) {
        return Ok(vec![waiting]);
    }
    let agent = Some(chosen.as_str());
    let words = SessionMessage {
        text: &wish.content,
        agent,
        reason: wish.reason.as_deref(),
        ..SessionMessage::default()
    };
    session.say(words).await?;
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_no_of_the_ide_is_told_from_an_error() {
        let table = [
            ("User rejected: not in this folder", Some("not in this folder")),
            ("  User rejected:no  ", Some("no")),
            ("User rejected: ", Some("")),
            ("User rejected", Some("")),
            ("User rejected the certificate", None),
            ("Error: User rejected: x", None),
            ("user rejected: x", None),
            ("", None),
        ];
        for (error, why) in table {
            assert_eq!(rejection(error), why, "{error}");
        }
    }
}
