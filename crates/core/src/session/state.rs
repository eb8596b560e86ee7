//! What state a session is in, and the rows that say so. Never who may change it: that is `session.rs`.

use serde::{Deserialize, Serialize};

use super::Session;
use crate::id::GrantId;
use crate::projection::{GrantRow, SessionRow};
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

impl Session {
    /// When it expires if nothing happens in it, as far as its own events tell: its runs may be younger.
    pub(super) fn idle_at(&self) -> Option<Timestamp> {
        let idle_ms = self.opened.as_ref()?.idle_ms?;
        Some(self.changed?.last_at.plus_ms(idle_ms))
    }

    /// Whether it is closed by itself once nothing happens in it.
    pub fn expires(&self) -> bool {
        self.opened.as_ref().is_some_and(|opened| opened.idle_ms.is_some())
    }

    /// The session's row, as its own events tell it; `None` before the first that does. Its runs bring another one
    /// (see [`SessionRow::with`]).
    pub fn row(&self) -> Option<SessionRow> {
        let changed = self.changed?;
        let opened = self.opened.as_ref();
        Some(SessionRow {
            session: self.id.clone(),
            workflow: opened.and_then(|opened| opened.workflow.clone()),
            state: self.state,
            seq: changed.last_seq,
            created_at: changed.first_at,
            changed_at: changed.last_at,
            idle_ms: opened.and_then(|opened| opened.idle_ms),
            front_run: self.front_run().cloned(),
            idle_since: changed.last_at,
        })
    }

    pub fn grant_row(&self, id: &GrantId) -> Option<GrantRow> {
        let grant = self.grants.get(id)?;
        Some(GrantRow {
            grant: grant.id.clone(),
            session: self.id.clone(),
            added_seq: grant.added_seq,
            revoked: grant.revoked_at.is_some(),
        })
    }
}
