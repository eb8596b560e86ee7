//! The journal in PostgreSQL, for installations with more than one machine: any number of nodes share one database.
//! This module opens and closes the journal.
//!
//! `log`, `tables` and `leases` implement the traits. `append` writes events. `read`, `list` and `rows` read. `horizon`
//! reports the position up to which the order of events is final. `seal` adds the events up to this position to the
//! hash chain of the journal. `node` renews the lease of this node. `schema`, `pool` and `tls` open the database.
//! `migrations/postgres` contains the SQL functions. While this process computes, it never keeps a transaction open.
//! Therefore it blocks no other node, even if the process is suspended at any moment.

mod agreed;
mod append;
mod bodies;
mod column;
mod erase;
mod error;
mod home;
mod horizon;
mod leases;
mod list;
mod log;
mod node;
mod outbox;
mod pool;
mod read;
mod rows;
mod schema;
mod seal;
mod tables;
mod tls;

use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{RwLock, watch};
use tokio::task::JoinSet;

pub use self::error::Unsupported;
use self::home::Home;
use self::horizon::WrittenPosition;
use self::node::Node;
use self::pool::Pool;
pub use self::pool::{check, warning};
pub use self::schema::{Migration, Reach, Schema};
use crate::journal::Error;

/// Interval between two searches for runs that no living node is driving.
const POLL: Duration = Duration::from_millis(200);
/// Number of connections that are reserved for lease renewals, reads of the horizon, notifications and seals. Upkeep
/// tasks never wait for appends.
const UPKEEP: usize = 4;

/// The database to use, and the settings of this node.
#[derive(Clone)]
pub struct Config {
    /// Address of the database: `postgresql://user:password@host:port/name`, or `host=… user=…`.
    pub url: String,
    /// Name that the operator gave to this node.
    pub name: String,
    /// Duration of this node's lease. A node that does not renew its lease for this long loses its runs to other nodes.
    /// A node renews its lease three times in this period.
    pub lease: Duration,
    /// True if this node must be the only one that uses the database, for example to rebuild rows. Opening then fails
    /// while another node is alive. Other nodes cannot open the database until this node has closed it
    /// or its lease has expired.
    pub alone: bool,
    /// Number of connections that are used for appends and reads. Five additional connections are used for upkeep and
    /// notifications.
    pub connections: usize,
    /// Migrations that this node knows. Tests set other migrations to simulate a node of another program version.
    pub schema: Schema,
}

impl Config {
    /// Returns a configuration with a lease of 15 seconds and 16 connections.
    pub fn new(url: impl Into<String>, name: impl Into<String>) -> Self {
        let lease = Duration::from_secs(15);
        Self {
            url: url.into(),
            name: name.into(),
            lease,
            alone: false,
            connections: 16,
            schema: Schema::default(),
        }
    }
}

/// Omits the URL, because it may contain a password.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url: _, name, lease, alone, connections, schema: _ } = self;
        f.debug_struct("Config")
            .field("name", name)
            .field("lease", lease)
            .field("alone", alone)
            .field("connections", connections)
            .finish_non_exhaustive()
    }
}

/// Handle with which one node uses a journal in a database.
///
/// If the handle is dropped without [`Postgres::close`], the effect is that of a crash: other nodes take over this
/// node's runs only after its lease has expired.
pub struct Postgres {
    pool: Pool,
    upkeep: Pool,
    /// This process as a node of the database. `None` if the journal was opened for reading.
    node: Option<Arc<Node>>,
    written: Arc<WrittenPosition>,
    position: watch::Receiver<u64>,
    home: Home,
    /// True if the journal was restored from a dump, and no operator had confirmed the restore with
    /// [`Postgres::take_up`] before this opening.
    is_restored: bool,
    /// True while the store accepts appends. Each append holds a read lock until it has ended.
    open: Arc<RwLock<bool>>,
    tasks: Mutex<JoinSet<()>>,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres").field("node", &self.node).finish_non_exhaustive()
    }
}

