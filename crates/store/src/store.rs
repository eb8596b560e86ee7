//! The store that a process uses: SQLite or PostgreSQL.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use futures::future::BoxFuture;
use holdshort_core::delivery::{Attempt, ChannelState, Delivery};
use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Chain, Sealed};
use holdshort_core::head::Head;
use holdshort_core::id::{DeliveryId, GrantId, InterruptId, RunId, SessionId, StreamId};
use holdshort_core::projection::{AnswerRow, GrantRow, InterruptRow, RunRow, SessionRow, SessionUsage};
use holdshort_core::time::Timestamp;
use tokio::sync::watch;

use crate::bodies::Bodies;
use crate::folder::{self, Lock};
use crate::journal::Error;
use crate::leases::{Lease, Leases, NodeRow};
use crate::log::{Append, AppendError, Appended, Blob, Change, Key, Link, Log, Positioned};
use crate::outbox::{Claim, DeliveryChange, DeliveryFilter, Outbox, SettleOutcome, Settled};
use crate::postgres::{self, Postgres};
use crate::sqlite::{self, Sqlite};
use crate::tables::{
    AnswerFilter, Cursor, Due, GrantFilter, InterruptFilter, Page, Rows, RunFilter, SessionFilter, Tables,
};

/// Location of the journal, and the settings to open it.
#[derive(Clone, Debug)]
pub enum Location {
    /// The journal is in the data folder.
    Folder(sqlite::Config),
    /// The journal is in a database, which several nodes can share. The data folder then contains only data of this
    /// node.
    Database(postgres::Config),
}

#[derive(Debug)]
pub enum Store {
    Sqlite(Sqlite),
    /// The journal is in `PostgreSQL`. The second field is the lock of the data folder; `None` if the journal was
    /// opened for reading.
    Postgres(Postgres, Option<FolderLock>),
}

/// Lock of the data folder of a node whose journal is in a database. The lock prevents a second server from using the
/// folder.
#[derive(Debug)]
pub struct FolderLock(#[expect(dead_code, reason = "held")] Lock);

impl Store {
    /// Opens the journal, and locks the data folder for this process.
    pub async fn open(folder: &Path, place: Location) -> Result<Self, Error> {
        let folder = folder.to_owned();
        match place {
            Location::Folder(config) => {
                Ok(Self::Sqlite(blocking(move || Sqlite::open_with(&folder, config)).await?))
            }
            Location::Database(config) => {
                let lock = blocking(move || folder::claim(&folder)).await?;
                Ok(Self::Postgres(Postgres::open(config).await?, Some(FolderLock(lock))))
            }
        }
    }

    /// Opens the journal for reading. Writes nothing. If the journal is in a database, this process does not become a
    /// node. A data folder can be opened only while no server uses it. A database can also be opened while servers use
    /// it.
    pub async fn open_to_read(folder: &Path, place: Location) -> Result<Self, Error> {
        match place {
            Location::Folder(_) => {
                let folder = folder.to_owned();
                Ok(Self::Sqlite(blocking(move || Sqlite::open_to_read(&folder)).await?))
            }
            Location::Database(config) => Ok(Self::Postgres(Postgres::open_to_read(&config).await?, None)),
        }
    }

    /// Returns the value that all nodes of the journal share under this name. If there is none, stores `offered` as the
    /// value and returns it. If the journal is in a data folder, returns `offered`, because there is only one node.
    pub async fn agree(&self, name: &str, offered: &str) -> Result<String, Error> {
        match self {
            Self::Sqlite(_) => Ok(offered.to_owned()),
            Self::Postgres(store, _) => store.agree(name, offered).await,
        }
    }

    /// Returns the database, or `None` if the journal is in the data folder.
    pub fn database(&self) -> Option<&Postgres> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(store, _) => Some(store),
        }
    }

    /// Returns false if a permanent failure prevents all further appends. Returns true if a database cannot be reached,
    /// because this may be temporary.
    pub fn is_alive(&self) -> bool {
        match self {
            Self::Sqlite(store) => store.is_alive(),
            Self::Postgres(..) => true,
        }
    }

    /// Returns an error with the reason if the journal of a data folder cannot be written now. Always succeeds for a
    /// database.
    pub async fn writable(&self) -> Result<(), String> {
        match self {
            Self::Sqlite(store) => store.writable().await,
            Self::Postgres(..) => Ok(()),
        }
    }

    /// If the journal is in a data folder, checks its files. If they were deleted or replaced, makes a rescue copy.
    pub fn check_files(&self) {
        match self {
            Self::Sqlite(store) => store.check_files(),
            Self::Postgres(..) => {}
        }
    }

    /// Returns problems of a data folder that can be found without reading the whole journal.
    pub async fn known_problems(&self) -> Result<Vec<String>, Error> {
        match self {
            Self::Sqlite(store) => store.known_problems().await,
            Self::Postgres(..) => Ok(Vec::new()),
        }
    }

    /// Returns the number of jobs that wait for the single writer of a data folder. Returns `None` for a database,
    /// which has no such queue.
    pub fn writes_waiting(&self) -> Option<usize> {
        match self {
            Self::Sqlite(store) => store.writes_waiting(),
            Self::Postgres(..) => None,
        }
    }

    /// Waits until a permanent failure prevents all further writes of this process, and returns the reason.
    pub async fn failed(&self) -> String {
        match self {
            Self::Sqlite(store) => {
                format!("the writer of the journal stopped unexpectedly ({})", store.failed().await)
            }
            Self::Postgres(store, _) => store.failed().await,
        }
    }

    /// Returns true if the journal is in a database that was restored from a dump, and no operator has confirmed the
    /// restore yet. If the journal is in a data folder, always returns false: `sqlite::backup` recognises restored
    /// copies.
    pub fn is_restored(&self) -> bool {
        match self {
            Self::Sqlite(_) => false,
            Self::Postgres(store, _) => store.is_restored(),
        }
    }

    /// Records that the operator has confirmed the restored database.
    pub async fn take_up(&self) -> Result<(), Error> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(store, _) => store.take_up().await,
        }
    }

    /// Returns the database's schema version if it is newer than this binary but compatible. Returns `None` for a
    /// journal in a data folder, which always has the version of the binary.
    pub fn newer(&self) -> Option<u32> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(store, _) => store.newer(),
        }
    }

    /// Closes the store: writes the accepted appends, and releases all resources.
    pub async fn close(&self) -> Result<(), Error> {
        match self {
            Self::Sqlite(store) => store.close().await,
            Self::Postgres(store, _) => store.close().await,
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Error::Io(Box::new(error)))?
}

