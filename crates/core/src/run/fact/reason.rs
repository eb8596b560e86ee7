//! Reasons that facts give: for the end of a vote, another assignment, an erasure.

use serde::{Deserialize, Serialize};

/// Why a vote counts no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Withdrawn {
    /// They took it back.
    TakenBack,
    /// They have left, or may not decide any more.
    Left,
    /// Others decide now.
    Reassigned,
    /// Somebody has left, and too few would be there for another stage if this vote stood.
    NeededElsewhere,
}

/// Why others decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reassigned {
    /// Somebody said so.
    Person,
    /// Too few of the people who were asked are left.
    Emptied,
}

/// Why what a run said is kept no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Erased {
    /// Somebody asked for it.
    Request,
    /// It was kept as long as the installation keeps it.
    Retention,
}
