//! Seats: the stages in which a person can vote, as approver or as delegate. This module also finds votes that have
//! become invalid.

use std::collections::BTreeSet;

use super::{Ballot, Delegation, Interrupt, Offer, Refusal, Seat, Stage, Vote};
use crate::actor::{Actor, Role};
use crate::name::is_same;
use crate::people::People;
use crate::rights::{self, Extent, Permission};
use crate::time::Timestamp;

/// Person who acts on an interrupt, with everything that determines the person's rights.
#[derive(Clone, Copy, Debug)]
pub struct Voter<'a> {
    pub actor: &'a Actor,
    pub people: &'a People,
    /// Actor who started the run.
    pub starter: Option<&'a Actor>,
    pub now: Timestamp,
}

/// Votes that a stage still needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingVotes {
    /// Number of people who must still agree in addition to the people who have agreed.
    pub needed: u32,
    /// Named people and groups whose agreement is required but missing.
    pub missing: Vec<String>,
}

impl Interrupt {
    /// Checks that the person is allowed to decide in at least one stage, as approver or as delegate.
    pub fn may_take_part(&self, voter: &Voter<'_>) -> Result<(), Refusal> {
        has_role(voter)?;
        let sits = (0..self.assignment.stages.len()).any(|stage| self.sits_in(voter, stage));
        if sits { Ok(()) } else { Err(Refusal::NotAnApprover) }
    }

    /// Returns the seat that the person would get by voting now for this option with this edit. The seat consists of
    /// the stage in which the vote counts, the approver whom the voter represents (if any), and the groups for which
    /// the vote counts.
    pub(super) fn seat(
        &self,
        voter: &Voter<'_>,
        offer: &Offer,
        edit_of: Option<u64>,
    ) -> Result<Seat, Refusal> {
        self.may_take_part(voter)?;
        let who = voter.actor.id.as_str();
        let releases = offer.effect.lets_go_on();
        // Three people may not release the work: its author, the author's delegate, and a person who signed in with a
        // login link of the author.
        let is_own = |id: &str| {
            let started = voter.starter.is_some_and(|starter| starter.responsible_people().includes(id));
            let own = started || self.wrote(id, edit_of);
            releases && !self.assignment.self_approval && own
        };
        if is_own(who) || is_own(voter.actor.hand()) {
            return Err(Refusal::OwnWork);
        }
        let is_counted = releases || self.is_gathered(offer);
        let agreed = if is_counted { self.agreeing(offer, edit_of) } else { self.leading() };
        // Seats are computed with the person's current vote and also without it, because the person may change the
        // vote.
        let others: Vec<&Vote> = agreed.iter().filter(|vote| vote.by != who).copied().collect();
        // A new edit has no votes yet. A vote for the new edit counts in the stage that the leading votes have reached.
        let is_new = edit_of.is_some_and(|seq| !self.authors.contains_key(&seq));
        let leading = is_new.then(|| self.leading());
        let (mut reached, mut only_own) = (None, false);
        for votes in [Some(&agreed), Some(&others), leading.as_ref()].into_iter().flatten() {
            let last = self.assignment.stages.len().saturating_sub(1);
            let stage = self.assignment.stage(&self.counted(votes)).unwrap_or(last);
            reached.get_or_insert(stage);
            let free = self.seats_in(voter, stage, &is_own);
            only_own |= free.is_empty() && self.sits_in(voter, stage);
            let sits_elsewhere = |seat: &Seat| {
                let is_same = |vote: &&Vote| {
                    let of = [vote.by.as_str(), vote.principal(), vote.hand()];
                    let voters = [who, seat.principal(who), voter.actor.hand()];
                    voters.iter().any(|id| of.iter().any(|other| is_same(id, other)))
                };
                self.assignment.distinct && votes.iter().filter(|vote| vote.seat.stage != stage).any(is_same)
            };
            let mut seats = free.into_iter().filter(|seat| !sits_elsewhere(seat)).peekable();
            if seats.peek().is_some() {
                let leaves_enough =
                    |seat: &Seat| !is_counted || self.leaves_enough(voter, offer, edit_of, seat);
                return seats.find(leaves_enough).ok_or(Refusal::NeededElsewhere);
            }
        }
        if only_own {
            return Err(Refusal::OwnWork);
        }
        Err(Refusal::NotYourStage { stage: reached.unwrap_or_default() + 1 })
    }

