//! Actions of people on an interrupt that resolve nothing: claim it, release it, comment on it, withdraw a vote, delegate
//! it or reassign it.

use super::{Assignment, Delegation, Holder, Interrupt, Refusal, Voter};
use crate::actor::Role;
use crate::limits;
use crate::name::is_same;
use crate::rights::{self, Extent, Permission};
use crate::schema::Problem;

/// Whom an interrupt is handed on to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandedTo {
    /// Others in the stage that it is at; how many of them agree stays as it is.
    Names { approvers: Vec<String>, groups: Vec<String> },
    /// Stages and quorums of its own.
    Whole(Assignment),
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

    /// Whether it is news that somebody looks at it: their first look while it is open.
    pub fn check_view(&self, voter: &Voter<'_>) -> Result<bool, Refusal> {
        self.may_take_part(voter)?;
        let is_news = self.is_open() && !self.views.contains_key(&voter.actor.id);
        if is_news && self.views.len() >= limits::VIEWS as usize {
            return Err(Refusal::Limit { name: "views", limit: limits::VIEWS.into() });
        }
        Ok(is_news)
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

    /// The standing vote of somebody, which they take back. It is theirs, also where they are not asked any more.
    pub fn check_take_back(&self, voter: &Voter<'_>) -> Result<(), Refusal> {
        let has_voted = self.votes.iter().any(|vote| vote.by == voter.actor.id);
        if !has_voted {
            self.may_act(voter)?;
            return Err(Refusal::NoVote);
        }
        if self.is_open() { Ok(()) } else { Err(Refusal::AlreadyResolved) }
    }

    /// What an interrupt is assigned to where somebody hands it on. Nobody asks for less than its gate: so many votes, in
    /// as many stages, and nobody's own work. Who may hand on only what is theirs names others in the stage that they sit
    /// in, and changes nothing else.
    pub fn check_reassign(&self, voter: &Voter<'_>, to: HandedTo) -> Result<Assignment, Refusal> {
        let now = self.stage_now();
        match rights::extent(voter.actor.role, Permission::Assign) {
            Extent::All => {}
            Extent::Assigned | Extent::Unassigned => {
                self.may_take_part(voter)?;
                if matches!(to, HandedTo::Whole(_)) {
                    let why =
                        "may only name others: how many of them agree is for admins and operators to say";
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
        // Who names others leaves it as it stands: what was emptied may ask for fewer than the gate did.
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

    /// Whether `from` may be decided for by `to`.
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
            problems.push(Problem::new("/from", format!("`{from}` is not asked here")));
        }
        if is_same(from, to) {
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

    /// Refuses to let a person choose who releases their own work: with `self_approval: false`, neither the starter of the
    /// run nor an author of what is asked about reassigns or delegates the interrupt.
    fn may_hand_over(&self, voter: &Voter<'_>) -> Result<(), Refusal> {
        if !self.is_open() {
            return Err(Refusal::AlreadyResolved);
        }
        let releases = self.opened.options.iter().any(|offer| offer.effect.lets_go_on());
        let who = voter.actor.whose();
        let mut own = voter.starter.into_iter().chain(self.standing_authors());
        let is_own = own.any(|author| author.whose().meets(who));
        if releases && is_own && !self.assignment.self_approval { Err(Refusal::OwnHandOver) } else { Ok(()) }
    }

    /// Whether somebody may decide on it now, and there is something to decide.
    pub(super) fn may_act(&self, voter: &Voter<'_>) -> Result<(), Refusal> {
        self.may_take_part(voter)?;
        if self.is_open() { Ok(()) } else { Err(Refusal::AlreadyResolved) }
    }
}
