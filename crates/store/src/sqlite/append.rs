//! One append inside the savepoint that its group gave it. On an error the caller rolls that back, so nothing
//! here cleans up.

use holdshort_core::digest::Digest;
use holdshort_core::event::Sealed;
use holdshort_core::id::StreamId;
use rusqlite::{Connection, OptionalExtension, params};

use super::column::{Hash, Number, Stream};
use super::{read, rows};
use crate::check;
use crate::journal::{Append, AppendError, Appended, Error, Key};

pub(super) fn append(connection: &Connection, append: &Append) -> Result<Appended, AppendError> {
    for key in &append.keys {
        take(connection, key)?;
    }
    let mut places = Vec::with_capacity(append.streams.len());
    for part in &append.streams {
        places.push(expect(connection, &part.stream, part.expected)?);
    }
    for (stream, seq) in &append.guards {
        expect(connection, stream, *seq)?;
    }
    let mut position = None;
    for (part, place) in append.streams.iter().zip(places) {
        let number = match place {
            Some(number) => number,
            None if part.events.is_empty() => continue,
            None => add_stream(connection, &part.stream)?,
        };
        for event in &part.events {
            position = Some(add_event(connection, number, event)?);
        }
    }
    for blob in &append.blobs {
        add_blob(connection, &blob.digest, &blob.bytes)?;
    }
    rows::put(connection, &append.rows)?;
    let position = position.map_or_else(|| read::last_position(connection), Ok)?;
    Ok(Appended { position })
}

fn take(connection: &Connection, key: &Key) -> Result<(), AppendError> {
    match read::key(connection, &key.scope, &key.key)? {
        Some(first) => Err(AppendError::KeyTaken(first)),
        None => Ok(add_key(connection, key)?),
    }
}

fn add_key(connection: &Connection, key: &Key) -> Result<(), Error> {
    let sql = "INSERT INTO keys (scope, key, digest, reference) VALUES (?1, ?2, ?3, ?4)";
    connection.prepare_cached(sql)?.execute(params![key.scope, key.key, Hash(key.digest), key.reference])?;
    Ok(())
}

/// The number of a stream that ends at `expected`; `None` for one that is new.
fn expect(connection: &Connection, stream: &StreamId, expected: u64) -> Result<Option<i64>, AppendError> {
    let place = end(connection, stream)?;
    let found = place.map_or(0, |(_, seq)| seq);
    if found == expected {
        Ok(place.map(|(number, _)| number))
    } else {
        Err(AppendError::Conflict { stream: stream.clone(), expected, found })
    }
}

fn end(connection: &Connection, stream: &StreamId) -> Result<Option<(i64, u64)>, Error> {
    let sql = "SELECT stream, (SELECT max(seq) FROM events WHERE events.stream = streams.stream)
               FROM streams WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let row = statement.query_row([Stream(stream.clone())], |row| {
        let Number(seq) = row.get(1)?;
        Ok((row.get(0)?, seq))
    });
    Ok(row.optional()?)
}

fn add_stream(connection: &Connection, stream: &StreamId) -> Result<i64, Error> {
    connection.prepare_cached("INSERT INTO streams (id) VALUES (?1)")?.execute([Stream(stream.clone())])?;
    Ok(connection.last_insert_rowid())
}

fn add_event(connection: &Connection, stream: i64, event: &Sealed) -> Result<u64, Error> {
    let content = event.content.as_ref();
    let large = content.filter(|content| check::is_large(&content.bytes));
    let digest = large.map(|content| Digest::of(&content.bytes));
    if let (Some(content), Some(digest)) = (large, &digest) {
        add_blob(connection, digest, &content.bytes)?;
    }
    let sql = "INSERT INTO events (stream, seq, hash, salt, large, head, content)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    connection.prepare_cached(sql)?.execute(params![
        stream,
        Number(event.seq),
        Hash(event.hash),
        content.map(|content| content.salt),
        digest.map(Hash),
        event.head,
        content.filter(|_| large.is_none()).map(|content| &content.bytes),
    ])?;
    Ok(connection.last_insert_rowid().unsigned_abs())
}

fn add_blob(connection: &Connection, digest: &Digest, bytes: &[u8]) -> Result<(), Error> {
    let sql = "INSERT INTO blobs (digest, bytes) VALUES (?1, ?2) ON CONFLICT (digest) DO NOTHING";
    connection.prepare_cached(sql)?.execute(params![Hash(*digest), bytes])?;
    Ok(())
}
