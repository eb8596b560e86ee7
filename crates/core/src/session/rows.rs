//! Rows of a session and of its grants, for the tables of the store.

use super::Session;
use crate::id::GrantId;
use crate::projection::{GrantRow, SessionRow};

impl Session {
    /// Returns the row of the session that the session's own events produce. `None` before the first event that changes
    /// the state. Each run of the session produces another row (see [`SessionRow::with`]).
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
