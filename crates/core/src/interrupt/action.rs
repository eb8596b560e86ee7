//! What people do with an interrupt that resolves nothing: claim it, let it go, comment on it, take a vote back, have
//! somebody else decide.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Interrupt, Offer, Refusal, Seat, Vote};
use crate::actor::{Actor, Role};
use crate::limits;
use crate::rights::{self, Extent, Permission};
use crate::run::Fact;
use crate::schema::Problem;
use crate::system::people::People;
use crate::time::Timestamp;

/// Somebody who wants to do something with an interrupt, and what it depends on whether they may.
#[derive(Clone, Copy, Debug)]
pub struct Voter<'a> {
    pub actor: &'a Actor,
    pub people: &'a People,
    /// Who started the run.
    pub starter: Option<&'a str>,
    pub now: Timestamp,
}

/// What a stage lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// How many more people have to agree.
    pub needed: u32,
    /// Those people and groups that are named, have to agree, and have not.
    pub missing: Vec<String>,
}

/// Somebody asked somebody else to decide in their place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delegation {
    pub from: String,
    pub to: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// Somebody is at it. A claim keeps nobody from deciding; of a call that a client runs it says which client has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub by: String,
    /// Which client of theirs has it, where that matters: two windows of one person are two.
    pub holder: Option<Holder>,
    pub at: Timestamp,
    /// The event that says so.
    pub seq: u64,
}

/// One connection of a client: the node that it is connected to, and its number there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holder {
    /// The first epoch that the node drew.
    pub node: u64,
    pub number: u64,
}

/// What somebody said about an interrupt, beside any decision. The text is `None` once it is erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    pub by: String,
    pub text: Option<String>,
    pub at: Timestamp,
    pub seq: u64,
}

impl Interrupt {
    /// Whether a claim is news. `over` names the claim that it takes over.
    pub fn check_claim(
        &self,
        voter: &Voter<'_>,
        holder: Option<&Holder>,
        over: Option<u64>,
    ) -> Result<bool, Refusal> {
        self.may_act(voter)?;
        let actor = voter.actor;
        match &self.claim {
            Some(claim) if claim.by == actor.id && claim.holder.as_ref() == holder => Ok(false),
            Some(claim) if over != Some(claim.seq) => Err(Refusal::Claimed { by: claim.by.clone() }),
            Some(_) | None if self.claims >= limits::CLAIMS => {
                Err(Refusal::Limit { name: "claims", limit: limits::CLAIMS.into() })
            }
            Some(_) | None => Ok(true),
        }
    }

    /// Whether letting it go is news. Admins let go what other people have claimed; what a client has, that client
    /// alone lets go. A claim on an approval outlives it, for the call that it releases inherits the claim.
    pub fn check_release(&self, voter: &Voter<'_>, holder: Option<&Holder>) -> Result<bool, Refusal> {
        self.may_take_part(voter)?;
        let actor = voter.actor;
        let Some(claim) = &self.claim else { return Ok(false) };
        let is_theirs = claim.by == actor.id && claim.holder.as_ref() == holder;
        let may = is_theirs || (claim.holder.is_none() && actor.role == Role::Admin);
        if may { Ok(true) } else { Err(Refusal::Claimed { by: claim.by.clone() }) }
    }

    /// Comments are taken also after the resolution: people say why later.
    pub fn check_comment(&self, voter: &Voter<'_>, text: &str) -> Result<(), Refusal> {
        self.may_take_part(voter)?;
        let problem = if text.trim().is_empty() {
            "is empty".to_owned()
        } else if text.len() > limits::TEXT_BYTES {
            format!("is longer than {} bytes", limits::TEXT_BYTES)
        } else if self.comments.len() >= limits::COMMENTS {
            format!("is one too many: an interrupt has at most {} comments", limits::COMMENTS)
        } else {
            return Ok(());
        };
        Err(Refusal::Invalid(vec![Problem::new("/text", problem)]))
    }

    /// The standing vote of somebody, which they take back.
    pub fn check_take_back(&self, voter: &Voter<'_>) -> Result<(), Refusal> {
        self.may_act(voter)?;
        let has_voted = self.votes.iter().any(|vote| vote.by == voter.actor.id);
        if has_voted { Ok(()) } else { Err(Refusal::NoVote) }
    }

