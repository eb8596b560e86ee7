//! States of a session. `session.rs` checks who is allowed to change the state.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// State of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    #[default]
    Open,
    /// A person suspended the session. The runs of the session are paused. No run starts or continues.
    Suspended,
    /// The session has ended. The runs of the session are cancelled, and no new run starts.
    Closed(End),
}

/// Reason why a session was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// A person closed the session.
    Completed,
    /// The session was idle for the time after which it expires.
    Expired,
}

/// Settings with which a session was opened. Does not contain the name and the configuration of the session. Name and
/// configuration are erasable content of the session's first event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Workflow for which the session was opened.
    pub workflow: Option<String>,
    /// Idle time in milliseconds after which the session expires.
    pub idle_ms: Option<u64>,
}

/// Times of the first and the last event that changed the row of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowSpan {
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    pub last_seq: u64,
}

impl State {
    pub const ALL: [Self; 4] =
        [Self::Open, Self::Suspended, Self::Closed(End::Completed), Self::Closed(End::Expired)];

    /// Returns the name of the state as rows contain it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Suspended => "suspended",
            Self::Closed(end) => end.as_str(),
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    pub fn is_closed(self) -> bool {
        match self {
            Self::Closed(_) => true,
            Self::Open | Self::Suspended => false,
        }
    }
}

impl End {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Expired => "expired",
        }
    }
}
