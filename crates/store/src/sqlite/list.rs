//! Lists of rows in SQLite. Each index scan is one statement, and all scans for a page read from the same snapshot.
//! `INDEXED BY` makes a missing index an error and not a slow query.

use holdshort_core::delivery::Delivery;
use holdshort_core::id::{RunId, SessionId};
use holdshort_core::projection::{
    AnswerRow, GrantRow, InterruptRow, RunRow, SessionRow, SessionUsage, Status,
};
use holdshort_core::time::Timestamp;
use rusqlite::{Connection, params, params_from_iter};

use super::column::{Key, Time, id, number};
use super::read::at_most;
use super::rows;
use crate::cursor::{
    AnswerSortKey, DeliverySortKey, GrantSortKey, InterruptSortKey, RunSortKey, SessionSortKey,
};
use crate::index_scan::{self, Condition, IndexScan};
use crate::journal::Error;
use crate::outbox::DeliveryFilter;
use crate::table::{Record, Value};
use crate::tables::{AnswerFilter, Due, GrantFilter, InterruptFilter, Page, RunFilter, SessionFilter};

pub(super) fn runs(
    connection: &Connection,
    filter: &RunFilter,
    after: Option<&RunSortKey>,
    limit: usize,
) -> Result<Page<RunRow>, Error> {
    let snapshot = connection.unchecked_transaction()?;
    let wanted = limit.saturating_add(1);
    let mut items = Vec::new();
    for filter in stretches(&snapshot, filter)? {
        items.extend(all(&snapshot, &[index_scan::runs(&filter, after)], wanted)?);
    }
    items.sort_by_cached_key(RunSortKey::from_row);
    Ok(Page::cut(items, limit, |row| RunSortKey::from_row(row).encode()))
}

/// Splits a filter of runs into several filters, each of which needs only one index scan.
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

/// Returns the workflows that have runs with this status. The query needs one index lookup per workflow, and there are
/// few workflows.
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

