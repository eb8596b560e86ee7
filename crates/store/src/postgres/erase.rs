//! Erases the contents of events. Their hashes are kept. PostgreSQL keeps the old version of a row until a vacuum.
//!
//! The rows of the table `appends` are read before the append that erases. Every transaction that changes such a row
//! also appends to its stream. Therefore a concurrent change causes a conflict, and the append fails.

use std::collections::BTreeMap;
use std::fmt::Write;

use holdshort_core::id::StreamId;
use serde_json::{Value, json};

use super::column::{big, number};
use super::pool::Pool;
use super::read;
use crate::journal::Error;

/// Part of the SQL function `holdshort_put` that applies the argument `erased`.
pub(super) const PUT: &str = "FOR part IN SELECT * FROM jsonb_array_elements(p_rows -> 'erased') LOOP
             UPDATE appends a SET contents = decode(part ->> 'contents', 'hex')
             WHERE a.position = (part ->> 'position')::bigint;
             -- Another event may hold the same bytes. Rare, so it is looked for where it may be: everywhere.
             DELETE FROM blobs b USING jsonb_array_elements_text(part -> 'blobs') AS gone (digest)
             WHERE b.digest = decode(gone.digest, 'hex')
                 AND NOT EXISTS (SELECT FROM appends a WHERE position(b.digest IN a.contents) > 0);
         END LOOP;";

/// Returns the argument `erased` for the SQL function `holdshort_put`: the rows of the table `appends` without the
/// erased contents.
pub(super) async fn rows(pool: &Pool, erased: &[(StreamId, u64)]) -> Result<Vec<Value>, Error> {
    let mut by_stream: BTreeMap<&StreamId, Vec<u64>> = BTreeMap::new();
    for (stream, seq) in erased {
        by_stream.entry(stream).or_default().push(*seq);
    }
    let sql = "SELECT position, stream, seq, hashes, heads, contents FROM appends
               WHERE stream = $1 AND seq >= $2 ORDER BY seq LIMIT 1";
    let mut rows = Vec::new();
    for (stream, mut seqs) in by_stream {
        seqs.sort_unstable();
        while let Some(first) = seqs.first() {
            let found = pool.read(sql, &[&stream.as_str(), &big(*first)]).await?;
            let Some(row) = found.first() else { break };
            let packed = read::packed(row)?;
            let (contents, blobs) = packed.without(&seqs)?;
            let blobs: Vec<String> = blobs.iter().map(|digest| hex(digest.as_bytes())).collect();
            rows.push(json!({
                "position": number(row, 0)?, "contents": contents.map(|bytes| hex(&bytes)), "blobs": blobs
            }));
            let last = packed.seq;
            seqs.retain(|seq| *seq > last);
        }
    }
    Ok(rows)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
