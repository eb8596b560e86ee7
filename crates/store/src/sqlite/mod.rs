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
mod files;
mod leases;
mod list;
mod log;
mod outbox;
mod packed;
mod pin;
mod pool;
mod read;
mod rescue;
mod rows;
mod schema;
mod status;
mod tables;
mod upgrade;
mod wal;
mod writer;

use std::any::Any;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::SystemTime;

use holdshort_core::time::Timestamp;
use tokio::sync::{mpsc, watch};

pub use self::backup::{NotCopied, back_up, copied_at, taken_up};
pub(crate) use self::error::from_io;
use self::files::{Files, LogState, OpenedFiles};
use self::pin::{Evidence, Pin};
use self::pool::Pool;
use self::status::{PROBE_WAIT, Status};
use self::writer::{Job, Writer};
use crate::folder;
use crate::journal::Error;

/// How the store may use its folder.
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    /// The most pages (1024 bytes each) that the database may have; beyond it the disk counts as full.
    /// `None`: whatever the disk holds.
    pub max_pages: Option<u32>,
    /// Number of acknowledged events that may be missing, where the database contradicts its pin. Another number is refused.
    pub accept_loss: Option<u64>,
}

/// A journal in a data folder. One at a time per folder, across all processes.
///
/// Dropping it closes it too, and blocks for as long as the last commit and checkpoint take.
#[derive(Debug)]
pub struct Sqlite {
    pool: Pool,
    files: Files,
    /// The log as it was before the journal was opened to be read. `None`: the journal is written to.
    log: Option<LogState>,
    /// `None` where the journal is only read.
    status: Option<Arc<Status>>,
    /// `None` while it is being dropped, and where the journal is only read.
    queue: Option<mpsc::Sender<Job>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Somebody closes the journal: that its writer ends is no failure.
    is_closing: AtomicBool,
    /// Somebody was told that the writer died. The thread drops its answers before its queue.
    is_dead: AtomicBool,
    position: watch::Receiver<u64>,
    node: Node,
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
        let lock = Arc::new(folder::claim(folder)?);
        let files = Files::in_folder(folder);
        let database = files.database();
        let unopened = files.unopened(&lock);
        rescue::refuse_empty(&files)?;
        unopened.make().map_err(from_io)?;
        wal::check(unopened)?;
        let evidence = Evidence::gather(unopened)?;
        // Before anything is changed, also by SQLite, which empties a log when its last writer leaves.
        let loss = evidence.check(&database, config.accept_loss)?;
        let connection = schema::writer(&database, config.max_pages)?;
        evidence.write_notes(&connection, loss.as_ref())?;
        let epoch = schema::next_epoch(&connection)?;
        let head = chain::head(&connection)?;
        let mut pin = Pin::open(folder)?;
        pin.close(head);
        pin::set_open(&connection, 1)?;
        // A copy of the database without its log says that it is one.
        schema::checkpoint(&connection)?;
        let (last, position) = watch::channel(head.events);
        let pool = Pool::open(&database, &lock)?;
        let status = Arc::new(Status::new(OpenedFiles::note(files.clone()).map_err(from_io)?));
        let writer = Writer { connection, head, pin, position: last, status: Arc::clone(&status) };
        let (queue, thread) = writer.start(lock).map_err(from_io)?;
        let node = Node { first_epoch: epoch, last_epoch: AtomicU64::new(epoch), opened_at: now() };
        let (queue, thread) = (Some(queue), Mutex::new(Some(thread)));
        let (is_closing, is_dead) = (AtomicBool::new(false), AtomicBool::new(false));
        let status = Some(status);
        Ok(Self { pool, files, log: None, status, queue, thread, is_closing, is_dead, position, node })
    }

    /// Opens the journal of a folder that no server uses, to read it: nothing is written, not even what a crashed
    /// server left to be recovered. Appends are refused. Blocks.
    pub fn open_to_read(folder: &Path) -> Result<Self, Error> {
        let lock = Arc::new(folder::claim_to_read(folder)?);
        let files = Files::in_folder(folder);
        let (database, unopened) = (files.database(), files.unopened(&lock));
        wal::check(unopened)?;
        let log = unopened.log_state().map_err(from_io)?;
        let connect = || schema::lone_reader(&database, log == LogState::There);
        let pool = match Pool::of(connect, &lock) {
            // One that was emptied looks like one of an earlier version: its pin knows better.
            Err(outdated @ Error::Outdated { .. }) => {
                Evidence::gather(unopened)?.check(&database, None)?;
                return Err(outdated);
            }
            opened => opened?,
        };
        let connection = connect()?;
        let (_, position) = watch::channel(read::last_position(&connection)?);
        let node = Node { first_epoch: 0, last_epoch: AtomicU64::new(0), opened_at: now() };
        let (thread, is_closing) = (Mutex::new(None), AtomicBool::new(true));
        Ok(Self {
            pool,
            files,
            log: Some(log),
            status: None,
            queue: None,
            thread,
            is_closing,
            is_dead: AtomicBool::new(false),
            position,
            node,
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

    /// Returns the reason why the journal can not be written now. Waits for at most a second and a half.
    ///
    /// A write of the last second is proof. Without one, a probe writes a page and waits for the disk.
    pub async fn writable(&self) -> Result<(), String> {
        let (Some(status), Some(queue)) = (&self.status, &self.queue) else {
            return Err("the journal was opened to be read".to_owned());
        };
        self.check_files();
        if let Some(why) = status.displacement() {
            return Err(why);
        }
        let mut writes = status.watch();
        let last = writes.borrow().clone();
        if last.is_fresh() {
            return last.result();
        }
        // A full queue keeps the writer busy: its next group is the proof.
        if status.begin_probe() && queue.try_send(Job::Probe).is_err() {
            status.end_probe();
        }
        match tokio::time::timeout(PROBE_WAIT, writes.wait_for(status::LastWrite::is_fresh)).await {
            Ok(Ok(last)) => last.result(),
            Ok(Err(_)) => Err(self.unanswered().to_string()),
            Err(_) => Err(format!(
                "nothing could be written for {} ms: another program holds a lock on the database, or the disk does \
                 not answer",
                PROBE_WAIT.as_millis()
            )),
        }
    }

    /// Has the writer look at its files if one of them was deleted or replaced: it saves what it can.
    pub fn check_files(&self) {
        if let (Some(status), Some(queue)) = (&self.status, &self.queue)
            && status.displacement().is_some()
            && status.begin_probe()
            && queue.try_send(Job::Probe).is_err()
        {
            status.end_probe();
        }
    }

    /// Problems that are known without a look at the whole journal: notes of missing events, and a failure of the last
    /// write.
    pub async fn known_problems(&self) -> Result<Vec<String>, Error> {
        let mut problems = self.pool.look(pin::notes).await?;
        problems.extend(self.status.as_ref().and_then(|status| status.failure()));
        Ok(problems)
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
