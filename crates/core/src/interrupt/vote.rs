//! Votes: the decisions on an interrupt, and which of them settles it.
//!
//! A vote that stops work or replaces it settles at once. A vote that releases work needs as many different people as
//! the quorum says. Their votes must be for the same effect and the same edit. A person's later vote replaces their
//! earlier one.

use serde_json::Value;

use super::{Cause, Effect, Interrupt, Offer, Opened};
use crate::id::InterruptId;
use crate::time::Timestamp;

/// A decision as it stands in the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Vote {
    pub by: String,
    pub option: String,
    pub text: Option<String>,
    pub edit: Value,
    /// The sequence of the decision that brought this edit; `None` without one.
    pub edit_of: Option<u64>,
    /// The answer to an earlier question that it was taken from.
    pub from: Option<InterruptId>,
    pub at: Timestamp,
    /// Of its `decision_made`, in the run's stream.
    pub seq: u64,
}

/// The sequence of the decision that settled what was resolved by the event `seq`. Journals of version 1 do not name it:
/// there it is the event before.
pub(super) fn settling_seq(seq: u64, cause: &Cause, named: Option<u64>) -> Option<u64> {
    named.or_else(|| (*cause == Cause::Decision).then(|| seq.saturating_sub(1)))
}

/// What an interrupt is settled by.
#[derive(Clone, Debug)]
pub struct Settled<'a> {
    pub vote: &'a Vote,
    /// The option of that vote, which takes effect.
    pub offer: &'a Offer,
    /// Those that agree, in the order in which they were cast.
    pub agreed: Vec<&'a Vote>,
}

/// What the newest vote settles. `None`: more people have to agree.
pub fn settled<'a>(opened: &'a Opened, votes: &'a [Vote]) -> Option<Settled<'a>> {
    let offer = |vote: &Vote| opened.options.iter().find(|offer| offer.id == vote.option);
    let newest = votes.last()?;
    let chosen = offer(newest)?;
    if !chosen.effect.lets_go_on() {
        return Some(Settled { vote: newest, offer: chosen, agreed: vec![newest] });
    }
    let says_so = |vote: &&Vote| {
        let agrees = |offer: &Offer| offer.effect.agrees_with(chosen.effect);
        vote.edit_of == newest.edit_of && offer(vote).is_some_and(agrees)
    };
    let agreed: Vec<&Vote> = votes.iter().filter(says_so).collect();
    if agreed.len() < opened.quorum.max(1) as usize {
        return None;
    }
    // Who allowed it once has not allowed it for the session.
    let only_once = |vote: &&&Vote| offer(vote).is_some_and(|offer| offer.effect != Effect::Grant);
    let vote = agreed.iter().rev().find(only_once).copied().unwrap_or(newest);
    Some(Settled { vote, offer: offer(vote)?, agreed })
}

impl Interrupt {
    /// Adds a vote to those that stand.
    pub fn cast(&mut self, vote: Vote) {
        let takes_back = |other: &Vote| vote.edit_of.is_some() && other.edit_of != vote.edit_of;
        self.votes.retain(|other| other.by != vote.by && !takes_back(other));
        self.votes.push(vote);
    }

    /// What a decision with this edit says that it agrees with, were it written as the event `seq`.
    pub fn edit_of(&self, edit: &Value, seq: u64) -> Option<u64> {
        let same = |vote: &&Vote| vote.edit_of.is_some() && vote.edit == *edit;
        let first = || self.votes.iter().find(same).and_then(|vote| vote.edit_of);
        (!edit.is_null()).then(|| first().unwrap_or(seq))
    }

    /// The vote that settled it, where a decision did.
    pub fn settled_by(&self) -> Option<&Vote> {
        let seq = self.resolution.as_ref()?.decision?;
        self.votes.iter().find(|vote| vote.seq == seq)
    }

    /// What those who agreed said with it.
    pub fn said(&self) -> Option<String> {
        let agreed = self.agreed();
        let said: Vec<&str> = agreed.iter().filter_map(|vote| vote.text.as_deref()).collect();
        (!said.is_empty()).then(|| said.join("\n"))
    }

    /// Who agreed on how it was settled, in the order in which they did.
    pub fn agreed(&self) -> Vec<&Vote> {
        let by_votes = self.settled_by().is_some();
        let settled = settled(&self.opened, &self.votes).filter(|_| by_votes);
        settled.map(|settled| settled.agreed).unwrap_or_default()
    }
}
