//! Rows of the journal in memory, and lists of rows. Each time that a list is read, all its rows are sorted.

use std::collections::BTreeMap;

use holdshort_core::id::{GrantId, InterruptId, RunId, SessionId};
use holdshort_core::projection::{AnswerRow, GrantRow, InterruptRow, RunRow, SessionRow, SessionUsage};
use holdshort_core::time::Timestamp;

use crate::cursor::{AnswerSortKey, GrantSortKey, InterruptSortKey, RunSortKey, SessionSortKey};
use crate::tables::{
    AnswerFilter, Due, GrantFilter, InterruptFilter, Page, Rows, RunFilter, Search, SessionFilter,
};

#[derive(Debug, Default)]
pub(super) struct RowMaps {
    pub(super) runs: BTreeMap<RunId, RunRow>,
    pub(super) sessions: BTreeMap<SessionId, SessionRow>,
    pub(super) interrupts: BTreeMap<InterruptId, InterruptRow>,
    pub(super) grants: BTreeMap<GrantId, GrantRow>,
    pub(super) answers: BTreeMap<InterruptId, AnswerRow>,
}

impl RowMaps {
    pub(super) fn put(&mut self, rows: Rows) {
        self.runs.extend(rows.run.map(|row| (row.run.clone(), row)));
        if let Some(row) = rows.session {
            let merged = match self.sessions.remove(&row.session) {
                Some(there) => there.with(row),
                None => row,
            };
            self.sessions.insert(merged.session.clone(), merged);
        }
        self.interrupts.extend(rows.interrupts.into_iter().map(|row| (row.interrupt.clone(), row)));
        self.grants.extend(rows.grants.into_iter().map(|row| (row.grant.clone(), row)));
        self.answers.extend(rows.answers.into_iter().map(|row| (row.interrupt.clone(), row)));
    }

    pub(super) fn runs(&self, filter: &RunFilter, after: Option<&RunSortKey>, limit: usize) -> Page<RunRow> {
        let mut rows: Vec<_> = self
            .runs
            .values()
            .filter(|row| filter.status.is_none_or(|status| row.status == status))
            .filter(|row| filter.workflow.as_ref().is_none_or(|workflow| row.workflow == *workflow))
            .filter(|row| matches_session(filter.session.as_ref(), &row.session))
            .map(|row| (RunSortKey::from_row(row), row))
            .filter(|(place, _)| after.is_none_or(|after| place > after))
            .collect();
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        let items = rows.into_iter().take(limit.saturating_add(1)).map(|(_, row)| row.clone()).collect();
        Page::cut(items, limit, |row| RunSortKey::from_row(row).encode())
    }

    pub(super) fn sessions(
        &self,
        filter: &SessionFilter,
        after: Option<&SessionSortKey>,
        limit: usize,
    ) -> Page<SessionRow> {
        let is_of = |row: &SessionRow, workflow: &String| {
            row.workflow.as_ref() == Some(workflow)
                || self.runs_of(&row.session).any(|run| run.workflow == *workflow)
        };
        let rows = self
            .sessions
            .values()
            .rev()
            .filter(|row| filter.states.is_empty() || filter.states.contains(&row.state))
            .filter(|row| filter.workflow.as_ref().is_none_or(|workflow| is_of(row, workflow)))
            .filter(|row| after.is_none_or(|after| SessionSortKey::from_row(row) > *after));
        let items = rows.take(limit.saturating_add(1)).cloned().collect();
        Page::cut(items, limit, |row| SessionSortKey::from_row(row).encode())
    }

    pub(super) fn idle_sessions(&self, now: Timestamp, limit: usize) -> Vec<SessionId> {
        let is_idle = |row: &&SessionRow| {
            let Some(idle_ms) = row.idle_ms.filter(|_| !row.state.is_closed()) else { return false };
            row.idle_since.plus_ms(idle_ms) <= now
                && self.runs_of(&row.session).all(|run| run.status.is_terminal())
        };
        self.sessions.values().filter(is_idle).map(|row| row.session.clone()).take(limit).collect()
    }

    pub(super) fn session_usage(&self, session: &SessionId) -> Vec<SessionUsage> {
        let mut usage: BTreeMap<Option<String>, SessionUsage> = BTreeMap::new();
        for row in self.runs_of(session) {
            let of = usage.entry(row.currency.clone()).or_default();
            of.currency.clone_from(&row.currency);
            of.add(row);
        }
        usage.into_values().collect()
    }

    pub(super) fn runs_of(&self, session: &SessionId) -> impl Iterator<Item = &RunRow> {
        self.runs.values().filter(move |run| run.session == *session)
    }

