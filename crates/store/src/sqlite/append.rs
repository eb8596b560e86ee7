//! One append inside its group's transaction. All that can refuse it is looked at before anything is written; on
//! any other error the caller rolls the transaction back, so nothing here cleans up.

use holdshort_core::digest::Digest;
use holdshort_core::event::Sealed;
use holdshort_core::head::Head;
use holdshort_core::id::StreamId;
use rusqlite::{Connection, params};

use super::column::{Hash, Number, Stream, number};
use super::{read, rows};
use crate::check;
use crate::journal::Error;
use crate::log::{Append, AppendError, Appended, Key};

/// Moves `head` on by what it writes.
pub(super) fn append(
    connection: &Connection,
    append: &Append,
    head: &mut Head,
) -> Result<Appended, AppendError> {
    for key in &append.keys {
        if let Some(first) = read::key(connection, &key.scope, &key.key)? {
            return Err(AppendError::KeyTaken(first));
        }
    }
    for part in &append.streams {
        expect(connection, &part.stream, part.expected)?;
    }
    for (stream, seq) in &append.guards {
        expect(connection, stream, *seq)?;
    }
    for key in &append.keys {
        add_key(connection, key)?;
    }
    for event in append.streams.iter().flat_map(|part| &part.events) {
        *head = head.then(&event.hash);
        add_event(connection, event, head)?;
    }
    for blob in &append.blobs {
        add_blob(connection, &blob.digest, &blob.bytes)?;
    }
    rows::put(connection, &append.rows)?;
    Ok(Appended { position: head.events })
}

fn add_key(connection: &Connection, key: &Key) -> Result<(), Error> {
    let sql = "INSERT INTO keys (scope, key, digest, reference) VALUES (?1, ?2, ?3, ?4)";
    connection.prepare_cached(sql)?.execute(params![key.scope, key.key, Hash(key.digest), key.reference])?;
    Ok(())
}

fn expect(connection: &Connection, stream: &StreamId, expected: u64) -> Result<(), AppendError> {
    let found = end(connection, stream)?;
    if found == expected {
        Ok(())
    } else {
        Err(AppendError::Conflict { stream: stream.clone(), expected, found })
    }
}

fn end(connection: &Connection, stream: &StreamId) -> Result<u64, Error> {
    let sql = "SELECT coalesce(max(seq), 0) FROM events WHERE stream = ?1";
    Ok(connection.prepare_cached(sql)?.query_row([Stream(stream)], |row| number(row, 0))?)
}

/// `head` is the journal's after this event: its position is the number of events up to there. Where something stands
/// there already, somebody else has written to the database.
fn add_event(connection: &Connection, event: &Sealed, head: &Head) -> Result<(), Error> {
    let content = event.content.as_ref();
    let large = content.filter(|content| check::is_large(&content.bytes));
    let digest = large.map(|content| Digest::of(&content.bytes));
    if let (Some(content), Some(digest)) = (large, &digest) {
        add_blob(connection, digest, &content.bytes)?;
    }
    let sql = "INSERT INTO events (position, chained, stream, seq, hash, salt, large, head, content)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let added = connection.prepare_cached(sql)?.execute(params![
        Number(head.events),
        Hash(head.hash),
        Stream(&event.stream),
        Number(event.seq),
        Hash(event.hash),
        content.map(|content| content.salt),
        digest.map(Hash),
        event.head,
        content.filter(|_| large.is_none()).map(|content| &content.bytes),
    ]);
    match added {
        Ok(_) => Ok(()),
        Err(rusqlite::Error::SqliteFailure(failure, _))
            if failure.code == rusqlite::ErrorCode::ConstraintViolation =>
        {
            Err(Error::Corrupt(format!(
                "there is an event at position {} that this server did not write",
                head.events
            )))
        }
        Err(error) => Err(error.into()),
    }
}

fn add_blob(connection: &Connection, digest: &Digest, bytes: &[u8]) -> Result<(), Error> {
    let sql = "INSERT INTO blobs (digest, bytes) VALUES (?1, ?2) ON CONFLICT (digest) DO NOTHING";
    connection.prepare_cached(sql)?.execute(params![Hash(*digest), bytes])?;
    Ok(())
}
