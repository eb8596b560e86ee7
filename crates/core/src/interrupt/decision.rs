//! Decisions as people send them, and the reasons to refuse one.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::InterruptId;
use crate::schema::Problem;

/// Vote of one person on an interrupt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    pub option: String,
    #[serde(default)]
    pub text: Option<String>,
    /// Replaces the whole arguments, plan or output. Null for no edit.
    #[serde(default)]
    pub edit: Value,
    /// Version of the interrupt that the person saw.
    #[serde(default)]
    pub version: Option<u64>,
    /// Earlier question whose answer was reused.
    #[serde(default)]
    pub from: Option<InterruptId>,
    /// Milliseconds for which the card was displayed, as reported by the person's client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewed_ms: Option<u64>,
    /// Person represented by the voter, as reported by the client. The name is not verified, and has no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
    /// Open interrupts to release with the grant of this decision. The person saw them listed and kept them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<InterruptId>,
    /// Open interrupts that the client listed, as it reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_shown: Vec<InterruptId>,
    /// True if the decision came from a page with the current card: the view is recorded with the decision.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_page: bool,
}

/// Reason for refusing a decision. The interrupt is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("this role may not decide")]
    Role,
    #[error("approvers may delegate only for themselves: ask an admin or an operator to delegate for others")]
    OfAnother,
    #[error("you are not an approver of this interrupt")]
    NotAnApprover,
    #[error(
        "the person who started the run or wrote what is released may not release it: another approver must \
         decide"
    )]
    OwnWork,
    #[error(
        "you started the run or wrote what is asked about, and `self_approval` is false: another person, \
         such as an admin, must reassign or delegate this interrupt"
    )]
    OwnHandOver,
    #[error("the interrupt is at stage {stage} now, and you are not an approver of that stage")]
    NotYourStage { stage: usize },
    #[error("too few people would be left for another stage: another approver must agree at this one")]
    NeededElsewhere,
    #[error("you have no vote on this interrupt")]
    NoVote,
    #[error("the interrupt has expired: nobody decided in time")]
    Expired,
    #[error("the interrupt is already resolved")]
    AlreadyResolved,
    #[error("the interrupt has changed since it was read: it now has version {current}")]
    Stale { current: u64 },
    #[error("`{by}` has claimed it")]
    Claimed { by: String },
    #[error("the limit `{name}` of {limit} is reached")]
    Limit { name: &'static str, limit: u64 },
    #[error("the decision does not fit the interrupt")]
    Invalid(Vec<Problem>),
    #[error("the edit changes values that are withheld from its sender")]
    Withheld(Vec<Problem>),
}
