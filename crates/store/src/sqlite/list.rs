//! Lists: pages by key, never by offset, each filter on the index that was made for it (`INDEXED BY` turns a
//! missing one into an error instead of a slow list).

use std::cmp::Reverse;

use holdshort_core::id::{RunId, SessionId};
use holdshort_core::interrupt::Kind;
use holdshort_core::projection::{GrantRow, InterruptRow, RunRow, SessionRow, Status};
use holdshort_core::time::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params, params_from_iter};

use super::column::{Key, Time, id, number};
use super::packed::pack;
use super::read::at_most;
use super::rows;
use crate::cursor::{GrantPlace, InterruptPlace, RunPlace, SessionPlace};
use crate::journal::Error;
use crate::table::Record;
use crate::tables::{Due, GrantFilter, InterruptFilter, Page, RunFilter, SessionFilter};

pub(super) fn runs(
    connection: &Connection,
    filter: &RunFilter,
    after: Option<&RunPlace>,
    limit: usize,
) -> Result<Page<RunRow>, Error> {
    let snapshot = connection.unchecked_transaction()?;
    let wanted = limit.saturating_add(1);
    let mut items = Vec::new();
    for stretch in stretches(&snapshot, filter)? {
        items.extend(some_runs(&snapshot, &stretch, after, wanted)?);
    }
    items.sort_by_cached_key(RunPlace::of);
    Ok(Page::cut(items, limit, |row| RunPlace::of(row).encode()))
}

/// The filter as filters that are each one stretch of an index.
fn stretches(connection: &Connection, filter: &RunFilter) -> Result<Vec<RunFilter>, Error> {
    if filter.session.is_some() || (filter.status.is_none() && filter.workflow.is_none()) {
        return Ok(vec![filter.clone()]);
    }
    let mut all = Vec::new();
    for status in filter.status.map_or(Status::ALL.to_vec(), |status| vec![status]) {
        let workflows = match &filter.workflow {
            Some(workflow) => vec![workflow.clone()],
            None => workflows(connection, status)?,
        };
        all.extend(workflows.into_iter().map(|workflow| RunFilter {
            status: Some(status),
            workflow: Some(workflow),
            session: None,
        }));
    }
    Ok(all)
}

/// The workflows that have runs of this status: a few, found by a leap in the index each.
fn workflows(connection: &Connection, status: Status) -> Result<Vec<String>, Error> {
    let sql = "SELECT min(workflow) FROM runs INDEXED BY runs_by_state WHERE status = ?1 AND workflow > ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = Vec::new();
    let mut last = String::new();
    while let Some(next) = statement.query_row([status.as_str(), &last], |row| row.get(0))? {
        last.clone_from(&next);
        found.push(next);
    }
    Ok(found)
}

fn some_runs(
    connection: &Connection,
    filter: &RunFilter,
    after: Option<&RunPlace>,
    limit: usize,
) -> Result<Vec<RunRow>, Error> {
    let table = match filter {
        RunFilter { session: Some(_), .. } => "runs INDEXED BY runs_by_session",
        RunFilter { status: None, workflow: None, .. } => "runs NOT INDEXED",
        RunFilter { .. } => "runs INDEXED BY runs_by_state",
    };
    let mut query = Query::new(RunRow::TABLE.list, table);
    query.equal("session", filter.session.as_ref().map(|id| packed(id.as_str())));
    query.equal("workflow", filter.workflow.clone().map(Value::Text));
    query.equal("status", filter.status.map(|status| Value::Text(status.as_str().to_owned())));
    query.older("run", after.map(|RunPlace(Reverse(run))| run.as_str()));
    query.rows(connection, limit, rows::read)
}

/// Each state that the filter names is one stretch of the index.
pub(super) fn sessions(
    connection: &Connection,
    filter: &SessionFilter,
    after: Option<&SessionPlace>,
    limit: usize,
) -> Result<Page<SessionRow>, Error> {
    let snapshot = connection.unchecked_transaction()?;
    let wanted = limit.saturating_add(1);
    let older = |mut query: Query| {
        if let Some(workflow) = &filter.workflow {
            let workflow = Value::Text(workflow.clone());
            query.bind(
                "(workflow = ? OR EXISTS (SELECT 1 FROM runs INDEXED BY runs_by_session
                                          WHERE runs.session = sessions.session AND runs.workflow = ?))",
                [workflow.clone(), workflow],
            );
        }
        query.older("session", after.map(|SessionPlace(Reverse(session))| session.as_str()));
        query.rows(&snapshot, wanted, rows::read)
    };
    if filter.states.is_empty() {
        let items = older(Query::new(SessionRow::TABLE.list, "sessions NOT INDEXED"))?;
        return Ok(Page::cut(items, limit, |row| SessionPlace::of(row).encode()));
    }
    let mut items = Vec::new();
    for state in &filter.states {
        let mut query = Query::new(SessionRow::TABLE.list, "sessions INDEXED BY sessions_by_state");
        query.equal("state", Some(Value::Text(state.as_str().to_owned())));
        items.extend(older(query)?);
    }
    items.sort_by_cached_key(SessionPlace::of);
    Ok(Page::cut(items, limit, |row| SessionPlace::of(row).encode()))
}

