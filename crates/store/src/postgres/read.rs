//! Reads of the journal. A read by position stops at the horizon, the position up to which the order of events is final.
//! Beyond the horizon, a running transaction may still add events before existing ones. A reader that had passed the
//! positions of the added events would miss them.

use std::collections::BTreeMap;

use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Chain, Sealed};
use holdshort_core::id::StreamId;
use tokio_postgres::Row;

use super::column::{at_most, big, digest, get, id, number};
use super::pool::Pool;
use crate::journal::Error;
use crate::log::{Change, Key, Positioned};
use crate::packed_append::{EventLocation, PackedAppend, Unpacked, event_locations};

/// Returns the SQL that selects the rows of the table `appends` that contain the first `$2` events after `$1`.
///
/// `by` is the column that defines the order: `seq` for the events of one stream, `position` for all events. The sum in
/// the SQL counts the wanted events in all earlier appends.
pub(super) fn appends(columns: &str, by: &str, of: &str) -> String {
    format!(
        "SELECT {columns} FROM (
             SELECT *, sum(least(octet_length(hashes) / 32, {by} - $1)::int)
                 OVER (ORDER BY {by} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
             FROM appends WHERE {by} > $1 AND {of} ORDER BY {by} LIMIT $2
         ) a WHERE coalesce(before, 0) < $2 ORDER BY {by}"
    )
}

/// SQL condition that limits reads by position to the events before the horizon (the position up to which events are
/// final).
pub(super) const VISIBLE: &str = "position < holdshort_horizon()";

const PACKED: &str = "position, stream, seq, hashes, heads, contents";

pub(super) async fn events(
    pool: &Pool,
    stream: &StreamId,
    after: u64,
    limit: usize,
) -> Result<Vec<Sealed>, Error> {
    let sql = appends(PACKED, "seq", "stream = $3");
    let found = pool.read(&sql, &[&big(after), &at_most(limit), &stream.as_str()]).await?;
    let events = unpack(pool, &found, limit, |found| found.event.seq > after).await?;
    Ok(events.into_iter().map(|found| found.event).collect())
}

pub(super) async fn tail(pool: &Pool, after: u64, limit: usize) -> Result<Vec<Positioned>, Error> {
    let found = pool.read(&appends(PACKED, "position", VISIBLE), &[&big(after), &at_most(limit)]).await?;
    unpack(pool, &found, limit, |found| found.position > after).await
}

/// Unpacks rows of the table `appends`, and returns the first `limit` events for which `wanted` returns true.
async fn unpack(
    pool: &Pool,
    rows: &[Row],
    limit: usize,
    wanted: impl Fn(&Positioned) -> bool,
) -> Result<Vec<Positioned>, Error> {
    let mut events = Vec::new();
    for row in rows {
        let row = packed(row)?;
        events.extend(row.unpack()?.into_iter().filter(|found| wanted(&found.event)));
    }
    events.truncate(limit);
    let named: Vec<&[u8]> =
        events.iter().flat_map(|found| &found.blob).map(|digest| digest.as_bytes().as_slice()).collect();
    let blobs = if named.is_empty() { BTreeMap::new() } else { blobs(pool, &named).await? };
    let complete = |found: Unpacked| {
        let bytes = found.blob.as_ref().and_then(|digest| blobs.get(digest)).cloned();
        found.complete(bytes)
    };
    events.into_iter().map(complete).collect()
}

/// Reads a database row with the columns position, stream, sequence number, hashes, heads and contents.
pub(super) fn packed(row: &Row) -> Result<PackedAppend<'_>, Error> {
    Ok(PackedAppend {
        stream: id(row, 1)?,
        seq: number(row, 2)?,
        position: number(row, 0)?,
        hashes: get(row, 3)?,
        heads: get(row, 4)?,
        contents: get(row, 5)?,
    })
}

async fn blobs(pool: &Pool, named: &[&[u8]]) -> Result<BTreeMap<Digest, Vec<u8>>, Error> {
    let sql = "SELECT digest, bytes FROM blobs WHERE digest = ANY ($1)";
    let found = pool.read(sql, &[&named]).await?;
    found.iter().map(|row| Ok((digest(row, 0)?, get(row, 1)?))).collect()
}

