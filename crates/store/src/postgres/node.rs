//! The records of this node in the database: its lease, its epochs, and the leases of the runs that it drives.
//!
//! The clock of the database alone determines if a node is alive. `held_until` is the time until which this node
//! believes in its lease. This node computes `held_until` with its own clock, from a time before it sent the renewal.
//! Therefore this time is never later than the expiry of the lease in the database.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deadpool_postgres::Transaction;
use holdshort_core::id::RunId;
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::Config;
use super::column::{at_most, big, get, id, maybe_number, number, time};
use super::pool::Pool;
use super::schema::{self, LOCK, SchemaVersions};
use crate::journal::Error;
use crate::leases::{Lease, NodeRow};

/// Number of renewals in one lease period. Therefore a lease stays valid even if two renewals in a row fail.
const RENEWALS: u32 = 3;
/// Number of equal parts into which the lease period is divided. This node treats its lease as expired in the last
/// part, so that started work can finish before other nodes take over.
const PARTS: u32 = 5;

#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: u64,
    name: String,
    lease: Duration,
    alone: bool,
    epoch: AtomicU64,
    /// Time until which this node treats its lease as valid, in milliseconds as measured by [`uptime`].
    held_until: AtomicU64,
    known: u32,
    /// Version of the database's schema at the last check by this node.
    found: AtomicU32,
    /// Version of the database's schema, if this binary is incompatible with it. `None` as long as this binary is
    /// compatible.
    shut_out: watch::Sender<Option<u32>>,
    /// Runs that this node does not claim, because it cannot read them.
    unreadable: Mutex<BTreeSet<RunId>>,
}

impl Node {
    /// Acquires the first epoch, which becomes the id of this node, and registers the node in the database.
    pub(super) async fn join(pool: &Pool, config: &Config) -> Result<Self, Error> {
        let Config { url: _, name, lease, alone, connections: _, schema } = config;
        let known = schema.version();
        let sent = uptime();
        let sql = "SELECT node, others FROM holdshort_join($1, $2, $3, $4)";
        let rows = pool.query(sql, &[&LOCK, name, &lease.as_secs_f64(), alone]).await?;
        let row = rows.first().ok_or(Error::Closed)?;
        if let Some(others) = get(row, 1)? {
            return Err(Error::Nodes(others));
        }
        let node = number(row, 0)?;
        let joined = Self {
            id: node,
            name: name.clone(),
            lease: *lease,
            alone: *alone,
            epoch: AtomicU64::new(node),
            held_until: AtomicU64::new(0),
            known,
            found: AtomicU32::new(known),
            shut_out: watch::Sender::new(None),
            unreadable: Mutex::default(),
        };
        // The version is read again, because another node may have migrated the database since the first read.
        // Migrations after the registration take this node into account.
        if let Err(error) = joined.record_known_version(pool).await {
            joined.leave(pool).await?;
            return Err(error);
        }
        joined.held_from(sent);
        Ok(joined)
    }

    async fn record_known_version(&self, pool: &Pool) -> Result<(), Error> {
        let found = self.look(pool).await?;
        if found.records_node_versions() {
            let sql = "UPDATE nodes SET knows = $2 WHERE node = $1";
            pool.query(sql, &[&big(self.id), &i64::from(self.known)]).await?;
        }
        Ok(())
    }

    /// Reads the schema version of the database. Returns an error if this binary is incompatible with it.
    async fn look(&self, pool: &Pool) -> Result<SchemaVersions, Error> {
        let found = schema::look(pool).await?;
        self.found.store(found.version, Ordering::Release);
        found.admits(self.known)?;
        Ok(found)
    }

    pub(super) fn newer(&self) -> Option<u32> {
        Some(self.found.load(Ordering::Acquire)).filter(|found| *found > self.known)
    }

    /// Waits until the database's schema is incompatible with this binary.
    pub(super) async fn is_shut_out(&self) -> Error {
        let mut shut_out = self.shut_out.subscribe();
        match shut_out.wait_for(Option::is_some).await.ok().and_then(|found| *found) {
            Some(found) => Error::FromTheFuture { found, known: self.known },
            None => std::future::pending().await,
        }
    }

    /// Returns an error with the reason if this binary must not append, because a migration made it incompatible with
    /// the database.
    pub(super) fn check(&self) -> Result<(), Error> {
        match *self.shut_out.borrow() {
            Some(found) => Err(Error::FromTheFuture { found, known: self.known }),
            None => Ok(()),
        }
    }