    /// Whether somebody may say who decides instead of those who do now.
    pub fn check_reassign(&self, voter: &Voter<'_>) -> Result<(), Refusal> {
        match rights::extent(voter.actor.role, Permission::Assign) {
            Extent::All => {}
            Extent::Assigned | Extent::Unassigned => self.may_take_part(voter)?,
            Extent::Nothing | Extent::Own => return Err(Refusal::Role),
        }
        if self.is_open() { Ok(()) } else { Err(Refusal::AlreadyResolved) }
    }

    /// Whether `from` may be decided for by `to`.
    pub fn check_delegate(&self, voter: &Voter<'_>, delegation: &Delegation) -> Result<(), Refusal> {
        self.check_reassign(voter)?;
        let Delegation { from, to, until } = delegation;
        let of_others = rights::extent(voter.actor.role, Permission::Assign) != Extent::All;
        if of_others && *from != voter.actor.id {
            return Err(Refusal::Role);
        }
        let mut problems = Vec::new();
        if !self.assignment.is_for(from, voter.people) {
            problems.push(Problem::new("/from", format!("`{from}` is not asked here")));
        }
        if from == to {
            problems.push(Problem::new("/to", "is the same person"));
        } else if !voter.people.can_decide(to) {
            problems.push(Problem::new("/to", format!("nobody who may decide is `{to}`")));
        }
        if until.is_some_and(|until| until <= voter.now) {
            problems.push(Problem::new("/until", "is over already"));
        }
        if self.delegations.len() >= limits::DELEGATIONS {
            problems
                .push(Problem::new("/to", format!("there are {} delegations already", limits::DELEGATIONS)));
        }
        if problems.is_empty() { Ok(()) } else { Err(Refusal::Invalid(problems)) }
    }

    /// Whether somebody may decide on it now, and there is something to decide.
    fn may_act(&self, voter: &Voter<'_>) -> Result<(), Refusal> {
        self.may_take_part(voter)?;
        if self.is_open() { Ok(()) } else { Err(Refusal::AlreadyResolved) }
    }

    /// Whether it is somebody's to decide, in one of its stages or in the place of somebody.
    pub fn may_take_part(&self, voter: &Voter<'_>) -> Result<(), Refusal> {
        has_role(voter.actor)?;
        let sits = (0..self.assignment.stages.len()).any(|stage| self.seat_in(voter, stage).is_some());
        if sits { Ok(()) } else { Err(Refusal::NotAnApprover) }
    }

    /// What a vote of somebody for this option and this edit counts as, were it cast now.
    pub(super) fn seat(
        &self,
        voter: &Voter<'_>,
        offer: &Offer,
        edit_of: Option<u64>,
    ) -> Result<Seat, Refusal> {
        self.may_take_part(voter)?;
        let who = &voter.actor.id;
        let is_own = voter.starter == Some(who) || self.wrote(who, edit_of);
        if offer.effect.lets_go_on() && !self.assignment.self_approval && is_own {
            return Err(Refusal::OwnWork);
        }
        let agreed = if offer.effect.lets_go_on() || self.is_gathered(offer) {
            self.agreeing(offer, edit_of)
        } else {
            self.leading()
        };
        // As the votes stand; and where one of them is their own, as if they had not cast it: they may change their mind.
        let others: Vec<&Vote> = agreed.iter().filter(|vote| vote.by != *who).copied().collect();
        // Nobody has agreed to a new edit yet: it is written in the stage that is reached.
        let is_new = edit_of.is_some_and(|seq| !self.authors.contains_key(&seq));
        let leading = is_new.then(|| self.leading());
        let mut reached = None;
        for votes in [Some(&agreed), Some(&others), leading.as_ref()].into_iter().flatten() {
            let stage =
                self.assignment.stage(&self.counted(votes)).unwrap_or(self.assignment.stages.len() - 1);
            let sits_elsewhere = self.assignment.distinct
                && votes.iter().any(|vote| vote.by == *who && vote.seat.stage != stage);
            if let Some(seat) = self.seat_in(voter, stage).filter(|_| !sits_elsewhere) {
                return Ok(seat);
            }
            reached.get_or_insert(stage);
        }
        Err(Refusal::NotYourStage { stage: reached.unwrap_or_default() + 1 })
    }

    /// What a vote of somebody would count as who agrees with those who voted, or is the first.
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

