//! The journal in PostgreSQL, for those who outgrow one machine: any number of nodes over one database. Here is
//! its face; the work is in the modules.
//!
//! `append` writes, `read`, `list`, `rows` answer, `horizon` tells how far the order of commits is final, `seal`
//! chains what is, `node` keeps this node's leases; `schema` and `pool` open it. What a statement does stands in `migrations/postgres`.
//! No transaction is ever held open by this process while it thinks: it may stop at any moment.

mod agreed;
mod append;
mod column;
mod error;
mod horizon;
mod list;
mod node;
mod pool;
mod read;
mod rows;
mod schema;
mod seal;

use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use holdshort_core::digest::Digest;
use holdshort_core::event::{Chain, Sealed};
use holdshort_core::head::Head;
use holdshort_core::id::{GrantId, InterruptId, RunId, SessionId, StreamId};
use holdshort_core::projection::{GrantRow, InterruptRow, RunRow, SessionRow};
use holdshort_core::time::Timestamp;
use tokio::sync::{RwLock, watch};
use tokio::task::JoinSet;

pub use self::error::Unsupported;
use self::horizon::Written;
use self::node::Node;
use self::pool::Pool;
use crate::cursor::{GrantPlace, InterruptPlace, RunPlace, SessionPlace};
use crate::journal::{
    Append, AppendError, Appended, Change, Cursor, Due, Error, GrantFilter, InterruptFilter, Journal, Key,
    Lease, Link, NodeRow, Page, Positioned, Rows, RunFilter, SessionFilter,
};

/// Between two looks for runs that nobody drives.
const POLL: Duration = Duration::from_millis(200);
/// Connections that renew, look, notify and seal: they never wait behind appends.
const UPKEEP: usize = 4;

/// Which database, and who this node is in it.
#[derive(Clone)]
pub struct Config {
    /// `postgresql://user:password@host:port/name`, or `host=… user=…`.
    pub url: String,
    /// What its operator calls this node.
    pub name: String,
    /// How long others wait for a node that is silent before they take its runs. Renewed each third.
    pub lease: Duration,
    /// Refused while another node is there, and none can come meanwhile: for work on the journal itself.
    pub alone: bool,
    /// Connections for appends and reads; five more stand beside them.
    pub connections: usize,
}

impl Config {
    /// With a lease of 15 seconds and 16 connections.
    pub fn new(url: impl Into<String>, name: impl Into<String>) -> Self {
        let lease = Duration::from_secs(15);
        Self { url: url.into(), name: name.into(), lease, alone: false, connections: 16 }
    }
}

/// Without the address: a password may stand in it.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url: _, name, lease, alone, connections } = self;
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
    /// `None` where the journal is only read.
    node: Option<Arc<Node>>,
    written: Arc<Written>,
    position: watch::Receiver<u64>,
    /// Whether appends are taken; each holds it until it is answered.
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
        schema::migrate(&upkeep).await?;
        let node = Arc::new(Node::join(&upkeep, &config).await?);
        let written = Arc::new(Written::default());
        let (visible, position) = watch::channel(read::last_visible(&upkeep).await?);
        let mut tasks = JoinSet::new();
        tasks.spawn(Arc::clone(&node).keep(upkeep.clone()));
        tasks.spawn(horizon::keep_looking(upkeep.clone(), Arc::clone(&written), visible));
        tasks.spawn(seal::keep_sealing(upkeep.clone(), position.clone()));
        tasks.spawn(horizon::keep_telling(upkeep.clone(), node.id, Arc::clone(&written)));
        tasks.spawn(horizon::keep_listening(address, node.id, Arc::clone(&written)));
        let (open, tasks) = (Arc::new(RwLock::new(true)), Mutex::new(tasks));
        Ok(Self { pool, upkeep, node: Some(node), written, position, open, tasks })
    }

    /// Connects to read: this process is no node, the schema stays as it is, and the database itself refuses what
    /// would change anything. Appends are refused.
    pub async fn open_to_read(config: &Config) -> Result<Self, Error> {
        let pool = Pool::to_read(&pool::address(&config.url, &config.name)?, config.connections)?;
        schema::check(&pool).await?;
        let (_, position) = watch::channel(read::last_visible(&pool).await?);
        let (open, tasks) = (Arc::new(RwLock::new(false)), Mutex::new(JoinSet::new()));
        let upkeep = pool.clone();
        Ok(Self { pool, upkeep, node: None, written: Arc::default(), position, open, tasks })
    }

    fn node(&self) -> Result<&Arc<Node>, Error> {
        self.node.as_ref().ok_or(Error::Closed)
    }

    /// Waits for the appends that were accepted, gives all leases back and leaves: other nodes take over at
    /// once. Whoever calls afterwards gets [`Error::Closed`].
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

