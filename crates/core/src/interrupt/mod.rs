//! Interrupts: the closed table of kinds and options, their state, and who may decide what.
//!
//! An interrupt is opened by the run, decided by people, and resolved once. Only a resolution releases
//! work. `run/interrupts` applies events to an interrupt, and `run/decide` performs its resolution.

mod action;
mod answer;
mod assignment;
mod decide;
pub mod mark;
mod opened;
mod seat;
mod table;
mod timing;
mod usage;
mod vote;
pub mod withhold;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use action::{Claim, Comment, Delegation, HandedTo, Holder};
pub use answer::{Given, Kept};
pub use assignment::{Assignment, Ballot, Lack, Represented, Seat, Stage};
pub(crate) use decide::carried;
pub use decide::{Checked, Decision, Refusal, check};
pub(crate) use opened::LABELS;
pub use opened::Opened;
pub use seat::{Standing, Voter};
pub use table::{Carry, Effect, KEEP_SOME, Kind, KindRow, Outcome, Row, option};
pub use timing::{Due, Escalation, Reminded, Reminders, Timing, What};
pub use usage::{Unusable, Usage};
pub use vote::{Settled, Vote};
pub use withhold::Withhold;

use crate::actor::Actor;
use crate::gate::{Reason, Source};
use crate::id::{GrantId, InterruptId};
use crate::level::Level;
use crate::plan::Plan;
use crate::schema;
use crate::shared::Open;
use crate::time::Timestamp;

/// One option as offered: a row of the table, perhaps relabelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    pub id: String,
    pub label: String,
    pub effect: Effect,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_text: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_edit: bool,
}

impl Offer {
    pub fn of(row: &Row) -> Self {
        Self {
            id: row.id.to_owned(),
            label: row.label.to_owned(),
            effect: row.effects[0],
            needs_text: row.text == Carry::Must,
            needs_edit: row.edit == Carry::Must,
        }
    }

    /// Returns true if an expiry may take the option: it needs neither a text nor an edit, and is not a grant.
    pub fn applies_alone(&self) -> bool {
        !self.needs_text && !self.needs_edit && self.effect != Effect::Grant
    }

    /// The same option where what it takes is data: an edit, not a text.
    pub fn of_data(self) -> Self {
        Self { needs_text: false, needs_edit: true, ..self }
    }

    /// The same where a question says what form its answer has: an answer that is no text is data.
    pub fn answered_by(self, kind: Kind, schema: Option<&Value>) -> Self {
        let is_data = schema.is_some_and(|schema| !schema::is_of_text(schema));
        if kind == Kind::Question && self.effect == Effect::Respond && is_data {
            self.of_data()
        } else {
            self
        }
    }

    /// Whether it lets work go on that was held back. Of the options of a kind at least one must not.
    pub fn releases(&self) -> bool {
        self.effect.outcome() == Outcome::Approved
    }

    /// Whether it stops work, and releases none.
    pub fn stops(&self) -> bool {
        matches!(self.effect.outcome(), Outcome::Rejected | Outcome::Cancelled)
    }
}

/// What is offered of its own options where a workflow names those that it wants, in their order. Without one that
/// does not release work a person could only agree: then all of them stay.
pub fn offered(own: Vec<Offer>, wanted: &[String]) -> Vec<Offer> {
    let find = |id: &String| own.iter().find(|offer| offer.id == *id).cloned();
    let left: Vec<Offer> = wanted.iter().filter_map(find).collect();
    if left.iter().all(Offer::releases) { own } else { left }
}

/// Value of `on_expiry` if an expiry takes no option. Never the id of an option.
pub const EXPIRED: &str = "expired";

/// Id of the option that an expiry takes: the configured one, else that of the kind, else the last one that stops work.
/// Options that are not offered or do not apply alone are passed over. [`EXPIRED`] if none is left.
pub fn on_expiry(kind: Kind, configured: Option<&str>, offered: &[Offer]) -> String {
    let find = |id: &str| offered.iter().find(|offer| offer.id == id && offer.applies_alone());
    configured
        .and_then(find)
        .or_else(|| kind.row().on_expiry.and_then(find))
        .or_else(|| offered.iter().rev().find(|offer| offer.stops() && offer.applies_alone()))
        .map_or_else(|| EXPIRED.to_owned(), |offer| offer.id.clone())
}

/// How much is at stake, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Risk {
    pub level: Level,
    pub reasons: Vec<Reason>,
}

/// What an interrupt is about: where its resolution takes effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum About {
    Call(String),
    BeforeStep(String),
    AfterStep(String),
    Phase(String),
    /// The plan of a planning phase.
    Plan(String),
    /// A step failed.
    Failure(String),
    /// A step reached a limit.
    Limit(String),
    /// A question that a step printed instead of asking.
    Printed(String),
    /// A reply of a step that is no honest end.
    Ending(String),
    /// Before a round of a copilot, or after it.
    Round(String),
    /// A person interrupted the run.
    Interruption,
    /// A service holds the run until somebody has looked at it.
    Hold,
    /// An agent of another framework asks.
    External,
}

impl About {
    /// The phase, where it is about one as a whole and not about a step of it.
    pub fn phase(&self) -> Option<&str> {
        match self {
            Self::Phase(phase) | Self::Plan(phase) | Self::Round(phase) => Some(phase),
            Self::Call(_)
            | Self::BeforeStep(_)
            | Self::AfterStep(_)
            | Self::Failure(_)
            | Self::Limit(_)
            | Self::Printed(_)
            | Self::Ending(_)
            | Self::Interruption
            | Self::Hold
            | Self::External => None,
        }
    }
}

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

/// What ended an interrupt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    Decision,
    /// Nobody decided in time.
    Expiry,
    /// A grant that covers it was given.
    Grant(GrantId),
    /// A rule allows or forbids it: nobody was asked.
    Rule {
        source: Source,
        rule: usize,
    },
    /// The workflow asks nobody here, or nobody in a run that nobody attends.
    Unasked,
    /// The workflow has the answer to an earlier question count for this one.
    Reused(InterruptId),
    /// What it was about changed; another interrupt took its place, or none was needed.
    Superseded,
    /// The agent that asked needs it no more.
    Withdrawn,
    /// The run ended.
    RunEnded,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    pub outcome: Outcome,
    pub option: Option<String>,
    pub cause: Cause,
    /// Whose input it came with: of a grant that was given in the same run, who gave it.
    pub by: String,
    pub at: Timestamp,
    pub seq: u64,
    /// The sequence of the decision that settled it, where one did.
    pub decision: Option<u64>,
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