    /// Releases the lease of a run that this node cannot read. Another node can then take the lease.
    pub(super) async fn give_back(&self, pool: &Pool, run: &RunId) -> Result<(), Error> {
        self.unreadable().insert(run.clone());
        let sql = "UPDATE leases SET node = NULL, woken = true, since = clock_timestamp()
                   WHERE run = $1 AND node = $2";
        pool.query(sql, &[&run.as_str(), &big(self.id)]).await?;
        Ok(())
    }

    /// Locks the set of unreadable runs. Ignores a poisoned lock, because the set is valid even after a panic.
    fn unreadable(&self) -> MutexGuard<'_, BTreeSet<RunId>> {
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renews the lease at intervals. Runs until the pool is closed or the binary is incompatible with the schema.
    ///
    /// If the process was suspended, too much time may have passed since the previous renewal. In this case, this node
    /// treats its lease as expired until it has renewed the lease twice. Therefore work from before the suspension
    /// finds an expired lease, even if the lease in the database was just renewed.
    pub(super) async fn keep(self: Arc<Self>, pool: Pool) {
        let pause = self.lease / RENEWALS;
        let mut last = uptime();
        let mut wait = pause;
        loop {
            sleep(wait).await;
            let sent = uptime();
            let renewed = async {
                self.renew(&pool).await?;
                self.look(&pool).await
            };
            match timeout(pause, renewed).await {
                Ok(Ok(_)) => {
                    if sent.saturating_sub(last) < self.held() {
                        self.held_from(sent);
                    } else {
                        tracing::warn!(node = self.id, "the leases of this node were not renewed in time");
                    }
                    last = sent;
                    wait = pause;
                }
                Ok(Err(Error::Closed)) => return,
                Ok(Err(Error::FromTheFuture { found, known })) => {
                    tracing::error!(
                        node = self.id,
                        found,
                        known,
                        "this binary is too old for the migrated database"
                    );
                    self.held_until.store(0, Ordering::Release);
                    self.shut_out.send_replace(Some(found));
                    return;
                }
                Ok(Err(error)) => {
                    tracing::warn!(node = self.id, %error, "the leases of this node cannot be renewed");
                    wait = pause / 4;
                }
                Err(_) => {
                    tracing::warn!(
                        node = self.id,
                        "the leases of this node were not renewed because the database did not answer"
                    );
                    wait = pause / 4;
                }
            }
        }
    }

    /// Renews the lease, which is stored in this node's row of the table `nodes`. Inserts the row again if other nodes
    /// have removed it. An expired lease of a node that uses the database alone is not renewed.
    async fn renew(&self, pool: &Pool) -> Result<(), Error> {
        let sql = "INSERT INTO nodes AS n (node, epoch, name, alone, opened_at, alive_until)
                   VALUES ($1, $2, $3, false, clock_timestamp(),
                           clock_timestamp() + make_interval(secs => $4))
                   ON CONFLICT (node) DO UPDATE SET alive_until = excluded.alive_until
                   WHERE NOT n.alone OR n.alive_until > clock_timestamp()";
        let (node, epoch) = (big(self.id), big(self.epoch()));
        pool.query(sql, &[&node, &epoch, &self.name, &self.lease.as_secs_f64()]).await?;
        Ok(())
    }

    pub(super) fn has_valid_leases(&self) -> bool {
        uptime() < self.held_until.load(Ordering::Acquire)
    }

    fn held_from(&self, sent: u64) {
        self.held_until.fetch_max(sent + self.held(), Ordering::AcqRel);
    }

