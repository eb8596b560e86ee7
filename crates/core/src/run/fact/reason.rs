//! Reasons for a withdrawn vote, a reassignment or an erasure, as events state them.

use serde::{Deserialize, Serialize};

/// Reason why a person's vote on an interrupt was withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithdrawalReason {
    /// The voter took the vote back.
    TakenBack,
    /// The voter has left the installation, or may no longer decide.
    Left,
    /// The interrupt was reassigned to other approvers, so votes under the previous assignment were withdrawn.
    Reassigned,
    /// A person left the installation, and another stage would have too few approvers without this voter.
    NeededElsewhere,
}

/// Reason why an interrupt was reassigned to other approvers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReassignmentReason {
    /// A person reassigned the interrupt to other approvers.
    Person,
    /// Too few of the interrupt's assigned approvers are left.
    Emptied,
}

/// Reason why the content of a run was erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErasureReason {
    /// A person requested the erasure of the run's content.
    Request,
    /// The retention period of the installation for the run's content ended.
    Retention,
}
