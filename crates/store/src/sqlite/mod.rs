//! The journal in SQLite: the default store of one machine. Here it is opened and closed.
//!
//! `log`, `tables` and `leases` implement the traits: `writer` commits, `append` is one append inside its group, `pool`
//! and `read`, `list`, `rows` answer; `schema` and `wal` open it. Nothing is answered before it is on disk (`synchronous=FULL`).

mod append;
mod backup;
mod bodies;
mod chain;
mod column;
mod erase;
mod error;
mod leases;
mod list;
mod log;
mod outbox;
mod packed;
mod pin;
mod pool;
mod read;
mod rows;
mod schema;
mod tables;
mod upgrade;
mod wal;
mod writer;

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::SystemTime;

use holdshort_core::time::Timestamp;
use tokio::sync::{mpsc, watch};

pub use self::backup::{NotCopied, back_up, copied_at, taken_up};
pub(crate) use self::error::from_io;
use self::pin::{Evidence, Pin};
use self::pool::Pool;
use self::writer::{Job, Writer};
use crate::folder::{self, Lock};
use crate::journal::Error;

/// How the store may use its folder.
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    /// The most pages (1024 bytes each) that the database may have; beyond it the disk counts as full.
    /// `None`: whatever the disk holds.
    pub max_pages: Option<u32>,
    /// Called by the writer after each COMMIT, before the answers go out: here a test ends the process.
    pub after_commit: Option<fn()>,
}

/// A journal in a data folder. One at a time per folder, across all processes.
///
/// Dropping it closes it too, and blocks for as long as the last commit and checkpoint take.
#[derive(Debug)]
pub struct Sqlite {
    pool: Pool,
    folder: PathBuf,
    /// `None` while it is being dropped, and where the journal is only read.
    queue: Option<mpsc::Sender<Job>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Somebody closes the journal: that its writer ends is no failure.
    is_closing: AtomicBool,
    /// Somebody was told that the writer died. The thread drops its answers before its queue.
    is_dead: AtomicBool,
    position: watch::Receiver<u64>,
    node: Node,
    /// Where the journal is only read. Else the writer holds it.
    _lock: Option<Lock>,
}

/// The one node that a data folder has.
#[derive(Debug)]
struct Node {
    first_epoch: u64,
    last_epoch: AtomicU64,
    opened_at: Timestamp,
}

