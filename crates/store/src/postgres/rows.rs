//! Writes and reads the rows that can be rebuilt from events. A row is written as a JSON object with its columns, and
//! read column by column. `table.rs` lists the columns.

use std::str::FromStr;

use holdshort_core::id::Id;
use serde_json::{Map, Value as Json};
use tokio_postgres::Row;

use super::column::get;
use super::erase;
use super::node::Node;
use super::pool::Pool;
use crate::journal::Error;
use crate::table::{Columns, Conflict, OUTBOX, Put, Record, TABLES, Table, Value};
use crate::tables::Rows;

/// Returns the argument of the SQL function `holdshort_put`: a JSON object with the rows of each table.
pub(super) fn json(rows: &Rows) -> Json {
    let mut tables = Map::new();
    match rows.put_into(&mut tables) {
        Ok(()) => Json::Object(tables),
        Err(never) => match never {},
    }
}

impl Put for Map<String, Json> {
    type Error = std::convert::Infallible;

    fn put<R: Record + Clone>(&mut self, row: &R) -> Result<(), Self::Error> {
        let rows = self.entry(R::TABLE.name).or_insert_with(|| Json::Array(Vec::new()));
        rows.as_array_mut().into_iter().for_each(|rows| rows.push(json_of(row)));
        Ok(())
    }
}

/// Returns a row as a JSON object with its columns.
pub(super) fn json_of<R: Record>(row: &R) -> Json {
    let values = row.values().into_iter().map(Json::from);
    Json::Object(R::TABLE.columns.iter().map(|column| (*column).to_owned()).zip(values).collect())
}

impl From<Value<'_>> for Json {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Id(text) | Value::Text(text) => text.into(),
            Value::Number(number) => number.into(),
            Value::Flag(flag) => flag.into(),
        }
    }
}

/// Returns the SQL that creates the function `holdshort_put`, which writes rows. The function inserts a row, or updates
/// the row with the same key. It writes rows one after another: an append may contain two rows with the same key, and
/// the last one remains.
pub(super) fn function() -> String {
    let puts: String = TABLES.iter().chain(OUTBOX.iter().take(1)).map(put_all).collect();
    format!(
        "CREATE OR REPLACE FUNCTION holdshort_put(p_rows jsonb) RETURNS void LANGUAGE plpgsql AS $$
         DECLARE
             part jsonb;
         BEGIN
             {puts}
             {erase}
             IF p_rows ? 'forgets' THEN
                 DELETE FROM answers WHERE run = p_rows ->> 'forgets';
                 -- Its deliveries are found by its interrupts: there is no index by run.
                 UPDATE attempts a SET answer = NULL
                 FROM interrupts i JOIN deliveries d ON d.interrupt = i.interrupt
                 WHERE i.run = p_rows ->> 'forgets' AND a.delivery = d.delivery AND a.answer IS NOT NULL;
             END IF;
         END
         $$",
        erase = erase::PUT,
    )
}

fn put_all(table: &Table) -> String {
    let Table { name, columns, list, conflict } = table;
    let set: Vec<String> = columns[1..]
        .iter()
        .map(|column| format!("{column} = {}", value_on_conflict(column, *conflict)))
        .collect();
    format!(
        "FOR part IN SELECT * FROM jsonb_array_elements(p_rows -> '{name}') LOOP
             INSERT INTO {name} AS old ({list}) SELECT {list} FROM jsonb_populate_record(NULL::{name}, part)
             ON CONFLICT ({key}) DO UPDATE SET {set};
         END LOOP;",
        key = table.key(),
        set = set.join(", "),
    )
}