/// Calls a method of the store that is in use, SQLite or PostgreSQL.
macro_rules! on {
    ($store:expr, $method:ident($($argument:expr),*)) => {
        match $store {
            Store::Sqlite(store) => store.$method($($argument),*),
            Store::Postgres(store, _) => store.$method($($argument),*),
        }
    };
    ($store:expr, $method:ident($($argument:expr),*).await) => {{
        // The future is boxed to reduce compile time. Without the box, each crate that calls this method would compile
        // the code of the stores again.
        let answer: BoxFuture<'_, _> = match $store {
            Store::Sqlite(store) => Box::pin(store.$method($($argument),*)),
            Store::Postgres(store, _) => Box::pin(store.$method($($argument),*)),
        };
        answer.await
    }};
}

impl Log for Store {
    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        on!(self, append(append).await)
    }

    async fn read(&self, stream: &StreamId, after: u64, limit: usize) -> Result<Vec<Sealed>, Error> {
        on!(self, read(stream, after, limit).await)
    }

    async fn tail(&self, after: u64, limit: usize) -> Result<Vec<Positioned>, Error> {
        on!(self, tail(after, limit).await)
    }

    fn watch(&self) -> watch::Receiver<u64> {
        on!(self, watch())
    }

    async fn chain(&self, stream: &StreamId) -> Result<Chain, Error> {
        on!(self, chain(stream).await)
    }

    async fn position(&self, stream: &StreamId, seq: u64) -> Result<Option<u64>, Error> {
        on!(self, position(stream, seq).await)
    }

    async fn links(&self, after: u64, limit: usize) -> Result<Vec<Link>, Error> {
        on!(self, links(after, limit).await)
    }

    async fn head(&self) -> Result<Head, Error> {
        on!(self, head().await)
    }

    async fn key(&self, scope: &str, key: &str) -> Result<Option<Key>, Error> {
        on!(self, key(scope, key).await)
    }

    async fn keys(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Key>, Error> {
        on!(self, keys(after, limit).await)
    }

    async fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        on!(self, blob(digest).await)
    }

    async fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>, Error> {
        on!(self, changes(after, limit).await)
    }

    async fn streams(&self, after: Option<&StreamId>, limit: usize) -> Result<Vec<StreamId>, Error> {
        on!(self, streams(after, limit).await)
    }

    async fn inspect(&self) -> Result<Vec<String>, Error> {
        on!(self, inspect().await)
    }
}

impl Tables for Store {
    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, Error> {
        on!(self, run(run).await)
    }