impl Sqlite {
    /// Opens the journal in `folder`, made if missing. Blocks; a crashed server's log is recovered here.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Self::open_with(folder, Config::default())
    }

    pub fn open_with(folder: &Path, config: Config) -> Result<Self, Error> {
        let lock = folder::claim(folder)?;
        let database = folder::database(folder)?;
        wal::check(&database)?;
        let evidence = Evidence::gather(folder, &database)?;
        // Before anything is changed, also by SQLite, which empties a log when its last writer leaves.
        evidence.check(&database)?;
        let connection = schema::writer(&database, config.max_pages)?;
        evidence.note_missing_log(&connection)?;
        let epoch = schema::next_epoch(&connection)?;
        let head = chain::head(&connection)?;
        let mut pin = Pin::open(folder)?;
        pin.close(head);
        pin::set_open(&connection, 1)?;
        // A copy of the database without its log says that it is one.
        schema::checkpoint(&connection)?;
        let (last, position) = watch::channel(head.events);
        let pool = Pool::open(&database)?;
        let writer = Writer { connection, head, pin, position: last, after_commit: config.after_commit };
        let (queue, thread) = writer.start(lock).map_err(from_io)?;
        let node = Node { first_epoch: epoch, last_epoch: AtomicU64::new(epoch), opened_at: now() };
        let (queue, thread) = (Some(queue), Mutex::new(Some(thread)));
        let (is_closing, is_dead) = (AtomicBool::new(false), AtomicBool::new(false));
        let folder = folder.to_owned();
        Ok(Self { pool, folder, queue, thread, is_closing, is_dead, position, node, _lock: None })
    }

    /// Opens the journal of a folder that no server uses, to read it: nothing is written, not even what a crashed
    /// server left to be recovered. Appends are refused. Blocks.
    pub fn open_to_read(folder: &Path) -> Result<Self, Error> {
        let lock = folder::claim_to_read(folder)?;
        let database = folder::database_of(folder);
        wal::check(&database)?;
        let has_log = pin::has_log(&database);
        let pool = match Pool::of(|| schema::lone_reader(&database, has_log)) {
            // One that was emptied looks like one of an earlier version: its pin knows better.
            Err(outdated @ Error::Outdated { .. }) => {
                Evidence::gather(folder, &database)?.check(&database)?;
                return Err(outdated);
            }
            opened => opened?,
        };
        let connection = schema::lone_reader(&database, has_log)?;
        let (_, position) = watch::channel(read::last_position(&connection)?);
        let node = Node { first_epoch: 0, last_epoch: AtomicU64::new(0), opened_at: now() };
        let (thread, is_closing) = (Mutex::new(None), AtomicBool::new(true));
        Ok(Self {
            pool,
            folder: folder.to_owned(),
            queue: None,
            thread,
            is_closing,
            is_dead: AtomicBool::new(false),
            position,
            node,
            _lock: lock,
        })
    }

    /// Commits what was accepted, empties the log, lets the folder go. Whoever calls afterwards gets
    /// [`Error::Closed`].
    pub async fn close(&self) -> Result<(), Error> {
        // A writer that died before stays one that died.
        if self.is_alive() {
            self.is_closing.store(true, Ordering::Release);
        }
        self.pool.close().await;
        // Closed before: the thread is gone already.
        let _closed = self.submit(Job::Close).await;
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return Ok(()) };
        let joined = tokio::task::spawn_blocking(move || thread.join()).await;
        joined.map_err(|error| Error::Io(Box::new(error)))?.map_err(|_| self.unanswered())
    }

    /// Whether what is appended can be written.
    pub fn is_alive(&self) -> bool {
        !self.is_dead.load(Ordering::Acquire) && self.queue.as_ref().is_some_and(|queue| !queue.is_closed())
    }

    /// Jobs that wait for the writer, up to the length of its queue; those of the group that it commits now are not among
    /// them. `None` where the journal is only read.
    pub fn writes_waiting(&self) -> Option<usize> {
        self.queue.as_ref().map(|queue| queue.max_capacity().saturating_sub(queue.capacity()))
    }

    /// Resolves when the writer has died, with what it said. Never where the journal was closed.
    pub async fn failed(&self) -> String {
        let Some(queue) = &self.queue else { return std::future::pending().await };
        queue.closed().await;
        if self.is_closing.load(Ordering::Acquire) {
            return std::future::pending().await;
        }
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return std::future::pending().await };
        match tokio::task::spawn_blocking(move || thread.join()).await {
            Ok(Err(panic)) => said(&*panic),
            Ok(Ok(())) | Err(_) => std::future::pending().await,
        }
    }

    async fn submit(&self, job: Job) -> Result<(), Error> {
        let queue = self.queue.as_ref().ok_or(Error::Closed)?;
        queue.send(job).await.map_err(|_| self.unanswered())
    }

    /// Why the writer takes no job, or has not answered one: it was closed, or it died. In the second case what it
    /// was given may be written all the same.
    fn unanswered(&self) -> Error {
        if self.is_closing.load(Ordering::Acquire) {
            return Error::Closed;
        }
        self.is_dead.store(true, Ordering::Release);
        error::WriterDied.into()
    }
}

/// The message of a panic.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no message").to_owned()
}

/// When this node opened the store: shown, and never decided on.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.pool.drop_idle();
        drop(self.queue.take());
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the journal's writer ended in a panic");
        }
    }
}
