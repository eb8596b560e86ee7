//! Reads the parts of the journal that are not rows of lists: events, chains, keys, blobs and streams. `list` reads
//! lists of rows.

use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Chain, Sealed};
use holdshort_core::id::StreamId;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::column::{Hash, Number, ReadStream, Stream, number};
use crate::journal::Error;
use crate::log::{Change, Key, Positioned};
use crate::packed_append::{EventLocation, PackedAppend, event_locations};

/// Converts a limit to the type of a `LIMIT` in SQL. A limit that is too large for `SQLite` becomes the maximum.
pub(super) fn at_most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

pub(super) fn events(
    connection: &Connection,
    stream: &StreamId,
    after: u64,
    limit: usize,
) -> Result<Vec<Sealed>, Error> {
    let sql = "SELECT position, stream, seq, hashes, heads, contents FROM appends
               WHERE stream = ?1 AND seq > ?2 ORDER BY seq";
    let values = params![Stream(stream), Number(after)];
    let events = unpack(connection, sql, values, limit, |found| found.event.seq > after)?;
    Ok(events.into_iter().map(|found| found.event).collect())
}

pub(super) fn tail(connection: &Connection, after: u64, limit: usize) -> Result<Vec<Positioned>, Error> {
    let sql = "SELECT position, stream, seq, hashes, heads, contents FROM appends
               WHERE position > ?1 ORDER BY position";
    unpack(connection, sql, params![Number(after)], limit, |found| found.position > after)
}

/// Unpacks rows of the table `appends`, and returns the first `limit` events for which `wanted` returns true. Reads no
/// further rows after that.
fn unpack(
    connection: &Connection,
    sql: &str,
    values: &[&dyn ToSql],
    limit: usize,
    wanted: impl Fn(&Positioned) -> bool,
) -> Result<Vec<Positioned>, Error> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut events = Vec::new();
    while events.len() < limit
        && let Some(row) = rows.next()?
    {
        let row = packed(row)?;
        let found = row.unpack()?.into_iter().filter(|found| wanted(&found.event));
        for found in found.take(limit - events.len()) {
            let bytes = match &found.blob {
                Some(digest) => blob(connection, digest)?,
                None => None,
            };
            events.push(found.complete(bytes)?);
        }
    }
    Ok(events)
}

/// Reads a database row with the columns position, stream, sequence number, hashes, heads and contents.
pub(super) fn packed<'a>(row: &'a Row<'_>) -> rusqlite::Result<PackedAppend<'a>> {
    let ReadStream(stream) = row.get(1)?;
    Ok(PackedAppend {
        stream,
        seq: number(row, 2)?,
        position: number(row, 0)?,
        hashes: row.get_ref(3)?.as_blob()?,
        heads: row.get_ref(4)?.as_blob()?,
        contents: row.get_ref(5)?.as_blob_or_null()?,
    })
}

pub(super) fn changes(connection: &Connection, after: u64, limit: usize) -> Result<Vec<Change>, Error> {
    let sql = "SELECT position, stream, seq, hashes FROM appends WHERE position > ?1 ORDER BY position";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![Number(after)])?;
    let mut changes = Vec::new();
    while changes.len() < limit
        && let Some(row) = rows.next()?
    {
        let ReadStream(stream) = row.get(1)?;
        let places = event_locations(number(row, 0)?, number(row, 2)?, bytes(row, 3)?)?;
        let change =
            |EventLocation { position, seq, hash: _ }| Change { position, stream: stream.clone(), seq };
        changes.extend(places.into_iter().filter(|place| place.position > after).map(change));
    }
    changes.truncate(limit);
    Ok(changes)
}

fn bytes<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a [u8], Error> {
    Ok(row.get_ref(column)?.as_blob().map_err(rusqlite::Error::from)?)
}

pub(super) fn chain(connection: &Connection, stream: &StreamId) -> Result<Chain, Error> {
    let sql = "SELECT position, seq, hashes FROM appends WHERE stream = ?1 ORDER BY seq DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([Stream(stream)])?;
    let Some(row) = rows.next()? else { return Ok(Chain::START) };
    let places = event_locations(number(row, 0)?, number(row, 1)?, bytes(row, 2)?)?;
    Ok(places.last().map_or(Chain::START, |place| Chain { seq: place.seq, hash: place.hash }))
}

/// Returns the position of an event. In the table `appends`, the column `seq` has the sequence number of the row's last
/// event.
pub(super) fn position(connection: &Connection, stream: &StreamId, seq: u64) -> Result<Option<u64>, Error> {
    let sql =
        "SELECT position, seq, hashes FROM appends WHERE stream = ?1 AND seq >= ?2 ORDER BY seq LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![Stream(stream), Number(seq)])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let places = event_locations(number(row, 0)?, number(row, 1)?, bytes(row, 2)?)?;
    Ok(places.iter().find(|place| place.seq == seq).map(|place| place.position))
}

pub(super) fn last_position(connection: &Connection) -> Result<u64, Error> {
    let mut statement = connection.prepare_cached("SELECT coalesce(max(position), 0) FROM appends")?;
    Ok(statement.query_row([], |row| number(row, 0))?)
}

pub(super) fn blob(connection: &Connection, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
    let mut statement = connection.prepare_cached("SELECT bytes FROM blobs WHERE digest = ?1")?;
    Ok(statement.query_row([Hash(*digest)], |row| row.get(0)).optional()?)
}

pub(super) fn key(connection: &Connection, scope: &str, key: &str) -> Result<Option<Key>, Error> {
    let sql = "SELECT digest, reference FROM keys WHERE scope = ?1 AND key = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let record = statement.query_row([scope, key], |row| {
        let Hash(digest) = row.get(0)?;
        Ok(Key { scope: scope.to_owned(), key: key.to_owned(), digest, reference: row.get(1)? })
    });
    Ok(record.optional()?)
}

pub(super) fn keys(connection: &Connection, after: Option<&Key>, limit: usize) -> Result<Vec<Key>, Error> {
    let sql = "SELECT scope, key, digest, reference FROM keys WHERE (scope, key) > (?1, ?2)
               ORDER BY scope, key LIMIT ?3";
    let (scope, key) = after.map_or(("", ""), |after| (&after.scope, &after.key));
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![scope, key, at_most(limit)], |row| {
        let Hash(digest) = row.get(2)?;
        Ok(Key { scope: row.get(0)?, key: row.get(1)?, digest, reference: row.get(3)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn streams(
    connection: &Connection,
    after: Option<&StreamId>,
    limit: usize,
) -> Result<Vec<StreamId>, Error> {
    let mut statement = connection
        .prepare_cached("SELECT DISTINCT stream FROM appends WHERE stream > ?1 ORDER BY stream LIMIT ?2")?;
    let after = after.map_or_else(Vec::new, super::packed::pack_stream);
    let ids = statement.query_map(params![after, at_most(limit)], |row| {
        let ReadStream(id) = row.get(0)?;
        Ok(id)
    })?;
    Ok(ids.collect::<Result<_, _>>()?)
}
