//! Promises of a journal about its rows: they are written by appends, found by their ids, and listed. All of them can
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

/// Rows to insert or replace, by their id. A session's row is [merged](SessionRow::with) with the existing one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    pub run: Option<RunRow>,
    pub session: Option<SessionRow>,
    pub interrupts: Vec<InterruptRow>,
    pub grants: Vec<GrantRow>,
    pub answers: Vec<AnswerRow>,
}

/// A run whose deadline has passed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Due {
    pub deadline: Timestamp,
    pub run: RunId,
}

/// Filter of the list of runs, newest first.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    pub status: Option<Status>,
    pub workflow: Option<String>,
    pub session: Option<SessionId>,
}

/// Filter of the list of sessions, newest first.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// Empty allows any state.
    pub states: BTreeSet<State>,
    /// Workflow that the session was opened for, or that one of its runs uses.
    pub workflow: Option<String>,
}

/// Filter of the list of interrupts: open ones by risk, then oldest first; resolved ones newest first.
#[derive(Clone, Debug, Default)]
pub struct InterruptFilter {
    pub open: Option<bool>,
    pub run: Option<RunId>,
    /// Found through the rows of the session's runs.
    pub session: Option<SessionId>,
    pub kind: Option<Kind>,
    /// Interrupts with one of these [marks](holdshort_core::interrupt::assignee_index).
    pub marks: Option<Vec<String>>,
}

/// Filter of the list of grants, newest first.
#[derive(Clone, Debug, Default)]
pub struct GrantFilter {
    pub revoked: Option<bool>,
}

/// Filter of the list of answers, newest first by the time at which the question was opened.
#[derive(Clone, Debug, Default)]
pub struct AnswerFilter {
    pub subject: Option<String>,
    pub run: Option<RunId>,
    /// Key of the [same question](holdshort_core::history::question_key).
    pub asked: Option<String>,
    /// Question whose answer was reused.
    pub source: Option<InterruptId>,
    pub search: Option<Search>,
}

/// [Words](holdshort_core::history::collect_words) of a question or its answer.
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

/// An opaque place in a list; on the wire a text of characters allowed in a URL.
pub type Cursor = String;

/// The rows that are kept in addition to the events.
///
/// A read sees every append that was answered before the read began. Lists are stable under inserts: later pages
/// neither repeat nor skip a row that did not change.
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

    /// Returns idle sessions in order of their ids. A session is idle if it is not closed, has no live run, and nothing
    /// in it changed for its idle period.
    fn idle_sessions(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<SessionId>, Error>> + Send;

    /// Returns the usage of a session's runs by currency; runs without a currency come first. Empty if the session has
    /// no runs.
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

    /// Returns the answer to the question with this id.
    fn answer(&self, id: &InterruptId) -> impl Future<Output = Result<Option<AnswerRow>, Error>> + Send;

    fn answers(
        &self,
        filter: &AnswerFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = Result<Page<AnswerRow>, Error>> + Send;

    /// Returns runs after the given one whose deadline is at or before `now`, earliest first. The caller can skip runs
    /// that stay due.
    fn due(
        &self,
        now: Timestamp,
        after: Option<&Due>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Due>, Error>> + Send;

    /// Returns the earliest deadline of all runs.
    fn next_deadline(&self) -> impl Future<Output = Result<Option<Timestamp>, Error>> + Send;

    /// Drops all rows and writes these instead, in one transaction. `keys` and `blobs` stay: they belong to the
    /// journal.
    fn replace_rows(&self, rows: Vec<Rows>) -> impl Future<Output = Result<(), Error>> + Send;
}
