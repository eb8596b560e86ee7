//! The journal in SQLite: the default store, for a single machine. This module opens and closes the journal.
//!
//! `log`, `tables` and `leases` implement the traits. `writer` commits groups of appends, and `append` writes one
//! append. `pool`, `read`, `list` and `rows` read. `schema` and `wal` open the database. The store acknowledges a
//! commit only after it is on disk (`synchronous=FULL`).

mod append;
mod backup;
mod bodies;
mod chain;
mod column;
mod erase;
mod error;
mod files;
mod head_file;
mod leases;
mod list;
mod log;
mod outbox;
mod packed;
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
use self::head_file::{Evidence, HeadFile};
use self::pool::Pool;
use self::status::{PROBE_WAIT, Status};
use self::writer::{Job, Writer};
use crate::folder;
use crate::journal::Error;

/// Settings for opening a data folder.
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    /// Maximum number of pages (1024 bytes each) in the database. If this number is reached, the disk is reported as
    /// full. `None` means no limit.
    pub max_pages: Option<u32>,
    /// Number of missing events that the operator accepts, if the database does not agree with its head file. Opening
    /// fails if the number of missing events differs.
    pub accept_loss: Option<u64>,
}

/// A journal in a data folder, opened by this process. Only one process at a time can open a folder, and only once.
///
/// Dropping the journal also closes it. Dropping blocks until the last commit is complete and the write-ahead log has
/// been copied into the database.
#[derive(Debug)]
pub struct Sqlite {
    pool: Pool,
    files: Files,
    /// State of the write-ahead log before the journal was opened for reading. `None` if the journal was opened for
    /// writing.
    log: Option<LogState>,
    /// Status of the writer thread. `None` if the journal was opened for reading.
    status: Option<Arc<Status>>,
    /// Queue of the writer thread. `None` if the journal was opened for reading, and while it is being dropped.
    queue: Option<mpsc::Sender<Job>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// True after closing the journal has begun. The end of the writer thread is then not a failure.
    is_closing: AtomicBool,
    /// True after a caller has received the error that the writer thread died. This flag is needed because a dying
    /// thread drops its pending replies before it drops its queue.
    is_dead: AtomicBool,
    position: watch::Receiver<u64>,
    node: Node,
}

/// Node that uses the data folder. A data folder has only one node.
#[derive(Debug)]
struct Node {
    first_epoch: u64,
    last_epoch: AtomicU64,
    opened_at: Timestamp,
}

impl Sqlite {
    /// Opens the journal in `folder` for writing. Creates the folder if it is missing. If a server crashed, recovers
    /// the write-ahead log that it left. Blocks.
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
        // Checked before anything changes the files: SQLite empties its write-ahead log when the last connection that
        // writes is closed.
        let loss = evidence.check(&database, config.accept_loss)?;
        let connection = schema::writer(&database, config.max_pages)?;
        evidence.write_notes(&connection, loss.as_ref())?;
        let epoch = schema::next_epoch(&connection)?;
        let head = chain::head(&connection)?;
        let mut pin = HeadFile::open(folder)?;
        pin.close(head);
        head_file::set_open(&connection, 1)?;
        // The mark that the journal is open is written into the database file itself. Therefore a copy without the
        // write-ahead log also contains the mark, and can be detected.
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

