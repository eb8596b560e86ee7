//! Converts a request of an external agent for a decision to the type of the core.

use holdshort_core::gate::foreign::ForeignCall;
use holdshort_core::history::{self, SUBJECT_BYTES};
use holdshort_core::interrupt::{Escalation, Reminders, Timing, Withhold};
use holdshort_core::run;
use holdshort_core::schema::Problem;
use holdshort_protocol::{self as wire, Ask, AskEscalation, AskReminders};
use holdshort_web::limits::EXPIRY_MS;
use holdshort_web::problem::{Answer, Refused};
use serde_json::Value;

use super::assignment;

/// Converts an agent's question from its wire format. The handler of the HTTP request reads the fields `run`,
/// `session`, `subject` and `callback`, so they are not part of the result.
pub(crate) fn ask(ask: Ask) -> Answer<run::Ask> {
    let mut problems = Vec::new();
    let assignment = ask.assignment.map(|asked| assignment::from_wire(asked, "/assignment", &mut problems));
    if ask.run.is_some() && ask.session.is_some() {
        problems.push(Problem::new("/session", "must be omitted, because `run` already has a session"));
    }
    if let Some(subject) = &ask.subject {
        if ask.run.is_some() {
            let rule = "must be omitted, because `run` already has a subject in its input";
            problems.push(Problem::new("/subject", rule));
        } else if history::subject_of(subject).is_none() {
            let rule = format!("must be 1 to {SUBJECT_BYTES} bytes without control characters");
            problems.push(Problem::new("/subject", rule));
        }
    }
    for (pointer, ms) in [("/expires_in_ms", ask.expires_in_ms), ("/usable_ms", ask.usable_ms)] {
        if ms.is_some_and(|ms| ms > EXPIRY_MS) {
            problems.push(Problem::new(pointer, format!("must be at most {EXPIRY_MS} (ten years)")));
        }
    }
    for (i, option) in ask.options.iter().enumerate() {
        if option.label.as_ref().is_some_and(|label| label.trim().is_empty()) {
            problems.push(Problem::new(format!("/options/{i}/label"), "is empty"));
        }
    }
    if !problems.is_empty() {
        return Err(Refused::invalid(problems));
    }
    Ok(run::Ask {
        kind: super::kind(ask.kind),
        title: ask.title,
        message: ask.message,
        payload: ask.payload,
        options: ask.options.into_iter().map(|option| (option.id, option.label)).collect(),
        response_schema: ask.response_schema,
        expires_in_ms: ask.expires_in_ms,
        on_expiry: ask.on_expiry,
        assignment: assignment.unwrap_or_default(),
        timing: Timing {
            reminders: ask.reminders.as_ref().map(reminders),
            escalation: ask.escalation.into_iter().map(escalation).collect(),
            working_time: ask.working_time,
        },
        call: ask.call.map(|call| {
            let call = self::call(call);
            let diff = diff(&call);
            (call, diff)
        }),
        // The handler of the request adds the trial.
        trial: None,
        usable_ms: ask.usable_ms,
        withhold: ask.withhold.into_iter().map(withhold).collect(),
        callback: None,
    })
}

pub(crate) fn call(call: wire::ForeignCall) -> ForeignCall {
    let wire::ForeignCall { tool, arguments, workspace, cwd, before, after } = call;
    ForeignCall { tool, arguments, workspace, cwd, before, after, trial: None }
}

/// Returns the diff for the card of an external agent's call: the change that the call makes to its file, computed from
/// `before` and `after`.
fn diff(call: &ForeignCall) -> Option<Value> {
    let after = call.after.as_deref()?;
    Some(holdshort_tools::diff(call.before.as_deref().unwrap_or_default(), after))
}

/// Maximum number of reminders about an interrupt if an agent's question has `every_ms` but no `limit`. Workflows have
/// the same default.
const REMINDERS: u32 = 10;

fn reminders(asked: &AskReminders) -> Reminders {
    let AskReminders { after_ms, every_ms, limit } = *asked;
    let usual = if every_ms.is_some() { REMINDERS } else { 1 };
    Reminders { after_ms, every_ms, limit: limit.unwrap_or(usual) }
}

fn withhold(asked: wire::Withhold) -> Withhold {
    let wire::Withhold { from, fields } = asked;
    Withhold { from: from.into_iter().map(super::role).collect(), fields }
}

fn escalation(asked: AskEscalation) -> Escalation {
    let AskEscalation { after_ms, approvers, groups, replace } = asked;
    Escalation { after_ms, approvers, groups, replace }
}
