//! The readers: a few read-only connections, each used by one read at a time. Never writes.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::schema;
use crate::journal::Error;

/// Reads at once. More would only wait for the same disk; each costs a thread while it reads, and a cache.
const READERS: usize = 4;

#[derive(Debug)]
pub(super) struct Pool {
    permits: Arc<Semaphore>,
    idle: Arc<Idle>,
}

type Idle = Mutex<Vec<Connection>>;

/// A connection on loan. It goes back however the read ends, or the pool would run dry.
struct Loan {
    connection: Option<Connection>,
    idle: Arc<Idle>,
}

impl Pool {
    pub(super) fn open(database: &Path) -> Result<Self, Error> {
        Self::of(|| schema::reader(database))
    }

    /// A pool of the connections that `connect` makes.
    pub(super) fn of(connect: impl Fn() -> Result<Connection, Error>) -> Result<Self, Error> {
        let idle = (0..READERS).map(|_| connect()).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { permits: Arc::new(Semaphore::new(READERS)), idle: Arc::new(Mutex::new(idle)) })
    }

    /// Runs a read of a row or two where it is asked for: to hand it to another thread and back costs several
    /// times as much. At worst it waits for a few pages from the disk. Waits while all connections are in use.
    pub(super) async fn look<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let _permit = self.permits.acquire().await.map_err(|_| Error::Closed)?;
        Loan::take(&self.idle).read(work)
    }

    /// Runs a read of any size beside the async threads. Waits while all connections are in use.
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

    /// Lets the running reads end, refuses those that wait, and closes the connections.
    pub(super) async fn close(&self) {
        let all = self.permits.acquire_many(u32::try_from(READERS).unwrap_or(u32::MAX)).await;
        self.drop_idle();
        drop(all);
    }

    /// Refuses reads from now on and closes the connections that are not in use.
    pub(super) fn drop_idle(&self) {
        self.permits.close();
        lock(&self.idle).clear();
    }
}

impl Loan {
    fn take(idle: &Arc<Idle>) -> Self {
        Self { connection: lock(idle).pop(), idle: Arc::clone(idle) }
    }

    fn read<T>(self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        self.connection.as_ref().ok_or(Error::Closed).and_then(work)
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        lock(&self.idle).extend(self.connection.take());
    }
}

/// A push or a pop is never half done.
fn lock(idle: &Idle) -> std::sync::MutexGuard<'_, Vec<Connection>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}