pub(super) async fn changes(pool: &Pool, after: u64, limit: usize) -> Result<Vec<Change>, Error> {
    let sql = appends("position, stream, seq, hashes", "position", VISIBLE);
    let mut changes = Vec::new();
    for row in pool.read(&sql, &[&big(after), &at_most(limit)]).await? {
        let stream: StreamId = id(&row, 1)?;
        let places = event_locations(number(&row, 0)?, number(&row, 2)?, get(&row, 3)?)?;
        let change =
            |EventLocation { position, seq, hash: _ }| Change { position, stream: stream.clone(), seq };
        changes.extend(places.into_iter().filter(|place| place.position > after).map(change));
    }
    changes.truncate(limit);
    Ok(changes)
}

/// Returns the position of the last event before the horizon (the position up to which events are final). Returns 0 if
/// there is no event.
pub(super) async fn last_visible(pool: &Pool) -> Result<u64, Error> {
    let sql = "SELECT coalesce(max(position), 0) FROM appends WHERE position < holdshort_horizon()";
    let rows = pool.read(sql, &[]).await?;
    rows.first().map_or(Ok(0), |row| number(row, 0))
}

pub(super) async fn chain(pool: &Pool, stream: &StreamId) -> Result<Chain, Error> {
    let sql = "SELECT position, seq, hashes FROM appends WHERE stream = $1 ORDER BY seq DESC LIMIT 1";
    let rows = pool.read(sql, &[&stream.as_str()]).await?;
    let Some(row) = rows.first() else { return Ok(Chain::START) };
    let places = event_locations(number(row, 0)?, number(row, 1)?, get(row, 2)?)?;
    Ok(places.last().map_or(Chain::START, |place| Chain { seq: place.seq, hash: place.hash }))
}

/// Returns the position of an event. In the table `appends`, the column `seq` has the sequence number of the row's last
/// event.
pub(super) async fn position(pool: &Pool, stream: &StreamId, seq: u64) -> Result<Option<u64>, Error> {
    let sql =
        "SELECT position, seq, hashes FROM appends WHERE stream = $1 AND seq >= $2 ORDER BY seq LIMIT 1";
    let least = i64::try_from(seq).unwrap_or(i64::MAX);
    let rows = pool.read(sql, &[&stream.as_str(), &least]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let places = event_locations(number(row, 0)?, number(row, 1)?, get(row, 2)?)?;
    Ok(places.iter().find(|place| place.seq == seq).map(|place| place.position))
}

pub(super) async fn blob(pool: &Pool, wanted: &Digest) -> Result<Option<Vec<u8>>, Error> {
    let sql = "SELECT bytes FROM blobs WHERE digest = $1";
    let rows = pool.read(sql, &[&wanted.as_bytes().as_slice()]).await?;
    rows.first().map(|row| get(row, 0)).transpose()
}

pub(super) async fn key(pool: &Pool, scope: &str, key: &str) -> Result<Option<Key>, Error> {
    // Text in PostgreSQL cannot contain NUL, so a key with NUL does not exist.
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

/// Returns the streams after the given stream. In the index, the SQL jumps from one stream to the next. With
/// `DISTINCT`, the database would read every append.
pub(super) async fn streams(
    pool: &Pool,
    after: Option<&StreamId>,
    limit: usize,
) -> Result<Vec<StreamId>, Error> {
    let sql = "WITH RECURSIVE found (stream) AS (
                   (SELECT stream FROM appends WHERE stream > $1 ORDER BY stream LIMIT 1)
                   UNION ALL
                   SELECT next.stream FROM found, LATERAL (
                       SELECT stream FROM appends WHERE stream > found.stream ORDER BY stream LIMIT 1
                   ) next
               )
               SELECT stream FROM found LIMIT $2";
    let after = after.map_or("", StreamId::as_str);
    pool.read(sql, &[&after, &at_most(limit)]).await?.iter().map(|row| id(row, 0)).collect()
}
