//! The data folder, and the lock that prevents a second server from using it.
//!
//! The lock is a kernel lock on an open file. The kernel releases it when the process ends. The file itself is never
//! deleted: without a lock on it, it has no effect.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

use crate::journal::Error;
use crate::sqlite::from_io;

const LOCK: &str = "holdshort.lock";

/// Maximum number of attempts to lock the data folder. A server holds the lock for as long as it runs. Other processes
/// hold it only for an instant, for example a command that checks if a server is running. If all attempts fail, a
/// server is therefore running.
const LOCK_WAITS: u32 = 20;
const LOCK_WAIT: Duration = Duration::from_millis(20);

/// Lock of a data folder. A folder has at most one lock at a time: across all processes, and also within this process.
#[derive(Debug)]
pub(crate) struct Lock {
    /// File that carries the kernel lock. `None` if the data folder cannot be written to: no server can use such a
    /// folder.
    _file: Option<File>,
}

/// Locks the data folder. If the folder is missing, creates it with access for its owner only.
pub(crate) fn claim(folder: &Path) -> Result<Lock, Error> {
    make(folder).map_err(from_io)?;
    let file = private().open(folder.join(LOCK)).map_err(from_io)?;
    let mut waits = LOCK_WAITS;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Lock { _file: Some(file) }),
            Err(TryLockError::WouldBlock) if waits > 0 => waits -= 1,
            Err(TryLockError::WouldBlock) => return Err(Error::InUse),
            Err(TryLockError::Error(error)) => return Err(from_io(error)),
        }
        std::thread::sleep(LOCK_WAIT);
    }
}

/// Locks the data folder of a journal that is opened only for reading. If the folder cannot be written to, succeeds
/// without a lock, because no server can use such a folder.
pub(crate) fn claim_to_read(folder: &Path) -> Result<Lock, Error> {
    match claim(folder) {
        Err(Error::ReadOnly) => Ok(Lock { _file: None }),
        claimed => claimed,
    }
}

/// Creates the folder if it is missing. Returns true if it is empty.
pub(crate) fn make_empty(folder: &Path) -> Result<bool, Error> {
    make(folder).map_err(from_io)?;
    Ok(fs::read_dir(folder).map_err(from_io)?.next().is_none())
}

/// Creates a folder, and flushes the entry in its parent folder to disk. Without this flush, a power failure could
/// remove the new folder together with all acknowledged events.
fn make(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)?;
    match folder.canonicalize()?.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

/// Returns the options with which a file is opened or created for writing. Only the owner of a created file can read
/// and write it.
pub(crate) fn private() -> OpenOptions {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
