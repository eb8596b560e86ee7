//! Parts of migrations that cannot be written in SQL: `SQLite` has no function for SHA-256, and its SQL cannot write a
//! number as four bytes. A migration neither repairs nor rejects damaged events.

use holdshort_core::head::Head;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, OptionalExtension, Row};

use super::chain::read_head;
use super::column::{Hash, Number};
use crate::journal::Error;
use crate::packed_append::Columns;

/// Returns the head of the journal after the last event, and the head after the first `events` events. Reads an old
/// database with one row per event and without a hash chain over all events.
pub(super) fn heads_of_events(connection: &Connection, events: u64) -> Result<(Head, Option<Head>), Error> {
    let mut head = Head::START;
    let mut at = (events == 0).then_some(head);
    let mut statement = connection.prepare("SELECT hash FROM events ORDER BY position")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let Hash(hash) = row.get(0)?;
        head = head.then(&hash);
        if head.events == events {
            at = Some(head);
        }
    }
    Ok((head, at))
}

/// Returns the head of the journal after the last event, and the head after the first `events` events. Reads an old
/// database that stores the head after each event.
pub(super) fn heads_of_chained_events(
    connection: &Connection,
    events: u64,
) -> Result<(Head, Option<Head>), Error> {
    let last = "SELECT position, chained FROM events ORDER BY position DESC LIMIT 1";
    let head = connection.query_row(last, [], read_head).optional()?.unwrap_or(Head::START);
    let at = "SELECT position, chained FROM events WHERE position = ?1";
    let at = connection.query_row(at, [Number(events)], read_head).optional()?;
    Ok((head, at.or((events == 0).then_some(Head::START))))
}

/// Creates the hash chain over all events, in a database that has none. The chain includes all existing events.
pub(super) fn chain_events(connection: &Connection) -> Result<(), Error> {
    let columns = "position, stream, seq, hash, salt, large, head, content";
    let mut from = connection.prepare(&format!("SELECT {columns} FROM events ORDER BY position"))?;
    let insert =
        "INSERT INTO chained_events (position, stream, seq, hash, salt, large, head, content, chained)
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let mut insert = connection.prepare(insert)?;
    let mut rows = from.query([])?;
    let mut head = Head::START;
    while let Some(row) = rows.next()? {
        let Hash(hash) = row.get::<_, Hash>(3)?;
        head = head.then(&hash);
        for column in 0..8 {
            insert.raw_bind_parameter(column + 1, ToSqlOutput::Borrowed(row.get_ref(column)?))?;
        }
        insert.raw_bind_parameter(9, Hash(head.hash))?;
        insert.raw_execute()?;
    }
    drop(rows);
    drop((from, insert));
    connection.execute_batch("DROP TABLE events; ALTER TABLE chained_events RENAME TO events")?;
    Ok(())
}

/// Converts each event of the old table `events` to an append with one event.
pub(super) fn pack_events(connection: &Connection) -> Result<(), Error> {
    let from = "SELECT position, stream, seq, chained, hash, head, salt, large, content FROM events ORDER BY position";
    let mut from = connection.prepare(from)?;
    let insert = "INSERT INTO appends (position, stream, seq, chained, hashes, heads, contents)
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let mut insert = connection.prepare(insert)?;
    let mut rows = from.query([])?;
    while let Some(row) = rows.next()? {
        let Columns { hashes, heads, contents } = Columns::of_event(
            blob(row, 4)?.unwrap_or_default(),
            blob(row, 5)?.unwrap_or_default(),
            blob(row, 6)?,
            blob(row, 7)?,
            blob(row, 8)?,
        );
        for column in 0..4 {
            insert.raw_bind_parameter(column + 1, ToSqlOutput::Borrowed(row.get_ref(column)?))?;
        }
        insert.raw_bind_parameter(5, hashes)?;
        insert.raw_bind_parameter(6, heads)?;
        insert.raw_bind_parameter(7, contents)?;
        insert.raw_execute()?;
    }
    drop(rows);
    drop((from, insert));
    connection.execute("DROP TABLE events", [])?;
    Ok(())
}

fn blob<'a>(row: &'a Row<'_>, column: usize) -> Result<Option<&'a [u8]>, Error> {
    Ok(row.get_ref(column)?.as_blob_or_null().map_err(rusqlite::Error::from)?)
}
