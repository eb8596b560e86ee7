//! The index scans with which the pages of lists are read. Both SQL stores use the same scans. Each store translates
//! them to its own SQL dialect.
//!
//! A page begins after the sort key of the last row of the previous page, and never at an offset. A filter may need
//! several index scans. Their results are then merged.

use std::cmp::Reverse;

use holdshort_core::delivery::Delivery;
use holdshort_core::interrupt::Kind;
use holdshort_core::projection::{AnswerRow, GrantRow, InterruptRow, RunRow, SessionRow};

use crate::cursor::{
    AnswerSortKey, DeliverySortKey, GrantSortKey, InterruptSortKey, RunSortKey, SessionSortKey,
};
use crate::outbox::DeliveryFilter;
use crate::table::{Field, Record, Table, Value};
use crate::tables::{AnswerFilter, GrantFilter, InterruptFilter, RunFilter, Search, SessionFilter};

/// Scan of a part of a database index, in the order of the index. The conditions select the part.
#[derive(Clone, Debug)]
pub(crate) struct IndexScan<'a> {
    pub(crate) table: Table,
    /// Name of the database index that has the requested order. `None` if the table itself is stored in this order.
    pub(crate) index: Option<&'static str>,
    pub(crate) conditions: Vec<Condition<'a>>,
    pub(crate) order: &'static str,
}

#[derive(Clone, Debug)]
pub(crate) enum Condition<'a> {
    /// SQL condition that the column equals this value.
    Equal(&'static str, Value<'a>),
    /// SQL condition that `SQLite` and `PostgreSQL` both accept, with one `?` for each value. An `@` marks the places
    /// that differ: it follows the name of a table, or precedes the name of an index.
    Holds(&'static str, Vec<Value<'a>>),
    /// SQL condition that the column contains one of these texts. The texts are passed as one parameter, so that the
    /// SQL statement is the same for any number of texts.
    Contains { column: &'static str, texts: &'a [String], json: String },
    /// SQL condition that a question or its answer contains these words.
    Words(&'a Search),
}

impl Search {
    /// Calls `word` for each searched word to get an SQL condition. Joins the conditions with `AND` or `OR`.
    pub(crate) fn each<'s>(&'s self, word: impl FnMut(&'s str) -> String) -> String {
        let (words, joined, without) = match self {
            Self::All(words) => (words, " AND ", "true"),
            Self::Any(words) => (words, " OR ", "false"),
        };
        if words.is_empty() {
            return without.to_owned();
        }
        format!("({})", words.iter().map(String::as_str).map(word).collect::<Vec<_>>().join(joined))
    }
}

impl<'a> IndexScan<'a> {
    fn new<R: Record>(index: Option<&'static str>, order: &'static str) -> Self {
        Self { table: R::TABLE, index, conditions: Vec::new(), order }
    }

    fn equal<F: Field>(mut self, column: &'static str, value: Option<&'a F>) -> Self {
        self.conditions.extend(value.map(|value| Condition::Equal(column, value.value())));
        self
    }

    fn is(mut self, column: &'static str, flag: bool) -> Self {
        self.conditions.push(Condition::Equal(column, Value::Flag(flag)));
        self
    }

    fn with_condition(mut self, sql: &'static str, values: Vec<Value<'a>>) -> Self {
        self.conditions.push(Condition::Holds(sql, values));
        self
    }

    /// Restricts the scan to the rows after the sort key `after`, newest first.
    fn older<F: Field>(self, sql: &'static str, after: Option<&'a F>) -> Self {
        match after {
            Some(id) => self.with_condition(sql, vec![id.value()]),
            None => self,
        }
    }
}

/// Returns the index scan for a filter of runs. One scan must be enough for the filter: there must be an index that
/// fits.
pub(crate) fn runs<'a>(filter: &'a RunFilter, after: Option<&'a RunSortKey>) -> IndexScan<'a> {
    let index = match filter {
        RunFilter { session: Some(_), .. } => Some("runs_by_session"),
        RunFilter { status: None, workflow: None, .. } => None,
        RunFilter { .. } => Some("runs_by_state"),
    };
    IndexScan::new::<RunRow>(index, "run DESC")
        .equal("session", filter.session.as_ref())
        .equal("workflow", filter.workflow.as_ref())
        .equal("status", filter.status.as_ref())
        .older("run < ?", after.map(|RunSortKey(Reverse(run))| run))
}

/// Returns the scans for a filter of sessions: one for each state in the filter.
pub(crate) fn sessions<'a>(
    filter: &'a SessionFilter,
    after: Option<&'a SessionSortKey>,
) -> Vec<IndexScan<'a>> {
    let rest = |mut stretch: IndexScan<'a>| {
        if let Some(workflow) = &filter.workflow {
            let is_of = "(workflow = ? OR EXISTS (SELECT 1 FROM runs @runs_by_session
                         WHERE runs.session = sessions.session AND runs.workflow = ?))";
            stretch = stretch.with_condition(is_of, vec![workflow.value(), workflow.value()]);
        }
        stretch.older("session < ?", after.map(|SessionSortKey(Reverse(session))| session))
    };
    let order = "session DESC";
    if filter.states.is_empty() {
        return vec![rest(IndexScan::new::<SessionRow>(None, order))];
    }
    let of = |state| {
        rest(IndexScan::new::<SessionRow>(Some("sessions_by_state"), order).equal("state", Some(state)))
    };
    filter.states.iter().map(of).collect()
}

