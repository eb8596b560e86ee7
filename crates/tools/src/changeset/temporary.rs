//! Replaces one file: writes a new file in the same folder, syncs the new file, and renames it over the old file. The
//! old file itself is never written to.
//!
//! After a crash, either the old or the new file exists, and a temporary file `.holdshort-….tmp` may remain. The next
//! change in the folder removes a temporary file that remained. If a process has locked a temporary file, it is not
//! removed, because this process is still writing it.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, fchown};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, RenameFlags};

use super::folder;

/// Maximum number of names that are tried for a temporary file. A name is in use only if another process is changing a
/// file in the same folder.
const NAMES: u32 = 100;
const PREFIX: &str = ".holdshort-";
const SUFFIX: &str = ".tmp";

/// Temporary file with the new content of a file, before it is renamed over the old file. On drop, a temporary file
/// that was not renamed is deleted.
pub(super) struct Temporary<'a> {
    folder: BorrowedFd<'a>,
    name: String,
    file: File,
    renamed: Cell<bool>,
}

impl<'a> Temporary<'a> {
    pub(super) fn create(folder: BorrowedFd<'a>) -> io::Result<Self> {
        remove_left(folder);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for n in 0..NAMES {
            let name = format!("{PREFIX}{}-{n}{SUFFIX}", std::process::id());
            match rustix::fs::openat(folder, &name, flags, Mode::RUSR | Mode::WUSR).map(File::from) {
                Ok(file) if is_ours(&file) => {
                    return Ok(Self { folder, name, file, renamed: false.into() });
                }
                Ok(_) | Err(rustix::io::Errno::EXIST) => {}
                Err(e) => return Err(e.into()),
            }
        }
        Err(io::Error::other("too many files `.holdshort-….tmp` remain in this directory; remove them"))
    }

    /// Writes the content of the temporary file, and sets mode and owner. `owner` is the owner of the replaced file.
    /// Only root can set the owner of a file. For all other users, the new file belongs to the user who writes it.
    pub(super) fn fill(&self, bytes: &[u8], mode: u32, owner: Option<(u32, u32)>) -> io::Result<()> {
        (&self.file).write_all(bytes)?;
        if let Some((user, group)) = owner {
            let _ = fchown(&self.file, Some(user), Some(group));
        }
        self.file.set_permissions(Permissions::from_mode(mode))?;
        self.file.sync_all()
    }

    /// Renames the temporary file to its final name. With `NOREPLACE`, fails if a file with this name already exists.
    pub(super) fn rename(&self, to: &OsStr, flags: RenameFlags) -> io::Result<()> {
        rustix::fs::renameat_with(self.folder, &self.name, self.folder, to, flags)?;
        self.renamed.set(true);
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.renamed.get() {
            let _ = rustix::fs::unlinkat(self.folder, &self.name, AtFlags::empty());
        }
    }
}

/// Locks a temporary file. The lock tells other processes that the file is still being written. Returns `Some(false)`
/// if another process holds the lock, and `None` if the file system does not support locks.
fn lock(file: impl AsFd) -> Option<bool> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Some(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Some(false),
        Err(_) => None,
    }
}

/// Returns true if no other process has locked or deleted the new temporary file. Before the lock, a temporary file
/// looks like one that a crash left, so another process may delete it.
fn is_ours(file: &File) -> bool {
    lock(file) != Some(false) && rustix::fs::fstat(file).is_ok_and(|found| found.st_nlink > 0)
}

/// Removes temporary files that a crash left in a folder. A temporary file that cannot be read or removed remains,
/// which is harmless.
pub(super) fn remove_left(folder: BorrowedFd<'_>) {
    // Opens the file without blocking, because a named pipe may have replaced the file.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    for name in folder::list(folder).into_iter().flatten().filter(|name| is_temporary(name)) {
        let is_left = rustix::fs::openat(folder, &name, flags, Mode::empty()).is_ok_and(|file| {
            let is_file =
                |found: rustix::fs::Stat| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
            rustix::fs::fstat(&file).is_ok_and(is_file) && lock(&file) == Some(true)
        });
        if is_left {
            let _ = rustix::fs::unlinkat(folder, &name, AtFlags::empty());
        }
    }
}

/// Returns true if a file name has the form `.holdshort-PROCESS-NUMBER.tmp`, which people do not use for their files.
pub(crate) fn is_temporary(name: &OsStr) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = std::str::from_utf8(name.as_bytes())
        .ok()
        .and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.split_once('-'));
    numbers.is_some_and(|(process, n)| is_number(process) && is_number(n))
}
