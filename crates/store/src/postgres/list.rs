//! Lists: pages by key, never by offset. Each filter is one stretch of an index, or a few of them merged; each
//! list is one statement, so that it is one moment.

use std::cmp::Reverse;

use holdshort_core::id::SessionId;
use holdshort_core::interrupt::Kind;
use holdshort_core::projection::{GrantRow, InterruptRow, RunRow, SessionRow, Status};
use holdshort_core::time::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::column::{at_most, get, id};
use super::pool::Pool;
use super::rows;
use crate::cursor::{GrantPlace, InterruptPlace, RunPlace, SessionPlace};
use crate::journal::Error;
use crate::table::Record;
use crate::tables::{Due, GrantFilter, InterruptFilter, Page, RunFilter, SessionFilter};

pub(super) async fn runs(
    pool: &Pool,
    filter: &RunFilter,
    after: Option<&RunPlace>,
    limit: usize,
) -> Result<Page<RunRow>, Error> {
    if filter.workflow.as_ref().is_some_and(|workflow| workflow.contains('\0')) {
        return Ok(Page { items: Vec::new(), next: None });
    }
    let mut query = Query::new(limit);
    let mut stretch = Stretch::of(RunRow::TABLE.list, "runs", "run DESC");
    query.equal(&mut stretch, "session", filter.session.as_ref().map(|session| session.as_str().to_owned()));
    query.equal(&mut stretch, "workflow", filter.workflow.clone());
    if let Some(RunPlace(Reverse(run))) = after {
        query.bind(&mut stretch, "run < ?", [run.as_str().to_owned()]);
    }
    let statuses = match filter {
        // One stretch per status: those of a workflow are not in order of their ids.
        RunFilter { status: None, workflow: Some(_), session: None } => Status::ALL.map(Some).to_vec(),
        RunFilter { status, .. } => vec![*status],
    };
    for status in statuses {
        let mut stretch = stretch.clone();
        query.equal(&mut stretch, "status", status.map(|status| status.as_str().to_owned()));
        query.add(&stretch);
    }
    let mut items = query.rows(pool, rows::read).await?;
    items.sort_by_cached_key(RunPlace::of);
    Ok(Page::cut(items, limit, |row| RunPlace::of(row).encode()))
}

pub(super) async fn sessions(
    pool: &Pool,
    filter: &SessionFilter,
    after: Option<&SessionPlace>,
    limit: usize,
) -> Result<Page<SessionRow>, Error> {
    if filter.workflow.as_ref().is_some_and(|workflow| workflow.contains('\0')) {
        return Ok(Page { items: Vec::new(), next: None });
    }
    let mut query = Query::new(limit);
    let mut stretch = Stretch::of(SessionRow::TABLE.list, "sessions", "session DESC");
    if let Some(workflow) = &filter.workflow {
        let is_of = "(workflow = ? OR EXISTS (
            SELECT FROM runs WHERE runs.session = sessions.session AND runs.workflow = ?
        ))";
        query.bind(&mut stretch, is_of, [workflow.clone(), workflow.clone()]);
    }
    if let Some(SessionPlace(Reverse(session))) = after {
        query.bind(&mut stretch, "session < ?", [session.as_str().to_owned()]);
    }
    if filter.states.is_empty() {
        query.add(&stretch);
    }
    for state in &filter.states {
        let mut stretch = stretch.clone();
        query.equal(&mut stretch, "state", Some(state.as_str().to_owned()));
        query.add(&stretch);
    }
    let mut items = query.rows(pool, rows::read).await?;
    items.sort_by_cached_key(SessionPlace::of);
    Ok(Page::cut(items, limit, |row| SessionPlace::of(row).encode()))
}

