//! The journal in PostgreSQL, for users who outgrow one machine: any number of nodes over one database. This module
//! opens and closes it.
//!
//! `log`, `tables` and `leases` implement the traits. `append` writes; `read`, `list` and `rows` read. `horizon`
//! reports how far the order of commits is final, `seal` chains the events up to there, and `node` keeps this node's
//! leases. `schema`, `pool` and `tls` open the database. `migrations/postgres` contains the functions that statements
//! call. This process never holds a transaction open while it computes: it may stop at any moment.

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

/// Time between two searches for runs without a driver.
const POLL: Duration = Duration::from_millis(200);
/// Connections that renew, look, notify and seal: they never wait for appends.
const UPKEEP: usize = 4;

/// Database to use, and the identity of this node in it.
#[derive(Clone)]
pub struct Config {
    /// `postgresql://user:password@host:port/name`, or `host=… user=…`.
    pub url: String,
    /// Name of this node, given by its operator.
    pub name: String,
    /// Time that other nodes wait for a silent node before they take its runs. A node renews it three times in that
    /// time.
    pub lease: Duration,
    /// True to refuse to open while another node is alive, and to keep other nodes out: for work on the journal itself.
    pub alone: bool,
    /// Connections for appends and reads; five more are opened for upkeep and notifications.
    pub connections: usize,
    /// Migrations that this node knows. A node of another version knows others.
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

/// Omits the address: it may contain a password.
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

/// A journal in a database, as one of its nodes.
///
/// Dropping it without [`Postgres::close`] is like a crash: others take its runs when its lease ends.
pub struct Postgres {
    pool: Pool,
    upkeep: Pool,
    /// `None` if the journal is only read.
    node: Option<Arc<Node>>,
    written: Arc<WrittenPosition>,
    position: watch::Receiver<u64>,
    home: Home,
    /// True if the journal was restored from a dump and not yet taken up here.
    is_restored: bool,
    /// True while appends are accepted. Each append holds a read lock until it is answered.
    open: Arc<RwLock<bool>>,
    tasks: Mutex<JoinSet<()>>,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres").field("node", &self.node).finish_non_exhaustive()
    }
}

impl Postgres {
    /// Connects, brings the schema up to date and joins the other nodes.
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

    /// Connects to read. This process does not join as a node, the schema stays unchanged, and the database itself
    /// refuses every change. Appends are rejected.
    pub async fn open_to_read(config: &Config) -> Result<Self, Error> {
        let pool = Pool::to_read(&pool::address(&config.url, &config.name)?, config.connections)?;
        schema::check(&pool).await?;
        let (_, position) = watch::channel(read::last_visible(&pool).await?);
        let (open, tasks) = (Arc::new(RwLock::new(false)), Mutex::new(JoinSet::new()));
        let (upkeep, home) = (pool.clone(), Home::from_database(&pool).await?);
        let (written, is_restored) = (Arc::default(), false);
        Ok(Self { pool, upkeep, node: None, written, position, home, is_restored, open, tasks })
    }

    /// Returns true if the journal was restored from a dump into this database, and [`Postgres::take_up`] was not
    /// called since. It lacks all events after the dump.
    pub fn is_restored(&self) -> bool {
        self.is_restored
    }

    /// Records this database as the one that holds the journal.
    pub async fn take_up(&self) -> Result<(), Error> {
        self.home.take_up(&self.upkeep).await
    }

    /// Returns the version of the schema if it is newer than this binary knows and still compatible.
    pub fn newer(&self) -> Option<u32> {
        self.node.as_ref().and_then(|node| node.newer())
    }

    /// Waits until this binary cannot work with the database any more, and returns the reason.
    pub async fn failed(&self) -> String {
        match &self.node {
            Some(node) => node.is_shut_out().await.to_string(),
            None => std::future::pending().await,
        }
    }

    fn node(&self) -> Result<&Arc<Node>, Error> {
        self.node.as_ref().ok_or(Error::Closed)
    }

    /// Waits for the accepted appends, releases all leases and leaves: other nodes take over at once. Later calls get
    /// [`Error::Closed`].
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
