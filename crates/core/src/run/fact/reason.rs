//! Reasons for a withdrawn vote, a reassignment or an erasure, as events state them.

use serde::{Deserialize, Serialize};

/// Reason why a vote was withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithdrawalReason {
    /// The voter took the vote back.
    TakenBack,
    /// The voter has left, or may no longer decide.
    Left,
    /// The interrupt was reassigned to other approvers.
    Reassigned,
    /// A person left, and another stage would have too few approvers without this voter.
    NeededElsewhere,
}

/// Reason of a reassignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReassignmentReason {
    /// A person reassigned the interrupt.
    Person,
    /// Too few of the assigned approvers are left.
    Emptied,
}

/// Reason of an erasure of a run's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErasureReason {
    /// A person requested the erasure.
    Request,
    /// The retention period of the installation ended.
    Retention,
}