/// Lists sessions: one index scan for each state in the filter.
pub(super) fn sessions(
    connection: &Connection,
    filter: &SessionFilter,
    after: Option<&SessionSortKey>,
    limit: usize,
) -> Result<Page<SessionRow>, Error> {
    let snapshot = connection.unchecked_transaction()?;
    let mut items = all(&snapshot, &index_scan::sessions(filter, after), limit.saturating_add(1))?;
    items.sort_by_cached_key(SessionSortKey::from_row);
    Ok(Page::cut(items, limit, |row| SessionSortKey::from_row(row).encode()))
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

pub(super) fn session_usage(
    connection: &Connection,
    session: &SessionId,
) -> Result<Vec<SessionUsage>, Error> {
    let sql = "SELECT currency, coalesce(sum(requests), 0), coalesce(sum(input_tokens), 0),
                   coalesce(sum(output_tokens), 0), coalesce(sum(cost), 0), coalesce(sum(unpriced), 0),
                   sum(max(updated_at - created_at, 0))
               FROM runs INDEXED BY runs_by_session WHERE session = ?1 GROUP BY currency ORDER BY currency";
    let mut statement = connection.prepare_cached(sql)?;
    let usage = statement.query_map([Key(session.as_str())], |row| {
        let count = |at| number(row, at);
        Ok(SessionUsage {
            currency: row.get(0)?,
            requests: count(1)?,
            input_tokens: count(2)?,
            output_tokens: count(3)?,
            cost: count(4)?,
            unpriced: count(5)?,
            duration_ms: count(6)?,
        })
    })?;
    Ok(usage.collect::<Result<_, _>>()?)
}

/// Lists interrupts. All scans read the same snapshot. Otherwise the list could miss an interrupt that is resolved
/// between the scan for open and the scan for resolved interrupts.
pub(super) fn interrupts(
    connection: &Connection,
    filter: &InterruptFilter,
    after: Option<&InterruptSortKey>,
    limit: usize,
) -> Result<Page<InterruptRow>, Error> {
    let snapshot = connection.unchecked_transaction()?;
    let wanted = limit.saturating_add(1);
    let [open, resolved] = index_scan::interrupts(filter, after);
    let mut items = all(&snapshot, &open, wanted)?;
    if items.len() < wanted {
        items.extend(all(&snapshot, &resolved, wanted)?);
    }
    items.sort_by_cached_key(InterruptSortKey::from_row);
    Ok(Page::cut(items, limit, |row| InterruptSortKey::from_row(row).encode()))
}

pub(super) fn grants(
    connection: &Connection,
    filter: &GrantFilter,
    after: Option<&GrantSortKey>,
    limit: usize,
) -> Result<Page<GrantRow>, Error> {
    let snapshot = connection.unchecked_transaction()?;
    let mut items = all(&snapshot, &index_scan::grants(filter, after), limit.saturating_add(1))?;
    items.sort_by_cached_key(GrantSortKey::from_row);
    Ok(Page::cut(items, limit, |row| GrantSortKey::from_row(row).encode()))
}

pub(super) fn answers(
    connection: &Connection,
    filter: &AnswerFilter,
    after: Option<&AnswerSortKey>,
    limit: usize,
) -> Result<Page<AnswerRow>, Error> {
    let items = all(connection, &[index_scan::answers(filter, after)], limit.saturating_add(1))?;
    Ok(Page::cut(items, limit, |row| AnswerSortKey::from_row(row).encode()))
}

pub(super) fn deliveries(
    connection: &Connection,
    filter: &DeliveryFilter,
    after: Option<&DeliverySortKey>,
    limit: usize,
) -> Result<Page<Delivery>, Error> {
    let items = all(connection, &[index_scan::deliveries(filter, after)], limit.saturating_add(1))?;
    Ok(Page::cut(items, limit, |row| DeliverySortKey::from_row(row).encode()))
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
    // There are only few runnable runs, so all of them are read and sorted here.
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

/// Reads the first `limit` rows of each index scan. To find out if there is a next page, a caller requests one more row
/// than the page has.
fn all<R: Record>(
    connection: &Connection,
    stretches: &[IndexScan<'_>],
    limit: usize,
) -> Result<Vec<R>, Error> {
    let mut items = Vec::new();
    for stretch in stretches {
        let (sql, mut values) = written(stretch);
        values.push(Value::Number(at_most(limit)));
        let mut statement = connection.prepare_cached(&sql)?;
        for row in statement.query_map(params_from_iter(values), rows::read)? {
            items.push(row?);
        }
    }
    Ok(items)
}

/// Returns the SQL of an index scan, and the values of its parameters. The SQL does not contain the texts and
/// numbers of the filters, so that each statement is prepared only once.
fn written<'a>(stretch: &'a IndexScan<'_>) -> (String, Vec<Value<'a>>) {
    let IndexScan { table, index, conditions, order } = stretch;
    let index = index.map_or_else(|| "NOT INDEXED".to_owned(), |index| format!("INDEXED BY {index}"));
    let (mut wanted, mut bound) = (vec!["true".to_owned()], Vec::new());
    for condition in conditions {
        wanted.push(match condition {
            // SQLite uses a partial index only if the condition contains the number itself and not a parameter.
            Condition::Equal(column, Value::Flag(flag)) => format!("{column} = {}", i64::from(*flag)),
            Condition::Equal(column, value) => {
                bound.push(*value);
                format!("{column} = ?")
            }
            Condition::Contains { column, json, .. } => {
                bound.push(Value::Text(json));
                format!("EXISTS (SELECT 1 FROM json_each(?) WHERE instr({column}, value) > 0)")
            }
            // A word consists only of letters and digits, so it needs no escaping.
            Condition::Words(search) => search.each(|word| {
                bound.push(Value::Text(word));
                "place IN (SELECT rowid FROM answer_words WHERE answer_words MATCH ?)".to_owned()
            }),
            Condition::Holds(condition, values) => {
                bound.extend(values);
                condition.replace('@', "INDEXED BY ")
            }
        });
    }
    let (list, name, wanted) = (table.list, table.name, wanted.join(" AND "));
    (format!("SELECT {list} FROM {name} {index} WHERE {wanted} ORDER BY {order} LIMIT ?"), bound)
}
