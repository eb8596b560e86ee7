//! The rows in SQLite. Rows are read by the pool, by id or in lists. The writer executes `replace_rows`.

use holdshort_core::id::{GrantId, InterruptId, RunId, SessionId};
use holdshort_core::projection::{AnswerRow, GrantRow, InterruptRow, RunRow, SessionRow, SessionUsage};
use holdshort_core::time::Timestamp;
use tokio::sync::oneshot;

use super::writer::Job;
use super::{Sqlite, list, rows};
use crate::cursor::{AnswerSortKey, GrantSortKey, InterruptSortKey, RunSortKey, SessionSortKey};
use crate::journal::Error;
use crate::tables::{
    AnswerFilter, Cursor, Due, GrantFilter, InterruptFilter, Page, Rows, RunFilter, SessionFilter, Tables,
};

impl Tables for Sqlite {
    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, Error> {
        self.pool.look(|connection| rows::find(connection, run.as_str())).await
    }

    async fn runs(
        &self,
        filter: &RunFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<RunRow>, Error> {
        let after = after.map(|cursor| RunSortKey::decode(cursor)).transpose()?;
        let filter = filter.clone();
        self.pool.read(move |connection| list::runs(connection, &filter, after.as_ref(), limit)).await
    }

    async fn session(&self, session: &SessionId) -> Result<Option<SessionRow>, Error> {
        self.pool.look(|connection| rows::find(connection, session.as_str())).await
    }

    async fn sessions(
        &self,
        filter: &SessionFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<SessionRow>, Error> {
        let after = after.map(|cursor| SessionSortKey::decode(cursor)).transpose()?;
        let filter = filter.clone();
        self.pool.read(move |connection| list::sessions(connection, &filter, after.as_ref(), limit)).await
    }

    async fn idle_sessions(&self, now: Timestamp, limit: usize) -> Result<Vec<SessionId>, Error> {
        self.pool.read(move |connection| list::idle_sessions(connection, now, limit)).await
    }

    async fn session_usage(&self, session: &SessionId) -> Result<Vec<SessionUsage>, Error> {
        let session = session.clone();
        self.pool.read(move |connection| list::session_usage(connection, &session)).await
    }

    async fn interrupt(&self, id: &InterruptId) -> Result<Option<InterruptRow>, Error> {
        self.pool.look(|connection| rows::find(connection, id.as_str())).await
    }

    async fn interrupts(
        &self,
        filter: &InterruptFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<InterruptRow>, Error> {
        let after = after.map(|cursor| InterruptSortKey::decode(cursor)).transpose()?;
        let filter = filter.clone();
        self.pool.read(move |connection| list::interrupts(connection, &filter, after.as_ref(), limit)).await
    }

    async fn grant(&self, id: &GrantId) -> Result<Option<GrantRow>, Error> {
        self.pool.look(|connection| rows::find(connection, id.as_str())).await
    }

    async fn grants(
        &self,
        filter: &GrantFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<GrantRow>, Error> {
        let after = after.map(|cursor| GrantSortKey::decode(cursor)).transpose()?;
        let filter = filter.clone();
        self.pool.read(move |connection| list::grants(connection, &filter, after.as_ref(), limit)).await
    }

    async fn answer(&self, id: &InterruptId) -> Result<Option<AnswerRow>, Error> {
        self.pool.look(|connection| rows::find(connection, id.as_str())).await
    }

    async fn answers(
        &self,
        filter: &AnswerFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<AnswerRow>, Error> {
        let after = after.map(|cursor| AnswerSortKey::decode(cursor)).transpose()?;
        let filter = filter.clone();
        self.pool.read(move |connection| list::answers(connection, &filter, after.as_ref(), limit)).await
    }

    async fn due(&self, now: Timestamp, after: Option<&Due>, limit: usize) -> Result<Vec<Due>, Error> {
        let after = after.cloned();
        self.pool.read(move |connection| list::due(connection, now, after.as_ref(), limit)).await
    }

    async fn next_deadline(&self) -> Result<Option<Timestamp>, Error> {
        self.pool.read(list::next_deadline).await
    }

    async fn replace_rows(&self, rows: Vec<Rows>) -> Result<(), Error> {
        let (reply, answer) = oneshot::channel();
        self.submit(Job::ReplaceRows { rows, reply }).await?;
        answer.await.map_err(|_| self.unanswered())?
    }
}
