//! Counts the votes on an interrupt, and finds the vote that decides it.
//!
//! A vote to stop or to replace work decides the interrupt at once. Votes to approve work decide the interrupt when
//! they satisfy all stages of the assignment. Approving votes are counted together if they have the same effect and the
//! same edit. If a person votes again in a stage, the new vote replaces the earlier vote. A question to several people
//! is decided when enough of these people have answered. The answers of these people may differ.

use std::collections::BTreeMap;

use serde_json::Value;

use super::assignment::Ballot;
use super::{Cause, Effect, Interrupt, Kind, Offer, Vote};
use crate::actor::Actor;

/// Decided option of an interrupt, together with the votes for it.
#[derive(Clone, Debug)]
pub struct Settlement<'a> {
    pub vote: &'a Vote,
    /// Option of the decisive vote. This option is applied to the interrupt.
    pub offer: &'a Offer,
    /// Votes that agree with the decisive vote, the oldest first.
    pub agreed: Vec<&'a Vote>,
}

impl Interrupt {
    /// Returns the option that the latest vote decides, together with the votes for the option. `None` if more people
    /// must agree.
    pub fn settles(&self) -> Option<Settlement<'_>> {
        let newest = self.votes.last()?;
        let chosen = self.offers(&newest.option)?;
        let is_gathered = self.is_gathered(chosen);
        if !chosen.effect.lets_go_on() && !is_gathered {
            return Some(Settlement { vote: newest, offer: chosen, agreed: vec![newest] });
        }
        let agreed = self.agreeing(chosen, newest.edit_of);
        if self.assignment.stage(&self.counted(&agreed)).is_some() {
            return None;
        }
        // If one of the votes approves only a single call, the agreement does not approve further calls of the session.
        let offer = |vote: &Vote| self.offers(&vote.option);
        let only_once = |vote: &&&Vote| offer(vote).is_some_and(|offer| offer.effect != Effect::Grant);
        let vote = agreed.iter().rev().find(only_once).copied().unwrap_or(newest);
        Some(Settlement { vote, offer: offer(vote)?, agreed })
    }

    /// Returns true if the interrupt is a question that several people must each answer.
    pub fn is_gathered(&self, offer: &Offer) -> bool {
        let answers = self.opened.kind == Kind::Question && offer.effect == Effect::Respond;
        answers && !self.assignment.takes_one()
    }

    /// Returns the votes that agree with an option and an edit.
    pub(super) fn agreeing(&self, chosen: &Offer, edit_of: Option<u64>) -> Vec<&Vote> {
        let is_gathered = self.is_gathered(chosen);
        let says_so = |vote: &&Vote| {
            let agrees = |offer: &Offer| offer.effect.agrees_with(chosen.effect);
            (is_gathered || vote.edit_of == edit_of) && self.offers(&vote.option).is_some_and(agrees)
        };
        self.votes.iter().filter(says_so).collect()
    }

    /// Returns the ballots for the votes in `agreed` that are counted. If self-approval is not allowed, an author's
    /// vote for the author's own work is not counted. If one person voted under several names, only the first of these
    /// votes is counted.
    pub(super) fn counted<'v>(&self, agreed: &[&'v Vote]) -> Vec<Ballot<'v>> {
        let may_be_own = self.assignment.self_approval || self.opened.kind == Kind::Question;
        let is_own = |vote: &Vote| {
            let whose = [vote.by.as_str(), vote.principal(), vote.hand()];
            whose.into_iter().any(|id| self.wrote(id, vote.edit_of))
        };
        let mut counted: Vec<&Vote> = Vec::new();
        for vote in agreed.iter().copied().filter(|vote| may_be_own || !is_own(vote)) {
            let is_once_more = |other: &&Vote| {
                (self.assignment.distinct || other.seat.stage == vote.seat.stage)
                    && vote.is_of_one_hand(other)
            };
            if !counted.iter().any(is_once_more) {
                counted.push(vote);
            }
        }
        counted.into_iter().map(|vote| Ballot { by: &vote.by, seat: &vote.seat }).collect()
    }

    /// Returns true if the person wrote this edit, or created the login link with which the author of the edit signed
    /// in. Without an edit, examines the author of the original work.
    pub(super) fn wrote(&self, who: &str, edit_of: Option<u64>) -> bool {
        self.author(edit_of).is_some_and(|author| author.responsible_people().includes(who))
    }

    /// Returns the author of the original work, and the authors of all edits for which there are current votes.
    pub(super) fn standing_authors(&self) -> impl Iterator<Item = &Actor> {
        let edits = self.votes.iter().filter_map(|vote| self.authors.get(&vote.edit_of?));
        self.written_by.iter().chain(edits)
    }

    pub(super) fn author(&self, edit_of: Option<u64>) -> Option<&Actor> {
        edit_of.map_or(self.written_by.as_ref(), |seq| self.authors.get(&seq))
    }
}

