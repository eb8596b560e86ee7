//! The chain over all events, sealed behind the appends: they do not wait for it, nor for each other.
//!
//! Reads by position stop at the horizon, and so do seals: what is beyond may still get a neighbour with a smaller
//! position. Any node seals; a lock lets them do it one after the other.

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
use crate::packed_append::{Place, places};

/// Between two seals of a node: events of the last second may not be sealed yet.
const PAUSE: Duration = Duration::from_secs(1);
/// Appends of one transaction: a first seal over an old journal holds up nobody.
const STRETCH: usize = 10_000;
const LOCK: i64 = schema::LOCK + 1;
/// Findings told at once.
const FINDINGS: usize = 10;

/// Seals what becomes visible, for as long as `visible` is told.
pub(super) async fn keep_sealing(pool: Pool, mut visible: watch::Receiver<u64>) {
    loop {
        match seal(&pool, Waits::No).await {
            Ok(_) => {}
            Err(Error::Closed) => return,
            Err(error) => tracing::warn!(%error, "the journal can not be sealed"),
        }
        sleep(PAUSE).await;
        if visible.changed().await.is_err() {
            return;
        }
    }
}

/// Seals everything that reads by position see.
pub(super) async fn head(pool: &Pool) -> Result<Head, Error> {
    let head = seal(pool, Waits::Yes).await?;
    head.ok_or_else(|| Error::Corrupt("holdshort_seal answered without a seal".to_owned()))
}

/// The same without sealing anything: the events after the last seal are chained here. The order below the horizon
/// is final, so a node that seals meanwhile comes to the same.
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

/// Whether to wait for a node that seals at this moment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    Yes,
    No,
}

/// The last seal; `None` where another node is at it.
async fn seal(pool: &Pool, waits: Waits) -> Result<Option<Head>, Error> {
    let sql = "SELECT sealed, head, more FROM holdshort_seal($1, $2, $3)";
    loop {
        let rows = pool.query(sql, &[&LOCK, &at_most(STRETCH), &(waits == Waits::Yes)]).await?;
        let row = rows.first().ok_or_else(|| Error::Corrupt("holdshort_seal did not answer".to_owned()))?;
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
        let link = |Place { position, seq: _, hash }| Link {
            position,
            hash,
            sealed: seal.filter(|_| position == last),
        };
        let places = places(last, number(&row, 1)?, get(&row, 2)?)?;
        links.extend(places.into_iter().filter(|place| place.position > after).map(link));
    }
    links.truncate(limit);
    Ok(links)
}

/// Seals of events that are not there: whatever was sealed last was taken away.
pub(super) async fn problems(pool: &Pool) -> Result<Vec<String>, Error> {
    let sql = "SELECT s.position, s.events FROM seals s
               WHERE NOT EXISTS (SELECT FROM appends a WHERE a.position = s.position) ORDER BY s.position LIMIT $1";
    let rows = pool.read(sql, &[&at_most(FINDINGS)]).await?;
    let problem = |row| {
        let (position, events) = (number(row, 0)?, number(row, 1)?);
        Ok(format!("event {events} of the journal was sealed at position {position} and is not there"))
    };
    rows.iter().map(problem).collect()
}