impl Journal for Postgres {
    /// An error of the store can mean that the append is written all the same: its answer got lost.
    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        append::check(&append)?;
        let open = Arc::clone(&self.open).read_owned().await;
        if !*open {
            return Err(Error::Closed.into());
        }
        let (pool, node, written) = (self.pool.clone(), self.node()?.id, Arc::clone(&self.written));
        // A task of its own: whoever asked may go away, and what was accepted is written all the same.
        let task = tokio::spawn(async move {
            let appended = append::append(&pool, node, &append).await?;
            written.up_to(appended.position);
            drop(open);
            Ok(appended)
        });
        task.await.map_err(|error| Error::Io(Box::new(error)))?
    }

    async fn read(&self, stream: &StreamId, after: u64, limit: usize) -> Result<Vec<Sealed>, Error> {
        read::events(&self.pool, stream, after, limit).await
    }

    async fn tail(&self, after: u64, limit: usize) -> Result<Vec<Positioned>, Error> {
        read::tail(&self.pool, after, limit).await
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.position.clone()
    }

    async fn chain(&self, stream: &StreamId) -> Result<Chain, Error> {
        read::chain(&self.pool, stream).await
    }

    async fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        read::blob(&self.pool, digest).await
    }

    async fn key(&self, scope: &str, key: &str) -> Result<Option<Key>, Error> {
        read::key(&self.pool, scope, key).await
    }

    async fn keys(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Key>, Error> {
        read::keys(&self.pool, after, limit).await
    }

    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, Error> {
        rows::run(&self.pool, run).await
    }

    async fn runs(
        &self,
        filter: &RunFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<RunRow>, Error> {
        let after = after.map(|cursor| RunPlace::decode(cursor)).transpose()?;
        list::runs(&self.pool, filter, after.as_ref(), limit).await
    }

    async fn session(&self, session: &SessionId) -> Result<Option<SessionRow>, Error> {
        rows::session(&self.pool, session).await
    }

    async fn sessions(
        &self,
        filter: &SessionFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<SessionRow>, Error> {
        let after = after.map(|cursor| SessionPlace::decode(cursor)).transpose()?;
        list::sessions(&self.pool, filter, after.as_ref(), limit).await
    }

    async fn idle_sessions(&self, now: Timestamp, limit: usize) -> Result<Vec<SessionId>, Error> {
        list::idle_sessions(&self.pool, now, limit).await
    }

    async fn interrupt(&self, id: &InterruptId) -> Result<Option<InterruptRow>, Error> {
        rows::interrupt(&self.pool, id).await
    }

    async fn interrupts(
        &self,
        filter: &InterruptFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<InterruptRow>, Error> {
        let after = after.map(|cursor| InterruptPlace::decode(cursor)).transpose()?;
        list::interrupts(&self.pool, filter, after.as_ref(), limit).await
    }

    async fn grant(&self, id: &GrantId) -> Result<Option<GrantRow>, Error> {
        rows::grant(&self.pool, id).await
    }

    async fn grants(
        &self,
        filter: &GrantFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<GrantRow>, Error> {
        let after = after.map(|cursor| GrantPlace::decode(cursor)).transpose()?;
        list::grants(&self.pool, filter, after.as_ref(), limit).await
    }

    async fn links(&self, after: u64, limit: usize) -> Result<Vec<Link>, Error> {
        seal::links(&self.pool, after, limit).await
    }

    async fn head(&self) -> Result<Head, Error> {
        match &self.node {
            Some(_) => seal::head(&self.pool).await,
            None => seal::head_unsealed(&self.pool).await,
        }
    }

    async fn inspect(&self) -> Result<Vec<String>, Error> {
        seal::problems(&self.pool).await
    }

    async fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>, Error> {
        read::changes(&self.pool, after, limit).await
    }

    async fn runnable(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        match &self.node {
            Some(node) => node.runnable(&self.pool, limit).await,
            None => Ok(Vec::new()),
        }
    }

    async fn claim(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        self.node()?.claim(&self.pool, limit).await
    }

    fn holds(&self) -> bool {
        self.node.as_ref().is_some_and(|node| node.holds())
    }

    fn poll(&self) -> Option<Duration> {
        Some(POLL)
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, Error> {
        node::all(&self.pool, self.node.as_ref().map(|node| node.id)).await
    }

    async fn leases(&self, after: Option<&RunId>, limit: usize) -> Result<Vec<Lease>, Error> {
        node::leases(&self.pool, after, limit).await
    }

    async fn due(&self, now: Timestamp, after: Option<&Due>, limit: usize) -> Result<Vec<Due>, Error> {
        list::due(&self.pool, now, after, limit).await
    }

    async fn next_deadline(&self) -> Result<Option<Timestamp>, Error> {
        list::next_deadline(&self.pool).await
    }

    fn epoch(&self) -> u64 {
        self.node.as_ref().map_or(0, |node| node.epoch())
    }

    async fn draw_epoch(&self) -> Result<u64, Error> {
        self.node()?.draw_epoch(&self.pool).await
    }

    async fn streams(&self, after: Option<&StreamId>, limit: usize) -> Result<Vec<StreamId>, Error> {
        read::streams(&self.pool, after, limit).await
    }

    async fn replace_rows(&self, rows: Vec<Rows>) -> Result<(), Error> {
        rows::replace(&self.pool, self.node()?, &rows).await
    }
}
