//! Erases the contents of events. Their hashes are kept. SQLite overwrites the erased bytes.

use holdshort_core::id::StreamId;
use rusqlite::{Connection, OptionalExtension, params};

use super::column::{Hash, Number, Stream};
use super::read;
use crate::journal::Error;

/// Erases the contents of these events. If an event has no content, it stays as it is.
pub(super) fn contents(connection: &Connection, erased: &[(StreamId, u64)]) -> Result<(), Error> {
    erased.iter().try_for_each(|(stream, seq)| content(connection, stream, *seq))
}

fn content(connection: &Connection, stream: &StreamId, seq: u64) -> Result<(), Error> {
    let sql = "SELECT position, stream, seq, hashes, heads, contents FROM appends
               WHERE stream = ?1 AND seq >= ?2 ORDER BY seq LIMIT 1";
    let without = connection
        .prepare_cached(sql)?
        .query_row(params![Stream(stream), Number(seq)], |row| {
            let packed = read::packed(row)?;
            Ok((packed.position, packed.without(&[seq])))
        })
        .optional()?;
    let Some((position, without)) = without else { return Ok(()) };
    let (contents, blobs) = without?;
    let update = "UPDATE appends SET contents = ?2 WHERE position = ?1";
    connection.prepare_cached(update)?.execute(params![Number(position), contents])?;
    // If another event has the same content, the blob is kept. Erasure is rare, so all events can be searched.
    let unused = "DELETE FROM blobs WHERE digest = ?1 AND NOT EXISTS (SELECT 1 FROM appends WHERE instr(contents, ?1) > 0)";
    for digest in blobs {
        connection.prepare_cached(unused)?.execute([Hash(digest)])?;
    }
    Ok(())
}
