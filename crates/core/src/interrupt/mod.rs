//! Interrupts: their kinds and options, their state, and the rules by which people decide on them.
//!
//! A run opens an interrupt, people decide, and the interrupt is resolved exactly once. The waiting work continues only
//! after the interrupt is resolved. `run/interrupts` applies events to an interrupt. `run/decide` carries out the
//! consequences of a resolution.

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
    /// Current assignment of the interrupt, which people may have changed since the interrupt was opened.
    pub assignment: Assignment,
    /// Delegations that apply only to this interrupt.
    pub delegations: Vec<Delegation>,
    /// Content of the card: `{title, message, payload, response_schema?}`. Null after the content is erased.
    pub content: Value,
    pub opened_at: Timestamp,
    pub opened_seq: u64,
    /// Version of the interrupt, which increases each time its approvers change. A decision can state the version that
    /// the person saw.
    pub version: u64,
    /// Current votes on the interrupt. Each person has at most one vote per stage. If the assignment requires different
    /// people in each stage, each person has at most one vote.
    pub votes: Vec<Vote>,
    /// Person who wrote the work on which people decide, for example a rewritten plan. `None` if an agent wrote it.
    pub written_by: Option<Actor>,
    /// Author of each edit. The key is the sequence number of the decision that contained the edit first.
    pub authors: BTreeMap<u64, Actor>,
    pub claim: Option<Claim>,
    /// Number of times that people have claimed the interrupt.
    pub claims: u32,
    pub comments: Vec<Comment>,
    /// Time at which each person viewed the open interrupt for the first time.
    pub views: BTreeMap<String, Timestamp>,
    /// State of the reminders and the escalation of the interrupt.
    pub due: Due,
    /// Time at which each person's snooze ends, by person id.
    pub snoozes: BTreeMap<String, Timestamp>,
    pub resolution: Option<Resolution>,
    /// Correction and erasure of the answer. Only for questions.
    pub kept: AnswerAmendments,
    /// Use of the approval by an external agent. `None` until the agent has used the approval.
    pub used: Option<Usage>,
    /// Report of the external agent on writing the approved changes. `None` until the report arrives.
    pub exec: Option<ExecReport>,
}

impl Open for Interrupt {
    fn is_open(&self) -> bool {
        self.is_open()
    }
}

/// Removes the output of a trial from the content of an interrupt, so that a run with many trials needs little memory.
/// Readers get the output from the event.
fn drop_streams(content: &mut Value) {
    content.as_object_mut().map(|members| members.remove(STREAMS));
}

impl Interrupt {
    pub fn is_open(&self) -> bool {
        self.resolution.is_none()
    }

    /// Builds the interrupt from an `interrupt_opened` event. `by` is the actor whose request opened the interrupt.
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

    /// Returns the value that an edit would replace: a member of the payload, whose name depends on the kind of
    /// interrupt. If the payload has no such member, the value is the complete payload. `None` if the kind has no
    /// edits, or if the interrupt is a question. Before its answer, a question has nothing to replace.
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