    /// Who still has to agree in a stage, with those who voted last.
    pub fn standing(&self, stage: usize) -> Standing {
        let Some(of) = self.assignment.stages.get(stage) else { return Standing::default() };
        let leading = self.leading();
        let counted = self.counted(&leading);
        let here: Vec<_> = counted.iter().filter(|ballot| ballot.seat.stage == stage).copied().collect();
        let different: BTreeSet<&str> = here.iter().map(|ballot| ballot.by).collect();
        let missing: Vec<String> = of.missing(&here).into_iter().map(str::to_owned).collect();
        let needed = (of.required.max(1) as usize).saturating_sub(different.len());
        Standing { needed: u32::try_from(needed).unwrap_or(u32::MAX), missing }
    }

    /// The votes that agree with the newest one.
    fn leading(&self) -> Vec<&Vote> {
        let newest = self.votes.last();
        let chosen = newest.and_then(|vote| Some((self.offers(&vote.option)?, vote.edit_of)));
        chosen.map(|(offer, edit_of)| self.agreeing(offer, edit_of)).unwrap_or_default()
    }

    /// The stage whose turn it is.
    pub fn stage_now(&self) -> usize {
        self.assignment.stage(&self.counted(&self.leading())).unwrap_or_default()
    }

    fn seat_in(&self, voter: &Voter<'_>, stage: usize) -> Option<Seat> {
        let of = self.assignment.stages.get(stage)?;
        let Voter { actor, people, now, .. } = *voter;
        let groups = |id: &str| of.groups_of(id, people);
        let reach = rights::extent(actor.role, Permission::Decide);
        let sits = match reach {
            Extent::Nothing | Extent::Own => return None,
            Extent::Assigned => of.names(&actor.id, people),
            Extent::Unassigned => of.is_open() || of.names(&actor.id, people),
            Extent::All => true,
        };
        if sits {
            return Some(Seat { stage, in_place_of: None, groups: groups(&actor.id) });
        }
        let lasts = |delegation: &&Delegation| delegation.until.is_none_or(|until| until > now);
        let asked = self.delegations.iter().filter(|one| one.to == actor.id).filter(lasts);
        let mut others = people.stands_in_for(&actor.id, now);
        others.extend(asked.map(|delegation| delegation.from.as_str()));
        let decides =
            |id: &&str| if of.is_open() { people.decides_unassigned(id) } else { of.names(id, people) };
        let other = others.into_iter().find(|id| people.can_decide(id) && decides(id))?;
        Some(Seat { stage, in_place_of: Some(other.to_owned()), groups: groups(other) })
    }

    /// Those whose votes count no more: they have left, or are not asked here any longer.
    pub fn unseated(&self, people: &People) -> Vec<String> {
        let sits = |vote: &Vote| {
            let Some(of) = self.assignment.stages.get(vote.seat.stage) else { return false };
            let who = vote.seat.in_place_of.as_deref().unwrap_or(&vote.by);
            let is_asked = of.is_open() || of.names(who, people);
            is_asked && !people.is_barred(&vote.by) && !people.is_barred(who)
        };
        let lost: BTreeSet<&String> =
            self.votes.iter().filter(|vote| !sits(vote)).map(|vote| &vote.by).collect();
        lost.into_iter().cloned().collect()
    }

    /// Takes up who decides from here on, and whose vote is gone.
    pub(super) fn reassign(&mut self, fact: &Fact) {
        if let Fact::InterruptReassigned { interrupt, assignment, .. } = fact
            && *interrupt == self.opened.interrupt
        {
            self.assignment = (**assignment).clone();
            self.version += 1;
        }
        if let Fact::InterruptDelegated { interrupt, delegation } = fact
            && *interrupt == self.opened.interrupt
        {
            self.delegations.push(delegation.clone());
        }
        if let Fact::VoteWithdrawn { interrupt, by, .. } = fact
            && *interrupt == self.opened.interrupt
        {
            self.votes.retain(|vote| vote.by != *by);
        }
    }
}

fn has_role(actor: &Actor) -> Result<(), Refusal> {
    match rights::extent(actor.role, Permission::Decide) {
        Extent::Nothing | Extent::Own => Err(Refusal::Role),
        Extent::Assigned | Extent::Unassigned | Extent::All => Ok(()),
    }
}
