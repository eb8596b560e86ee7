//! Notices: what people are to be told of, taken from the events of one append.
//!
//! A notice holds facts, never content: ids, a kind, a risk, who is asked. What was opened and resolved at once, because
//! nobody had to be asked, is no notice.

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
use crate::system::checkpoint::Covered;
use crate::time::Timestamp;

/// Why somebody is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occasion {
    /// Something is asked.
    Opened,
    /// It is others' turn: the next stage, or to whom it was handed on.
    Asked,
    Reminded,
    Escalated,
    /// It was decided, or is not needed any more.
    Resolved,
    /// Nobody decided in time.
    Expired,
    /// A [checkpoint](crate::system::checkpoint) of the journal was signed. Told only to channels that name it.
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

    /// Of a resolution.
    fn of(outcome: Outcome) -> Self {
        if outcome == Outcome::Expired { Self::Expired } else { Self::Resolved }
    }

    /// Whether it asks somebody to decide: no use once that is done.
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
    /// Of the event in the run's stream.
    pub seq: u64,
    pub session: SessionId,
    pub workflow: String,
    pub interrupt: InterruptId,
    pub kind: Kind,
    pub risk: Level,
    /// Who is asked, or told again, by id. With no group either: admins and operators.
    pub people: Vec<String>,
    pub groups: Vec<String>,
    /// Admins and operators too, where others are named.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub operators: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Whose votes settled it, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// Whom it names, by id: a reminder or an escalation those who are asked and have not voted; to whom one of them handed on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<String>,
    /// Whom the delivery is for, where a channel has one for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Recipient>,
}

/// One of those whom a channel tells apart from the others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recipient {
    /// By id. Where they are reached is looked up when it is sent.
    Person(String),
    /// As the channel is configured.
    Address(String),
    /// One browser of a person. Where it is, is looked up when it is sent.
    Browser { person: String, push: PushId },
}

impl Recipient {
    /// By id; `None`: it is known of nobody here.
    pub fn person(&self) -> Option<&str> {
        match self {
            Self::Person(id) | Self::Browser { person: id, .. } => Some(id),
            Self::Address(_) => None,
        }
    }
}

impl Notice {
    /// The people that it is for: whom a reminder names; otherwise who is named, and who is in a group that is. Where nobody
    /// is, or they are asked too, who may decide what is assigned to nobody. In the place of whoever is away, who stands in for them. None that is
    /// only a key.
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

    /// The browsers of the people that it is for. The operator of this machine, whom no source names, is one of these.
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

/// Notice of a checkpoint of the journal. It holds no content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointNotice {
    pub at: Timestamp,
    pub covered: Covered,
    /// The signed note, as `audit verify --against` reads it.
    pub note: String,
    /// The key that checks it.
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Recipient>,
}

/// What the events of one append say, the first of which has this sequence in the run's stream. `before` and `run`: as it was
/// and as it is after them. Of one interrupt the same is said once.
pub fn notices(before: &Run, run: &Run, first_seq: u64, events: &[Event]) -> Vec<Notice> {
    let mut found: BTreeMap<(InterruptId, Occasion), Notice> = BTreeMap::new();
    for (seq, at, fact) in facts(first_seq, events) {
        let Some((id, occasion, told)) = occasion(before, run, fact) else { continue };
        let Some(interrupt) = run.interrupts.get(id) else { continue };
        let was_there = before.interrupts.contains_key(id);
        // A question that is asked and answered in one append asked nobody.
        if interrupt.is_open() != occasion.asks() || (!was_there && !interrupt.is_open()) {
            continue;
        }
        let Some(notice) = notice(run, interrupt, (seq, at), occasion, told) else { continue };
        found.insert((id.clone(), occasion), notice);
    }
    // Who is asked from the start is not told once more that it is their turn.
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

/// What whoever asked is told where they [said](crate::interrupt::Opened::callback): of each interrupt that these events
/// resolve, also of one that nobody had to be asked. `run`: as it is after them.
pub fn callbacks(run: &Run, first_seq: u64, events: &[Event]) -> Vec<Notice> {
    let resolved = facts(first_seq, events).filter_map(|(seq, at, fact)| {
        let Fact::InterruptResolved { interrupt, outcome, .. } = fact else { return None };
        let interrupt = run.interrupts.get(interrupt).filter(|interrupt| interrupt.opened.callback)?;
        notice(run, interrupt, (seq, at), Occasion::of(*outcome), None)
    });
    resolved.collect()
}

/// Those of the run, with the sequence of each in its stream.
fn facts(first_seq: u64, events: &[Event]) -> impl Iterator<Item = (u64, Timestamp, &Fact)> {
    let facts = events.iter().filter_map(|event| match &event.fact {
        event::Fact::Run(fact) => Some((event.at, fact)),
        event::Fact::Session(_) | event::Fact::System(_) => None,
    });
    (first_seq..).zip(facts).map(|(seq, (at, fact))| (seq, at, fact))
}

/// `None`: the run has not begun.
fn notice(
    run: &Run,
    interrupt: &Interrupt,
    (seq, at): (u64, Timestamp),
    occasion: Occasion,
    told: Option<&[String]>,
) -> Option<Notice> {
    let Asked { people, groups, operators } = asked(interrupt, occasion, told);
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

/// Of which interrupt an event tells, why, and whom it names.
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
    // The others were asked before, and are still.
    if let Fact::InterruptDelegated { interrupt, delegation } = fact {
        return Some((interrupt, Occasion::Asked, Some(std::slice::from_ref(&delegation.to))));
    }
    if let Fact::DecisionMade { interrupt, .. } = fact {
        let stage = |run: &Run| run.interrupts.get(interrupt).map(|interrupt| interrupt.stage_now());
        let is_next = stage(before).is_some_and(|was| stage(run).is_some_and(|is| is > was));
        return is_next.then_some((interrupt, Occasion::Asked, None));
    }
    if let Fact::InterruptResolved { interrupt, outcome, .. } = fact {
        return Some((interrupt, Occasion::of(*outcome), None));
    }
    None
}

struct Asked {
    people: Vec<String>,
    groups: Vec<String>,
    operators: bool,
}

/// Whom it is for. While it is open these are the people and groups of the stage that it is at; then all who were asked.
fn asked(interrupt: &Interrupt, occasion: Occasion, told: Option<&[String]>) -> Asked {
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
    Asked { people: cut(people), groups: cut(groups), operators: is_named && of.iter().any(Stage::is_open) }
}
