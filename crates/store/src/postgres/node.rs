//! This node among the others: that it is alive, the epochs that it draws, and the runs whose lease it holds.
//!
//! Whether a node is alive is a matter of the database's clock alone. What this node knows of it is `held_until`,
//! by its own clock, and never later than what the database says: it is counted from before the renewal was sent.

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
use super::schema::{self, Found, LOCK};
use crate::journal::Error;
use crate::leases::{Lease, NodeRow};

/// Renewals in the time of a lease: two may fail.
const RENEWALS: u32 = 3;
/// Of so many parts of a lease the last counts as over here already: what is begun takes time.
const PARTS: u32 = 5;

#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: u64,
    name: String,
    lease: Duration,
    alone: bool,
    epoch: AtomicU64,
    /// Milliseconds of [`uptime`].
    held_until: AtomicU64,
    known: u32,
    /// The version of the schema, as it was looked at last.
    found: AtomicU32,
    /// Once the database is one that this binary can not work with: the version of its schema.
    shut_out: watch::Sender<Option<u32>>,
    /// Runs that this node can not read: they are for others.
    unreadable: Mutex<BTreeSet<RunId>>,
}

impl Node {
    /// Draws the epoch that this node is called by, and announces it.
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
        // Somebody may have migrated since this one looked. From here on they would have found it.
        if let Err(error) = joined.says_what_it_knows(pool).await {
            joined.leave(pool).await?;
            return Err(error);
        }
        joined.held_from(sent);
        Ok(joined)
    }

    async fn says_what_it_knows(&self, pool: &Pool) -> Result<(), Error> {
        let found = self.look(pool).await?;
        if found.tells() {
            let sql = "UPDATE nodes SET knows = $2 WHERE node = $1";
            pool.query(sql, &[&big(self.id), &i64::from(self.known)]).await?;
        }
        Ok(())
    }

    /// An error where the database is one that this binary can not work with.
    async fn look(&self, pool: &Pool) -> Result<Found, Error> {
        let found = schema::look(pool).await?;
        self.found.store(found.version, Ordering::Release);
        found.admits(self.known)?;
        Ok(found)
    }

    pub(super) fn newer(&self) -> Option<u32> {
        Some(self.found.load(Ordering::Acquire)).filter(|found| *found > self.known)
    }

    /// Resolves when it is.
    pub(super) async fn is_shut_out(&self) -> Error {
        let mut shut_out = self.shut_out.subscribe();
        match shut_out.wait_for(Option::is_some).await.ok().and_then(|found| *found) {
            Some(found) => Error::FromTheFuture { found, known: self.known },
            None => std::future::pending().await,
        }
    }

    /// Whether appends are refused, and why.
    pub(super) fn check(&self) -> Result<(), Error> {
        match *self.shut_out.borrow() {
            Some(found) => Err(Error::FromTheFuture { found, known: self.known }),
            None => Ok(()),
        }
    }

    /// The next one may have it: this one can not read it.
    pub(super) async fn give_back(&self, pool: &Pool, run: &RunId) -> Result<(), Error> {
        self.unreadable().insert(run.clone());
        let sql = "UPDATE leases SET node = NULL, woken = true, since = clock_timestamp()
                   WHERE run = $1 AND node = $2";
        pool.query(sql, &[&run.as_str(), &big(self.id)]).await?;
        Ok(())
    }

    /// A poisoned lock guards a plain set: what it holds is still right.
    fn unreadable(&self) -> MutexGuard<'_, BTreeSet<RunId>> {
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renews for as long as it is not dropped.
    ///
    /// A renewal that comes too late does not count here, the one after it does: whatever this process had begun
    /// when it froze finds its lease over, although the database may have given it back already.
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
                        "this binary is too old for the database by now"
                    );
                    self.held_until.store(0, Ordering::Release);
                    self.shut_out.send_replace(Some(found));
                    return;
                }
                Ok(Err(error)) => {
                    tracing::warn!(node = self.id, %error, "the leases of this node can not be renewed");
                    wait = pause / 4;
                }
                Err(_) => {
                    tracing::warn!(node = self.id, "the leases of this node can not be renewed: no answer");
                    wait = pause / 4;
                }
            }
        }
    }

    /// Also where others have forgotten it. Who was to be alone and came too late does not come back.
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

    pub(super) fn holds(&self) -> bool {
        uptime() < self.held_until.load(Ordering::Acquire)
    }

    fn held_from(&self, sent: u64) {
        self.held_until.fetch_max(sent + self.held(), Ordering::AcqRel);
    }

    /// For how long a renewal counts here.
    fn held(&self) -> u64 {
        millis(self.lease / PARTS * (PARTS - 1))
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Written down with the node: a number of a sequence alone could come again after a crash of the database.
    pub(super) async fn draw_epoch(&self, pool: &Pool) -> Result<u64, Error> {
        let sql = "INSERT INTO nodes (node, epoch, name, alone, opened_at, alive_until)
                   VALUES ($1, nextval('epochs'), $2, false, clock_timestamp(), '-infinity')
                   ON CONFLICT (node) DO UPDATE SET epoch = excluded.epoch RETURNING epoch";
        let rows = pool.query(sql, &[&big(self.id), &self.name]).await?;
        let epoch = number(rows.first().ok_or(Error::Closed)?, 0)?;
        self.epoch.fetch_max(epoch, Ordering::AcqRel);
        Ok(epoch)
    }

    /// For the rest of the transaction no node joins. An error if this one was to be alone, and is not any more:
    /// others may have been there since it looked.
    pub(super) async fn shut_out(&self, transaction: &Transaction<'_>) -> Result<(), Error> {
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        let sql = "SELECT FROM nodes WHERE node = $1 AND alone AND alive_until > clock_timestamp()";
        if self.alone && transaction.query_opt(sql, &[&big(self.id)]).await?.is_none() {
            return Err(Error::Nodes("others that came while this one was silent".to_owned()));
        }
        Ok(())
    }

    /// Gives all leases back, so that others need not wait for them to end.
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

/// Those that are alive or hold leases. `here`: the one that answers.
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

/// Milliseconds since the machine started. It goes on while the machine sleeps: the leases do too.
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
