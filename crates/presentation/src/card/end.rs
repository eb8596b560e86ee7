//! The end of an interrupt: its outcome, the people who decided, and their answer.

use std::borrow::Cow;

use holdshort_protocol::{Interrupt, Kind, Outcome, Resolution, labelled_members, plain};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::FormatTime;
use super::facts::option_label;
use super::parts::readable;

/// Resolution of an interrupt, as the card shows it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CardEnd)]
pub struct End<'a> {
    pub outcome: &'static str,
    /// Label of the chosen option. `None` if the label repeats `outcome`, such as *Approve* and *Approved*.
    pub option: Option<Cow<'a, str>>,
    pub by: String,
    /// Sentence with the number of other open calls that the decision also approved.
    pub also: Option<String>,
    /// Time of the resolution, as an RFC 3339 timestamp.
    pub at: &'a str,
    /// Time of the resolution, formatted for the person who reads the card.
    pub when: String,
    pub text: Option<&'a str>,
    /// Members of a structured answer. After an edit of a person, only the members that the edit changed.
    pub answer: Vec<AnswerMember>,
    /// Phrase that says if an agent outside Holdshort has used the approval.
    pub approval: Option<String>,
}

/// Member of an answer or of an edit. The label is empty if the answer has no named members.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CardAnswerMember)]
pub struct AnswerMember {
    pub label: String,
    pub text: String,
}

impl<'a> End<'a> {
    /// Returns the end of an interrupt. Returns `None` while the interrupt is open.
    pub fn from_interrupt(interrupt: &'a Interrupt, time: FormatTime<'_>) -> Option<Self> {
        let resolution = interrupt.resolution.as_ref()?;
        let ended = outcome(resolution.outcome);
        let option = resolution.option.as_deref().map(|id| plain::line(option_label(interrupt, id)));
        Some(Self {
            outcome: ended,
            option: option.filter(|label| !repeats(ended, label)),
            by: resolution.describe_deciders(),
            also: resolution.also_words(),
            at: &resolution.at,
            when: time(&resolution.at),
            text: resolution.text.as_deref().filter(|text| !text.is_empty()),
            answer: answer(interrupt, resolution),
            approval: interrupt.approval_words(),
        })
    }
}

/// Returns true if the label of the option says the same as the name of the outcome, such as *Approve* and *Approved*.
pub fn repeats(outcome: &str, label: &str) -> bool {
    outcome.to_lowercase().starts_with(&label.to_lowercase())
}

/// Returns the name of an outcome for people.
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Approved => "Approved",
        Outcome::Rejected => "Rejected",
        Outcome::Answered => "Answered",
        Outcome::Expired => "Expired",
        Outcome::Cancelled => "Cancelled",
        Outcome::Superseded => "Superseded",
    }
}

fn answer(interrupt: &Interrupt, resolution: &Resolution) -> Vec<AnswerMember> {
    let member = |(label, text): (String, String)| AnswerMember { label, text };
    match (&resolution.edit, interrupt.replaced()) {
        (Value::Null, _) => Vec::new(),
        (edit, _) if interrupt.kind == Kind::Question => {
            labelled_members(interrupt.response_schema.as_ref(), edit).into_iter().map(member).collect()
        }
        (Value::Object(edit), Value::Object(before)) => {
            let changed = edit.iter().filter(|(name, value)| before.get(*name) != Some(value));
            let removed = before.keys().filter(|name| !edit.contains_key(*name));
            let changed = changed.map(|(name, value)| (format!("{name}, edited"), readable(value)));
            let removed = removed.map(|name| (name.clone(), "removed".to_owned()));
            changed.chain(removed).map(member).collect()
        }
        (edit, _) => vec![member(("edited".to_owned(), readable(edit)))],
    }
}
