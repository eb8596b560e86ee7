//! One append, which is one call of the SQL function `holdshort_append`. Therefore it needs one round trip and one
//! transaction. This module builds the arguments, reads the result, and repeats the call after a conflict with a
//! concurrent transaction.

use std::collections::BTreeMap;
use std::time::Duration;

use holdshort_core::delivery::Delivery;
use holdshort_core::digest::Digest;
use holdshort_core::envelope::Sealed;
use holdshort_core::id::StreamId;
use serde_json::Value;
use tokio_postgres::Row;

use super::column::{big, digest, get, number};
use super::erase;
use super::error::is_race;
use super::pool::Pool;
use super::rows;
use crate::check;
use crate::journal::Error;
use crate::log::{Append, AppendError, Appended, Key};
use crate::packed_append::{self, Columns};
use crate::table::Record;

/// Maximum number of events in one append. The lowest 14 bits of an event's position are the number of the event within
/// its append.
const MOST_EVENTS: usize = 1 << 14;
/// Maximum number of attempts to write an append that conflicts with concurrent appends. Each conflict means that
/// another append has succeeded, so the nodes together always make progress.
const ATTEMPTS: u32 = 8;
const PAUSE: Duration = Duration::from_millis(5);

const CALL: &str = "SELECT outcome, place, number, digest, reference FROM holdshort_append(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)";

/// Rejects an append with too many events for this store.
pub(super) fn check(append: &Append) -> Result<(), AppendError> {
    check::append(append)?;
    let events: usize = append.streams.iter().map(|part| part.events.len()).sum();
    if events > MOST_EVENTS {
        return Err(AppendError::Malformed(format!("{events} events exceed the limit of {MOST_EVENTS}")));
    }
    let run = append.rows.run.iter().flat_map(|row| [Some(&row.workflow), row.end_reason.as_ref()]).flatten();
    let keys = append.keys.iter().flat_map(|key| [&key.scope, &key.key, &key.reference]);
    let session = append.rows.session.iter().filter_map(|row| row.workflow.as_ref());
    match run.chain(session).chain(keys).find(|text| text.contains('\0')) {
        Some(_) => Err(AppendError::Malformed("a text in the append contains a zero byte".to_owned())),
        None => Ok(()),
    }
}

pub(super) async fn append(pool: &Pool, node: u64, append: &Append) -> Result<Appended, AppendError> {
    let mut arguments = Arguments::from_append(append);
    if !append.deliveries.is_empty() {
        arguments.rows[Delivery::TABLE.name] = append.deliveries.iter().map(rows::json_of).collect();
    }
    if !append.erased.is_empty() {
        arguments.rows["erased"] = erase::rows(pool, &append.erased).await?.into();
    }
    if let Some(run) = &append.forgets {
        arguments.rows["forgets"] = run.as_str().into();
    }
    for attempt in 1.. {
        match arguments.call(pool, node, append.drives).await? {
            Ok(rows) => {
                let row = rows.first().ok_or_else(|| unknown("no row"))?;
                return outcome(row, append);
            }
            Err(error) if is_race(&error) && attempt < ATTEMPTS => tokio::time::sleep(PAUSE * attempt).await,
            Err(error) => return Err(Error::from(error).into()),
        }
    }
    unreachable!("the last attempt returns")
}

fn outcome(row: &Row, append: &Append) -> Result<Appended, AppendError> {
    match get(row, 0)? {
        "appended" => Ok(Appended { position: number(row, 2)? }),
        "key taken" => {
            let asked =
                outcome_index(row)?.and_then(|place| append.keys.get(place)).ok_or_else(|| unknown("key"))?;
            let (scope, key) = (asked.scope.clone(), asked.key.clone());
            let record = Key { scope, key, digest: digest(row, 3)?, reference: get(row, 4)? };
            Err(AppendError::KeyTaken(record))
        }
        "conflict" => {
            let asked = outcome_index(row)?.and_then(|place| expected_ends(append).nth(place));
            let (stream, expected) = asked.ok_or_else(|| unknown("stream"))?;
            Err(AppendError::Conflict { stream: stream.clone(), expected, found: number(row, 2)? })
        }
        "driven" => Err(AppendError::Driven),
        other => Err(unknown(other).into()),
    }
}

/// Returns the index of the key, stream or other part to which the database's answer refers. The index counts from 0,
/// while `PostgreSQL` counts from 1.
fn outcome_index(row: &Row) -> Result<Option<usize>, Error> {
    Ok(usize::try_from(number(row, 1)?).ok().and_then(|place| place.checked_sub(1)))
}

