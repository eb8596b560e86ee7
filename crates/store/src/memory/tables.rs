//! Reads of single rows of the journal in memory.

use holdshort_core::id::{GrantId, InterruptId, RunId, SessionId};
use holdshort_core::projection::{AnswerRow, GrantRow, InterruptRow, RunRow, SessionRow, SessionUsage};
use holdshort_core::time::Timestamp;

use super::Memory;
use super::list::RowMaps;

use crate::cursor::{AnswerSortKey, GrantSortKey, InterruptSortKey, RunSortKey, SessionSortKey};
use crate::journal::Error;
use crate::tables::{
    AnswerFilter, Cursor, Due, GrantFilter, InterruptFilter, Page, Rows, RunFilter, SessionFilter, Tables,
};

impl Tables for Memory {
    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, Error> {
        Ok(self.state()?.tables.runs.get(run).cloned())
    }

    async fn runs(
        &self,
        filter: &RunFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<RunRow>, Error> {
        let after = after.map(|cursor| RunSortKey::decode(cursor)).transpose()?;
        Ok(self.state()?.tables.runs(filter, after.as_ref(), limit))
    }

    async fn session(&self, session: &SessionId) -> Result<Option<SessionRow>, Error> {
        Ok(self.state()?.tables.sessions.get(session).cloned())
    }

    async fn sessions(
        &self,
        filter: &SessionFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<SessionRow>, Error> {
        let after = after.map(|cursor| SessionSortKey::decode(cursor)).transpose()?;
        Ok(self.state()?.tables.sessions(filter, after.as_ref(), limit))
    }

    async fn idle_sessions(&self, now: Timestamp, limit: usize) -> Result<Vec<SessionId>, Error> {
        Ok(self.state()?.tables.idle_sessions(now, limit))
    }

    async fn session_usage(&self, session: &SessionId) -> Result<Vec<SessionUsage>, Error> {
        Ok(self.state()?.tables.session_usage(session))
    }

    async fn interrupt(&self, id: &InterruptId) -> Result<Option<InterruptRow>, Error> {
        Ok(self.state()?.tables.interrupts.get(id).cloned())
    }

    async fn interrupts(
        &self,
        filter: &InterruptFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<InterruptRow>, Error> {
        let after = after.map(|cursor| InterruptSortKey::decode(cursor)).transpose()?;
        Ok(self.state()?.tables.interrupts(filter, after.as_ref(), limit))
    }

    async fn grant(&self, id: &GrantId) -> Result<Option<GrantRow>, Error> {
        Ok(self.state()?.tables.grants.get(id).cloned())
    }

    async fn grants(
        &self,
        filter: &GrantFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<GrantRow>, Error> {
        let after = after.map(|cursor| GrantSortKey::decode(cursor)).transpose()?;
        Ok(self.state()?.tables.grants(filter, after.as_ref(), limit))
    }

    async fn answer(&self, id: &InterruptId) -> Result<Option<AnswerRow>, Error> {
        Ok(self.state()?.tables.answers.get(id).cloned())
    }

    async fn answers(
        &self,
        filter: &AnswerFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<AnswerRow>, Error> {
        let after = after.map(|cursor| AnswerSortKey::decode(cursor)).transpose()?;
        Ok(self.state()?.tables.answers(filter, after.as_ref(), limit))
    }

    async fn due(&self, now: Timestamp, after: Option<&Due>, limit: usize) -> Result<Vec<Due>, Error> {
        Ok(self.state()?.tables.due(now, after, limit))
    }

    async fn next_deadline(&self) -> Result<Option<Timestamp>, Error> {
        Ok(self.state()?.tables.runs.values().filter_map(|row| row.deadline).min())
    }

    async fn replace_rows(&self, rows: Vec<Rows>) -> Result<(), Error> {
        let mut tables = RowMaps::default();
        for rows in rows {
            tables.put(rows);
        }
        let mut state = self.state()?;
        let runnable = tables.runs.values().filter(|row| row.runnable);
        let held = |row: &RunRow| state.leases.get(&row.run).copied().unwrap_or_default();
        let leases = runnable.map(|row| (row.run.clone(), held(row))).collect();
        state.leases = leases;
        state.tables = tables;
        Ok(())
    }
}