    async fn runs(
        &self,
        filter: &RunFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<RunRow>, Error> {
        on!(self, runs(filter, after, limit).await)
    }

    async fn session(&self, session: &SessionId) -> Result<Option<SessionRow>, Error> {
        on!(self, session(session).await)
    }

    async fn sessions(
        &self,
        filter: &SessionFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<SessionRow>, Error> {
        on!(self, sessions(filter, after, limit).await)
    }

    async fn idle_sessions(&self, now: Timestamp, limit: usize) -> Result<Vec<SessionId>, Error> {
        on!(self, idle_sessions(now, limit).await)
    }

    async fn session_usage(&self, session: &SessionId) -> Result<Vec<SessionUsage>, Error> {
        on!(self, session_usage(session).await)
    }

    async fn interrupt(&self, id: &InterruptId) -> Result<Option<InterruptRow>, Error> {
        on!(self, interrupt(id).await)
    }

    async fn interrupts(
        &self,
        filter: &InterruptFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<InterruptRow>, Error> {
        on!(self, interrupts(filter, after, limit).await)
    }

    async fn grant(&self, id: &GrantId) -> Result<Option<GrantRow>, Error> {
        on!(self, grant(id).await)
    }

    async fn grants(
        &self,
        filter: &GrantFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<GrantRow>, Error> {
        on!(self, grants(filter, after, limit).await)
    }

    async fn answer(&self, id: &InterruptId) -> Result<Option<AnswerRow>, Error> {
        on!(self, answer(id).await)
    }

    async fn answers(
        &self,
        filter: &AnswerFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<AnswerRow>, Error> {
        on!(self, answers(filter, after, limit).await)
    }

    async fn due(&self, now: Timestamp, after: Option<&Due>, limit: usize) -> Result<Vec<Due>, Error> {
        on!(self, due(now, after, limit).await)
    }

    async fn next_deadline(&self) -> Result<Option<Timestamp>, Error> {
        on!(self, next_deadline().await)
    }

    async fn replace_rows(&self, rows: Vec<Rows>) -> Result<(), Error> {
        on!(self, replace_rows(rows).await)
    }
}

impl Leases for Store {
    async fn runnable(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        on!(self, runnable(limit).await)
    }

    async fn claim(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        on!(self, claim(limit).await)
    }

    async fn give_back(&self, run: &RunId) -> Result<(), Error> {
        on!(self, give_back(run).await)
    }

    fn has_valid_leases(&self) -> bool {
        on!(self, has_valid_leases())
    }

    fn poll(&self) -> Option<Duration> {
        on!(self, poll())
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, Error> {
        on!(self, nodes().await)
    }

    async fn leases(&self, after: Option<&RunId>, limit: usize) -> Result<Vec<Lease>, Error> {
        on!(self, leases(after, limit).await)
    }

    fn epoch(&self) -> u64 {
        on!(self, epoch())
    }

    async fn draw_epoch(&self) -> Result<u64, Error> {
        on!(self, draw_epoch().await)
    }
}

impl Bodies for Store {
    async fn put_bodies(&self, bodies: Vec<Blob>, at: Timestamp) -> Result<(), Error> {
        on!(self, put_bodies(bodies, at).await)
    }

    async fn body(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        on!(self, body(digest).await)
    }

    async fn need_bodies(&self, digests: Vec<Digest>, at: Timestamp) -> Result<BTreeSet<Digest>, Error> {
        on!(self, need_bodies(digests, at).await)
    }

    async fn drop_bodies(&self, before: Timestamp, most_bytes: u64) -> Result<usize, Error> {
        on!(self, drop_bodies(before, most_bytes).await)
    }
}

impl Outbox for Store {
    async fn claim_deliveries(&self, claim: Claim) -> Result<Vec<Delivery>, Error> {
        on!(self, claim_deliveries(claim).await)
    }

    async fn settle_delivery(&self, settled: Settled) -> Result<SettleOutcome, Error> {
        on!(self, settle_delivery(settled).await)
    }

    async fn change_deliveries(&self, change: DeliveryChange) -> Result<usize, Error> {
        on!(self, change_deliveries(change).await)
    }

    async fn next_delivery(&self, channels: Vec<String>) -> Result<Option<Timestamp>, Error> {
        on!(self, next_delivery(channels).await)
    }

    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>, Error> {
        on!(self, delivery(id).await)
    }

    async fn deliveries(
        &self,
        filter: &DeliveryFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Delivery>, Error> {
        on!(self, deliveries(filter, after, limit).await)
    }

    async fn attempts(&self, id: &DeliveryId) -> Result<Vec<Attempt>, Error> {
        on!(self, attempts(id).await)
    }

    async fn channel_states(&self) -> Result<Vec<ChannelState>, Error> {
        on!(self, channel_states().await)
    }
}
