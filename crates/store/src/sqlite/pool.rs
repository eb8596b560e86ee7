//! Pool of a few read-only connections. Each connection is used by one read at a time.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, InterruptHandle};
use tokio::sync::Semaphore;

use super::schema;
use crate::folder::Lock;
use crate::journal::Error;

/// Maximum number of concurrent reads, which is also the number of connections. More connections would only wait for
/// the same disk, and each one needs memory for a cache.
const READERS: usize = 4;

#[derive(Debug)]
pub(super) struct Pool {
    permits: Arc<Semaphore>,
    idle: Arc<Idle>,
    /// Semaphore with one permit, so that long reads run one after another.
    apart: Arc<Semaphore>,
    /// Lock of the data folder, shared with the connections for long reads. `None` after the pool was closed.
    lock: Mutex<Option<Arc<Lock>>>,
}

type Idle = Mutex<Vec<Reader>>;

/// A connection that also holds the lock of its data folder. The lock is released only after the last connection was
/// closed.
#[derive(Debug)]
struct Reader {
    connection: Connection,
    _lock: Arc<Lock>,
}

/// A connection that a read has borrowed. The connection returns to the pool even if the read panics. Otherwise the
/// pool would have fewer connections after each panic.
struct Loan {
    reader: Option<Reader>,
    idle: Arc<Idle>,
}

impl Pool {
    pub(super) fn open(database: &Path, folder: &Arc<Lock>) -> Result<Self, Error> {
        Self::with_connector(|| schema::reader(database), folder)
    }

    /// Creates the connection pool. `connect` is called to open each connection.
    pub(super) fn with_connector(
        connect: impl Fn() -> Result<Connection, Error>,
        folder: &Arc<Lock>,
    ) -> Result<Self, Error> {
        let reader = |_| Ok::<_, Error>(Reader { connection: connect()?, _lock: Arc::clone(folder) });
        let idle = (0..READERS).map(reader).collect::<Result<Vec<_>, _>>()?;
        let (permits, apart) = (Arc::new(Semaphore::new(READERS)), Arc::new(Semaphore::new(1)));
        let lock = Mutex::new(Some(Arc::clone(folder)));
        Ok(Self { permits, idle: Arc::new(Mutex::new(idle)), apart, lock })
    }

