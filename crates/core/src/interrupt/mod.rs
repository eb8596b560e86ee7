//! Interrupts: the closed table of kinds and options, their state, and who may decide what.
//!
//! An interrupt is opened by the run, decided by people, and resolved once. Only a resolution releases
//! work. `run/interrupts` applies events to an interrupt, and `run/decide` performs its resolution.

mod action;
mod answer;
mod assignment;
mod decide;
mod decision;
mod effect;
pub mod mark;
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
pub use assignment::{Assignment, Ballot, Lack, Represented, Seat, Stage};
pub(crate) use decide::carried;
pub use decide::{Checked, check};
pub use decision::{Decision, Refusal};
pub use effect::{Effect, HeldWork, Outcome};
pub use offer::{EXPIRED, Offer, offered, on_expiry};
pub(crate) use opened::LABELS;
pub use opened::{About, Opened, Risk};
pub use record::{Cause, Claim, Comment, Delegation, Given, Holder, Kept, Resolution, Usage};
pub use seat::{Standing, Voter};
pub use table::{Carry, KEEP_SOME, Kind, KindRow, Row, option};
pub use tally::Settled;
pub use timing::{Due, Escalation, Reminded, Reminders, Timing};
pub use usage::Unusable;
pub use vote::Vote;
pub use waiting::What;
pub use withhold::Withhold;

use crate::actor::Actor;
use crate::plan::Plan;
use crate::shared::Open;
use crate::time::Timestamp;

/// An interrupt of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Interrupt {
    pub opened: Opened,
    /// Who may decide now: as it was opened, or reassigned since.
    pub assignment: Assignment,
    /// Who was asked to decide in the place of whom.
    pub delegations: Vec<Delegation>,
    /// `{title, message, payload, response_schema?}`; null once erased.
    pub content: Value,
    pub opened_at: Timestamp,
    pub opened_seq: u64,
    /// Grows with each change of who may decide; a decision may name the one it was made on.
    pub version: u64,
    /// The decisions that stand: of each person the last one.
    pub votes: Vec<Vote>,
    /// Who wrote what is asked about, where a person did: a plan that they wrote anew.
    pub written_by: Option<Actor>,
    /// Who wrote each edit, by the sequence of the decision that brought it.
    pub authors: BTreeMap<u64, Actor>,
    pub claim: Option<Claim>,
    /// How often it was claimed.
    pub claims: u32,
    pub comments: Vec<Comment>,
    /// Who has looked at it while it was open, and when first.
    pub views: BTreeMap<String, Timestamp>,
    /// What comes next while nobody decides.
    pub due: Due,
    /// Who has put it off, each for themselves, and until when.
    pub snoozes: BTreeMap<String, Timestamp>,
    pub resolution: Option<Resolution>,
    /// Of the answer to a question: what became of it after it was given.
    pub kept: Kept,
    /// Of an approval of an agent that runs elsewhere: that it was used.
    pub used: Option<Usage>,
}

impl Open for Interrupt {
    fn is_open(&self) -> bool {
        self.is_open()
    }
}

impl Interrupt {
    pub fn is_open(&self) -> bool {
        self.resolution.is_none()
    }

    /// As its `interrupt_opened` of this sequence says, by whose input it was opened.
    pub fn new(mut opened: Opened, mut content: Value, by: &Actor, at: Timestamp, seq: u64) -> Self {
        opened.take_labels(&mut content);
        // Of a plan that no step made.
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
            kept: Kept::default(),
            used: None,
        }
    }

    pub fn offers(&self, option: &str) -> Option<&Offer> {
        self.opened.options.iter().find(|offer| offer.id == option)
    }

    /// What an edit takes the place of: the member of the payload that its kind names, or else the whole payload.
    /// Nothing for a kind that takes no edit, and for a question: nothing was there before the answer.
    pub fn replaced(&self) -> Option<&Value> {
        let member = self.opened.kind.row().edits?;
        let payload = self.content.get("payload")?;
        let member = payload.get(member).filter(|member| !member.is_null());
        Some(member.unwrap_or(payload)).filter(|replaced| !replaced.is_null())
    }

    /// The plan that it asks about; `None` where it asks about something else, or where its words were erased.
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
