//! Decisions as people send them, and the reasons why a decision is refused.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::InterruptId;
use crate::schema::Problem;

/// Decision of one person on an interrupt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    pub option: String,
    #[serde(default)]
    pub text: Option<String>,
    /// Value that replaces the arguments, the plan or the output as a whole. Null if the decision has no edit.
    #[serde(default)]
    pub edit: Value,
    /// Version of the interrupt that the person saw.
    #[serde(default)]
    pub version: Option<u64>,
    /// Earlier question, if the person reused its answer.
    #[serde(default)]
    pub from: Option<InterruptId>,
    /// Time for which the card was displayed to the person, in milliseconds, as the person's client reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewed_ms: Option<u64>,
    /// Name of the person that the voter acts for, as the client reports it. The name is only recorded: nobody verifies
    /// it, and it has no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
    /// Further open interrupts that this decision also approves, because they match the grant that the decision gives.
    /// The client showed a list of these interrupts, from which the person could remove some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<InterruptId>,
    /// Further open interrupts that the client displayed to the person with this decision, as the client reports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_shown: Vec<InterruptId>,
    /// True if the decision was made on a page that showed the current card. The decision then also records that the
    /// person viewed the interrupt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_page: bool,
}

/// Reason why a decision is refused. A refused decision does not change the interrupt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("your role is not allowed to decide")]
    Role,
    #[error("approvers may delegate only for themselves: ask an admin or an operator to delegate for others")]
    OfAnother,
    #[error("you are not an approver of this interrupt")]
    NotAnApprover,
    #[error(
        "the person who started the run, or who wrote the work, may not release the work: another approver \
         must decide"
    )]
    OwnWork,
    #[error(
        "you started the run or wrote the work, and self-approval is not allowed (`self_approval: false`): \
        another person, such as an admin, must reassign or delegate this interrupt"
    )]
    OwnHandOver,
    #[error("the interrupt is at stage {stage} now, and you are not an approver of that stage")]
    NotYourStage { stage: usize },
    #[error(
        "your vote would leave too few people for another stage: another approver must decide at this stage"
    )]
    NeededElsewhere,
    #[error("you have no vote on this interrupt")]
    NoVote,
    #[error("the interrupt has expired: nobody decided in time")]
    Expired,
    #[error("the interrupt is already resolved")]
    AlreadyResolved,
    #[error("the interrupt has changed since it was read: it now has version {current}")]
    Stale { current: u64 },
    #[error("`{by}` has claimed the interrupt")]
    Claimed { by: String },
    #[error("the limit `{name}` of {limit} is reached")]
    Limit { name: &'static str, limit: u64 },
    #[error("the decision is not valid for this interrupt")]
    Invalid(Vec<Problem>),
    #[error("the edit changes values that its sender may not see")]
    Withheld(Vec<Problem>),
}
