//! What a journal promises of its rows: they are written by appends, found by their ids, and listed. All of them can
//! be rebuilt from the events.

use std::collections::BTreeSet;
use std::future::Future;

use holdshort_core::id::{GrantId, InterruptId, RunId, SessionId};
use holdshort_core::interrupt::Kind;
use holdshort_core::projection::{
    AnswerRow, GrantRow, InterruptRow, RunRow, SessionRow, SessionUsage, Status,
};
use holdshort_core::session::State;
use holdshort_core::time::Timestamp;

use crate::journal::Error;

/// Rows to insert or replace, by their id. That of a session is [merged](SessionRow::with) with the one that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    pub run: Option<RunRow>,
    pub session: Option<SessionRow>,
    pub interrupts: Vec<InterruptRow>,
    pub grants: Vec<GrantRow>,
    pub answers: Vec<AnswerRow>,
}

/// A run whose deadline has come.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Due {
    pub deadline: Timestamp,
    pub run: RunId,
}

/// Newest first.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    pub status: Option<Status>,
    pub workflow: Option<String>,
    pub session: Option<SessionId>,
}

/// Newest first.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// Empty: any.
    pub states: BTreeSet<State>,
    /// That the session was opened for, or that a run of it has.
    pub workflow: Option<String>,
}

/// Open first by risk, then by age (oldest first); resolved ones newest first.
#[derive(Clone, Debug, Default)]
pub struct InterruptFilter {
    pub open: Option<bool>,
    pub run: Option<RunId>,
    /// Found over the rows of its runs.
    pub session: Option<SessionId>,
    pub kind: Option<Kind>,
    /// Those that have one of these [marks](holdshort_core::interrupt::mark).
    pub marks: Option<Vec<String>>,
}

/// Newest first.
#[derive(Clone, Debug, Default)]
pub struct GrantFilter {
    pub revoked: Option<bool>,
}

/// Newest first: by when the question was opened.
#[derive(Clone, Debug, Default)]
pub struct AnswerFilter {
    pub subject: Option<String>,
    pub run: Option<RunId>,
    /// The [same question](holdshort_core::history::asked).
    pub asked: Option<String>,
    /// Taken from the answer to this question.
    pub source: Option<InterruptId>,
    pub search: Option<Search>,
}

/// [Words](holdshort_core::history::words) of a question or its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Search {
    All(Vec<String>),
    Any(Vec<String>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub next: Option<Cursor>,
}

/// An opaque place in a list; text on the wire, of characters that a URL may hold.
pub type Cursor = String;

/// The rows beside the events.
///
/// A read sees every append that was answered before the read began. Lists are stable under inserts: a page that was
/// given out neither repeats nor skips a row that did not change.
pub trait Tables: Send + Sync + 'static {
    fn run(&self, run: &RunId) -> impl Future<Output = Result<Option<RunRow>, Error>> + Send;

    fn runs(
        &self,
        filter: &RunFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = Result<Page<RunRow>, Error>> + Send;

    fn session(&self, session: &SessionId) -> impl Future<Output = Result<Option<SessionRow>, Error>> + Send;

    fn sessions(
        &self,
        filter: &SessionFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = Result<Page<SessionRow>, Error>> + Send;

    /// Sessions that are not closed and in which nothing happened for as long as they were opened for: no run of
    /// them lives, and the last change of the session and of each run is so old. In order of their ids.
    fn idle_sessions(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<SessionId>, Error>> + Send;

    /// What the runs of a session used, by currency; those without one first. Empty: it has no runs.
    fn session_usage(
        &self,
        session: &SessionId,
    ) -> impl Future<Output = Result<Vec<SessionUsage>, Error>> + Send;

    fn interrupt(&self, id: &InterruptId)
    -> impl Future<Output = Result<Option<InterruptRow>, Error>> + Send;

    fn interrupts(
        &self,
        filter: &InterruptFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = Result<Page<InterruptRow>, Error>> + Send;

    fn grant(&self, id: &GrantId) -> impl Future<Output = Result<Option<GrantRow>, Error>> + Send;

    fn grants(
        &self,
        filter: &GrantFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = Result<Page<GrantRow>, Error>> + Send;

    /// That to the question of this id.
    fn answer(&self, id: &InterruptId) -> impl Future<Output = Result<Option<AnswerRow>, Error>> + Send;

    fn answers(
        &self,
        filter: &AnswerFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = Result<Page<AnswerRow>, Error>> + Send;

    /// Runs whose deadline is at or before `now`, earliest first, behind the given one: what stays due is passed by.
    fn due(
        &self,
        now: Timestamp,
        after: Option<&Due>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Due>, Error>> + Send;

    /// The earliest deadline of all runs.
    fn next_deadline(&self) -> impl Future<Output = Result<Option<Timestamp>, Error>> + Send;

    /// Drops all rows and writes these instead, in one transaction. `keys` and `blobs` stay: they belong to
    /// the journal.
    fn replace_rows(&self, rows: Vec<Rows>) -> impl Future<Output = Result<(), Error>> + Send;
}
