//! Lists of rows in PostgreSQL. One statement makes all index scans of a page.

use holdshort_core::delivery::Delivery;
use holdshort_core::id::SessionId;
use holdshort_core::projection::{
    AnswerRow, GrantRow, InterruptRow, RunRow, SessionRow, SessionUsage, Status,
};
use holdshort_core::time::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::column::{at_most, get, id, number};
use super::pool::Pool;
use super::rows;
use crate::cursor::{
    AnswerSortKey, DeliverySortKey, GrantSortKey, InterruptSortKey, RunSortKey, SessionSortKey,
};
use crate::index_scan::{self, Condition, IndexScan};
use crate::journal::Error;
use crate::outbox::DeliveryFilter;
use crate::table::{Record, Value};
use crate::tables::{AnswerFilter, Due, GrantFilter, InterruptFilter, Page, RunFilter, SessionFilter};

pub(super) async fn runs(
    pool: &Pool,
    filter: &RunFilter,
    after: Option<&RunSortKey>,
    limit: usize,
) -> Result<Page<RunRow>, Error> {
    let statuses = match filter {
        // The index by workflow is sorted by status and then by id. Therefore each status needs a separate scan.
        RunFilter { status: None, workflow: Some(_), session: None } => Status::ALL.map(Some).to_vec(),
        RunFilter { status, .. } => vec![*status],
    };
    let filters: Vec<_> = statuses.into_iter().map(|status| RunFilter { status, ..filter.clone() }).collect();
    let stretches: Vec<_> = filters.iter().map(|filter| index_scan::runs(filter, after)).collect();
    let mut items = all(pool, &stretches, limit).await?;
    items.sort_by_cached_key(RunSortKey::from_row);
    Ok(Page::cut(items, limit, |row| RunSortKey::from_row(row).encode()))
}

