//! Decisions as people send them, and the reasons to refuse one.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::InterruptId;
use crate::schema::Problem;

/// One person's vote on an interrupt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    pub option: String,
    #[serde(default)]
    pub text: Option<String>,
    /// Replaces the whole arguments, plan or output. Null is no edit.
    #[serde(default)]
    pub edit: Value,
    /// The version of the interrupt that was decided on.
    #[serde(default)]
    pub version: Option<u64>,
    /// The answer to an earlier question that this one was taken from.
    #[serde(default)]
    pub from: Option<InterruptId>,
    /// Milliseconds that the card was shown, as the client of the person says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewed_ms: Option<u64>,
    /// Person that they decide for, as their client says. It is not checked, and releases nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
    /// Open interrupts to release with the grant that the decision gives. The person saw them listed and kept them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<InterruptId>,
    /// Open interrupts that their client listed, as it says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_shown: Vec<InterruptId>,
    /// True if it came from a page that showed the current card: the look is recorded with the decision.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_page: bool,
}

/// Why a decision is not taken. The interrupt is as it was.
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
