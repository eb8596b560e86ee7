//! Actions of people on an interrupt that do not resolve it: claim, release, view, comment, withdraw a vote, reassign,
//! delegate.

use super::{Assignment, ClaimHolder, Delegation, Interrupt, Refusal, Voter};
use crate::actor::Role;
use crate::limits;
use crate::name::is_same;
use crate::rights::{self, Extent, Permission};
use crate::schema::Problem;

/// New approvers after a reassignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandedTo {
    /// New approvers of the current stage. The number of required votes stays the same.
    Names { approvers: Vec<String>, groups: Vec<String> },
    /// A complete assignment, with its stages and the number of votes in each stage.
    Whole(Assignment),
}

impl Interrupt {
    /// Checks that the person is allowed to claim the interrupt. Returns false if the person already has this claim.
    /// `over` is the sequence number of an earlier claim that the new claim is allowed to replace.
    pub fn check_claim(
        &self,
        voter: &Voter<'_>,
        holder: Option<&ClaimHolder>,
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

    /// Checks that the person is allowed to end the claim. Returns false if there is no claim. Admins can also end the
    /// claims of other people. A claim of a client can only be ended by the same client. A claim on an approval of a
    /// call continues after the decision, because the claim then applies to the approved call.
    pub fn check_release(&self, voter: &Voter<'_>, holder: Option<&ClaimHolder>) -> Result<bool, Refusal> {
        self.may_take_part(voter)?;
        let actor = voter.actor;
        let Some(claim) = &self.claim else { return Ok(false) };
        let is_theirs = claim.by == actor.id && claim.holder.as_ref() == holder;
        let may = is_theirs || (claim.holder.is_none() && actor.role == Role::Admin);
        if may { Ok(true) } else { Err(Refusal::Claimed { by: claim.by.clone() }) }
    }

    /// Returns true if this is the person's first view of the open interrupt. Only the first view is recorded.
    pub fn check_view(&self, voter: &Voter<'_>) -> Result<bool, Refusal> {
        self.may_take_part(voter)?;
        let is_news = self.is_open() && !self.views.contains_key(&voter.actor.id);
        if is_news && self.views.len() >= limits::VIEWS as usize {
            return Err(Refusal::Limit { name: "views", limit: limits::VIEWS.into() });
        }
        Ok(is_news)
    }

    /// Checks that the person is allowed to add the comment. People can also comment after the decision, for example to
    /// explain it.
    pub fn check_comment(&self, voter: &Voter<'_>, text: &str) -> Result<(), Refusal> {
        self.may_take_part(voter)?;
        let problem = if text.trim().is_empty() {
            "is empty".to_owned()
        } else if text.len() > limits::TEXT_BYTES {
            format!("is longer than {} bytes", limits::TEXT_BYTES)
        } else if self.comments.len() >= limits::COMMENTS {
            format!("exceeds the limit of {} comments on one interrupt", limits::COMMENTS)
        } else {
            return Ok(());
        };
        Err(Refusal::Invalid(vec![Problem::new("/text", problem)]))
    }

    /// Checks that a person is allowed to withdraw their own vote. A person can do this even after losing the
    /// approver's rights.
    pub fn check_take_back(&self, voter: &Voter<'_>) -> Result<(), Refusal> {
        let has_voted = self.votes.iter().any(|vote| vote.by == voter.actor.id);
        if !has_voted {
            self.may_act(voter)?;
            return Err(Refusal::NoVote);
        }
        if self.is_open() { Ok(()) } else { Err(Refusal::AlreadyResolved) }
    }

    /// Returns the assignment after a reassignment. The new assignment must require at least as many votes and stages
    /// as the gate does. The new assignment must not permit self-approval if the gate excludes self-approval. Some
    /// people can reassign only interrupts that are assigned to them. Such people can replace only the approvers of the
    /// current stage.
    pub fn check_reassign(&self, voter: &Voter<'_>, to: HandedTo) -> Result<Assignment, Refusal> {
        let now = self.stage_now();
        match rights::extent(voter.actor.role, Permission::Assign) {
            Extent::All => {}
            Extent::Assigned | Extent::Unassigned => {
                self.may_take_part(voter)?;
                if matches!(to, HandedTo::Whole(_)) {
                    let why =
                        "may name only new approvers: only an admin or an operator may change the quorum";
                    return Err(Refusal::Invalid(vec![Problem::new("/assignment", why)]));
                }
                if !self.sits_in(voter, now) {
                    return Err(Refusal::NotYourStage { stage: now + 1 });
                }
            }
            Extent::Nothing | Extent::Own => return Err(Refusal::Role),
        }
        self.may_hand_over(voter)?;
        let (gate, mut assignment) = (&self.opened.assignment, self.assignment.clone());
        // A replacement of approvers keeps the current requirements. The current requirements may be lower than the
        // requirements of the gate, because approvers of the gate may have left.
        let floor = if matches!(to, HandedTo::Whole(_)) { gate } else { &self.assignment };
        match to {
            HandedTo::Names { approvers, groups } => {
                if let Some(stage) = assignment.stages.get_mut(now) {
                    *stage = stage.handed_to(approvers, groups);
                }
            }
            HandedTo::Whole(whole) => assignment = whole,
        }
        assignment.self_approval &= gate.self_approval;
        assignment.distinct |= gate.distinct && gate.stages.len() > 1;
        match floor.asks_for_more_than(&assignment) {
            Some(why) => Err(Refusal::Invalid(vec![Problem::new("/assignment", why)])),
            None => Ok(assignment),
        }
    }

    /// Checks that the sender is allowed to make the person `to` a delegate of the person `from`.
    pub fn check_delegate(&self, voter: &Voter<'_>, delegation: &Delegation) -> Result<(), Refusal> {
        let Delegation { from, to, until } = delegation;
        let of_others = match rights::extent(voter.actor.role, Permission::Assign) {
            Extent::All => false,
            Extent::Assigned | Extent::Unassigned => true,
            Extent::Nothing | Extent::Own => return Err(Refusal::Role),
        };
        if of_others {
            self.may_take_part(voter)?;
        }
        self.may_hand_over(voter)?;
        if of_others && *from != voter.actor.id {
            return Err(Refusal::OfAnother);
        }
        let mut problems = Vec::new();
        if !self.asks(from, voter.people, voter.now) {
            problems.push(Problem::new("/from", format!("`{from}` is not an approver of this interrupt")));
        }
        if is_same(from, to) {
            problems.push(Problem::new("/to", "is the same person as `from`"));
        } else if !voter.people.can_decide(to) {
            problems.push(Problem::new("/to", format!("no person who may decide is named `{to}`")));
        }
        if until.is_some_and(|until| until <= voter.now) {
            problems.push(Problem::new("/until", "is in the past"));
        }
        if self.delegations.len() >= limits::DELEGATIONS {
            problems.push(Problem::new(
                "/to",
                format!("exceeds the limit of {} delegations", limits::DELEGATIONS),
            ));
        }
        if problems.is_empty() { Ok(()) } else { Err(Refusal::Invalid(problems)) }
    }

    /// Prevents people from choosing the approvers of their own work. If `self_approval` is false, neither the person
    /// who started the run nor an author of the subject may reassign or delegate the interrupt.
    fn may_hand_over(&self, voter: &Voter<'_>) -> Result<(), Refusal> {
        if !self.is_open() {
            return Err(Refusal::AlreadyResolved);
        }
        let releases = self.opened.options.iter().any(|offer| offer.effect.lets_go_on());
        let who = voter.actor.responsible_people();
        let mut own = voter.starter.into_iter().chain(self.standing_authors());
        let is_own = own.any(|author| author.responsible_people().overlaps(who));
        if releases && is_own && !self.assignment.self_approval { Err(Refusal::OwnHandOver) } else { Ok(()) }
    }

    /// Checks that the person is allowed to act on the interrupt, and that the interrupt is open.
    pub(super) fn may_act(&self, voter: &Voter<'_>) -> Result<(), Refusal> {
        self.may_take_part(voter)?;
        if self.is_open() { Ok(()) } else { Err(Refusal::AlreadyResolved) }
    }
}
