//! The data folder: its file of the database, and the lock that keeps a second server out.
//!
//! The lock is the kernel's, on an open file: it goes with the process, also with one that was killed. The
//! file itself stays and means nothing.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::error::from_io;
use crate::journal::Error;

const DATABASE: &str = "holdshort.db";
const LOCK: &str = "holdshort.lock";

/// Held for as long as this process may write into the folder.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// Makes the folder and an empty database if they are missing, readable to their owner only, and locks them.
pub(super) fn claim(folder: &Path) -> Result<(PathBuf, Lock), Error> {
    make(folder).map_err(from_io)?;
    let file = private().open(folder.join(LOCK)).map_err(from_io)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(Error::InUse),
        Err(TryLockError::Error(error)) => return Err(from_io(error)),
    }
    let database = folder.join(DATABASE);
    // SQLite gives its other files the mode of this one.
    private().open(&database).map_err(from_io)?;
    Ok((database, Lock { _file: file }))
}

/// A folder that is new must itself survive a power cut, or all that is acknowledged in it would not.
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

fn private() -> OpenOptions {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
