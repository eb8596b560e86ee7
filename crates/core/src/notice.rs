//! Notices: notifications for people. Notices are computed from the events of one append.
//!
//! A notice contains only facts (ids, a kind, a risk, the approvers), and never content that can be erased. An
//! interrupt that is opened and resolved in the same append causes no notice, because nobody needs to decide.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::actor::LOCAL_OPERATOR;
use crate::event::{self, Event};
use crate::id::{InterruptId, PushId, RunId, SessionId};
use crate::interrupt::{Interrupt, Kind, Outcome, Stage};
use crate::level::Level;
use crate::limits;
use crate::people::People;
use crate::run::{Fact, Run};
use crate::system::System;
use crate::system::checkpoint::CheckpointTree;
use crate::time::Timestamp;

/// Reason for a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occasion {
    /// An interrupt was opened.
    Opened,
    /// Further people were asked to decide: the approvers of the next stage, new approvers after a reassignment, or a
    /// delegate.
    Asked,
    Reminded,
    Escalated,
    /// The interrupt was resolved by a decision, or because no decision was needed any more.
    Resolved,
    /// The interrupt expired without a decision.
    Expired,
    /// A [checkpoint](crate::system::checkpoint) of the journal was signed. Channels get this notice only if their rule
    /// lists this occasion.
    Checkpoint,
}

impl Occasion {
    pub const ALL: [Self; 7] = [
        Self::Opened,
        Self::Asked,
        Self::Reminded,
        Self::Escalated,
        Self::Resolved,
        Self::Expired,
        Self::Checkpoint,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Asked => "asked",
            Self::Reminded => "reminded",
            Self::Escalated => "escalated",
            Self::Resolved => "resolved",
            Self::Expired => "expired",
            Self::Checkpoint => "checkpoint",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|occasion| occasion.as_str() == text)
    }

    fn from_outcome(outcome: Outcome) -> Self {
        if outcome == Outcome::Expired { Self::Expired } else { Self::Resolved }
    }

    /// Returns true if a notice for this occasion asks people to decide. After the decision, such a notice is no longer
    /// sent.
    pub fn asks(self) -> bool {
        match self {
            Self::Opened | Self::Asked | Self::Reminded | Self::Escalated => true,
            Self::Resolved | Self::Expired | Self::Checkpoint => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notice {
    pub occasion: Occasion,
    pub at: Timestamp,
    pub run: RunId,
    /// Sequence number of the event that caused the notice, in the stream of the run.
    pub seq: u64,
    pub session: SessionId,
    pub workflow: String,
    pub interrupt: InterruptId,
    pub kind: Kind,
    pub risk: Level,
    /// Ids of the approvers. For a reminder, ids of the people who are reminded. If both `people` and `groups` are
    /// empty, all admins and operators are approvers.
    pub people: Vec<String>,
    pub groups: Vec<String>,
    /// True if admins and operators can decide in addition to the named people and groups.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub operators: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Ids of the people who decided the interrupt by their votes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// Ids of the people who are reminded, who are asked after an escalation, or who received a delegation.
    /// Empty for other events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<String>,
    /// Recipient of the notice, if the channel notifies each recipient separately. `None` for other channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Recipient>,
}

/// Recipient of a notification, for channels that notify each recipient separately.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recipient {
    /// Id of a person. The person's address is looked up when the notice is sent.
    Person(String),
    /// Address from the channel's configuration.
    Address(String),
    /// One browser of a person. The push endpoint of the browser is looked up when the notice is sent.
    Browser { person: String, push: PushId },
}

impl Recipient {
    /// Returns the id of the person who is notified. `None` if the recipient is an address from the channel's
    /// configuration.
    pub fn person(&self) -> Option<&str> {
        match self {
            Self::Person(id) | Self::Browser { person: id, .. } => Some(id),
            Self::Address(_) => None,
        }
    }
}

impl Notice {
    /// Returns the ids of the people to notify. If the event is directed at certain people (`told`), these people are
    /// the recipients. If the event is not directed at certain people, the recipients are the named approvers and the
    /// members of the named groups. If the notice names no approvers, or if `operators` is set, the people who may
    /// decide unassigned interrupts are recipients, too. Instead of an absent person, the person's delegate is
    /// notified. Ids of service keys are left out.
    pub fn recipients(&self, people: &People, now: Timestamp) -> BTreeSet<String> {
        if !self.told.is_empty() {
            return self.told.iter().filter(|id| people.get(id).is_some()).cloned().collect();
        }
        let asks_operators = self.asks_operators();
        let is_asked = |id: &str| {
            (asks_operators && people.decides_unassigned(id))
                || self.people.iter().any(|name| name == id)
                || self.groups.iter().any(|group| people.is_in(id, group))
        };
        let asked = people.iter().map(|(id, _)| id).filter(|id| people.can_decide(id) && is_asked(id));
        let stand_in = asked.map(|id| people.standing_in(id, now));
        stand_in.filter(|id| people.get(id).is_some()).map(str::to_owned).collect()
    }

    fn asks_operators(&self) -> bool {
        self.operators || (self.people.is_empty() && self.groups.is_empty())
    }

    /// Returns the browsers of the people to notify. Includes browsers of the local operator, who has no entry in the
    /// list of people.
    pub fn browsers(&self, system: &System, now: Timestamp) -> Vec<Recipient> {
        if system.push.is_empty() {
            return Vec::new();
        }
        let asked = self.recipients(&system.people, now);
        let named = if self.told.is_empty() { &self.people } else { &self.told };
        let is_for_all = self.told.is_empty() && self.asks_operators();
        let asks_operator = is_for_all || named.iter().any(|id| id == LOCAL_OPERATOR);
        let is_asked = |id: &str| if id == LOCAL_OPERATOR { asks_operator } else { asked.contains(id) };
        let told = system.push.iter().filter(|(_, known)| is_asked(&known.is.person));
        told.map(|(push, known)| Recipient::Browser { person: known.is.person.clone(), push: push.clone() })
            .collect()
    }
}

/// Notice of a signed checkpoint of the journal. The notice contains no erasable content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointNotice {
    pub at: Timestamp,
    pub covered: CheckpointTree,
    /// Signed text of the checkpoint, which can be passed to `audit verify --against`.
    pub note: String,
    /// Public key that verifies the signature of the checkpoint.
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Recipient>,
}

