//! Messages about decisions, for agents and people.

use serde_json::Value;

use super::{AppliedDecision, DecisionSource};
use crate::asking::RECORD;
use crate::envelope::Content;
use crate::interrupt::{About, Interrupt, Kind};
use crate::run::Fact;
use crate::run::draft::Draft;

impl Draft<'_> {
    /// Returns the message about an interrupt on which nobody decided in time, such as `nobody decided on the plan in
    /// time`.
    pub(super) fn unheard_of(&self, interrupt: &Interrupt) -> String {
        let tool = |call: &str| self.run.calls.get(call).map(|call| call.tool.clone()).unwrap_or_default();
        match (&interrupt.opened.about, interrupt.opened.kind) {
            (About::Call(_), Kind::PlanApproval) | (About::Plan(_), _) => {
                "nobody decided on the plan in time".to_owned()
            }
            (About::Call(_), Kind::Review) => "nobody released the output in time".to_owned(),
            (About::Call(_), Kind::Question) | (About::Printed(_), _) => "nobody answered in time".to_owned(),
            (About::Call(call), Kind::ClientCall) => {
                format!("the client did not report the result of `{}` in time", tool(call))
            }
            (About::Call(call), Kind::UnknownOutcome) => {
                format!("nobody said in time whether `{}` took effect", tool(call))
            }
            (About::Call(call), _) => format!("nobody decided on `{}` in time", tool(call)),
            (About::BeforeStep(step), _) => format!("nobody approved the start of step `{step}` in time"),
            (About::AfterStep(step), _) => format!("nobody accepted step `{step}` in time"),
            (About::Failure(step), _) => {
                let error = interrupt.content.pointer("/payload/error").and_then(Value::as_str);
                let error = error.unwrap_or_default();
                format!("step `{step}` failed, and nobody decided in time: {error}")
            }
            (About::Limit(step), _) => {
                let limit = limit_of(interrupt);
                format!("step `{step}` has reached its limit of {limit}, and nobody decided in time")
            }
            (About::Ending(step), _) => {
                let why = interrupt.content_text("message");
                format!("nobody decided in time about step `{step}`: {why}")
            }
            (About::Round(_), Kind::Turn) => "nobody sent a message in time".to_owned(),
            (About::Round(_), _) => "nobody answered in time".to_owned(),
            (About::Phase(phase), _) => format!("nobody decided on checkpoint `{phase}` in time"),
            (About::Interruption, _) => "nobody decided in time how to continue".to_owned(),
            (About::Hold, _) => "nobody released the task in time".to_owned(),
            (About::External, _) => "nobody decided in time".to_owned(),
        }
    }

    /// Sends a text about a decision to the agents of the run's open steps, and of steps that start later. Does nothing
    /// if the text is blank.
    pub(in super::super) fn tell_run(&mut self, text: &str) {
        if let Some(text) = nonempty(text) {
            self.emit(Fact::MessageAdded, Content::text(text));
        }
    }

    /// Adds the text of a decision about a tool call to the next model request of the call's step.
    pub(super) fn note(&mut self, interrupt: &Interrupt, step: &str, text: &str) {
        self.add_note(interrupt, step, text, false);
    }

    /// Adds the text of a decision about a step to the step's next model request, and to the model requests of later
    /// steps (contract A15).
    pub(in super::super) fn guide(&mut self, interrupt: &Interrupt, step: &str, text: &str) {
        self.add_note(interrupt, step, text, true);
    }

    fn add_note(&mut self, interrupt: &Interrupt, step: &str, text: &str, later: bool) {
        if let Some(text) = nonempty(text) {
            let (step, interrupt) = (step.to_owned(), interrupt.opened.interrupt.clone());
            self.emit(Fact::NoteAdded { step, interrupt, later }, Content::text(text));
        }
    }
}

/// Returns the limit about which the interrupt asks, such as `50 rounds`.
pub(super) fn limit_of(interrupt: &Interrupt) -> String {
    let shown = |field: &str| interrupt.content.pointer(&format!("/payload/{field}"));
    let limit = shown("limit").and_then(Value::as_str).unwrap_or_default().replace('_', " ");
    let value = shown("value").unwrap_or(&Value::Null);
    let limit = if *value == 1 { limit.trim_end_matches('s') } else { &limit };
    format!("{value} {limit}")
}

pub(super) fn nonempty(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

pub(super) fn why(taken: &AppliedDecision<'_>) -> String {
    match (nonempty(taken.text), taken.by) {
        (Some(text), _) => format!(": {text}"),
        (None, DecisionSource::Person) => String::new(),
        (None, DecisionSource::Expiry) => ": nobody decided in time".to_owned(),
    }
}

pub(super) fn sentence(text: &str, taken: &AppliedDecision<'_>) -> String {
    match why(taken) {
        why if why.is_empty() => format!("{text}."),
        why => format!("{text}{why}"),
    }
}

pub(super) fn refused(taken: &AppliedDecision<'_>) -> String {
    match taken.by {
        DecisionSource::Person => format!("a person refused this call{}", why(taken)),
        DecisionSource::Expiry => "not run: nobody decided in time".to_owned(),
    }
}

/// Formats the answer of a person for the agent that asked: a text, or data as JSON followed by a text.
pub(super) fn answer(taken: &AppliedDecision<'_>) -> String {
    match (taken.edit, nonempty(taken.text)) {
        (Value::Null, _) => taken.text.to_owned(),
        (data, None) => data.to_string(),
        (data, Some(text)) => format!("{data}\n{text}"),
    }
}

/// Returns the message about an unanswered question, for the agent that asked the question. `records` is true if the
/// agent can record an assumption.
pub(super) fn unanswered(taken: &AppliedDecision<'_>, records: bool) -> String {
    let assume = if records {
        format!("Go on with your best assumption, and write it down with `{RECORD}`.")
    } else {
        "Go on with your best assumption, and say what you assumed.".to_owned()
    };
    match (taken.by, nonempty(taken.text)) {
        (DecisionSource::Expiry, _) => format!("No response in time. {assume}"),
        (DecisionSource::Person, Some(text)) => format!("The person skipped the question: {text}\n{assume}"),
        (DecisionSource::Person, None) => format!("The person skipped the question. {assume}"),
    }
}