    /// Returns the time for which this node treats its lease as valid after a renewal, in milliseconds.
    fn held(&self) -> u64 {
        millis(self.lease / PARTS * (PARTS - 1))
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Acquires the next epoch from an SQL sequence. Stores the epoch in the row of this node, because the sequence
    /// could return the same number again after a crash of the database.
    pub(super) async fn draw_epoch(&self, pool: &Pool) -> Result<u64, Error> {
        let sql = "INSERT INTO nodes (node, epoch, name, alone, opened_at, alive_until)
                   VALUES ($1, nextval('epochs'), $2, false, clock_timestamp(), '-infinity')
                   ON CONFLICT (node) DO UPDATE SET epoch = excluded.epoch RETURNING epoch";
        let rows = pool.query(sql, &[&big(self.id), &self.name]).await?;
        let epoch = number(rows.first().ok_or(Error::Closed)?, 0)?;
        self.epoch.fetch_max(epoch, Ordering::AcqRel);
        Ok(epoch)
    }

    /// Prevents other nodes from joining until the transaction ends. Returns an error if this node uses the database
    /// alone and its lease has expired, because other nodes may have joined since.
    pub(super) async fn shut_out(&self, transaction: &Transaction<'_>) -> Result<(), Error> {
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        let sql = "SELECT FROM nodes WHERE node = $1 AND alone AND alive_until > clock_timestamp()";
        if self.alone && transaction.query_opt(sql, &[&big(self.id)]).await?.is_none() {
            return Err(Error::Nodes(
                "other nodes, which may have joined after the lease of this node expired".to_owned(),
            ));
        }
        Ok(())
    }

    /// Releases all leases of this node, so that other nodes can take over its runs at once.
    pub(super) async fn leave(&self, pool: &Pool) -> Result<(), Error> {
        let sql = "WITH given AS (UPDATE leases SET node = NULL, since = clock_timestamp() WHERE node = $1)
                   DELETE FROM nodes WHERE node = $1";
        pool.query(sql, &[&big(self.id)]).await?;
        self.held_until.store(0, Ordering::Release);
        Ok(())
    }

    pub(super) async fn claim(&self, pool: &Pool, limit: usize) -> Result<Vec<RunId>, Error> {
        let except: Vec<String> = self.unreadable().iter().map(ToString::to_string).collect();
        let sql = "SELECT holdshort_claim($1, $2, $3)";
        let rows = pool.query(sql, &[&big(self.id), &at_most(limit), &except]).await?;
        let mut claimed: Vec<RunId> = rows.iter().map(|row| id(row, 0)).collect::<Result<_, _>>()?;
        claimed.sort();
        Ok(claimed)
    }

    pub(super) async fn runnable(&self, pool: &Pool, limit: usize) -> Result<Vec<RunId>, Error> {
        let sql = "SELECT l.run FROM leases l JOIN runs r ON r.run = l.run WHERE l.node = $1
                   ORDER BY r.created_at, l.run LIMIT $2";
        pool.read(sql, &[&big(self.id), &at_most(limit)]).await?.iter().map(|row| id(row, 0)).collect()
    }
}

/// Returns the nodes that are alive or hold leases. `here` is the id of this node.
pub(super) async fn all(pool: &Pool, here: Option<u64>) -> Result<Vec<NodeRow>, Error> {
    let sql = "SELECT n.node, n.name, (extract(epoch FROM n.opened_at) * 1000)::bigint,
                      CASE WHEN isfinite(n.alive_until)
                           THEN (extract(epoch FROM n.alive_until) * 1000)::bigint ELSE 0 END,
                      n.alive_until > clock_timestamp(), held.runs
               FROM nodes n, LATERAL (SELECT count(*) AS runs FROM leases l WHERE l.node = n.node) held
               WHERE n.alive_until > clock_timestamp() OR held.runs > 0 ORDER BY n.node";
    let node = |row| {
        let node = number(row, 0)?;
        Ok(NodeRow {
            node,
            name: get(row, 1)?,
            opened_at: time(row, 2)?,
            alive_until: Some(time(row, 3)?),
            alive: get(row, 4)?,
            here: here == Some(node),
            runs: number(row, 5)?,
        })
    };
    pool.read(sql, &[]).await?.iter().map(node).collect()
}

pub(super) async fn leases(pool: &Pool, after: Option<&RunId>, limit: usize) -> Result<Vec<Lease>, Error> {
    let sql = "SELECT run, node FROM leases WHERE run > $1 ORDER BY run LIMIT $2";
    let rows = pool.read(sql, &[&after.map_or("", RunId::as_str), &at_most(limit)]).await?;
    rows.iter().map(|row| Ok(Lease { run: id(row, 0)?, node: maybe_number(row, 1)? })).collect()
}

/// Returns the milliseconds since the machine started. The result includes the time in which the machine was asleep,
/// because leases also expire during this time.
fn uptime() -> u64 {
    #[cfg(target_os = "linux")]
    let clock = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::Monotonic;
    let now = clock_gettime(clock);
    now.tv_sec.unsigned_abs() * 1000 + now.tv_nsec.unsigned_abs() / 1_000_000
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