/// Returns the notices for the events of one append. `first_seq` is the sequence number of the first of these events in
/// the run's stream. `before` is the run before the append, and `run` is the run after the append. An interrupt causes
/// at most one notice for each occasion.
pub fn notices(before: &Run, run: &Run, first_seq: u64, events: &[Event]) -> Vec<Notice> {
    let mut found: BTreeMap<(InterruptId, Occasion), Notice> = BTreeMap::new();
    for (seq, at, fact) in facts(first_seq, events) {
        let Some((id, occasion, told)) = occasion(before, run, fact) else { continue };
        let Some(interrupt) = run.interrupts.get(id) else { continue };
        let was_there = before.interrupts.contains_key(id);
        // If the interrupt opened and resolved in the same append, no person was asked about it.
        if interrupt.is_open() != occasion.asks() || (!was_there && !interrupt.is_open()) {
            continue;
        }
        let Some(notice) = notice(run, interrupt, (seq, at), occasion, told) else { continue };
        found.insert((id.clone(), occasion), notice);
    }
    // Approvers of a new interrupt get only the notice that it was opened. The approvers get no second notice that they
    // may decide.
    let opened: Vec<InterruptId> = found
        .keys()
        .filter(|(_, occasion)| *occasion == Occasion::Opened)
        .map(|(id, _)| id.clone())
        .collect();
    for id in opened {
        found.remove(&(id, Occasion::Asked));
    }
    let mut notices: Vec<Notice> = found.into_values().collect();
    notices.sort_by_key(|notice| notice.seq);
    notices
}

/// Returns the notices for [callbacks](crate::interrupt::Opened::callback) to external agents. Each interrupt with a
/// callback that these events resolve causes one notice, even if nobody was asked. `run` is the state of the run after
/// the events.
pub fn callbacks(run: &Run, first_seq: u64, events: &[Event]) -> Vec<Notice> {
    let resolved = facts(first_seq, events).filter_map(|(seq, at, fact)| {
        let Fact::InterruptResolved { interrupt, outcome, .. } = fact else { return None };
        let interrupt = run.interrupts.get(interrupt).filter(|interrupt| interrupt.opened.callback)?;
        notice(run, interrupt, (seq, at), Occasion::from_outcome(*outcome), None)
    });
    resolved.collect()
}