    /// Opens the journal of a folder for reading. No server may be using the folder. Writes nothing. In particular, a
    /// write-ahead log that a crashed server left is not recovered. Appends are rejected. Blocks.
    pub fn open_to_read(folder: &Path) -> Result<Self, Error> {
        let lock = Arc::new(folder::claim_to_read(folder)?);
        let files = Files::in_folder(folder);
        let (database, unopened) = (files.database(), files.unopened(&lock));
        wal::check(unopened)?;
        let log = unopened.log_state().map_err(from_io)?;
        let connect = || schema::lone_reader(&database, log == LogState::There);
        let pool = match Pool::with_connector(connect, &lock) {
            // An emptied database looks like one of an earlier version. Therefore it is also compared with the head
            // file.
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

    /// Commits the accepted appends, empties the write-ahead log, and releases the folder. Later calls return
    /// [`Error::Closed`].
    pub async fn close(&self) -> Result<(), Error> {
        // If the writer has died, the journal must still report this failure.
        if self.is_alive() {
            self.is_closing.store(true, Ordering::Release);
        }
        self.pool.close().await;
        // An error means that the journal was closed before and the thread has ended.
        let _closed = self.submit(Job::Close).await;
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return Ok(()) };
        let joined = tokio::task::spawn_blocking(move || thread.join()).await;
        joined.map_err(|error| Error::Io(Box::new(error)))?.map_err(|_| self.unanswered())
    }

    /// Returns true if appends can be written.
    pub fn is_alive(&self) -> bool {
        !self.is_dead.load(Ordering::Acquire) && self.queue.as_ref().is_some_and(|queue| !queue.is_closed())
    }

    /// Returns an error with the reason if the journal cannot be written now. Waits for at most 1.5 seconds.
    ///
    /// A successful write in the last second is proof. Without such a write, this method writes a page and waits until
    /// it is on disk.
    pub async fn writable(&self) -> Result<(), String> {
        let (Some(status), Some(queue)) = (&self.status, &self.queue) else {
            return Err("the journal was opened read-only".to_owned());
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
        // If the queue is full, the writer is busy and needs no probe. The next group of jobs shows whether the journal
        // can be written.
        if status.begin_probe() && queue.try_send(Job::Probe).is_err() {
            status.end_probe();
        }
        match tokio::time::timeout(PROBE_WAIT, writes.wait_for(status::LastWrite::is_fresh)).await {
            Ok(Ok(last)) => last.result(),
            Ok(Err(_)) => Err(self.unanswered().to_string()),
            Err(_) => Err(format!(
                "no write has succeeded for {} ms: another program holds a lock on the database, or the \
                    disk does not respond",
                PROBE_WAIT.as_millis()
            )),
        }
    }

    /// Wakes the writer thread if a file of the journal was deleted or replaced. The writer then makes a rescue copy.
    pub fn check_files(&self) {
        if let (Some(status), Some(queue)) = (&self.status, &self.queue)
            && status.displacement().is_some()
            && status.begin_probe()
            && queue.try_send(Job::Probe).is_err()
        {
            status.end_probe();
        }
    }

    /// Returns the problems that can be found without reading the whole journal: notes about missing events, and a
    /// failed last write.
    pub async fn known_problems(&self) -> Result<Vec<String>, Error> {
        let mut problems = self.pool.look(head_file::notes).await?;
        problems.extend(self.status.as_ref().and_then(|status| status.failure()));
        Ok(problems)
    }

    /// Returns the number of jobs in the queue of the writer, without those that are being committed. Returns `None` if
    /// the journal was opened for reading.
    pub fn writes_waiting(&self) -> Option<usize> {
        self.queue.as_ref().map(|queue| queue.max_capacity().saturating_sub(queue.capacity()))
    }

    /// Waits until the writer thread has died, and returns the message of its panic. Never returns if the journal was
    /// closed.
    pub async fn failed(&self) -> String {
        let Some(queue) = &self.queue else { return std::future::pending().await };
        queue.closed().await;
        if self.is_closing.load(Ordering::Acquire) {
            return std::future::pending().await;
        }
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return std::future::pending().await };
        match tokio::task::spawn_blocking(move || thread.join()).await {
            Ok(Err(panic)) => panic_message(&*panic),
            Ok(Ok(())) | Err(_) => std::future::pending().await,
        }
    }

    async fn submit(&self, job: Job) -> Result<(), Error> {
        let queue = self.queue.as_ref().ok_or(Error::Closed)?;
        queue.send(job).await.map_err(|_| self.unanswered())
    }

    /// Returns the error for a job that the writer did not accept or to which it has not replied: the journal was
    /// closed, or the writer thread has died. After its death, it is unknown if the accepted jobs were written.
    fn unanswered(&self) -> Error {
        if self.is_closing.load(Ordering::Acquire) {
            return Error::Closed;
        }
        self.is_dead.store(true, Ordering::Release);
        error::WriterDied.into()
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no message").to_owned()
}

/// Returns the current time. This time is only shown to people, as the time when this node opened the store or when a
/// copy of the journal was made.
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