fn unknown(what: &str) -> Error {
    Error::Corrupt(format!("holdshort_append returned an unknown {what}"))
}

/// Returns each stream that the append writes to or guards, with the sequence number that its last event must have. The
/// order is that in which the database checks the streams.
fn expected_ends(append: &Append) -> impl Iterator<Item = (&StreamId, u64)> {
    let written = append.streams.iter().map(|part| (&part.stream, part.expected));
    written.chain(append.guards.iter().map(|(stream, seq)| (stream, *seq)))
}

/// Arguments of `holdshort_append`. Each parameter is an array.
#[derive(Default)]
struct Arguments<'a> {
    locks: Vec<i64>,
    exclusive: Vec<bool>,
    key_scopes: Vec<&'a str>,
    key_names: Vec<&'a str>,
    key_digests: Vec<&'a [u8]>,
    key_references: Vec<&'a str>,
    ends: Vec<&'a str>,
    ends_at: Vec<i64>,
    streams: Vec<&'a str>,
    seqs: Vec<i64>,
    upto: Vec<i64>,
    hashes: Vec<Vec<u8>>,
    heads: Vec<Vec<u8>>,
    contents: Vec<Option<Vec<u8>>>,
    blob_digests: Vec<Vec<u8>>,
    blobs: Vec<&'a [u8]>,
    rows: Value,
}

impl<'a> Arguments<'a> {
    fn from_append(append: &'a Append) -> Self {
        let mut arguments = Self { rows: rows::json(&append.rows), ..Self::default() };
        (arguments.locks, arguments.exclusive) = locks(append).into_iter().unzip();
        for key in &append.keys {
            arguments.key_scopes.push(&key.scope);
            arguments.key_names.push(&key.key);
            arguments.key_digests.push(key.digest.as_bytes());
            arguments.key_references.push(&key.reference);
        }
        for (stream, seq) in expected_ends(append) {
            arguments.ends.push(stream.as_str());
            arguments.ends_at.push(big(seq));
        }
        let mut blobs: BTreeMap<Digest, &[u8]> =
            append.blobs.iter().map(|blob| (blob.digest, &*blob.bytes)).collect();
        let mut upto = 0;
        for events in packed_append::chunks(append) {
            upto += events.len() as u64;
            arguments.row(events, upto, &mut blobs);
        }
        for (digest, bytes) in blobs {
            arguments.blob_digests.push(digest.as_bytes().to_vec());
            arguments.blobs.push(bytes);
        }
        arguments
    }

    fn row(&mut self, events: &'a [Sealed], upto: u64, blobs: &mut BTreeMap<Digest, &'a [u8]>) {
        let Some(last) = events.last() else { return };
        let Columns { hashes, heads, contents } = Columns::pack(events, |digest, bytes| {
            blobs.insert(digest, bytes);
        });
        self.streams.push(last.stream.as_str());
        self.seqs.push(big(last.seq));
        self.upto.push(big(upto));
        self.hashes.push(hashes);
        self.heads.push(heads);
        self.contents.push(contents);
    }

    /// Calls `holdshort_append`. The inner error is one that the database returned.
    async fn call(
        &self,
        pool: &Pool,
        node: u64,
        drives: bool,
    ) -> Result<Result<Vec<Row>, tokio_postgres::Error>, Error> {
        pool.ask(
            CALL,
            &[
                &big(node),
                &drives,
                &self.locks,
                &self.exclusive,
                &self.key_scopes,
                &self.key_names,
                &self.key_digests,
                &self.key_references,
                &self.ends,
                &self.ends_at,
                &self.streams,
                &self.seqs,
                &self.upto,
                &self.hashes,
                &self.heads,
                &self.contents,
                &self.blob_digests,
                &self.blobs,
                &self.rows,
            ],
        )
        .await
    }
}

/// Returns the advisory locks that an append needs, one for each stream. A key of the map is the number of a lock,
/// computed from the stream. The value is true for an exclusive lock, which an append needs to write to the stream. If
/// two streams have the same number, appends to them only wait for each other.
fn locks(append: &Append) -> BTreeMap<i64, bool> {
    let mut locks = BTreeMap::new();
    let written = append.streams.iter().map(|part| (&part.stream, true));
    for (stream, exclusive) in written.chain(append.guards.iter().map(|(stream, _)| (stream, false))) {
        let digest = Digest::of_bytes(format!("holdshort.stream.{stream}").as_bytes());
        let number = digest.as_bytes().first_chunk().map_or(0, |bytes| i64::from_be_bytes(*bytes));
        *locks.entry(number).or_default() |= exclusive;
    }
    locks
}