impl Postgres {
    /// Connects to the database, migrates its schema, and registers this process as a node.
    pub async fn open(config: Config) -> Result<Self, Error> {
        let address = pool::address(&config.url, &config.name)?;
        let pool = Pool::new(&address, config.connections)?;
        let upkeep = Pool::new(&address, UPKEEP)?;
        let home = Home::from_database(&upkeep).await?;
        let is_restored = schema::migrate(&upkeep, &config.schema, home).await?;
        let node = Arc::new(Node::join(&upkeep, &config).await?);
        let written = Arc::new(WrittenPosition::default());
        let (visible, position) = watch::channel(read::last_visible(&upkeep).await?);
        let mut tasks = JoinSet::new();
        tasks.spawn(Arc::clone(&node).keep(upkeep.clone()));
        tasks.spawn(horizon::keep_looking(upkeep.clone(), Arc::clone(&written), visible));
        tasks.spawn(seal::keep_sealing(upkeep.clone(), position.clone()));
        tasks.spawn(horizon::keep_telling(upkeep.clone(), node.id, Arc::clone(&written)));
        tasks.spawn(horizon::keep_listening(address, node.id, Arc::clone(&written)));
        let (open, tasks) = (Arc::new(RwLock::new(true)), Mutex::new(tasks));
        Ok(Self { pool, upkeep, node: Some(node), written, position, home, is_restored, open, tasks })
    }

    /// Connects for reading. This process does not become a node, and it does not migrate the schema. Appends are
    /// rejected. The connections are read-only. Therefore the database refuses every change.
    pub async fn open_to_read(config: &Config) -> Result<Self, Error> {
        let pool = Pool::to_read(&pool::address(&config.url, &config.name)?, config.connections)?;
        schema::check(&pool).await?;
        let (_, position) = watch::channel(read::last_visible(&pool).await?);
        let (open, tasks) = (Arc::new(RwLock::new(false)), Mutex::new(JoinSet::new()));
        let (upkeep, home) = (pool.clone(), Home::from_database(&pool).await?);
        let (written, is_restored) = (Arc::default(), false);
        Ok(Self { pool, upkeep, node: None, written, position, home, is_restored, open, tasks })
    }

    /// Returns true if the journal was restored from a dump, and no operator had confirmed the restore with
    /// [`Postgres::take_up`] before this opening. A restored journal lacks all events after the dump.
    pub fn is_restored(&self) -> bool {
        self.is_restored
    }

    /// Records that this database is now the home of the journal. An operator confirms the restore of a dump in this
    /// way.
    pub async fn take_up(&self) -> Result<(), Error> {
        self.home.take_up(&self.upkeep).await
    }

    /// Returns the schema version of the database if it is newer than that of this binary, but still compatible with
    /// this binary.
    pub fn newer(&self) -> Option<u32> {
        self.node.as_ref().and_then(|node| node.newer())
    }

    /// Waits until a migration makes this binary incompatible with the database, and returns the reason.
    pub async fn failed(&self) -> String {
        match &self.node {
            Some(node) => node.is_shut_out().await.to_string(),
            None => std::future::pending().await,
        }
    }

    fn node(&self) -> Result<&Arc<Node>, Error> {
        self.node.as_ref().ok_or(Error::Closed)
    }

    /// Waits for the accepted appends, releases all leases, and removes this node from the database. Other nodes can
    /// then take over its runs at once. Later calls return [`Error::Closed`].
    pub async fn close(&self) -> Result<(), Error> {
        let was_open = mem::replace(&mut *self.open.write().await, false);
        let mut tasks = mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        tasks.shutdown().await;
        let left = match &self.node {
            Some(node) if was_open => node.leave(&self.upkeep).await,
            Some(_) | None => Ok(()),
        };
        self.pool.close();
        self.upkeep.close();
        left
    }
}
