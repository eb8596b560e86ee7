//! Reads of single rows in PostgreSQL.

use holdshort_core::id::{GrantId, InterruptId, RunId, SessionId};
use holdshort_core::projection::{AnswerRow, GrantRow, InterruptRow, RunRow, SessionRow, SessionUsage};
use holdshort_core::time::Timestamp;

use super::{Postgres, list, rows};
use crate::cursor::{AnswerSortKey, GrantSortKey, InterruptSortKey, RunSortKey, SessionSortKey};
use crate::journal::Error;
use crate::tables::{
    AnswerFilter, Cursor, Due, GrantFilter, InterruptFilter, Page, Rows, RunFilter, SessionFilter, Tables,
};

impl Tables for Postgres {
    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, Error> {
        rows::find(&self.pool, run.as_str()).await
    }

    async fn runs(
        &self,
        filter: &RunFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<RunRow>, Error> {
        let after = after.map(|cursor| RunSortKey::decode(cursor)).transpose()?;
        list::runs(&self.pool, filter, after.as_ref(), limit).await
    }

    async fn session(&self, session: &SessionId) -> Result<Option<SessionRow>, Error> {
        rows::find(&self.pool, session.as_str()).await
    }

    async fn sessions(
        &self,
        filter: &SessionFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<SessionRow>, Error> {
        let after = after.map(|cursor| SessionSortKey::decode(cursor)).transpose()?;
        list::sessions(&self.pool, filter, after.as_ref(), limit).await
    }

    async fn idle_sessions(&self, now: Timestamp, limit: usize) -> Result<Vec<SessionId>, Error> {
        list::idle_sessions(&self.pool, now, limit).await
    }

    async fn session_usage(&self, session: &SessionId) -> Result<Vec<SessionUsage>, Error> {
        list::session_usage(&self.pool, session).await
    }

    async fn interrupt(&self, id: &InterruptId) -> Result<Option<InterruptRow>, Error> {
        rows::find(&self.pool, id.as_str()).await
    }

    async fn interrupts(
        &self,
        filter: &InterruptFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<InterruptRow>, Error> {
        let after = after.map(|cursor| InterruptSortKey::decode(cursor)).transpose()?;
        list::interrupts(&self.pool, filter, after.as_ref(), limit).await
    }

    async fn grant(&self, id: &GrantId) -> Result<Option<GrantRow>, Error> {
        rows::find(&self.pool, id.as_str()).await
    }

    async fn grants(
        &self,
        filter: &GrantFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<GrantRow>, Error> {
        let after = after.map(|cursor| GrantSortKey::decode(cursor)).transpose()?;
        list::grants(&self.pool, filter, after.as_ref(), limit).await
    }

    async fn answer(&self, id: &InterruptId) -> Result<Option<AnswerRow>, Error> {
        rows::find(&self.pool, id.as_str()).await
    }

    async fn answers(
        &self,
        filter: &AnswerFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<AnswerRow>, Error> {
        let after = after.map(|cursor| AnswerSortKey::decode(cursor)).transpose()?;
        list::answers(&self.pool, filter, after.as_ref(), limit).await
    }

    async fn due(&self, now: Timestamp, after: Option<&Due>, limit: usize) -> Result<Vec<Due>, Error> {
        list::due(&self.pool, now, after, limit).await
    }

    async fn next_deadline(&self) -> Result<Option<Timestamp>, Error> {
        list::next_deadline(&self.pool).await
    }

    async fn replace_rows(&self, rows: Vec<Rows>) -> Result<(), Error> {
        rows::replace(&self.pool, self.node()?, &rows).await
    }
}