/// Returns the facts of the events that belong to a run, each with its sequence number in the run's stream and its
/// time.
fn facts(first_seq: u64, events: &[Event]) -> impl Iterator<Item = (u64, Timestamp, &Fact)> {
    let facts = events.iter().filter_map(|event| match &event.fact {
        event::Fact::Run(fact) => Some((event.at, fact)),
        event::Fact::Session(_) | event::Fact::System(_) => None,
    });
    (first_seq..).zip(facts).map(|(seq, (at, fact))| (seq, at, fact))
}

/// Builds the notice about an interrupt. `None` if the run has not started.
fn notice(
    run: &Run,
    interrupt: &Interrupt,
    (seq, at): (u64, Timestamp),
    occasion: Occasion,
    told: Option<&[String]>,
) -> Option<Notice> {
    let NoticeRecipients { people, groups, operators } = collect_recipients(interrupt, occasion, told);
    Some(Notice {
        occasion,
        at,
        run: run.id.clone(),
        seq,
        session: run.session()?.clone(),
        workflow: run.definition.name.clone(),
        interrupt: interrupt.opened.interrupt.clone(),
        kind: interrupt.opened.kind,
        risk: interrupt.opened.risk.level,
        people,
        groups,
        operators,
        expires_at: interrupt.opened.expires_at,
        outcome: interrupt.resolution.as_ref().map(|resolution| resolution.outcome),
        by: interrupt.decided_by(),
        told: told.unwrap_or_default().iter().take(limits::ASSIGNED).cloned().collect(),
        to: None,
    })
}

/// Returns the interrupt that an event is about, the reason for a notice, and the ids of the people at whom the event
/// is directed.
fn occasion<'f>(
    before: &Run,
    run: &Run,
    fact: &'f Fact,
) -> Option<(&'f InterruptId, Occasion, Option<&'f [String]>)> {
    if let Fact::InterruptOpened(opened) = fact {
        return Some((&opened.interrupt, Occasion::Opened, None));
    }
    if let Fact::InterruptReminded { interrupt, to, .. } = fact {
        return Some((interrupt, Occasion::Reminded, Some(to)));
    }
    if let Fact::InterruptEscalated { interrupt, to, .. } = fact {
        return Some((interrupt, Occasion::Escalated, Some(to)));
    }
    if let Fact::InterruptReassigned { interrupt, .. } = fact {
        return Some((interrupt, Occasion::Asked, None));
    }
    // Only the delegate gets this notice. The other approvers were notified earlier, and may still decide.
    if let Fact::InterruptDelegated { interrupt, delegation } = fact {
        return Some((interrupt, Occasion::Asked, Some(std::slice::from_ref(&delegation.to))));
    }
    if let Fact::DecisionMade { interrupt, .. } = fact {
        let stage = |run: &Run| run.interrupts.get(interrupt).map(|interrupt| interrupt.stage_now());
        let is_next = stage(before).is_some_and(|was| stage(run).is_some_and(|is| is > was));
        return is_next.then_some((interrupt, Occasion::Asked, None));
    }
    if let Fact::InterruptResolved { interrupt, outcome, .. } = fact {
        return Some((interrupt, Occasion::from_outcome(*outcome), None));
    }
    None
}

struct NoticeRecipients {
    people: Vec<String>,
    groups: Vec<String>,
    operators: bool,
}

/// Returns the approvers of an interrupt. If the interrupt is open, returns the approvers of its current stage. If the
/// interrupt is resolved, returns the approvers of all stages.
fn collect_recipients(
    interrupt: &Interrupt,
    occasion: Occasion,
    told: Option<&[String]>,
) -> NoticeRecipients {
    let cut = |names: Vec<String>| names.into_iter().take(limits::ASSIGNED).collect::<Vec<_>>();
    let stages = &interrupt.assignment.stages;
    let of = if occasion.asks() { interrupt.stage_now()..interrupt.stage_now() + 1 } else { 0..stages.len() };
    let of = stages.get(of).unwrap_or_default();
    let mut groups: Vec<String> = of.iter().flat_map(|stage| stage.groups.iter().cloned()).collect();
    let mut people: Vec<String> = of.iter().flat_map(|stage| stage.approvers.iter().cloned()).collect();
    people.extend(interrupt.delegations.iter().map(|delegation| delegation.to.clone()));
    people.extend(told.into_iter().flatten().cloned());
    for names in [&mut people, &mut groups] {
        names.sort();
        names.dedup();
    }
    let is_named = !people.is_empty() || !groups.is_empty();
    NoticeRecipients {
        people: cut(people),
        groups: cut(groups),
        operators: is_named && of.iter().any(Stage::is_open),
    }
}
