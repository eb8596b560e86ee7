//! Reasons in facts: of a withdrawn vote, a reassignment, an erasure.

use serde::{Deserialize, Serialize};

/// Reason why a vote was withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithdrawalReason {
    /// The voter withdrew the vote.
    TakenBack,
    /// The voter has left, or may no longer decide.
    Left,
    /// The interrupt was reassigned.
    Reassigned,
    /// A person left, and a different stage needs this voter to have enough people.
    NeededElsewhere,
}

/// Reason of a reassignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReassignmentReason {
    /// A person reassigned the interrupt.
    Person,
    /// Too few of the assigned approvers remain.
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