pub(super) fn idle_sessions(
    connection: &Connection,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<SessionId>, Error> {
    let sql = "SELECT session FROM sessions INDEXED BY sessions_that_expire
               WHERE idle_ms IS NOT NULL AND state IN ('open', 'suspended') AND idle_since <= ?1 - idle_ms
                   AND NOT EXISTS (
                       SELECT 1 FROM runs INDEXED BY runs_by_session WHERE runs.session = sessions.session
                           AND status NOT IN ('completed', 'failed', 'cancelled')
                   )
               ORDER BY session LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let sessions = statement.query_map(params![Time(now), at_most(limit)], |row| id(row, 0))?;
    Ok(sessions.collect::<Result<_, _>>()?)
}

/// Both halves are read from one snapshot, so an interrupt that resolves meanwhile is not missed.
pub(super) fn interrupts(
    connection: &Connection,
    filter: &InterruptFilter,
    after: Option<&InterruptPlace>,
    limit: usize,
) -> Result<Page<InterruptRow>, Error> {
    let snapshot = connection.unchecked_transaction()?;
    let wanted = limit.saturating_add(1);
    let kinds = match filter {
        InterruptFilter { run: None, session: None, kind: None, .. } => {
            Kind::ALL.map(|kind| InterruptFilter { kind: Some(kind), ..filter.clone() }).to_vec()
        }
        filter => vec![filter.clone()],
    };
    let mut items = Vec::new();
    if filter.open != Some(false) && !matches!(after, Some(InterruptPlace::Resolved(_))) {
        for filter in &kinds {
            items.extend(open(&snapshot, filter, after, wanted)?);
        }
    }
    if filter.open != Some(true) && items.len() < wanted {
        for filter in &kinds {
            items.extend(resolved(&snapshot, filter, after, wanted)?);
        }
    }
    items.sort_by_cached_key(InterruptPlace::of);
    Ok(Page::cut(items, limit, |row| InterruptPlace::of(row).encode()))
}

fn open(
    connection: &Connection,
    filter: &InterruptFilter,
    after: Option<&InterruptPlace>,
    limit: usize,
) -> Result<Vec<InterruptRow>, Error> {
    let mut query = half(filter, "open");
    query.when("open = 1");
    if let Some(InterruptPlace::Open(Reverse(risk), id)) = after {
        let least = [Value::Integer(-i64::from(*risk)), packed(id.as_str())];
        query.bind("(-risk, interrupt) > (?, ?)", least);
    }
    query.sort("-risk, interrupt");
    query.rows(connection, limit, rows::read)
}

fn resolved(
    connection: &Connection,
    filter: &InterruptFilter,
    after: Option<&InterruptPlace>,
    limit: usize,
) -> Result<Vec<InterruptRow>, Error> {
    let mut query = half(filter, "resolved");
    query.when("open = 0");
    let place = match after {
        Some(InterruptPlace::Resolved(Reverse(id))) => Some(id.as_str()),
        Some(InterruptPlace::Open(..)) | None => None,
    };
    query.older("interrupt", place);
    query.rows(connection, limit, rows::read)
}

fn half(filter: &InterruptFilter, half: &str) -> Query {
    let index = match filter {
        InterruptFilter { run: None, session: None, .. } => format!("{half}_interrupts_by_kind"),
        InterruptFilter { .. } => "interrupts_by_run".to_owned(),
    };
    let mut query = Query::new(InterruptRow::TABLE.list, &format!("interrupts INDEXED BY {index}"));
    query.equal("run", filter.run.as_ref().map(|id| packed(id.as_str())));
    if let Some(session) = &filter.session {
        let session = packed(session.as_str());
        query.equal("session", Some(session.clone()));
        if filter.run.is_none() {
            let of_it = "run IN (SELECT run FROM runs INDEXED BY runs_by_session WHERE session = ?)";
            query.bind(of_it, [session]);
        }
    }
    query.equal("kind", filter.kind.map(|kind| Value::Text(kind.as_str().to_owned())));
    query
}

/// Without a filter both halves are read: each has its own stretch of the index.
pub(super) fn grants(
    connection: &Connection,
    filter: &GrantFilter,
    after: Option<&GrantPlace>,
    limit: usize,
) -> Result<Page<GrantRow>, Error> {
    let snapshot = connection.unchecked_transaction()?;
    let wanted = limit.saturating_add(1);
    let mut items = Vec::new();
    for revoked in [false, true] {
        if filter.revoked.is_none_or(|asked| asked == revoked) {
            let mut query = Query::new(GrantRow::TABLE.list, "grants INDEXED BY grants_by_state");
            query.equal("revoked", Some(Value::Integer(revoked.into())));
            query.older("grant_id", after.map(|GrantPlace(Reverse(id))| id.as_str()));
            items.extend(query.rows(&snapshot, wanted, rows::read)?);
        }
    }
    items.sort_by_cached_key(GrantPlace::of);
    Ok(Page::cut(items, limit, |row| GrantPlace::of(row).encode()))
}

pub(super) fn runnable(connection: &Connection, limit: usize) -> Result<Vec<RunId>, Error> {
    let sql = "SELECT run FROM runs INDEXED BY runs_runnable WHERE runnable = 1
               ORDER BY created_at, run LIMIT ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let runs = statement.query_map([at_most(limit)], |row| id(row, 0))?;
    Ok(runs.collect::<Result<_, _>>()?)
}

pub(super) fn count_runnable(connection: &Connection) -> Result<u64, Error> {
    let sql = "SELECT count(*) FROM runs INDEXED BY runs_runnable WHERE runnable = 1";
    Ok(connection.prepare_cached(sql)?.query_row([], |row| number(row, 0))?)
}

pub(super) fn runnable_by_id(
    connection: &Connection,
    after: Option<&RunId>,
    limit: usize,
) -> Result<Vec<RunId>, Error> {
    // There are as many as work is in flight: read whole, then put in order.
    let mut runs = runnable(connection, usize::MAX)?;
    runs.sort();
    Ok(runs.into_iter().filter(|run| after.is_none_or(|after| run > after)).take(limit).collect())
}

pub(super) fn due(
    connection: &Connection,
    now: Timestamp,
    after: Option<&Due>,
    limit: usize,
) -> Result<Vec<Due>, Error> {
    let sql = "SELECT deadline, run FROM runs INDEXED BY runs_by_deadline
               WHERE deadline <= ?1 AND (deadline, run) > (?2, ?3) ORDER BY deadline, run LIMIT ?4";
    let (deadline, run) =
        after.map_or((i64::MIN, ""), |after| (after.deadline.as_millis(), after.run.as_str()));
    let mut statement = connection.prepare_cached(sql)?;
    let due = statement.query_map(params![Time(now), deadline, Key(run), at_most(limit)], |row| {
        Ok(Due { deadline: Timestamp::from_millis(row.get(0)?), run: id(row, 1)? })
    })?;
    Ok(due.collect::<Result<_, _>>()?)
}

pub(super) fn next_deadline(connection: &Connection) -> Result<Option<Timestamp>, Error> {
    let sql = "SELECT min(deadline) FROM runs INDEXED BY runs_by_deadline WHERE deadline IS NOT NULL";
    let deadline: Option<i64> = connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(deadline.map(Timestamp::from_millis))
}

/// A page's query. Only its values vary within one combination of filters, so the statement is prepared once.
struct Query {
    sql: String,
    values: Vec<Value>,
    order: String,
}

impl Query {
    fn new(columns: &str, table: &str) -> Self {
        let sql = format!("SELECT {columns} FROM {table} WHERE true");
        Self { sql, values: Vec::new(), order: String::new() }
    }

    fn when(&mut self, condition: &str) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
    }

    fn bind<const N: usize>(&mut self, condition: &str, values: [Value; N]) {
        self.when(condition);
        self.values.extend(values);
    }

    fn equal(&mut self, column: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.bind(&format!("{column} = ?"), [value]);
        }
    }

    /// Newest first, from a place on.
    fn older(&mut self, key: &str, after: Option<&str>) {
        if let Some(id) = after {
            self.bind(&format!("{key} < ?"), [packed(id)]);
        }
        self.sort(&format!("{key} DESC"));
    }

    fn sort(&mut self, order: &str) {
        order.clone_into(&mut self.order);
    }

    fn rows<T>(
        mut self,
        connection: &Connection,
        limit: usize,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        self.values.push(Value::Integer(at_most(limit)));
        let sql = format!("{} ORDER BY {} LIMIT ?", self.sql, self.order);
        let mut statement = connection.prepare_cached(&sql)?;
        let rows = statement.query_map(params_from_iter(self.values), read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn packed(id: &str) -> Value {
    Value::Blob(pack(id).to_vec())
}
