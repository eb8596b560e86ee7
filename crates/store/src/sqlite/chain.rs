//! The chain over all events, as the database keeps it: a head beside each event. Never looks into an event.

use holdshort_core::head::Head;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, OptionalExtension, params};

use super::column::{Hash, Number, number};
use super::read::at_most;
use crate::journal::Error;
use crate::log::Link;

/// The head of the journal: that of the last event.
pub(super) fn head(connection: &Connection) -> Result<Head, Error> {
    let sql = "SELECT position, chained FROM events ORDER BY position DESC LIMIT 1";
    let head = connection.prepare_cached(sql)?.query_row([], read_head).optional()?;
    Ok(head.unwrap_or(Head::START))
}

/// The head after the first `events` events; `None` where there is no such event.
pub(super) fn head_at(connection: &Connection, events: u64) -> Result<Option<Head>, Error> {
    if events == 0 {
        return Ok(Some(Head::START));
    }
    let sql = "SELECT position, chained FROM events WHERE position = ?1";
    Ok(connection.prepare_cached(sql)?.query_row([Number(events)], read_head).optional()?)
}

/// The same two of a database whose events are not chained yet, as [`begin`] will chain them.
pub(super) fn heads_unchained(connection: &Connection, events: u64) -> Result<(Head, Option<Head>), Error> {
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

pub(super) fn links(connection: &Connection, after: u64, limit: usize) -> Result<Vec<Link>, Error> {
    let sql = "SELECT position, chained, hash FROM events WHERE position > ?1 ORDER BY position LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![Number(after), at_most(limit)], |row| {
        let Hash(hash) = row.get(2)?;
        Ok(Link { position: number(row, 0)?, hash, sealed: Some(read_head(row)?) })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Positions run from 1 without a gap: each is the number of events up to there.
fn read_head(row: &rusqlite::Row<'_>) -> rusqlite::Result<Head> {
    let Hash(hash) = row.get(1)?;
    Ok(Head { events: number(row, 0)?, hash })
}

/// Chains the events of a database that had no such chain. It begins with what is there.
pub(super) fn begin(connection: &Connection) -> Result<(), Error> {
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