/// Returns the SQL for the new value of a column if a row with the same key already exists.
fn value_on_conflict(column: &str, conflict: Conflict) -> String {
    match (conflict, column) {
        (Conflict::Replaced, _) => format!("excluded.{column}"),
        // Applies the rule of `SessionRow::with`: the state of the session comes from the later event, and the creation
        // time from the older row.
        (Conflict::Merged, "created_at") => "least(old.created_at, excluded.created_at)".to_owned(),
        (Conflict::Merged, "idle_since") => "greatest(old.idle_since, excluded.idle_since)".to_owned(),
        (Conflict::Merged, "changed_at") => "CASE WHEN excluded.seq = old.seq
            THEN least(old.changed_at, excluded.changed_at)
            WHEN excluded.seq > old.seq THEN excluded.changed_at ELSE old.changed_at END"
            .to_owned(),
        (Conflict::Merged, _) => {
            format!("CASE WHEN excluded.seq > old.seq THEN excluded.{column} ELSE old.{column} END")
        }
    }
}

pub(super) async fn find<R: Record>(pool: &Pool, key: &str) -> Result<Option<R>, Error> {
    let Table { name, list, .. } = R::TABLE;
    let sql = format!("SELECT {list} FROM {name} WHERE {} = $1", R::TABLE.key());
    pool.read(&sql, &[&key]).await?.first().map(read).transpose()
}

/// Converts a row of the database to a row type of the store.
pub(super) fn read<R: Record>(row: &Row) -> Result<R, Error> {
    R::read(&mut Reading { row, next: 0 })
}

struct Reading<'a> {
    row: &'a Row,
    next: usize,
}

impl Reading<'_> {
    fn next(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }
}

impl Columns for Reading<'_> {
    type Error = Error;

    fn id<I: Id + FromStr>(&mut self) -> Result<Option<I>, Error> {
        let index = self.next();
        let text = get::<Option<&str>>(self.row, index)?;
        text.map(|text| text.parse().map_err(|_| self.damaged())).transpose()
    }

    fn text(&mut self) -> Result<Option<&str>, Error> {
        let index = self.next();
        get(self.row, index)
    }

    fn number(&mut self) -> Result<Option<i64>, Error> {
        let index = self.next();
        get(self.row, index)
    }

    fn flag(&mut self) -> Result<Option<bool>, Error> {
        let index = self.next();
        get(self.row, index)
    }

    fn damaged(&self) -> Error {
        let column = self.row.columns().get(self.next - 1).map_or("", |column| column.name());
        Error::Corrupt(format!("the column {column} of a row has an invalid value"))
    }
}

/// Number of [`Rows`] that one statement sends to the database while all rows are replaced.
const CHUNK: usize = 500;

/// Replaces all rows that can be rebuilt by the rows in `all`, and rebuilds the leases of runnable runs. A node that
/// drives a run keeps its lease. Appends wait until the replacement is committed.
pub(super) async fn replace(pool: &Pool, node: &Node, all: &[Rows]) -> Result<(), Error> {
    let mut client = pool.client().await?;
    let transaction = client.transaction().await?;
    transaction.batch_execute("SET LOCAL statement_timeout = 0").await?;
    node.shut_out(&transaction).await?;
    let names = TABLES.map(|table| table.name);
    let lock = format!("LOCK TABLE {}, leases IN SHARE ROW EXCLUSIVE MODE", names.join(", "));
    transaction.batch_execute(&lock).await?;
    for name in names {
        transaction.batch_execute(&format!("DELETE FROM {name}")).await?;
    }
    let put = "SELECT holdshort_put(part) FROM jsonb_array_elements($1) part";
    for chunk in all.chunks(CHUNK) {
        let parts: Json = chunk.iter().map(json).collect();
        transaction.execute(put, &[&parts]).await?;
    }
    transaction
        .batch_execute(
            "DELETE FROM leases l USING (
                 SELECT l.run FROM leases l LEFT JOIN runs r ON r.run = l.run AND r.runnable WHERE r.run IS NULL
             ) gone WHERE l.run = gone.run;
             INSERT INTO leases (run, node, woken, since)
             SELECT run, NULL, false, clock_timestamp() FROM runs WHERE runnable
             ON CONFLICT DO NOTHING",
        )
        .await?;
    Ok(transaction.commit().await?)
}
