//! The hash chain over all events of the journal. Events are added to the chain (sealed) in ranges, after their appends
//! were committed. Therefore appends wait neither for the chain nor for other appends.
//!
//! Events beyond the horizon are not sealed yet, because a running transaction may still add events before them. Every
//! node seals, but a lock ensures that only one node does so at a time.

use std::time::Duration;

use holdshort_core::head::Head;
use tokio::sync::watch;
use tokio::time::sleep;

use super::column::{at_most, big, digest, get, maybe_number, number};
use super::pool::Pool;
use super::read::{self, VISIBLE};
use super::schema;
use crate::journal::Error;
use crate::log::Link;
use crate::packed_append::{EventLocation, event_locations};

/// Interval at which a node adds events to the hash chain (seals them). The events of the last second may therefore not
/// be part of the hash chain yet.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum number of appends that one transaction adds to the hash chain. The limit keeps other nodes from waiting long
/// when an old journal is sealed for the first time.
const STRETCH: usize = 10_000;
const LOCK: i64 = schema::LOCK + 1;
/// Maximum number of problems that are reported at once.
const FINDINGS: usize = 10;

/// Adds events to the hash chain (seals them) when the horizon (the position up to which events are final) advances.
/// Runs until the sender of `visible` is dropped.
pub(super) async fn keep_sealing(pool: Pool, mut visible: watch::Receiver<u64>) {
    loop {
        match seal(&pool, Waits::No).await {
            Ok(_) => {}
            Err(Error::Closed) => return,
            Err(error) => tracing::warn!(%error, "the journal cannot be sealed"),
        }
        sleep(PAUSE).await;
        if visible.changed().await.is_err() {
            return;
        }
    }
}

/// Seals all events up to the horizon (the position up to which events are final), and returns the head of the hash
/// chain.
pub(super) async fn head(pool: &Pool) -> Result<Head, Error> {
    let head = seal(pool, Waits::Yes).await?;
    head.ok_or_else(|| Error::Corrupt("holdshort_seal returned no seal".to_owned()))
}

/// Returns the head of the hash chain up to the horizon (the position up to which events are final), without writing a
/// seal. Adds the events after the last seal to the chain in memory. The result does not depend on other nodes that
/// seal at the same time, because the order of these events is final.
pub(super) async fn head_unsealed(pool: &Pool) -> Result<Head, Error> {
    let rows =
        pool.read("SELECT position, events, hash FROM seals ORDER BY position DESC LIMIT 1", &[]).await?;
    let (mut position, mut head) = match rows.first() {
        Some(row) => (number(row, 0)?, Head { events: number(row, 1)?, hash: digest(row, 2)? }),
        None => (0, Head::START),
    };
    loop {
        let page = links(pool, position, STRETCH).await?;
        for link in &page {
            head = head.then(&link.hash);
            position = link.position;
        }
        if page.len() < STRETCH {
            return Ok(head);
        }
    }
}

/// Behavior of a node that has events to seal while another node is sealing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    Yes,
    No,
}

/// Adds all events up to the horizon to the hash chain, range by range, and returns the last head of the chain. Returns
/// `None` if another node is sealing and `waits` is `No`.
async fn seal(pool: &Pool, waits: Waits) -> Result<Option<Head>, Error> {
    let sql = "SELECT sealed, head, more FROM holdshort_seal($1, $2, $3)";
    loop {
        let rows = pool.query(sql, &[&LOCK, &at_most(STRETCH), &(waits == Waits::Yes)]).await?;
        let row = rows.first().ok_or_else(|| Error::Corrupt("holdshort_seal returned no row".to_owned()))?;
        let Some(events) = maybe_number(row, 0)? else { return Ok(None) };
        if !get::<bool>(row, 2)? {
            return Ok(Some(Head { events, hash: digest(row, 1)? }));
        }
    }
}

pub(super) async fn links(pool: &Pool, after: u64, limit: usize) -> Result<Vec<Link>, Error> {
    let appends = read::appends("position, seq, hashes", "position", VISIBLE);
    let sql = format!(
        "SELECT a.position, a.seq, a.hashes, s.events, s.hash FROM ({appends}) a LEFT JOIN seals s USING (position)
         ORDER BY a.position"
    );
    let mut links = Vec::new();
    for row in pool.read(&sql, &[&big(after), &at_most(limit)]).await? {
        let last = number(&row, 0)?;
        let seal = match maybe_number(&row, 3)? {
            Some(events) => Some(Head { events, hash: digest(&row, 4)? }),
            None => None,
        };
        let link = |EventLocation { position, seq: _, hash }| Link {
            position,
            hash,
            sealed: seal.filter(|_| position == last),
        };
        let places = event_locations(last, number(&row, 1)?, get(&row, 2)?)?;
        links.extend(places.into_iter().filter(|place| place.position > after).map(link));
    }
    links.truncate(limit);
    Ok(links)
}

/// Describes each seal (stored head of the hash chain) whose last event is missing. A missing event was deleted after
/// it was sealed.
pub(super) async fn problems(pool: &Pool) -> Result<Vec<String>, Error> {
    let sql = "SELECT s.position, s.events FROM seals s
               WHERE NOT EXISTS (SELECT FROM appends a WHERE a.position = s.position) ORDER BY s.position LIMIT $1";
    let rows = pool.read(sql, &[&at_most(FINDINGS)]).await?;
    let problem = |row| {
        let (position, events) = (number(row, 0)?, number(row, 1)?);
        Ok(format!("event {events} of the journal was sealed at position {position}, but is missing"))
    };
    rows.iter().map(problem).collect()
}
