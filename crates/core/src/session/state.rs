//! States of a session. `session.rs` says who may change them.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Whether runs start in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    #[default]
    Open,
    /// A person stopped it: its runs are paused, and none starts or resumes.
    Suspended,
    /// Over for good: its runs are cancelled, and none starts.
    Closed(End),
}

/// Why a session was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// A person closed it.
    Completed,
    /// Nothing happened in it for as long as it was opened for.
    Expired,
}

/// What the session was opened with. Its name and config are the content of the first event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The workflow that its runs are meant to be of.
    pub workflow: Option<String>,
    /// Idle for so long, it expires.
    pub idle_ms: Option<u64>,
}

/// The first and the last event that its row tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    pub last_seq: u64,
}

impl State {
    pub const ALL: [Self; 4] =
        [Self::Open, Self::Suspended, Self::Closed(End::Completed), Self::Closed(End::Expired)];

    /// One word for each, as rows hold it.
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
