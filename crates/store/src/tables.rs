//! The rows of a journal. Appends write them. Rows are read by id or in lists. All rows can be rebuilt from the events.

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

/// Rows to write, each of which replaces the existing row with the same id. Only the row of a session is
/// [merged](SessionRow::with) with the existing one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    pub run: Option<RunRow>,
    pub session: Option<SessionRow>,
    pub interrupts: Vec<InterruptRow>,
    pub grants: Vec<GrantRow>,
    pub answers: Vec<AnswerRow>,
}

/// A run in the list of runs whose deadline has passed, with this deadline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Due {
    pub deadline: Timestamp,
    pub run: RunId,
}

/// Filter for the list of runs, which is sorted from newest to oldest.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    pub status: Option<Status>,
    pub workflow: Option<String>,
    pub session: Option<SessionId>,
}

/// Filter for the list of sessions, which is sorted from newest to oldest.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// States of the listed sessions. An empty set means all states.
    pub states: BTreeSet<State>,
    /// Workflow that was named when the session was opened, or that a run of the session uses.
    pub workflow: Option<String>,
}

/// Filter of the list of interrupts. Open interrupts come first, by descending risk and then oldest first. Resolved
/// interrupts follow, newest first.
#[derive(Clone, Debug, Default)]
pub struct InterruptFilter {
    pub open: Option<bool>,
    pub run: Option<RunId>,
    /// Session to which the runs of the interrupts belong.
    pub session: Option<SessionId>,
    pub kind: Option<Kind>,
    /// Lists only interrupts with at least one of these [marks](holdshort_core::interrupt::assignee_index), which name
    /// people and groups.
    pub marks: Option<Vec<String>>,
}

/// Filter for the list of grants, which is sorted from newest to oldest.
#[derive(Clone, Debug, Default)]
pub struct GrantFilter {
    pub revoked: Option<bool>,
}

/// Filter of the list of answers. The answer to the newest question comes first.
#[derive(Clone, Debug, Default)]
pub struct AnswerFilter {
    pub subject: Option<String>,
    pub run: Option<RunId>,
    /// Lists only answers to the question with [this key](holdshort_core::history::question_key).
    pub asked: Option<String>,
    /// Lists only answers that reuse the answer to this question.
    pub source: Option<InterruptId>,
    pub search: Option<Search>,
}

/// [Words](holdshort_core::history::collect_words) that a question or its answer must contain.
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

/// Opaque position in a list. A cursor contains only characters that are allowed in a URL.
pub type Cursor = String;

/// Access to the rows, which are stored in addition to the events.
///
/// A read sees every append that was acknowledged before the read began. If rows are inserted between the reads of two
/// pages, the second page neither repeats nor skips an unchanged row.
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

    /// Returns idle sessions in the order of their ids. A session is idle if it is not closed, all its runs have ended,
    /// and nothing has changed in it during its idle period.
    fn idle_sessions(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<SessionId>, Error>> + Send;

    /// Returns the total usage of a session's runs for each currency. The usage of runs without a currency comes first.
    /// Returns an empty list if the session has no runs.
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

    fn answer(&self, id: &InterruptId) -> impl Future<Output = Result<Option<AnswerRow>, Error>> + Send;

    fn answers(
        &self,
        filter: &AnswerFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = Result<Page<AnswerRow>, Error>> + Send;

    /// Returns the runs whose deadline is at or before `now`, in the order of their deadlines, beginning after the run
    /// `after`. With `after`, a caller can skip runs whose deadline cannot expire yet, for example because of a freeze.
    fn due(
        &self,
        now: Timestamp,
        after: Option<&Due>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Due>, Error>> + Send;

    fn next_deadline(&self) -> impl Future<Output = Result<Option<Timestamp>, Error>> + Send;

    /// Deletes all rows and writes `rows` instead, in one transaction. Keys and blobs are kept, because they cannot be
    /// rebuilt from events.
    fn replace_rows(&self, rows: Vec<Rows>) -> impl Future<Output = Result<(), Error>> + Send;
}
