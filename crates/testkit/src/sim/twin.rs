//! The twin: a PostgreSQL that receives the same requests as a node's journal in memory. The responses of the twin are
//! compared with those from memory.
//!
//! PostgreSQL has a real clock. Therefore its leases are longer than any simulation. When a lease ends in the time of
//! the simulation, an SQL statement ends it in PostgreSQL. During each call, the simulation waits until PostgreSQL has
//! responded.

use std::fmt::Debug;
use std::ops::Deref;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use holdshort_store::postgres::{Config, Postgres};
use holdshort_store::{Append, AppendError, Appended, Leases, Log};
use holdshort_testpg::Server;
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// Time for which a lease of a simulated node in PostgreSQL is valid. The lease is longer than any simulation.
const LEASE: Duration = Duration::from_hours(10);
/// Maximum time to wait until an append is visible to a reader that reads all events in order.
const PATIENCE: Duration = Duration::from_mins(1);

/// Runtime that runs the background tasks of PostgreSQL nodes, because a simulation itself has no async runtime.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime can be started"));

/// PostgreSQL database for one simulation, empty at first. All nodes of the simulation share it.
pub(super) struct Database {
    server: &'static Server,
    url: String,
    /// Position in PostgreSQL of each event of the simulation. The index is the order of the events in memory.
    positions: Mutex<Vec<u64>>,
    /// First response of PostgreSQL that differed from the response of the journal in memory.
    difference: Mutex<Option<String>>,
}

impl Database {
    /// Creates a database for one simulation in the PostgreSQL server of this process.
    pub(super) fn new() -> Self {
        let server = holdshort_testpg::shared();
        let url = server.database();
        Self { server, url, positions: Mutex::default(), difference: Mutex::default() }
    }

    fn differs(&self, what: impl FnOnce() -> String) {
        lock(&self.difference).get_or_insert_with(what);
    }

    fn sql(&self, sql: &str) {
        if let Err(error) = self.server.run("psql", &["--quiet", "--dbname", &self.url, "--command", sql]) {
            self.differs(|| format!("PostgreSQL: {error:#}"));
        }
    }
}

pub(super) struct Twin {
    database: Arc<Database>,
    postgres: Postgres,
    /// Driver number (epoch) that PostgreSQL gave to the node when it opened the store.
    node: u64,
}

/// Gives direct access to the node's handle of PostgreSQL, without a comparison. [`Twin::same`] compares its responses.
impl Deref for Twin {
    type Target = Postgres;

    fn deref(&self) -> &Postgres {
        &self.postgres
    }
}

impl Twin {
    /// Opens a node in PostgreSQL, which must give the node the same driver number (epoch) as the journal in memory.
    pub(super) fn open(database: Arc<Database>, epoch: u64) -> Self {
        let config =
            Config { lease: LEASE, connections: 1, ..Config::new(database.url.clone(), "simulated") };
        let postgres = RUNTIME.block_on(Postgres::open(config));
        let postgres = postgres.expect("a PostgreSQL that was just started can be joined");
        let node = postgres.epoch();
        if node != epoch {
            database.differs(|| {
                format!("PostgreSQL: a node was opened under epoch {node}, but in memory under epoch {epoch}")
            });
        }
        Self { database, postgres, node }
    }

    pub(super) fn database(&self) -> Arc<Database> {
        self.database.clone()
    }

    pub(super) fn difference(&self) -> Option<String> {
        lock(&self.database.difference).clone()
    }

    /// Records a difference, if the response of PostgreSQL is not the expected one.
    pub(super) fn same<T: Debug, U: Debug>(&self, what: &str, expected: &T, asked: impl Future<Output = U>) {
        let told = format!("{:?}", RUNTIME.block_on(asked));
        let expected = format!("{expected:?}");
        if told != expected {
            self.database.differs(|| format!("PostgreSQL: {what}: {told}, but in memory: {expected}"));
        }
    }

    /// Makes the append to PostgreSQL, and waits until all readers can see it.
    pub(super) fn append(&self, append: Append, expected: &Result<Appended, AppendError>) {
        let events: usize = append.streams.iter().map(|part| part.events.len()).sum();
        let told = RUNTIME.block_on(self.postgres.append(append));
        if let (Ok(appended), Ok(_)) = (&told, expected) {
            return self.learn(appended.position, events);
        }
        let (told, expected) = (format!("{told:?}"), format!("{expected:?}"));
        if told != expected {
            self.database.differs(|| format!("PostgreSQL: append: {told}, but in memory: {expected}"));
        }
    }

    fn learn(&self, position: u64, events: usize) {
        let mut positions = lock(&self.database.positions);
        let known = positions.last().copied().unwrap_or_default();
        let changes = RUNTIME.block_on(async {
            let mut watched = self.postgres.watch();
            let visible = watched.wait_for(|visible| *visible >= position);
            if timeout(PATIENCE, visible).await.is_err() {
                return None;
            }
            self.postgres.changes(known, usize::MAX >> 1).await.ok()
        });
        let written = changes.map(|changes| changes.iter().map(|each| each.position).collect::<Vec<_>>());
        match written {
            Some(written) if written.len() == events && written.is_sorted() => positions.extend(written),
            other => {
                self.database.differs(|| format!("PostgreSQL: {events} events were written at {other:?}"));
            }
        }
    }

    /// Converts the position of an event in memory to its position in PostgreSQL.
    pub(super) fn position(&self, position: u64) -> u64 {
        let positions = lock(&self.database.positions);
        let index = usize::try_from(position).unwrap_or(usize::MAX).min(positions.len());
        index.checked_sub(1).map_or(0, |index| positions[index])
    }

    pub(super) fn lapse(&self) {
        self.alive_until("clock_timestamp()");
    }

    pub(super) fn renew(&self) {
        self.alive_until("clock_timestamp() + interval '10 hours'");
    }

    fn alive_until(&self, until: &str) {
        self.database.sql(&format!("UPDATE nodes SET alive_until = {until} WHERE node = {}", self.node));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