/// Returns the scans for a filter of interrupts: first those of open interrupts, then those of resolved interrupts. If
/// the filter is for no particular kind of interrupt, there are two scans per kind: one of open and one of resolved
/// interrupts.
pub(crate) fn interrupts<'a>(
    filter: &'a InterruptFilter,
    after: Option<&'a InterruptSortKey>,
) -> [Vec<IndexScan<'a>>; 2] {
    let is_narrow = filter.run.is_some() || filter.session.is_some();
    let kinds: Vec<Option<&Kind>> = match &filter.kind {
        None if !is_narrow => Kind::ALL.iter().map(Some).collect(),
        kind => vec![kind.as_ref()],
    };
    let half = |open: bool, by_kind, order| {
        let index = if is_narrow { "interrupts_by_run" } else { by_kind };
        let mut stretch = IndexScan::new::<InterruptRow>(Some(index), order)
            .is("open", open)
            .equal("run", filter.run.as_ref());
        let marks = filter.marks.iter().map(|marks| Condition::Contains {
            column: "assigned",
            texts: marks,
            json: serde_json::json!(marks).to_string(),
        });
        stretch.conditions.extend(marks);
        if let Some(session) = &filter.session {
            stretch = stretch.equal("session", Some(session));
            if filter.run.is_none() {
                let of_it = "run IN (SELECT run FROM runs @runs_by_session WHERE session = ?)";
                stretch = stretch.with_condition(of_it, vec![session.value()]);
            }
        }
        stretch
    };
    let (mut open, mut resolved) = (Vec::new(), Vec::new());
    if filter.open != Some(false) && !matches!(after, Some(InterruptSortKey::Resolved(_))) {
        let mut stretch = half(true, "open_interrupts_by_kind", "-risk, interrupt");
        if let Some(InterruptSortKey::Open(Reverse(risk), id)) = after {
            let least = vec![Value::Number(-i64::from(*risk)), id.value()];
            stretch = stretch.with_condition("(-risk, interrupt) > (?, ?)", least);
        }
        open.extend(kinds.iter().map(|kind| stretch.clone().equal("kind", *kind)));
    }
    if filter.open != Some(true) {
        let after = match after {
            Some(InterruptSortKey::Resolved(Reverse(id))) => Some(id),
            Some(InterruptSortKey::Open(..)) | None => None,
        };
        let stretch =
            half(false, "resolved_interrupts_by_kind", "interrupt DESC").older("interrupt < ?", after);
        resolved.extend(kinds.iter().map(|kind| stretch.clone().equal("kind", *kind)));
    }
    [open, resolved]
}

/// Returns the two scans for a filter of grants: one of valid grants and one of revoked grants.
pub(crate) fn grants<'a>(filter: &GrantFilter, after: Option<&'a GrantSortKey>) -> Vec<IndexScan<'a>> {
    let of = |revoked| {
        IndexScan::new::<GrantRow>(Some("grants_by_state"), "grant_id DESC")
            .is("revoked", revoked)
            .older("grant_id < ?", after.map(|GrantSortKey(Reverse(grant))| grant))
    };
    let asked = |revoked: &bool| filter.revoked.is_none_or(|asked| asked == *revoked);
    [false, true].into_iter().filter(asked).map(of).collect()
}

pub(crate) fn answers<'a>(filter: &'a AnswerFilter, after: Option<&'a AnswerSortKey>) -> IndexScan<'a> {
    let index = match filter {
        AnswerFilter { asked: Some(_), .. } => "answers_by_question",
        AnswerFilter { source: Some(_), .. } => "answers_by_source",
        AnswerFilter { run: Some(_), .. } => "answers_by_run",
        AnswerFilter { subject: Some(_), .. } => "answers_by_subject",
        AnswerFilter { .. } => "answers_by_interrupt",
    };
    let mut stretch = IndexScan::new::<AnswerRow>(Some(index), "interrupt DESC")
        .equal("asked", filter.asked.as_ref())
        .equal("source", filter.source.as_ref())
        .equal("run", filter.run.as_ref())
        .equal("subject", filter.subject.as_ref());
    stretch.conditions.extend(filter.search.as_ref().map(Condition::Words));
    stretch.older("interrupt < ?", after.map(|AnswerSortKey(Reverse(interrupt))| interrupt))
}

pub(crate) fn deliveries<'a>(
    filter: &'a DeliveryFilter,
    after: Option<&'a DeliverySortKey>,
) -> IndexScan<'a> {
    let index = match filter {
        DeliveryFilter { interrupt: Some(_), .. } => Some("deliveries_by_interrupt"),
        DeliveryFilter { state: Some(_), .. } => Some("deliveries_by_state"),
        DeliveryFilter { .. } => None,
    };
    IndexScan::new::<Delivery>(index, "delivery DESC")
        .equal("interrupt", filter.interrupt.as_ref())
        .equal("state", filter.state.as_ref())
        .equal("channel", filter.channel.as_ref())
        .older("delivery < ?", after.map(|DeliverySortKey(Reverse(delivery))| delivery))
}