    /// Returns true if enough people would be left to complete all stages after this vote. Also returns true if there
    /// were too few people even before this vote.
    fn leaves_enough(&self, voter: &Voter<'_>, offer: &Offer, edit_of: Option<u64>, seat: &Seat) -> bool {
        let who = voter.actor.id.as_str();
        // If the assignment has a single stage, no people must remain for a later stage.
        if self.assignment.stages.len() == 1 {
            return true;
        }
        let is_new = edit_of.is_some_and(|seq| !self.authors.contains_key(&seq));
        if is_new && !self.assignment.self_approval {
            // The author's vote for the new edit does not count. People can still agree on the version before the edit.
            return true;
        }
        let barred = self.whose_own(voter.starter.map(|starter| starter.id.as_str()), edit_of);
        let is_replaced =
            |vote: &Vote| vote.by == who && (self.assignment.distinct || vote.seat.stage == seat.stage);
        let mut agreed = self.agreeing(offer, edit_of);
        agreed.retain(|vote| !is_replaced(vote));
        let mut ballots = self.counted(&agreed);
        let is_in_reach =
            |ballots: &[Ballot<'_>]| self.assignment.is_in_reach(ballots, voter.people, &barred);
        if !is_in_reach(&ballots) {
            return true;
        }
        ballots.push(Ballot { by: who, seat });
        is_in_reach(&ballots)
    }

    /// Returns the people who must not approve their own work: the person who started the run, and the author of the
    /// edit. Without an edit, the author of the original work is used instead of the author of the edit.
    fn whose_own<'s>(&'s self, starter: Option<&'s str>, edit_of: Option<u64>) -> BTreeSet<&'s str> {
        let authors = self.author(edit_of).into_iter().flat_map(|author| [&*author.id, author.hand()]);
        starter.into_iter().chain(authors).filter(|_| !self.assignment.self_approval).collect()
    }

    /// Returns the seat (stage and represented approver) that the person would get by agreeing with the latest vote.
    /// Without an earlier vote, returns the seat for a first vote.
    pub fn seat_now(&self, voter: &Voter<'_>) -> Result<Seat, Refusal> {
        let newest = self.votes.last();
        let agrees = newest.and_then(|vote| Some((self.offers(&vote.option)?, vote.edit_of)));
        let releases = || self.opened.options.iter().find(|offer| offer.effect.lets_go_on());
        let first = || releases().or_else(|| self.opened.options.first()).map(|offer| (offer, None));
        match agrees.or_else(first) {
            Some((offer, edit_of)) => self.seat(voter, offer, edit_of),
            None => self.may_take_part(voter).map(|()| Seat::default()),
        }
    }

    /// Returns the votes that a stage still needs in addition to the votes that agree with the latest vote.
    pub fn missing_votes(&self, stage: usize) -> MissingVotes {
        let Some(of) = self.assignment.stages.get(stage) else { return MissingVotes::default() };
        let counted = self.counted(&self.leading());
        let here: Vec<_> = counted.iter().filter(|ballot| ballot.seat.stage == stage).copied().collect();
        let missing: Vec<String> = of.missing(&here).into_iter().map(str::to_owned).collect();
        let needed = (of.required.max(1) as usize).saturating_sub(Stage::different(&here));
        MissingVotes { needed: u32::try_from(needed).unwrap_or(u32::MAX), missing }
    }

    /// Returns the latest vote, and all votes that agree with it.
    fn leading(&self) -> Vec<&Vote> {
        let newest = self.votes.last();
        let chosen = newest.and_then(|vote| Some((self.offers(&vote.option)?, vote.edit_of)));
        chosen.map(|(offer, edit_of)| self.agreeing(offer, edit_of)).unwrap_or_default()
    }

    /// Returns the index of the stage that needs the next vote.
    pub fn stage_now(&self) -> usize {
        self.assignment.stage(&self.counted(&self.leading())).unwrap_or_default()
    }

    pub(super) fn sits_in(&self, voter: &Voter<'_>, stage: usize) -> bool {
        !self.seats_in(voter, stage, &|_| false).is_empty()
    }

    /// Returns true if the person is allowed to decide in at least one stage: by name, through a group, or as a
    /// delegate.
    pub(super) fn asks(&self, id: &str, people: &People, now: Timestamp) -> bool {
        let stood_in_for = self.stood_in_for(id, people, now, &|_| false);
        stood_in_for.into_iter().chain([id]).any(|id| self.assignment.is_for(id, people))
    }

    /// Returns the seats that the person can take in a stage: first as an approver, then as a delegate of each person
    /// whom the voter can represent. People in `barred` cannot be represented.
    fn seats_in(&self, voter: &Voter<'_>, stage: usize, barred: &dyn Fn(&str) -> bool) -> Vec<Seat> {
        let Some(of) = self.assignment.stages.get(stage) else { return Vec::new() };
        let Voter { actor, people, now, .. } = *voter;
        let sits = match rights::extent(actor.role, Permission::Decide) {
            Extent::Nothing | Extent::Own => return Vec::new(),
            Extent::Assigned => of.names(&actor.id, people),
            Extent::Unassigned => of.is_open() || of.names(&actor.id, people),
            Extent::All => true,
        };
        let own = sits.then(|| Seat { stage, in_place_of: None, groups: of.groups_of(&actor.id, people) });
        let others = self.stood_in_for(&actor.id, people, now, barred);
        let others = others.into_iter().filter(|id| of.is_for(id, people));
        let in_place_of =
            |id: &str| Seat { stage, in_place_of: Some(id.to_owned()), groups: of.groups_of(id, people) };
        own.into_iter().chain(others.map(in_place_of)).collect()
    }

    /// Returns all people whom this person can represent: absent people, people who delegated this interrupt, and the
    /// people whom those people represent. Leaves out people in `barred`, and their delegations.
    fn stood_in_for<'s>(
        &'s self,
        id: &str,
        people: &'s People,
        now: Timestamp,
        barred: &dyn Fn(&str) -> bool,
    ) -> BTreeSet<&'s str> {
        let given: Vec<&Delegation> =
            self.delegations.iter().filter(|one| one.until.is_none_or(|until| until > now)).collect();
        let (mut found, mut news) = (BTreeSet::new(), vec![id]);
        while let Some(next) = news.pop() {
            let from = given.iter().filter(|one| one.to == next).map(|one| one.from.as_str());
            for from in from.chain(people.naming(next, now)) {
                // A delegation back to an earlier person adds nobody, and neither does a delegation by a person who has
                // left.
                if from != id && people.can_decide(from) && !barred(from) && found.insert(from) {
                    news.push(from);
                }
            }
        }
        found
    }

    /// Returns all voters if the votes so far block the assignment: enough people are left only if all votes are
    /// withdrawn. This happens, for example, if an approver has left and an earlier voter is now needed in another
    /// stage.
    pub fn out_of_reach(&self, people: &People, starter: Option<&str>) -> BTreeSet<String> {
        let votes = self.leading();
        if votes.is_empty() {
            return BTreeSet::new();
        }
        let barred = self.whose_own(starter, None);
        let is_in_reach = |ballots: &[Ballot<'_>]| self.assignment.is_in_reach(ballots, people, &barred);
        if is_in_reach(&self.counted(&votes)) || !is_in_reach(&[]) {
            return BTreeSet::new();
        }
        votes.into_iter().map(|vote| vote.by.clone()).collect()
    }

    /// Returns the voters whose votes have become invalid. A vote becomes invalid if the voter has left, or may no
    /// longer decide in the stage for which the vote was counted.
    pub fn unseated(&self, people: &People) -> Vec<String> {
        let sits = |vote: &Vote| {
            let Some(of) = self.assignment.stages.get(vote.seat.stage) else { return false };
            let who = vote.principal();
            // The roles of a person who is not in the list of people come from another source. Such roles are checked
            // with each vote.
            let is_operator =
                of.is_open() && (people.roles(who).is_empty() || people.decides_unassigned(who));
            // The voter must still be a member of all groups for which the vote was counted.
            let groups = of.groups_of(who, people);
            let speaks = vote.seat.groups.iter().all(|group| groups.contains(group));
            speaks
                && (is_operator || of.names(who, people))
                && !people.is_barred(&vote.by)
                && !people.is_barred(who)
        };
        let lost: BTreeSet<&String> =
            self.votes.iter().filter(|vote| !sits(vote)).map(|vote| &vote.by).collect();
        lost.into_iter().cloned().collect()
    }
}

/// Checks that the person is allowed to decide in the role with which the person signed in. The roles of the person may
/// have changed since then.
fn has_role(voter: &Voter<'_>) -> Result<(), Refusal> {
    let Voter { actor, people, .. } = *voter;
    let decides = match rights::extent(actor.role, Permission::Decide) {
        Extent::Nothing | Extent::Own => false,
        Extent::Assigned | Extent::Unassigned | Extent::All => true,
    };
    let roles = people.roles(&actor.id);
    let has_it = roles.is_empty() || roles.contains(&actor.role) || actor.role == Role::Engine;
    if decides && has_it && !people.is_barred(&actor.id) { Ok(()) } else { Err(Refusal::Role) }
}
