//! The hash chain over all events in the database. Each append also stores the head of the journal after its last
//! event. This module never interprets an event.

use holdshort_core::head::Head;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::column::{Hash, Number, number};
use crate::journal::Error;
use crate::log::Link;
use crate::packed_append::{EventLocation, event_locations};

/// Returns the head of the journal, which was stored together with the last append.
pub(super) fn head(connection: &Connection) -> Result<Head, Error> {
    let sql = "SELECT position, chained FROM appends ORDER BY position DESC LIMIT 1";
    let head = connection.prepare_cached(sql)?.query_row([], read_head).optional()?;
    Ok(head.unwrap_or(Head::START))
}

/// Returns the head of the journal after its first `events` events. Returns `None` if there are fewer events.
pub(super) fn head_at(connection: &Connection, events: u64) -> Result<Option<Head>, Error> {
    if let Some(head) = head_of_append(connection, events)? {
        return Ok(Some(head));
    }
    let sql =
        "SELECT position, chained, seq, hashes FROM appends WHERE position > ?1 ORDER BY position LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([Number(events)])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    // The event is in this append, but is not its last event.
    let places = read_places(row)?;
    let Some(first) = places.first() else { return Ok(None) };
    let before = head_of_append(connection, first.position - 1)?;
    let among = places.iter().filter(|place| place.position <= events);
    Ok(before
        .filter(|_| first.position <= events)
        .map(|before| among.fold(before, |head, place| head.then(&place.hash))))
}

/// Returns the head of the journal after the append whose last event is at this position.
fn head_of_append(connection: &Connection, position: u64) -> Result<Option<Head>, Error> {
    if position == 0 {
        return Ok(Some(Head::START));
    }
    let sql = "SELECT position, chained FROM appends WHERE position = ?1";
    Ok(connection.prepare_cached(sql)?.query_row([Number(position)], read_head).optional()?)
}

pub(super) fn links(connection: &Connection, after: u64, limit: usize) -> Result<Vec<Link>, Error> {
    let sql = "SELECT position, chained, seq, hashes FROM appends WHERE position > ?1 ORDER BY position";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![Number(after)])?;
    let mut links = Vec::new();
    while links.len() < limit
        && let Some(row) = rows.next()?
    {
        let head = read_head(row)?;
        let link = |EventLocation { position, seq: _, hash }| Link {
            position,
            hash,
            sealed: (position == head.events).then_some(head),
        };
        links.extend(read_places(row)?.into_iter().filter(|place| place.position > after).map(link));
    }
    links.truncate(limit);
    Ok(links)
}

/// Reads the head of the journal from a database row whose first columns are position and hash. The position is also
/// the number of events, because positions start at 1 and have no gaps.
pub(super) fn read_head(row: &Row<'_>) -> rusqlite::Result<Head> {
    let Hash(hash) = row.get(1)?;
    Ok(Head { events: number(row, 0)?, hash })
}

fn read_places(row: &Row<'_>) -> Result<Vec<EventLocation>, Error> {
    let hashes = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
    event_locations(number(row, 0)?, number(row, 2)?, hashes)
}
