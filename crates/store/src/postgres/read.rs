//! What the journal holds, read back. Reads by position stop at the horizon: what is beyond may still get a
//! neighbour with a smaller position.

use holdshort_core::digest::Digest;
use holdshort_core::event::{Chain, Sealed, SealedContent};
use holdshort_core::id::StreamId;
use tokio_postgres::Row;

use super::column::{array, at_most, big, digest, get, id, number};
use super::pool::Pool;
use crate::journal::Error;
use crate::log::{Change, Key, Positioned};

const EVENT: &str = "position, stream, seq, hash, salt, head, coalesce(content, blobs.bytes)
                     FROM events LEFT JOIN blobs ON blobs.digest = large";

pub(super) async fn events(
    pool: &Pool,
    stream: &StreamId,
    after: u64,
    limit: usize,
) -> Result<Vec<Sealed>, Error> {
    let sql = format!("SELECT {EVENT} WHERE stream = $1 AND seq > $2 ORDER BY seq LIMIT $3");
    let rows = pool.read(&sql, &[&stream.as_str(), &big(after), &at_most(limit)]).await?;
    rows.iter().map(|row| event(row).map(|positioned| positioned.event)).collect()
}

pub(super) async fn tail(pool: &Pool, after: u64, limit: usize) -> Result<Vec<Positioned>, Error> {
    let sql = format!(
        "SELECT {EVENT} WHERE position > $1 AND position < holdshort_horizon() ORDER BY position LIMIT $2"
    );
    pool.read(&sql, &[&big(after), &at_most(limit)]).await?.iter().map(event).collect()
}

pub(super) async fn changes(pool: &Pool, after: u64, limit: usize) -> Result<Vec<Change>, Error> {
    let sql = "SELECT position, stream, seq FROM events
               WHERE position > $1 AND position < holdshort_horizon() ORDER BY position LIMIT $2";
    let rows = pool.read(sql, &[&big(after), &at_most(limit)]).await?;
    let change = |row| Ok(Change { position: number(row, 0)?, stream: id(row, 1)?, seq: number(row, 2)? });
    rows.iter().map(change).collect()
}

/// The last position that reads by position see; 0 where there is none.
pub(super) async fn last_visible(pool: &Pool) -> Result<u64, Error> {
    let sql = "SELECT coalesce(max(position), 0) FROM events WHERE position < holdshort_horizon()";
    let rows = pool.read(sql, &[]).await?;
    rows.first().map_or(Ok(0), |row| number(row, 0))
}

fn event(row: &Row) -> Result<Positioned, Error> {
    let content = match get::<Option<&[u8]>>(row, 4)? {
        Some(_) => Some(SealedContent { salt: array(row, 4)?, bytes: get(row, 6)? }),
        None => None,
    };
    let event = Sealed {
        stream: id(row, 1)?,
        seq: number(row, 2)?,
        head: get(row, 5)?,
        content,
        hash: digest(row, 3)?,
    };
    Ok(Positioned { position: number(row, 0)?, event })
}

pub(super) async fn chain(pool: &Pool, stream: &StreamId) -> Result<Chain, Error> {
    let sql = "SELECT seq, hash FROM events WHERE stream = $1 ORDER BY seq DESC LIMIT 1";
    let rows = pool.read(sql, &[&stream.as_str()]).await?;
    let chain = |row| Ok(Chain { seq: number(row, 0)?, hash: digest(row, 1)? });
    rows.first().map_or(Ok(Chain::START), chain)
}

pub(super) async fn blob(pool: &Pool, wanted: &Digest) -> Result<Option<Vec<u8>>, Error> {
    let sql = "SELECT bytes FROM blobs WHERE digest = $1";
    let rows = pool.read(sql, &[&wanted.as_bytes().as_slice()]).await?;
    rows.first().map(|row| get(row, 0)).transpose()
}

pub(super) async fn key(pool: &Pool, scope: &str, key: &str) -> Result<Option<Key>, Error> {
    // No text in PostgreSQL holds one, so no key does.
    if scope.contains('\0') || key.contains('\0') {
        return Ok(None);
    }
    let sql = "SELECT digest, reference FROM keys WHERE scope = $1 AND key = $2";
    let rows = pool.read(sql, &[&scope, &key]).await?;
    let record = |row| {
        let (scope, key) = (scope.to_owned(), key.to_owned());
        Ok(Key { scope, key, digest: digest(row, 0)?, reference: get(row, 1)? })
    };
    rows.first().map(record).transpose()
}

pub(super) async fn keys(pool: &Pool, after: Option<&Key>, limit: usize) -> Result<Vec<Key>, Error> {
    let sql = "SELECT scope, key, digest, reference FROM keys WHERE (scope, key) > ($1, $2)
               ORDER BY scope, key LIMIT $3";
    let (scope, key) = after.map_or(("", ""), |after| (&after.scope, &after.key));
    let rows = pool.read(sql, &[&scope, &key, &at_most(limit)]).await?;
    let record = |row| {
        Ok(Key { scope: get(row, 0)?, key: get(row, 1)?, digest: digest(row, 2)?, reference: get(row, 3)? })
    };
    rows.iter().map(record).collect()
}

/// Leaps from stream to stream in the index: a `DISTINCT` would read every event.
pub(super) async fn streams(
    pool: &Pool,
    after: Option<&StreamId>,
    limit: usize,
) -> Result<Vec<StreamId>, Error> {
    let sql = "WITH RECURSIVE found (stream) AS (
                   (SELECT stream FROM events WHERE stream > $1 ORDER BY stream LIMIT 1)
                   UNION ALL
                   SELECT next.stream FROM found, LATERAL (
                       SELECT stream FROM events WHERE stream > found.stream ORDER BY stream LIMIT 1
                   ) next
               )
               SELECT stream FROM found LIMIT $2";
    let after = after.map_or("", StreamId::as_str);
    pool.read(sql, &[&after, &at_most(limit)]).await?.iter().map(|row| id(row, 0)).collect()
}
