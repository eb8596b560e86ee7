//! What people do with an interrupt that resolves nothing: claim it, let it go, comment on it.

use serde::{Deserialize, Serialize};

use super::{Interrupt, Refusal};
use crate::actor::{Actor, Role};
use crate::limits;
use crate::rights::{self, Extent, Permission};
use crate::schema::Problem;
use crate::time::Timestamp;

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
        actor: &Actor,
        holder: Option<&Holder>,
        over: Option<u64>,
    ) -> Result<bool, Refusal> {
        self.may_act(actor)?;
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
    pub fn check_release(&self, actor: &Actor, holder: Option<&Holder>) -> Result<bool, Refusal> {
        self.may_decide(actor)?;
        let Some(claim) = &self.claim else { return Ok(false) };
        let is_theirs = claim.by == actor.id && claim.holder.as_ref() == holder;
        let may = is_theirs || (claim.holder.is_none() && actor.role == Role::Admin);
        if may { Ok(true) } else { Err(Refusal::Claimed { by: claim.by.clone() }) }
    }

    /// Comments are taken also after the resolution: people say why later.
    pub fn check_comment(&self, actor: &Actor, text: &str) -> Result<(), Refusal> {
        self.may_decide(actor)?;
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

    /// Whether somebody may decide on it, and there is something to decide.
    fn may_act(&self, actor: &Actor) -> Result<(), Refusal> {
        self.may_decide(actor)?;
        if self.is_open() { Ok(()) } else { Err(Refusal::AlreadyResolved) }
    }

    /// Whether it is somebody's to decide.
    pub(crate) fn may_decide(&self, actor: &Actor) -> Result<(), Refusal> {
        let approvers = &self.opened.approvers;
        let may = match rights::extent(actor.role, Permission::Decide) {
            Extent::Nothing | Extent::Own => return Err(Refusal::Role),
            Extent::Assigned => approvers.contains(&actor.id),
            Extent::Unassigned => approvers.is_empty() || approvers.contains(&actor.id),
            Extent::All => true,
        };
        if may { Ok(()) } else { Err(Refusal::NotAnApprover) }
    }
}
