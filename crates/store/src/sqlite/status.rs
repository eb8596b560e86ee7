//! Status of the writer thread: the outcome of its last write, and the reason if it has stopped writing. The writer
//! thread shares it with callers that ask if the journal can be written.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::files::OpenedFiles;
use crate::journal::Error;

/// Time for which a successful write proves that the journal can be written. During this time, no probe (a test write)
/// is needed.
pub(super) const PROOF_TIME: Duration = Duration::from_secs(1);
/// Maximum time to wait for a probe (a test write). A disk or lock that delays a probe for longer also delays requests,
/// so the journal is then reported as not writable.
pub(super) const PROBE_WAIT: Duration = Duration::from_millis(1_500);

#[derive(Debug)]
pub(super) struct Status {
    files: OpenedFiles,
    last_write: watch::Sender<LastWrite>,
    /// True while a probe (a test write) waits in the queue of the writer.
    is_probing: AtomicBool,
    displaced: Mutex<Option<Displaced>>,
}

/// Outcome of the last write of the writer thread.
#[derive(Clone, Debug)]
pub(super) struct LastWrite {
    at: Instant,
    failure: Option<String>,
}

impl LastWrite {
    pub(super) fn is_fresh(&self) -> bool {
        self.at.elapsed() < PROOF_TIME
    }

    pub(super) fn result(&self) -> Result<(), String> {
        self.failure.clone().map_or(Ok(()), Err)
    }
}

/// State of a journal if one of its files was deleted or replaced while it was open. `SQLite` still writes to the old
/// file, which the kernel deletes when this process ends.
#[derive(Clone, Debug)]
struct Displaced {
    why: String,
    copy: Copy,
}

/// State of the rescue copy of a journal whose files were deleted or replaced.
#[derive(Clone, Debug)]
pub(super) enum Copy {
    Pending,
    Made { folder: PathBuf, events: u64 },
    Failed { why: String, at: Instant },
}

impl Status {
    /// Returns the status for a database that was just opened and written to.
    pub(super) fn new(files: OpenedFiles) -> Self {
        let last_write = watch::Sender::new(LastWrite { at: Instant::now(), failure: None });
        Self { files, last_write, is_probing: AtomicBool::new(false), displaced: Mutex::default() }
    }

    pub(super) fn files(&self) -> &OpenedFiles {
        &self.files
    }

    pub(super) fn watch(&self) -> watch::Receiver<LastWrite> {
        self.last_write.subscribe()
    }

    /// Returns the reason why this process can no longer write to the journal. If there is no such reason, returns the
    /// error of the last write if it failed, however long ago.
    pub(super) fn failure(&self) -> Option<String> {
        self.displacement().or_else(|| self.last_write.borrow().failure.clone())
    }

    pub(super) fn record(&self, failure: Option<&Error>) {
        let failure = failure.map(|error| format!("the last write to the journal failed: {error}"));
        self.last_write.send_replace(LastWrite { at: Instant::now(), failure });
    }

    /// Returns true if no probe (a test write) waits in the queue. The caller must then send one.
    pub(super) fn begin_probe(&self) -> bool {
        !self.is_probing.swap(true, Ordering::AcqRel)
    }

    pub(super) fn end_probe(&self) {
        self.is_probing.store(false, Ordering::Release);
    }

    /// Returns the reason if nothing is written any more because a file of the journal was deleted or replaced.
    pub(super) fn displacement(&self) -> Option<String> {
        let mut displaced = self.displaced.lock().unwrap_or_else(PoisonError::into_inner);
        if displaced.is_none()
            && let Err(why) = self.files.check()
        {
            tracing::error!(
                folder = %self.files.files().folder().display(),
                "no more writes are accepted, because {why}"
            );
            *displaced = Some(Displaced { why, copy: Copy::Pending });
        }
        displaced.as_ref().map(Displaced::describe)
    }

    /// Returns an error if a file of the journal was deleted or replaced.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.displacement().map_or(Ok(()), |why| Err(Error::FilesReplaced(why)))
    }

    /// Returns the state of the rescue copy. Returns `None` if all files of the journal are in place.
    pub(super) fn copy(&self) -> Option<Copy> {
        let displaced = self.displaced.lock().unwrap_or_else(PoisonError::into_inner);
        displaced.as_ref().map(|displaced| displaced.copy.clone())
    }

    pub(super) fn set_copy(&self, copy: Copy) {
        let mut displaced = self.displaced.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(displaced) = &mut *displaced {
            displaced.copy = copy;
        }
    }
}

impl Displaced {
    /// Describes why nothing is written and where the rescue copy is. The text contains no path, because `/readyz`
    /// shows it without authentication.
    fn describe(&self) -> String {
        let Self { why, copy } = self;
        let copy = match copy {
            Copy::Pending => "a copy of the journal is being made".to_owned(),
            Copy::Made { folder, events } => {
                let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
                format!(
                    "a complete copy, up to event {events}, is in {name} of the data folder: stop this \
                    server and start a server from the copy"
                )
            }
            Copy::Failed { why, .. } => format!(
                "the last events exist only in this process, because copying them failed ({why}): free disk \
                    space, and do not stop this process before the copy is made"
            ),
        };
        format!("{why}; the journal accepts no more writes; {copy}")
    }
}
