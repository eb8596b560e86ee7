//! Interrupts: the table of kinds and options, the state of an interrupt, and the rules for deciding an interrupt.
//!
//! A run opens an interrupt, people decide on it, and it is resolved once. Only the resolution releases work.
//! `run/interrupts` applies events to an interrupt. `run/decide` carries out the resolution.

mod action;
mod answer;
pub mod assignee_index;
mod assignment;
mod decide;
mod decision;
mod effect;
mod offer;
mod opened;
mod record;
mod seat;
mod table;
mod tally;
mod timing;
mod usage;
mod vote;
mod waiting;
pub mod withhold;

use std::collections::BTreeMap;

use serde_json::Value;

pub use action::HandedTo;
pub use assignment::{ApproverShortage, Assignment, Ballot, Represented, Seat, Stage};
pub(crate) use decide::carried;
pub use decide::{Checked, check};
pub use decision::{Decision, Refusal};
pub use effect::{Effect, HeldWork, Outcome};
pub use offer::{EXPIRED, Offer, offered, on_expiry};
pub use opened::{About, Opened, Risk};
pub(crate) use opened::{LABELS, STREAMS};
pub use record::{
    AnswerAmendments, AnswerContent, Cause, Claim, ClaimHolder, Comment, Delegation, ExecOutcome, ExecReport,
    Resolution, Usage,
};
pub use seat::{MissingVotes, Voter};
pub use table::{Carry, KEEP_SOME, Kind, KindRow, Row, option};
pub use tally::Settlement;
pub use timing::{Due, Escalation, ReminderReason, Reminders, Timing};
pub use usage::{ReleasedChanges, Unusable};
pub use vote::Vote;
pub use waiting::DueEvent;
pub use withhold::Withhold;

use crate::actor::Actor;
use crate::plan::Plan;
use crate::shared::Open;
use crate::time::Timestamp;

#[derive(Clone, Debug, PartialEq)]
pub struct Interrupt {
    pub opened: Opened,
    /// Current assignment: the assignment of the latest reassignment, or else the assignment at the opening.
    pub assignment: Assignment,
    /// Delegations that apply only to this interrupt.
    pub delegations: Vec<Delegation>,
    /// Content of the card: `{title, message, payload, response_schema?}`. Null after the content is erased.
    pub content: Value,
    pub opened_at: Timestamp,
    pub opened_seq: u64,
    /// Version of the interrupt, which increases with each change of the approvers. A decision may state the version on
    /// which it is based.
    pub version: u64,
    /// Current votes, at most one of each person.
    pub votes: Vec<Vote>,
    /// Person who wrote the subject of the interrupt, such as a rewritten plan. `None` if an agent wrote the subject.
    pub written_by: Option<Actor>,
    /// Author of each edit. The key is the sequence number of the decision that introduced the edit.
    pub authors: BTreeMap<u64, Actor>,
    pub claim: Option<Claim>,
    /// Number of claims so far.
    pub claims: u32,
    pub comments: Vec<Comment>,
    /// Time at which each person first viewed the interrupt while it was open.
    pub views: BTreeMap<String, Timestamp>,
    /// State of reminders and escalation.
    pub due: Due,
    /// End of each person's snooze. The key is the person who snoozed the interrupt.
    pub snoozes: BTreeMap<String, Timestamp>,
    pub resolution: Option<Resolution>,
    /// Corrections and erasure of the answer, if the interrupt is a question.
    pub kept: AnswerAmendments,
    /// Record of the use of the approval by an external agent.
    pub used: Option<Usage>,
    /// Report of the external agent, which says if it wrote the approved changes. `None` until the report arrives.
    pub exec: Option<ExecReport>,
}

impl Open for Interrupt {
    fn is_open(&self) -> bool {
        self.is_open()
    }
}

/// Removes the output of a trial from the content, so that a run with many trials needs little memory. The event keeps
/// the output, and readers get the output from the event.
fn drop_streams(content: &mut Value) {
    content.as_object_mut().map(|members| members.remove(STREAMS));
}

impl Interrupt {
    pub fn is_open(&self) -> bool {
        self.resolution.is_none()
    }

    /// Builds the interrupt from an `interrupt_opened` event. `by` is the actor whose input caused the event.
    pub fn new(mut opened: Opened, mut content: Value, by: &Actor, at: Timestamp, seq: u64) -> Self {
        opened.take_labels(&mut content);
        drop_streams(&mut content);
        // A plan that was presented without a step was written by a person.
        let is_written = matches!(opened.about, About::Plan(_)) && opened.step.is_none();
        Self {
            written_by: is_written.then(|| by.clone()),
            assignment: opened.assignment.clone(),
            delegations: Vec::new(),
            due: opened.due(),
            snoozes: BTreeMap::new(),
            opened,
            content,
            opened_at: at,
            opened_seq: seq,
            version: 1,
            votes: Vec::new(),
            authors: BTreeMap::new(),
            claim: None,
            claims: 0,
            comments: Vec::new(),
            views: BTreeMap::new(),
            resolution: None,
            kept: AnswerAmendments::default(),
            used: None,
            exec: None,
        }
    }

    pub fn offers(&self, option: &str) -> Option<&Offer> {
        self.opened.options.iter().find(|offer| offer.id == option)
    }

    /// Returns the value that an edit replaces. The value is a member of the payload, and its name depends on the kind.
    /// If the payload has no such member, the value is the complete payload. `None` for a kind without edits, and for a
    /// question, because a question has no value before the answer.
    pub fn replaced(&self) -> Option<&Value> {
        let member = self.opened.kind.row().edits?;
        let payload = self.content.get("payload")?;
        let member = payload.get(member).filter(|member| !member.is_null());
        Some(member.unwrap_or(payload)).filter(|replaced| !replaced.is_null())
    }

    /// Returns the plan on which people decide. `None` if the interrupt is not about a plan, or if its content was
    /// erased.
    pub fn plan(&self) -> Option<Plan> {
        if self.opened.kind != Kind::PlanApproval {
            return None;
        }
        let payload = self.content.get("payload")?;
        serde_json::from_value(payload.get("plan").unwrap_or(payload).clone()).ok()
    }

    pub fn content_text(&self, field: &str) -> &str {
        self.content.get(field).and_then(Value::as_str).unwrap_or_default()
    }
}
