//! The journal in SQLite: the default store of one machine. Here is its face; the work is in the modules.
//!
//! `writer` commits, `append` is one append inside its group, `pool` and `read`, `list`, `rows` answer;
//! `schema` and `log` open it. Nothing is answered before it is on disk (`synchronous=FULL`).

mod append;
mod chain;
mod column;
mod error;
mod list;
mod log;
mod packed;
mod pin;
mod pool;
mod read;
mod rows;
mod schema;
mod writer;

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use holdshort_core::digest::Digest;
use holdshort_core::event::{Chain, Sealed};
use holdshort_core::head::Head;
use holdshort_core::id::{GrantId, InterruptId, RunId, SessionId, StreamId};
use holdshort_core::projection::{GrantRow, InterruptRow, RunRow, SessionRow};
use holdshort_core::time::Timestamp;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot, watch};

pub(crate) use self::error::from_io;
use self::pin::{Evidence, Pin};
use self::pool::Pool;
use self::writer::{Job, Writer};
use crate::check;
use crate::cursor::{GrantPlace, InterruptPlace, RunPlace, SessionPlace};
use crate::folder::{self, Lock};
use crate::journal::{
    Append, AppendError, Appended, Change, Cursor, Due, Error, GrantFilter, InterruptFilter, Journal, Key,
    Lease, Link, NodeRow, Page, Positioned, Rows, RunFilter, SessionFilter,
};

/// How the store may use its folder.
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    /// The most pages (2048 bytes each) that the database may have; beyond it the disk counts as full.
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
        log::check(&database)?;
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
        log::check(&database)?;
        let has_log = pin::has_log(&database);
        let pool = Pool::of(|| schema::lone_reader(&database, has_log))?;
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

