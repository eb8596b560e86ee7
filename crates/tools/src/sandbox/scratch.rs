//! The scratch folders of commands: one each, held by a lock for as long as its server lives, and taken away by the next
//! server where that was killed. Never touches a folder that somebody holds, or that is not this user's.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

const PREFIX: &str = "holdshort-";
const LOCK: &str = "lock";

/// A folder that goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    pub(super) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        let lock = File::create(folder.path().join(LOCK))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { folder, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Takes the folder away. What a command made unremovable stays.
    pub(crate) fn close(self) -> io::Result<()> {
        self.folder.close()
    }
}

/// Takes away what servers left that were killed. Blocks; what can not be taken away stays.
pub fn clean_up() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) && is_left(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A folder of this user's with a lock that nobody holds. Without a lock it is another's, or it is just being made.
fn is_left(folder: &Path) -> bool {
    let ours = || {
        fs::symlink_metadata(folder)
            .is_ok_and(|it| it.is_dir() && it.uid() == rustix::process::geteuid().as_raw())
    };
    let is_free = || {
        flock(File::open(folder.join(LOCK))?, FlockOperation::NonBlockingLockExclusive)
            .map_err(io::Error::from)
    };
    ours() && is_free().is_ok()
}
