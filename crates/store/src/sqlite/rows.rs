//! Writes and reads single rows of the tables that can be rebuilt. `table.rs` lists the columns.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::LazyLock;

use holdshort_core::id::{Id, RunId};
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use super::column::{Key, id};
use super::packed::pack;
use crate::journal::Error;
use crate::table::{Columns, Conflict, OUTBOX, Put, Record, TABLES, Table, Value};
use crate::tables::Rows;

pub(super) fn put(connection: &Connection, rows: &Rows) -> Result<(), Error> {
    rows.put_into(&mut Writing(connection))
}

/// Inserts or updates one row of any table.
pub(super) fn put_one<R: Record + Clone>(connection: &Connection, row: &R) -> Result<(), Error> {
    Writing(connection).put(row)
}

/// Deletes the answers to the questions of a run, and the responses of receivers to the notifications about the run.
pub(super) fn forget(connection: &Connection, run: &RunId) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM answers WHERE run = ?1")?.execute([Key(run.as_str())])?;
    // Deliveries have no index by run. Therefore they are found through the run's interrupts.
    let sql = "UPDATE attempts SET answer = NULL
               WHERE answer IS NOT NULL AND delivery IN (
                   SELECT d.delivery FROM interrupts i JOIN deliveries d ON d.interrupt = i.interrupt
                   WHERE i.run = ?1)";
    connection.prepare_cached(sql)?.execute([Key(run.as_str())])?;
    Ok(())
}

/// Inserts a row into a table whose key consists of several columns.
pub(super) fn insert<R: Record>(connection: &Connection, row: &R) -> Result<(), Error> {
    connection
        .prepare_cached(&Statements::for_table(&R::TABLE).insert)?
        .execute(params_from_iter(row.values()))?;
    Ok(())
}

pub(super) fn replace(connection: &Connection, all: &[Rows]) -> Result<(), Error> {
    for table in &TABLES {
        connection.execute(&format!("DELETE FROM {}", table.name), [])?;
    }
    all.iter().try_for_each(|rows| put(connection, rows))
}

pub(super) fn find<R: Record>(connection: &Connection, key: &str) -> Result<Option<R>, Error> {
    Ok(connection
        .prepare_cached(&Statements::for_table(&R::TABLE).select)?
        .query_row([Key(key)], read)
        .optional()?)
}

/// Converts a row of the database to a row type of the store.
pub(super) fn read<R: Record>(row: &Row<'_>) -> rusqlite::Result<R> {
    R::read(&mut Reading { row, next: 0 })
}

/// SQL statements for one table. The statements are built only once.
struct Statements {
    select: String,
    insert: String,
}

impl Statements {
    fn for_table(table: &Table) -> &'static Self {
        static ALL: LazyLock<BTreeMap<&'static str, Statements>> = LazyLock::new(|| {
            TABLES.iter().chain(&OUTBOX).map(|table| (table.name, Statements::new(table))).collect()
        });
        &ALL[table.name]
    }

    fn new(table: &Table) -> Self {
        let places = vec!["?"; table.columns.len()].join(", ");
        Self {
            select: format!("SELECT {} FROM {} WHERE {} = ?1", table.list, table.name, table.key()),
            insert: format!("INSERT INTO {} ({}) VALUES ({places})", table.name, table.list),
        }
    }
}

struct Writing<'a>(&'a Connection);

impl Put for Writing<'_> {
    type Error = Error;

    /// Inserts a row into the table of its type, or updates the row with the same key. An update writes only the
    /// changed columns, so that the indexes of the other columns stay untouched.
    fn put<R: Record + Clone>(&mut self, row: &R) -> Result<(), Error> {
        let (connection, table) = (self.0, R::TABLE);
        let statements = Statements::for_table(&table);
        let mut select = connection.prepare_cached(&statements.select)?;
        let mut found = select.query([row.values()[0]])?;
        let Some(stored) = found.next()? else {
            connection.prepare_cached(&statements.insert)?.execute(params_from_iter(row.values()))?;
            return Ok(());
        };
        let merged = match table.conflict {
            Conflict::Replaced => row.clone(),
            Conflict::Merged => row.clone().over(read(stored)?),
        };
        let values = merged.values();
        let mut changed = Vec::new();
        for (index, value) in values.iter().enumerate() {
            if !is_stored(value, stored.get_ref(index)?)? {
                changed.push(index);
            }
        }
        drop(found);
        if changed.is_empty() {
            return Ok(());
        }
        let set = changed.iter().map(|index| format!("{} = ?", table.columns[*index]));
        let set = set.collect::<Vec<_>>().join(", ");
        let sql = format!("UPDATE {} SET {set} WHERE {} = ?", table.name, table.key());
        let values = changed.iter().map(|index| values[*index]).chain([values[0]]);
        connection.prepare_cached(&sql)?.execute(params_from_iter(values))?;
        Ok(())
    }
}

fn is_stored(value: &Value<'_>, stored: ValueRef<'_>) -> rusqlite::Result<bool> {
    Ok(match value.to_sql()? {
        ToSqlOutput::Borrowed(value) => value == stored,
        ToSqlOutput::Owned(value) => ValueRef::from(&value) == stored,
        _ => false,
    })
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => rusqlite::types::Null.into(),
            Self::Id(id) => pack(id).to_vec().into(),
            Self::Text(text) => (*text).into(),
            Self::Number(number) => (*number).into(),
            Self::Flag(flag) => (*flag).into(),
        })
    }
}

struct Reading<'a, 'b> {
    row: &'a Row<'b>,
    next: usize,
}

impl Reading<'_, '_> {
    fn next(&mut self) -> rusqlite::Result<(usize, ValueRef<'_>)> {
        let index = self.next;
        self.next += 1;
        Ok((index, self.row.get_ref(index)?))
    }
}

impl Columns for Reading<'_, '_> {
    type Error = rusqlite::Error;

    fn id<I: Id + FromStr>(&mut self) -> rusqlite::Result<Option<I>> {
        match self.next()? {
            (_, ValueRef::Null) => Ok(None),
            (index, _) => id(self.row, index).map(Some),
        }
    }

    fn text(&mut self) -> rusqlite::Result<Option<&str>> {
        let (index, value) = self.next()?;
        value.as_str_or_null().map_err(|_| damaged(index, value))
    }

    fn number(&mut self) -> rusqlite::Result<Option<i64>> {
        let (index, value) = self.next()?;
        value.as_i64_or_null().map_err(|_| damaged(index, value))
    }

    fn flag(&mut self) -> rusqlite::Result<Option<bool>> {
        Ok(self.number()?.map(|flag| flag != 0))
    }

    fn damaged(&self) -> rusqlite::Error {
        let index = self.next - 1;
        damaged(index, self.row.get_ref(index).unwrap_or(ValueRef::Null))
    }
}

fn damaged(index: usize, value: ValueRef<'_>) -> rusqlite::Error {
    rusqlite::Error::InvalidColumnType(index, "a row".to_owned(), value.data_type())
}
