//! What the journal proper answers: events, chains, keys, blobs, streams. Lists of rows are in `list`.

use holdshort_core::digest::Digest;
use holdshort_core::event::{Chain, Sealed, SealedContent};
use holdshort_core::id::StreamId;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::column::{Hash, Number, ReadStream, Stream, number};
use crate::journal::Error;
use crate::log::{Change, Key, Positioned};

/// SQLite's own limit of a `LIMIT`.
pub(super) fn at_most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

pub(super) fn events(
    connection: &Connection,
    stream: &StreamId,
    after: u64,
    limit: usize,
) -> Result<Vec<Sealed>, Error> {
    let sql = "SELECT position, stream, seq, hash, salt, coalesce(content, blobs.bytes), head
               FROM events LEFT JOIN blobs ON blobs.digest = large
               WHERE stream = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![Stream(stream), Number(after), at_most(limit)], event)?;
    Ok(rows.map(|row| row.map(|positioned| positioned.event)).collect::<Result<_, _>>()?)
}

pub(super) fn tail(connection: &Connection, after: u64, limit: usize) -> Result<Vec<Positioned>, Error> {
    let sql = "SELECT position, stream, seq, hash, salt, coalesce(content, blobs.bytes), head
               FROM events LEFT JOIN blobs ON blobs.digest = large
               WHERE position > ?1 ORDER BY position LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![Number(after), at_most(limit)], event)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn changes(connection: &Connection, after: u64, limit: usize) -> Result<Vec<Change>, Error> {
    let sql = "SELECT position, stream, seq FROM events WHERE position > ?1 ORDER BY position LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![Number(after), at_most(limit)], |row| {
        let ReadStream(stream) = row.get(1)?;
        Ok(Change { position: number(row, 0)?, stream, seq: number(row, 2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn event(row: &Row<'_>) -> rusqlite::Result<Positioned> {
    let (ReadStream(stream), Hash(hash)) = (row.get(1)?, row.get(3)?);
    let content = match row.get::<_, Option<[u8; 16]>>(4)? {
        Some(salt) => Some(SealedContent { salt, bytes: row.get(5)? }),
        None => None,
    };
    let event = Sealed { stream, seq: number(row, 2)?, head: row.get(6)?, content, hash };
    Ok(Positioned { position: number(row, 0)?, event })
}

pub(super) fn chain(connection: &Connection, stream: &StreamId) -> Result<Chain, Error> {
    let sql = "SELECT seq, hash FROM events WHERE stream = ?1 ORDER BY seq DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let end = statement.query_row([Stream(stream)], |row| {
        let Hash(hash) = row.get(1)?;
        Ok(Chain { seq: number(row, 0)?, hash })
    });
    Ok(end.optional()?.unwrap_or(Chain::START))
}

pub(super) fn last_position(connection: &Connection) -> Result<u64, Error> {
    let mut statement = connection.prepare_cached("SELECT coalesce(max(position), 0) FROM events")?;
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
        .prepare_cached("SELECT DISTINCT stream FROM events WHERE stream > ?1 ORDER BY stream LIMIT ?2")?;
    let after = after.map_or_else(Vec::new, super::packed::pack_stream);
    let ids = statement.query_map(params![after, at_most(limit)], |row| {
        let ReadStream(id) = row.get(0)?;
        Ok(id)
    })?;
    Ok(ids.collect::<Result<_, _>>()?)
}
