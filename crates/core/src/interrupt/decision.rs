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
    #[error("whoever is asked names a delegate for themselves: an admin or an operator does so for others")]
    OfAnother,
    #[error("this interrupt is for others to decide")]
    NotAnApprover,
    #[error("whoever started the run or wrote what is released does not release it: somebody else has to")]
    OwnWork,
    #[error(
        "you started the run or wrote what is asked about, and `self_approval` is false: only somebody else may \
         reassign or delegate this interrupt, such as an admin"
    )]
    OwnHandOver,
    #[error("it is at stage {stage} now, which is for others to decide")]
    NotYourStage { stage: usize },
    #[error("too few people would be left for another stage: somebody else has to agree at this one")]
    NeededElsewhere,
    #[error("you have no vote on it")]
    NoVote,
    #[error("nobody decided in time: the interrupt has expired")]
    Expired,
    #[error("the interrupt is resolved already")]
    AlreadyResolved,
    #[error("the interrupt changed since it was read: it has version {current} now")]
    Stale { current: u64 },
    #[error("`{by}` has claimed it")]
    Claimed { by: String },
    #[error("the limit `{name}` of {limit} is reached")]
    Limit { name: &'static str, limit: u64 },
    #[error("the decision does not fit the interrupt")]
    Invalid(Vec<Problem>),
    #[error("the edit changes what is withheld from whoever sent it")]
    Withheld(Vec<Problem>),
}
