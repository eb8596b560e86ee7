//! Writes one append, in the transaction that commits a group of appends. All checks that can reject the append precede
//! its first write. After any other error, the caller rolls back the transaction, so this module undoes nothing.

use holdshort_core::digest::Digest;
use holdshort_core::envelope::Sealed;
use holdshort_core::head::Head;
use holdshort_core::id::StreamId;
use rusqlite::{Connection, params};

use super::column::{Hash, Number, Stream, number};
use super::{erase, read, rows};
use crate::journal::Error;
use crate::log::{Append, AppendError, Appended, Key};
use crate::packed_append::{self, Columns};

/// Checks and writes an append. Sets `head` to the head of the journal after the append.
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
    for events in packed_append::chunks(append) {
        add_events(connection, events, head)?;
    }
    erase::contents(connection, &append.erased)?;
    for blob in &append.blobs {
        add_blob(connection, &blob.digest, &blob.bytes)?;
    }
    rows::put(connection, &append.rows)?;
    if let Some(run) = &append.forgets {
        rows::forget(connection, run)?;
    }
    for delivery in &append.deliveries {
        rows::put_one(connection, delivery)?;
    }
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
    let sql = "SELECT coalesce(max(seq), 0) FROM appends WHERE stream = ?1";
    Ok(connection.prepare_cached(sql)?.query_row([Stream(stream)], |row| number(row, 0))?)
}

/// Writes the events as one row of the table `appends`. Sets `head` to the head of the journal after the last event.
fn add_events(connection: &Connection, events: &[Sealed], head: &mut Head) -> Result<(), Error> {
    let Some(last) = events.last() else { return Ok(()) };
    let mut large = Vec::new();
    let Columns { hashes, heads, contents } =
        Columns::pack(events, |digest, bytes| large.push((digest, bytes)));
    for (digest, bytes) in large {
        add_blob(connection, &digest, bytes)?;
    }
    *head = events.iter().fold(*head, |head, event| head.then(&event.hash));
    let sql = "INSERT INTO appends (position, stream, seq, chained, hashes, heads, contents)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    connection.prepare_cached(sql)?.execute(params![
        Number(head.events),
        Stream(&last.stream),
        Number(last.seq),
        Hash(head.hash),
        hashes,
        heads,
        contents,
    ])?;
    Ok(())
}

fn add_blob(connection: &Connection, digest: &Digest, bytes: &[u8]) -> Result<(), Error> {
    let sql = "INSERT INTO blobs (digest, bytes) VALUES (?1, ?2) ON CONFLICT (digest) DO NOTHING";
    connection.prepare_cached(sql)?.execute(params![Hash(*digest), bytes])?;
    Ok(())
}
