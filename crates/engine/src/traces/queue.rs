//! Queue of the runs whose traces must be exported. The driver adds a run at the time that it ends the run. The
//! exporter removes the run from the queue.
//!
//! The queue never blocks the driver: the functions that the driver calls return immediately and cannot fail.

use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use holdshort_core::id::RunId;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use tokio::sync::Notify;

use super::waiting::{EndedRun, PendingExports};

/// Number of traces that will never be exported, by reason.
pub(super) type Dropped = Family<[(&'static str, &'static str); 1], Counter>;

/// The runs of one node that wait for the exporter.
#[derive(Debug)]
pub struct TraceQueue {
    waiting: Mutex<PendingExports>,
    /// Notified when a run waits for the export of its trace.
    changed: Notify,
    dropped: Dropped,
}

impl TraceQueue {
    pub(super) fn new(dropped: Dropped) -> Self {
        Self { waiting: Mutex::default(), changed: Notify::new(), dropped }
    }

    /// Stores the queue of runs that wait for their export in this folder, from this call on.
    pub(super) fn keep_in(&self, folder: &Path) -> io::Result<()> {
        let forgotten = self.waiting().keep_in(folder)?;
        self.forget(forgotten);
        self.changed.notify_one();
        Ok(())
    }

    /// Records a run in the export queue before the append that will end the run.
    pub(crate) fn run_ending(&self, run: &RunId) {
        if let Err(error) = self.waiting().ending(run) {
            tracing::warn!(%error, "a waiting trace could not be stored, so a crash would lose it");
        }
    }

    /// Removes a run from the export queue, because the append that was to end the run was not written.
    pub(crate) fn run_goes_on(&self, run: &RunId) {
        self.waiting().goes_on(run);
    }

    /// Marks a run in the export queue as ended. Called after the append. If the result of the append that ended the
    /// run is unknown, the exporter checks the journal.
    pub(crate) fn run_ended(&self, run: &RunId) {
        let forgotten = self.waiting().ended(run);
        self.forget(forgotten);
        self.changed.notify_one();
    }

    /// Waits until the queue contains a run to export.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    pub(super) fn first(&self, count: usize) -> Vec<EndedRun> {
        self.waiting().first(count)
    }

    pub(super) fn len(&self) -> usize {
        self.waiting().len()
    }

    /// Removes runs from the queue that were exported or that will never be exported.
    pub(super) fn settle(&self, exported: &[EndedRun]) {
        if let Err(error) = self.waiting().settled(exported) {
            tracing::warn!(%error, "exported traces could not be recorded, so a restart exports them again");
        }
    }

    fn forget(&self, count: usize) {
        if count > 0 {
            self.drop_some("too_many", count);
        }
    }

    pub(super) fn drop_some(&self, why: &'static str, count: usize) {
        self.dropped.get_or_create(&[("reason", why)]).inc_by(count as u64);
    }

    /// Locks the lists of waiting runs even if the lock is poisoned, because the lists stay valid after a panic.
    fn waiting(&self) -> MutexGuard<'_, PendingExports> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