    /// Runs a read of one or two rows on the current thread, which blocks while the pages are read from disk. Switching
    /// to another thread would take several times as long. Waits while all connections are in use.
    pub(super) async fn look<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let _permit = self.permits.acquire().await.map_err(|_| Error::Closed)?;
        Loan::take(&self.idle).read(work)
    }

    /// Runs a read of any size on a blocking thread. Waits while all connections are in use.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| Error::Closed)?;
        let loan = Loan::take(&self.idle);
        let read = tokio::task::spawn_blocking(move || {
            let result = loan.read(work);
            drop(permit);
            result
        });
        read.await.map_err(|error| Error::Io(Box::new(error)))?
    }

    /// Runs a long read: one whose duration depends on the size of the database. A long read uses a separate
    /// connection, so that no short read waits for it. Long reads run one after the other. When the caller stops
    /// waiting, the read is aborted.
    pub(super) async fn read_apart<T: Send + 'static>(
        &self,
        connect: impl FnOnce() -> Result<Connection, Error>,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let permit = Arc::clone(&self.apart).acquire_owned().await.map_err(|_| Error::Closed)?;
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner).clone().ok_or(Error::Closed)?;
        let connection = connect()?;
        let interrupts = Interrupts::new(&connection);
        let is_left = Arc::clone(&interrupts.is_left);
        let read = tokio::task::spawn_blocking(move || {
            let result = unless_left(&connection, &is_left, work);
            drop(connection);
            drop((lock, permit));
            result
        });
        let result = read.await;
        drop(interrupts);
        result.map_err(|error| Error::Io(Box::new(error)))?
    }

    /// Closes the pool: waits for the running reads, refuses the reads that wait for a connection, and closes all
    /// connections.
    pub(super) async fn close(&self) {
        let apart = self.apart.acquire().await;
        let all = self.permits.acquire_many(u32::try_from(READERS).unwrap_or(u32::MAX)).await;
        self.drop_idle();
        drop((all, apart));
    }

    /// Refuses new reads, and closes the unused connections of the pool.
    pub(super) fn drop_idle(&self) {
        self.permits.close();
        self.apart.close();
        lock(&self.idle).clear();
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Guard of a connection. When the guard is dropped, the statement that is running on the connection is aborted.
struct Interrupts {
    is_left: Arc<AtomicBool>,
    handle: InterruptHandle,
}

impl Interrupts {
    fn new(connection: &Connection) -> Self {
        Self { is_left: Arc::default(), handle: connection.get_interrupt_handle() }
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.is_left.store(true, Ordering::SeqCst);
        self.handle.interrupt();
    }
}

/// Runs work on the connection, unless its caller has already stopped waiting. `SQLite` ignores a request to abort if
/// no statement is running. Therefore this function starts a statement and keeps it open before it checks `is_left` for
/// the last time.
fn unless_left<T>(
    connection: &Connection,
    is_left: &AtomicBool,
    work: impl FnOnce(&Connection) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut open = connection.prepare("SELECT 1 UNION ALL SELECT 2")?;
    let mut rows = open.query([])?;
    rows.next()?;
    if is_left.load(Ordering::SeqCst) {
        return Err(Error::Closed);
    }
    work(connection)
}

impl Loan {
    fn take(idle: &Arc<Idle>) -> Self {
        Self { reader: lock(idle).pop(), idle: Arc::clone(idle) }
    }

    fn read<T>(self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        self.reader.as_ref().ok_or(Error::Closed).and_then(|reader| work(&reader.connection))
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        lock(&self.idle).extend(self.reader.take());
    }
}

/// Locks the list of connections that are not in use. If the lock is poisoned, it is used anyway, because the list is
/// valid even after a panic.
fn lock(idle: &Idle) -> std::sync::MutexGuard<'_, Vec<Reader>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, poll};
    use tempfile::TempDir;

    use super::*;

    /// Runs a query that ends only when it is aborted.
    fn endless(connection: &Connection) -> Result<i64, Error> {
        let sql = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n";
        Ok(connection.query_row(sql, [], |row| row.get(0))?)
    }

    fn one(connection: &Connection) -> Result<i64, Error> {
        Ok(connection.query_row("SELECT 1", [], |row| row.get(0))?)
    }

    #[tokio::test]
    async fn reads_apart_keep_nobody_waiting_and_end_with_whoever_waits_for_them() {
        let folder = TempDir::new().unwrap();
        let database = folder.path().join("holdshort.db");
        let connect = || Ok(Connection::open(&database)?);
        let lock = Arc::new(crate::folder::claim(folder.path()).unwrap());
        let pool = Pool::with_connector(connect, &lock).unwrap();
        for _ in 0..3 * READERS {
            let mut apart = Box::pin(pool.read_apart(connect, endless));
            let mut next = Box::pin(pool.read_apart(connect, endless));
            assert!(poll!(&mut apart).is_pending() && poll!(&mut next).is_pending());
            // Short reads are still possible during a long read.
            for _ in 0..2 * READERS {
                assert_eq!(pool.read(one).await.unwrap(), 1);
            }
            assert!((&mut apart).now_or_never().is_none() && (&mut next).now_or_never().is_none());
        }
        assert_eq!(pool.read_apart(connect, one).await.unwrap(), 1);
        // `close` waits for running reads, so it returns only if the long read was interrupted.
        pool.close().await;
        assert!(matches!(pool.read_apart(connect, one).await, Err(Error::Closed)));
    }
}