pub(super) async fn sessions(
    pool: &Pool,
    filter: &SessionFilter,
    after: Option<&SessionSortKey>,
    limit: usize,
) -> Result<Page<SessionRow>, Error> {
    let mut items = all(pool, &index_scan::sessions(filter, after), limit).await?;
    items.sort_by_cached_key(SessionSortKey::from_row);
    Ok(Page::cut(items, limit, |row| SessionSortKey::from_row(row).encode()))
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

pub(super) async fn session_usage(pool: &Pool, session: &SessionId) -> Result<Vec<SessionUsage>, Error> {
    // PostgreSQL returns a sum of `bigint` as `numeric`.
    let sql = "SELECT currency, coalesce(sum(requests), 0)::bigint, coalesce(sum(input_tokens), 0)::bigint,
                   coalesce(sum(output_tokens), 0)::bigint, coalesce(sum(cost), 0)::bigint,
                   coalesce(sum(unpriced), 0)::bigint, sum(greatest(updated_at - created_at, 0))::bigint
               FROM runs WHERE session = $1 GROUP BY currency ORDER BY currency COLLATE \"C\" NULLS FIRST";
    let rows = pool.read(sql, &[&session.as_str()]).await?;
    let usage = |row: &Row| {
        Ok(SessionUsage {
            currency: get(row, 0)?,
            requests: number(row, 1)?,
            input_tokens: number(row, 2)?,
            output_tokens: number(row, 3)?,
            cost: number(row, 4)?,
            unpriced: number(row, 5)?,
            duration_ms: number(row, 6)?,
        })
    };
    rows.iter().map(usage).collect()
}

pub(super) async fn interrupts(
    pool: &Pool,
    filter: &InterruptFilter,
    after: Option<&InterruptSortKey>,
    limit: usize,
) -> Result<Page<InterruptRow>, Error> {
    let mut items = all(pool, &index_scan::interrupts(filter, after).concat(), limit).await?;
    items.sort_by_cached_key(InterruptSortKey::from_row);
    Ok(Page::cut(items, limit, |row| InterruptSortKey::from_row(row).encode()))
}

pub(super) async fn grants(
    pool: &Pool,
    filter: &GrantFilter,
    after: Option<&GrantSortKey>,
    limit: usize,
) -> Result<Page<GrantRow>, Error> {
    let mut items = all(pool, &index_scan::grants(filter, after), limit).await?;
    items.sort_by_cached_key(GrantSortKey::from_row);
    Ok(Page::cut(items, limit, |row| GrantSortKey::from_row(row).encode()))
}

pub(super) async fn answers(
    pool: &Pool,
    filter: &AnswerFilter,
    after: Option<&AnswerSortKey>,
    limit: usize,
) -> Result<Page<AnswerRow>, Error> {
    let items = all(pool, &[index_scan::answers(filter, after)], limit).await?;
    Ok(Page::cut(items, limit, |row| AnswerSortKey::from_row(row).encode()))
}

pub(super) async fn deliveries(
    pool: &Pool,
    filter: &DeliveryFilter,
    after: Option<&DeliverySortKey>,
    limit: usize,
) -> Result<Page<Delivery>, Error> {
    let items = all(pool, &[index_scan::deliveries(filter, after)], limit).await?;
    Ok(Page::cut(items, limit, |row| DeliverySortKey::from_row(row).encode()))
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

/// Reads the first `limit + 1` rows of each index scan. The additional row shows if there is a next page. All rows are
/// from the same snapshot, because one statement reads them.
async fn all<R: Record>(pool: &Pool, stretches: &[IndexScan<'_>], limit: usize) -> Result<Vec<R>, Error> {
    let mut values = vec![Box::new(at_most(limit.saturating_add(1))) as Parameter];
    let selects: Vec<String> = stretches.iter().filter_map(|stretch| written(stretch, &mut values)).collect();
    if selects.is_empty() {
        return Ok(Vec::new());
    }
    let values: Vec<_> = values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
    pool.read(&selects.join(" UNION ALL "), &values).await?.iter().map(rows::read).collect()
}

type Parameter = Box<dyn ToSql + Sync + Send>;

/// Returns the SQL of an index scan. Returns `None` if the filter contains a text that `PostgreSQL` cannot store,
/// because no row can match it. The SQL does not contain the texts and numbers of the filters, so that each statement
/// is prepared only once.
fn written(stretch: &IndexScan<'_>, values: &mut Vec<Parameter>) -> Option<String> {
    let IndexScan { table, conditions, order, .. } = stretch;
    let mut wanted = vec!["true".to_owned()];
    for condition in conditions {
        wanted.push(match condition {
            Condition::Equal(column, Value::Flag(true)) => (*column).to_owned(),
            Condition::Equal(column, Value::Flag(false)) => format!("NOT {column}"),
            Condition::Equal(column, value) => format!("{column} = {}", bind(value, values)?),
            Condition::Contains { column, texts, .. } => {
                values.push(Box::new(texts.to_vec()));
                let of = values.len();
                format!("EXISTS (SELECT 1 FROM unnest(${of}::text[]) AS one WHERE strpos({column}, one) > 0)")
            }
            // A word consists only of letters and digits, so it needs no escaping.
            Condition::Words(search) => search.each(|word| {
                values.push(Box::new(word.to_owned()));
                format!("lexemes @@ (${}::text)::tsquery", values.len())
            }),
            Condition::Holds(condition, bound) => {
                let mut condition = without_indexes(condition);
                for value in bound {
                    condition = condition.replacen('?', &bind(value, values)?, 1);
                }
                condition
            }
        });
    }
    let (list, name, wanted) = (table.list, table.name, wanted.join(" AND "));
    Some(format!("(SELECT {list} FROM {name} WHERE {wanted} ORDER BY {order} LIMIT $1)"))
}

fn bind(value: &Value<'_>, values: &mut Vec<Parameter>) -> Option<String> {
    values.push(match value {
        Value::Id(text) | Value::Text(text) if text.contains('\0') => return None,
        Value::Id(text) | Value::Text(text) => Box::new((*text).to_owned()),
        Value::Number(number) => Box::new(*number),
        Value::Flag(flag) => Box::new(*flag),
        Value::Null => Box::new(None::<String>),
    });
    Some(format!("${}", values.len()))
}

/// Removes the names of indexes from an SQL condition, because `PostgreSQL` chooses the indexes itself.
fn without_indexes(sql: &str) -> String {
    let words = sql.split(' ').filter(|word| !word.starts_with('@'));
    words.collect::<Vec<_>>().join(" ")
}