    pub(super) fn interrupts(
        &self,
        filter: &InterruptFilter,
        after: Option<&InterruptSortKey>,
        limit: usize,
    ) -> Page<InterruptRow> {
        let mut rows: Vec<_> = self
            .interrupts
            .values()
            .filter(|row| filter.open.is_none_or(|open| row.open == open))
            .filter(|row| filter.run.as_ref().is_none_or(|run| row.run == *run))
            .filter(|row| filter.kind.is_none_or(|kind| row.kind == kind))
            .filter(|row| filter.marks.as_ref().is_none_or(|marks| has_one(row, marks)))
            .filter(|row| matches_session(filter.session.as_ref(), &row.session))
            .filter(|row| filter.session.is_none() || filter.run.is_some() || self.is_with_its_run(row))
            .map(|row| (InterruptSortKey::from_row(row), row))
            .filter(|(place, _)| after.is_none_or(|after| place > after))
            .collect();
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        let items = rows.into_iter().take(limit.saturating_add(1)).map(|(_, row)| row.clone()).collect();
        Page::cut(items, limit, |row| InterruptSortKey::from_row(row).encode())
    }

    /// Returns true if the interrupt and its run belong to the same session. The list of a session's interrupts
    /// contains only such interrupts, because the SQL stores find interrupts through the runs of the session.
    fn is_with_its_run(&self, row: &InterruptRow) -> bool {
        self.runs.get(&row.run).is_some_and(|run| run.session == row.session)
    }

    pub(super) fn grants(
        &self,
        filter: &GrantFilter,
        after: Option<&GrantSortKey>,
        limit: usize,
    ) -> Page<GrantRow> {
        let rows = self
            .grants
            .values()
            .rev()
            .filter(|row| filter.revoked.is_none_or(|revoked| row.revoked == revoked))
            .filter(|row| after.is_none_or(|after| GrantSortKey::from_row(row) > *after));
        let items = rows.take(limit.saturating_add(1)).cloned().collect();
        Page::cut(items, limit, |row| GrantSortKey::from_row(row).encode())
    }

    pub(super) fn answers(
        &self,
        filter: &AnswerFilter,
        after: Option<&AnswerSortKey>,
        limit: usize,
    ) -> Page<AnswerRow> {
        let rows = self
            .answers
            .values()
            .rev()
            .filter(|row| filter.subject.as_ref().is_none_or(|subject| row.subject == *subject))
            .filter(|row| filter.run.as_ref().is_none_or(|run| row.run == *run))
            .filter(|row| filter.asked.as_ref().is_none_or(|asked| row.asked == *asked))
            .filter(|row| filter.source.is_none() || row.source == filter.source)
            .filter(|row| filter.search.as_ref().is_none_or(|search| has_words(row, search)))
            .filter(|row| after.is_none_or(|after| AnswerSortKey::from_row(row) > *after));
        let items = rows.take(limit.saturating_add(1)).cloned().collect();
        Page::cut(items, limit, |row| AnswerSortKey::from_row(row).encode())
    }

    /// Returns the runs whose deadline is at or before `now`, in the order of their deadlines, beginning after `after`.
    pub(super) fn due(&self, now: Timestamp, after: Option<&Due>, limit: usize) -> Vec<Due> {
        let due = |row: &RunRow| row.deadline.map(|deadline| Due { deadline, run: row.run.clone() });
        let mut due: Vec<Due> = self.runs.values().filter_map(due).collect();
        due.retain(|each| each.deadline <= now && after.is_none_or(|after| each > after));
        due.sort();
        due.truncate(limit);
        due
    }

    pub(super) fn runs_by<K: Ord>(&self, key: impl Fn(&RunRow) -> Option<K>, limit: usize) -> Vec<RunId> {
        let mut keyed: Vec<_> =
            self.runs.values().filter_map(|row| key(row).map(|key| (key, &row.run))).collect();
        keyed.sort();
        keyed.into_iter().take(limit).map(|(_, run)| run.clone()).collect()
    }
}

fn matches_session(wanted: Option<&SessionId>, session: &SessionId) -> bool {
    wanted.is_none_or(|wanted| wanted == session)
}

fn has_words(row: &AnswerRow, search: &Search) -> bool {
    let has = |word: &String| row.words.split(' ').any(|own| own == word);
    match search {
        Search::All(words) => words.iter().all(has),
        Search::Any(words) => words.iter().any(has),
    }
}

fn has_one(row: &InterruptRow, marks: &[String]) -> bool {
    let assigned = row.assigned.as_deref().unwrap_or_default();
    marks.iter().any(|mark| assigned.contains(mark.as_str()))
}