impl Journal for Sqlite {
    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        check::append(&append)?;
        let (reply, answer) = oneshot::channel();
        self.submit(Job::Append { append: Box::new(append), reply }).await?;
        answer.await.map_err(|_| self.unanswered())?
    }

    async fn read(&self, stream: &StreamId, after: u64, limit: usize) -> Result<Vec<Sealed>, Error> {
        if limit == 1 {
            return self.pool.look(|connection| read::events(connection, stream, after, limit)).await;
        }
        let stream = stream.clone();
        self.pool.read(move |connection| read::events(connection, &stream, after, limit)).await
    }

    async fn tail(&self, after: u64, limit: usize) -> Result<Vec<Positioned>, Error> {
        self.pool.read(move |connection| read::tail(connection, after, limit)).await
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.position.clone()
    }

    async fn chain(&self, stream: &StreamId) -> Result<Chain, Error> {
        self.pool.look(|connection| read::chain(connection, stream)).await
    }

    async fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        let digest = *digest;
        self.pool.read(move |connection| read::blob(connection, &digest)).await
    }

    async fn key(&self, scope: &str, key: &str) -> Result<Option<Key>, Error> {
        self.pool.look(|connection| read::key(connection, scope, key)).await
    }

    async fn keys(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Key>, Error> {
        let after = after.cloned();
        self.pool.read(move |connection| read::keys(connection, after.as_ref(), limit)).await
    }

    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, Error> {
        self.pool.look(|connection| rows::run(connection, run)).await
    }

    async fn runs(
        &self,
        filter: &RunFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<RunRow>, Error> {
        let after = after.map(|cursor| RunPlace::decode(cursor)).transpose()?;
        let filter = filter.clone();
        self.pool.read(move |connection| list::runs(connection, &filter, after.as_ref(), limit)).await
    }

    async fn session(&self, session: &SessionId) -> Result<Option<SessionRow>, Error> {
        self.pool.look(|connection| rows::session(connection, session)).await
    }

    async fn sessions(
        &self,
        filter: &SessionFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<SessionRow>, Error> {
        let after = after.map(|cursor| SessionPlace::decode(cursor)).transpose()?;
        let filter = filter.clone();
        self.pool.read(move |connection| list::sessions(connection, &filter, after.as_ref(), limit)).await
    }

    async fn idle_sessions(&self, now: Timestamp, limit: usize) -> Result<Vec<SessionId>, Error> {
        self.pool.read(move |connection| list::idle_sessions(connection, now, limit)).await
    }

    async fn interrupt(&self, id: &InterruptId) -> Result<Option<InterruptRow>, Error> {
        self.pool.look(|connection| rows::interrupt(connection, id)).await
    }

    async fn interrupts(
        &self,
        filter: &InterruptFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<InterruptRow>, Error> {
        let after = after.map(|cursor| InterruptPlace::decode(cursor)).transpose()?;
        let filter = filter.clone();
        self.pool.read(move |connection| list::interrupts(connection, &filter, after.as_ref(), limit)).await
    }

    async fn grant(&self, id: &GrantId) -> Result<Option<GrantRow>, Error> {
        self.pool.look(|connection| rows::grant(connection, id)).await
    }

    async fn grants(
        &self,
        filter: &GrantFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<GrantRow>, Error> {
        let after = after.map(|cursor| GrantPlace::decode(cursor)).transpose()?;
        let filter = filter.clone();
        self.pool.read(move |connection| list::grants(connection, &filter, after.as_ref(), limit)).await
    }

    async fn links(&self, after: u64, limit: usize) -> Result<Vec<Link>, Error> {
        self.pool.read(move |connection| chain::links(connection, after, limit)).await
    }

    async fn head(&self) -> Result<Head, Error> {
        self.pool.look(chain::head).await
    }

    async fn inspect(&self) -> Result<Vec<String>, Error> {
        let (folder, is_stopped) = (self.folder.clone(), self.queue.is_none());
        let connect = || {
            let database = folder::database_of(&self.folder);
            if is_stopped {
                schema::lone_reader(&database, pin::has_log(&database))
            } else {
                schema::reader(&database)
            }
        };
        let inspect = move |connection: &Connection| {
            let mut problems = schema::check(connection)?;
            problems.extend(pin::problems(&folder, connection, is_stopped)?);
            Ok(problems)
        };
        self.pool.read_apart(connect, inspect).await
    }

    async fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>, Error> {
        self.pool.read(move |connection| read::changes(connection, after, limit)).await
    }

    async fn runnable(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        self.pool.read(move |connection| list::runnable(connection, limit)).await
    }

    async fn due(&self, now: Timestamp, after: Option<&Due>, limit: usize) -> Result<Vec<Due>, Error> {
        let after = after.cloned();
        self.pool.read(move |connection| list::due(connection, now, after.as_ref(), limit)).await
    }

    async fn next_deadline(&self) -> Result<Option<Timestamp>, Error> {
        self.pool.read(list::next_deadline).await
    }

    async fn claim(&self, _limit: usize) -> Result<Vec<RunId>, Error> {
        Ok(Vec::new())
    }

    fn holds(&self) -> bool {
        true
    }

    fn poll(&self) -> Option<Duration> {
        None
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, Error> {
        let runs = self.pool.read(list::count_runnable).await?;
        Ok(vec![NodeRow {
            node: self.node.first_epoch,
            name: "here".to_owned(),
            opened_at: self.node.opened_at,
            alive_until: None,
            alive: true,
            here: true,
            runs,
        }])
    }

    async fn leases(&self, after: Option<&RunId>, limit: usize) -> Result<Vec<Lease>, Error> {
        let (after, node) = (after.cloned(), Some(self.node.first_epoch));
        let runs = self.pool.read(move |connection| list::runnable_by_id(connection, after.as_ref(), limit));
        Ok(runs.await?.into_iter().map(|run| Lease { run, node }).collect())
    }

    fn epoch(&self) -> u64 {
        self.node.last_epoch.load(Ordering::Relaxed)
    }

    async fn draw_epoch(&self) -> Result<u64, Error> {
        let (reply, answer) = oneshot::channel();
        self.submit(Job::DrawEpoch { reply }).await?;
        let epoch = answer.await.map_err(|_| self.unanswered())??;
        self.node.last_epoch.fetch_max(epoch, Ordering::Relaxed);
        Ok(epoch)
    }

    async fn streams(&self, after: Option<&StreamId>, limit: usize) -> Result<Vec<StreamId>, Error> {
        let after = after.cloned();
        self.pool.read(move |connection| read::streams(connection, after.as_ref(), limit)).await
    }

    async fn replace_rows(&self, rows: Vec<Rows>) -> Result<(), Error> {
        let (reply, answer) = oneshot::channel();
        self.submit(Job::ReplaceRows { rows, reply }).await?;
        answer.await.map_err(|_| self.unanswered())?
    }
}