pub(super) async fn idle_sessions(
    pool: &Pool,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<SessionId>, Error> {
    let sql = "SELECT session FROM sessions
               WHERE idle_ms IS NOT NULL AND state IN ('open', 'suspended') AND idle_since <= $1 - idle_ms
                   AND NOT EXISTS (
                       SELECT FROM runs WHERE runs.session = sessions.session
                           AND status NOT IN ('completed', 'failed', 'cancelled')
                   )
               ORDER BY session LIMIT $2";
    pool.read(sql, &[&now.as_millis(), &at_most(limit)]).await?.iter().map(|row| id(row, 0)).collect()
}

pub(super) async fn interrupts(
    pool: &Pool,
    filter: &InterruptFilter,
    after: Option<&InterruptPlace>,
    limit: usize,
) -> Result<Page<InterruptRow>, Error> {
    let mut query = Query::new(limit);
    let kinds = match filter {
        InterruptFilter { run: None, session: None, kind: None, .. } => Kind::ALL.map(Some).to_vec(),
        filter => vec![filter.kind],
    };
    if filter.open != Some(false) && !matches!(after, Some(InterruptPlace::Resolved(_))) {
        let mut stretch = Stretch::of(InterruptRow::TABLE.list, "interrupts", "-risk, interrupt");
        stretch.when("open");
        query.interrupts(&mut stretch, filter);
        if let Some(InterruptPlace::Open(Reverse(risk), interrupt)) = after {
            let least = "(-risk, interrupt) > (-?::text::bigint, ?)";
            query.bind(&mut stretch, least, [risk.to_string(), interrupt.as_str().to_owned()]);
        }
        query.add_kinds(&stretch, &kinds);
    }
    if filter.open != Some(true) {
        let mut stretch = Stretch::of(InterruptRow::TABLE.list, "interrupts", "interrupt DESC");
        stretch.when("NOT open");
        query.interrupts(&mut stretch, filter);
        if let Some(InterruptPlace::Resolved(Reverse(interrupt))) = after {
            query.bind(&mut stretch, "interrupt < ?", [interrupt.as_str().to_owned()]);
        }
        query.add_kinds(&stretch, &kinds);
    }
    let mut items = query.rows(pool, rows::read).await?;
    items.sort_by_cached_key(InterruptPlace::of);
    Ok(Page::cut(items, limit, |row| InterruptPlace::of(row).encode()))
}

pub(super) async fn grants(
    pool: &Pool,
    filter: &GrantFilter,
    after: Option<&GrantPlace>,
    limit: usize,
) -> Result<Page<GrantRow>, Error> {
    let mut query = Query::new(limit);
    let mut stretch = Stretch::of(GrantRow::TABLE.list, "grants", "grant_id DESC");
    match filter.revoked {
        Some(true) => stretch.when("revoked"),
        Some(false) => stretch.when("NOT revoked"),
        None => {}
    }
    if let Some(GrantPlace(Reverse(grant))) = after {
        query.bind(&mut stretch, "grant_id < ?", [grant.as_str().to_owned()]);
    }
    query.add(&stretch);
    let items = query.rows(pool, rows::read).await?;
    Ok(Page::cut(items, limit, |row| GrantPlace::of(row).encode()))
}

pub(super) async fn due(
    pool: &Pool,
    now: Timestamp,
    after: Option<&Due>,
    limit: usize,
) -> Result<Vec<Due>, Error> {
    let sql = "SELECT deadline, run FROM runs WHERE deadline <= $1 AND (deadline, run) > ($2, $3)
               ORDER BY deadline, run LIMIT $4";
    let (deadline, run) =
        after.map_or((i64::MIN, ""), |after| (after.deadline.as_millis(), after.run.as_str()));
    let rows = pool.read(sql, &[&now.as_millis(), &deadline, &run, &at_most(limit)]).await?;
    rows.iter()
        .map(|row| Ok(Due { deadline: Timestamp::from_millis(get(row, 0)?), run: id(row, 1)? }))
        .collect()
}

pub(super) async fn next_deadline(pool: &Pool) -> Result<Option<Timestamp>, Error> {
    let rows = pool.read("SELECT min(deadline) FROM runs WHERE deadline IS NOT NULL", &[]).await?;
    let deadline: Option<i64> = rows.first().map_or(Ok(None), |row| get(row, 0))?;
    Ok(deadline.map(Timestamp::from_millis))
}

/// One stretch of an index.
#[derive(Clone)]
struct Stretch {
    sql: String,
    order: &'static str,
}

impl Stretch {
    fn of(columns: &str, table: &str, order: &'static str) -> Self {
        Self { sql: format!("SELECT {columns} FROM {table} WHERE true"), order }
    }

    fn when(&mut self, condition: &str) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
    }
}

/// Stretches in one statement. Only its values vary within one combination of filters, so it is prepared once.
struct Query {
    stretches: Vec<String>,
    values: Vec<String>,
    /// One more than the page holds, to see whether anything follows.
    limit: i64,
}

impl Query {
    fn new(limit: usize) -> Self {
        Self { stretches: Vec::new(), values: Vec::new(), limit: at_most(limit.saturating_add(1)) }
    }

    /// A condition with a value for each `?`; the first parameter is the limit.
    fn bind<const N: usize>(&mut self, stretch: &mut Stretch, condition: &str, values: [String; N]) {
        let mut bound = condition.to_owned();
        for value in values {
            self.values.push(value);
            bound = bound.replacen('?', &format!("${}", self.values.len() + 1), 1);
        }
        stretch.when(&bound);
    }

    fn equal(&mut self, stretch: &mut Stretch, column: &str, value: Option<String>) {
        if let Some(value) = value {
            self.bind(stretch, &format!("{column} = ?"), [value]);
        }
    }

    fn interrupts(&mut self, stretch: &mut Stretch, filter: &InterruptFilter) {
        self.equal(stretch, "run", filter.run.as_ref().map(|run| run.as_str().to_owned()));
        if let Some(session) = &filter.session {
            self.equal(stretch, "session", Some(session.as_str().to_owned()));
            if filter.run.is_none() {
                let of_it = "run IN (SELECT run FROM runs WHERE session = ?)";
                self.bind(stretch, of_it, [session.as_str().to_owned()]);
            }
        }
    }

    /// One stretch for each kind.
    fn add_kinds(&mut self, stretch: &Stretch, kinds: &[Option<Kind>]) {
        for kind in kinds {
            let mut stretch = stretch.clone();
            self.equal(&mut stretch, "kind", kind.map(|kind| kind.as_str().to_owned()));
            self.add(&stretch);
        }
    }

    fn add(&mut self, stretch: &Stretch) {
        self.stretches.push(format!("({} ORDER BY {} LIMIT $1)", stretch.sql, stretch.order));
    }

    async fn rows<T>(self, pool: &Pool, read: impl FnMut(&Row) -> Result<T, Error>) -> Result<Vec<T>, Error> {
        if self.stretches.is_empty() {
            return Ok(Vec::new());
        }
        let sql = self.stretches.join(" UNION ALL ");
        let values = self.values.iter().map(|value| value as &(dyn ToSql + Sync));
        let parameters: Vec<_> = [&self.limit as &(dyn ToSql + Sync)].into_iter().chain(values).collect();
        pool.read(&sql, &parameters).await?.iter().map(read).collect()
    }
}