impl Interrupt {
    /// Adds a vote, and removes the votes that the new vote replaces.
    pub fn cast(&mut self, vote: Vote) {
        let is_gathered = self.offers(&vote.option).is_some_and(|offer| self.is_gathered(offer));
        // Votes from before this edit approved the version without the edit.
        let resets = |other: &Vote| !is_gathered && vote.edit_of.is_some() && other.edit_of != vote.edit_of;
        let replaces = |other: &Vote| {
            other.by == vote.by && (self.assignment.distinct || other.seat.stage == vote.seat.stage)
        };
        self.votes.retain(|other| !replaces(other) && !resets(other));
        if let Some(seq) = vote.edit_of {
            let (id, let_in_by) = (vote.by.clone(), vote.let_in_by.clone());
            self.authors.entry(seq).or_insert(Actor { id, role: vote.role, via: None, let_in_by });
        }
        self.votes.push(vote);
    }

    /// Returns the sequence number of the decision that contained this edit first. Returns `seq` if the edit is new,
    /// and `None` if there is no edit.
    pub fn edit_of(&self, edit: &Value, seq: u64) -> Option<u64> {
        let same = |vote: &&Vote| vote.edit_of.is_some() && vote.edit == *edit;
        let first = || self.votes.iter().find(same).and_then(|vote| vote.edit_of);
        (!edit.is_null()).then(|| first().unwrap_or(seq))
    }

    /// Returns the vote that decided the interrupt. `None` if no vote decided the interrupt.
    pub fn settled_by(&self) -> Option<&Vote> {
        let seq = self.resolution.as_ref()?.decision?;
        self.votes.iter().find(|vote| vote.seq == seq)
    }

    /// Returns the texts of all votes that agree with the decisive vote.
    pub fn agreed_text(&self) -> Option<String> {
        let agreed = self.agreed();
        let said: Vec<&str> =
            agreed.iter().filter_map(|vote| vote.text.as_deref()).filter(|text| !text.is_empty()).collect();
        (!said.is_empty()).then(|| said.join("\n"))
    }

    /// Returns the people who decided the interrupt. Empty if no person decided. If a grant allowed the call, returns
    /// the person who gave the grant.
    pub fn decided_by(&self) -> Vec<String> {
        let Some(resolution) = &self.resolution else { return Vec::new() };
        match resolution.cause {
            Cause::Decision => self.agreed().iter().map(|vote| vote.by.clone()).collect(),
            Cause::Grant(_) | Cause::Withdrawn => vec![resolution.by.clone()],
            Cause::Expiry
            | Cause::Unasked
            | Cause::Rule { .. }
            | Cause::Reused(_)
            | Cause::Superseded
            | Cause::RunEnded => Vec::new(),
        }
    }

    /// Returns the person that each voter acted for, as the voters' clients reported it. The key is the id of the
    /// voter.
    pub fn on_behalf_of(&self) -> BTreeMap<String, String> {
        let agreed = self.agreed().into_iter();
        agreed.filter_map(|vote| Some((vote.by.clone(), vote.on_behalf_of.clone()?))).collect()
    }

    /// Returns the creator of the login link with which each voter signed in. The key is the id of the voter.
    pub fn let_in_by(&self) -> BTreeMap<String, String> {
        let agreed = self.agreed().into_iter();
        agreed.filter_map(|vote| Some((vote.by.clone(), vote.let_in_by.clone()?))).collect()
    }

    /// Returns the votes that agree with the decisive vote, the oldest first.
    pub fn agreed(&self) -> Vec<&Vote> {
        let by_votes = self.settled_by().is_some();
        self.settles().filter(|_| by_votes).map(|settled| settled.agreed).unwrap_or_default()
    }
}
