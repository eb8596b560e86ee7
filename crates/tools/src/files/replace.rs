//! Replacing one file: a new file beside it, synced, renamed over it. Never written through.
//!
//! A crash at any point leaves the old file or the new one, and at worst a file `.holdshort-….tmp`, which the next change
//! in its folder takes away: the lock on it tells that nobody writes it any more.

use std::io::{self, Write};
use std::os::unix::fs::fchown;

use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt, Permissions, PermissionsExt};
use holdshort_core::digest::Digest;
use holdshort_core::tool::{Outcome, Precondition};
use rustix::fs::{FlockOperation, OFlags, RenameFlags};
use serde_json::json;

use super::change::Planned;
use super::read;
use super::workspace_path::{WorkspacePath, shown};
use crate::workspace::Workspace;

/// Permission bits that a replaced file keeps. Set-user-id and set-group-id go, as with any write.
const KEPT_MODE: u32 = 0o777;
/// Names tried for the new file; one is taken only where another change is under way in the folder.
const TEMPORARY_NAMES: u32 = 100;
const PREFIX: &str = ".holdshort-";
const SUFFIX: &str = ".tmp";

impl Planned {
    /// Carries the change out, if the file still is what the preconditions say.
    pub(crate) fn carry_out(&self, workspace: &Workspace, preconditions: &[Precondition]) -> Outcome {
        let expected = self.precondition();
        // The precondition of another file, or of another state, does not cover this change.
        if !preconditions.contains(&expected) {
            return Outcome::Changed { paths: vec![expected.path] };
        }
        match self.replace(workspace) {
            Ok(true) => self.done(),
            Ok(false) => Outcome::Changed { paths: vec![expected.path] },
            Err(e) => {
                Outcome::Failed { text: format!("`{}` could not be written: {e}", shown(&expected.path)) }
            }
        }
    }

    fn done(&self) -> Outcome {
        let diff = self.diff();
        let what = if self.before.is_none() { "created" } else { "changed" };
        Outcome::Done {
            text: format!("{what} {} (+{} −{} lines)", self.place, diff.added, diff.removed),
            data: json!({
                "path": self.place.to_string(),
                "sha256": Digest::of(self.after.as_bytes()),
                "bytes": self.after.len(),
                "added": diff.added,
                "removed": diff.removed,
            }),
        }
    }

    /// `false`: the file is no longer the one that was shown, and nothing was done.
    fn replace(&self, workspace: &Workspace) -> io::Result<bool> {
        let Some((folders, name)) = self.place.split() else {
            return Err(io::ErrorKind::IsADirectory.into());
        };
        let folder = if self.before.is_none() {
            create_folders(workspace, folders)?
        } else {
            WorkspacePath::open_folder(workspace, folders)?
        };
        let temporary = Temporary::create(&folder)?;
        temporary.fill(self)?;
        let expected = self.before.as_ref().map(|found| found.digest);
        if read::present(&folder, name)? != expected {
            return Ok(false);
        }
        match temporary.rename(name, self.before.is_none()) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            renamed => renamed?,
        }
        sync(&folder)?;
        Ok(true)
    }
}

/// Opens the folders on the way, making those that are missing; every one made is on disk before it is used.
fn create_folders(workspace: &Workspace, folders: &[String]) -> io::Result<Dir> {
    let mut folder = workspace.dir().try_clone()?;
    for name in folders {
        match folder.create_dir(name) {
            Ok(()) => sync(&folder)?,
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
        folder = folder.open_dir_nofollow(name)?;
    }
    Ok(folder)
}

/// Makes names in a folder durable. Opened anew, since a folder's handle may be one for paths only.
fn sync(folder: &Dir) -> io::Result<()> {
    folder.open(".")?.sync_all()
}

/// The new file while it has a name of its own; removed unless renamed.
struct Temporary<'a> {
    folder: &'a Dir,
    name: String,
    file: File,
    renamed: std::cell::Cell<bool>,
}

impl<'a> Temporary<'a> {
    fn create(folder: &'a Dir) -> io::Result<Self> {
        remove_left(folder);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        for n in 0..TEMPORARY_NAMES {
            let name = format!("{PREFIX}{}-{n}{SUFFIX}", std::process::id());
            match folder.open_with(&name, &options) {
                Ok(file) if is_ours(&file) => {
                    return Ok(Self { folder, name, file, renamed: false.into() });
                }
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::Error::other("too many files `.holdshort-….tmp` were left here; remove them"))
    }

    fn fill(&self, planned: &Planned) -> io::Result<()> {
        (&self.file).write_all(planned.after.as_bytes())?;
        if let Some(before) = &planned.before {
            // Only root can keep another owner; for anybody else the file becomes the writer's.
            let (user, group) = before.owner;
            let _ = fchown(&self.file, Some(user), Some(group));
            self.file.set_permissions(Permissions::from_mode(before.mode & KEPT_MODE))?;
        }
        self.file.sync_all()
    }

    /// A new file never takes the place of one that appeared meanwhile.
    fn rename(&self, to: &str, must_be_new: bool) -> io::Result<()> {
        let flags = if must_be_new { RenameFlags::NOREPLACE } else { RenameFlags::empty() };
        rustix::fs::renameat_with(self.folder, &self.name, self.folder, to, flags)?;
        self.renamed.set(true);
        Ok(())
    }
}

/// Takes the lock that says that a change is under way; `None` where the file system has none.
fn lock(file: &File) -> Option<bool> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Some(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Some(false),
        Err(_) => None,
    }
}

/// Whether the file still has its name: somebody else may have taken it for a left one before it was locked.
fn is_ours(file: &File) -> bool {
    lock(file) != Some(false) && rustix::fs::fstat(file).is_ok_and(|found| found.st_nlink > 0)
}

/// Takes away what a crash left in the folder. What can not be read or removed stays: it does no harm.
fn remove_left(folder: &Dir) {
    let mut options = OpenOptions::new();
    // Should it be no file any more: nobody waits for a pipe.
    options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    for entry in folder.entries().into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_left = name.to_str().is_some_and(is_temporary)
            && entry.file_type().is_ok_and(|kind| kind.is_file())
            && folder.open_with(&name, &options).is_ok_and(|file| lock(&file) == Some(true));
        if is_left {
            let _ = folder.remove_file(&name);
        }
    }
}

/// `.holdshort-PROCESS-NUMBER.tmp`, and nothing that a person would call so.
fn is_temporary(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = name.strip_prefix(PREFIX).and_then(|name| name.strip_suffix(SUFFIX)?.split_once('-'));
    numbers.is_some_and(|(process, n)| is_number(process) && is_number(n))
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.renamed.get() {
            let _ = self.folder.remove_file(&self.name);
        }
    }
}
