//! Commits a changeset: changes each path from the state `before` to the state `after`, or changes nothing at all.
//!
//! First, every path is compared with its state `before`. If one path differs, nothing is changed. After this check,
//! the old entries are removed, the content of a folder before the folder itself. After the removal, folders, files and
//! links are made, a folder before its content. After a crash during the commit, each path is in one of three states:
//! unchanged, changed, or removed and not yet made again. A *resumed* commit continues with the paths in the states
//! that a crash left. A commit never follows a link, and never replaces an entry that differs from the state `before`
//! of its path.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;

use holdshort_core::changeset::{Change, Changeset, Entry, bytes_of, text_of};
use holdshort_core::digest::Digest;
use rustix::fs::{AtFlags, Mode, RenameFlags};
use rustix::io::Errno;

use super::entry::{self, ObservedPath, observe_path};
use super::folder::{self, Root};
use super::temporary::{self, Temporary};

/// Result of committing a changeset to the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Committed {
    /// Every path of the changeset is in its state `after`, and the changes are synced to disk.
    Done,
    /// `paths` are the paths of the changeset whose state is not the expected one. `done` lists the paths that were
    /// changed before the conflict was detected. This list is usually empty. It can have entries if another process
    /// changed paths at the same time, or if the commit was resumed.
    Conflict { paths: Vec<String>, done: Vec<String> },
    /// The file system reported an error during the commit of a changeset.
    Failed { text: String, done: Vec<String> },
}

/// State of a path during the commit of its change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Before,
    After,
    /// The old entry at the path is removed and the new entry is not made yet, or a new folder does not have its final
    /// mode yet. Only a crash during a commit leaves a path in this state.
    Between,
    Other,
}

/// Returns the paths that prevent the commit of a changeset: paths that have changed since the state `before`, paths
/// whose parent folder is missing, and unexpected entries in a folder that would be removed. Changes nothing.
pub(crate) fn conflicts(root: &Root, changeset: &Changeset) -> io::Result<Vec<String>> {
    let changes = changeset.changes();
    let body = |_| Err(io::ErrorKind::Unsupported.into());
    let (done, touched) = (Vec::new(), BTreeSet::new());
    let commit = Commit { root, changes, body, resumed: false, done, touched };
    commit.conflicts().map_err(|stop| match stop {
        Stop::Conflict(paths) => io::Error::other(format!("another process is changing {paths:?}")),
        Stop::Failed(_, e) => e,
    })
}

/// Returns true if the path of a change is already in the state `after` of this change.
pub(crate) fn is_as_wanted(root: &Root, change: &Change) -> bool {
    look(root, change).is_ok_and(|seen| state(change, &seen) == State::After)
}

/// Commits a changeset to the workspace. `body` returns the bytes of a file by its digest. `resumed` is true if this
/// commit was started before a crash.
pub(crate) fn commit(
    root: &Root,
    changeset: &Changeset,
    body: impl Fn(Digest) -> io::Result<Vec<u8>>,
    resumed: bool,
) -> Committed {
    let changes = changeset.changes();
    let mut commit = Commit { root, changes, body, resumed, done: Vec::new(), touched: BTreeSet::new() };
    match commit
        .conflicts()
        .and_then(|paths| if paths.is_empty() { commit.apply() } else { Err(Stop::Conflict(paths)) })
    {
        Ok(()) => Committed::Done,
        Err(Stop::Conflict(paths)) => Committed::Conflict { paths, done: commit.done },
        Err(Stop::Failed(path, e)) => {
            let text = format!("`{}` could not be written: {e}", path.escape_debug());
            Committed::Failed { text, done: commit.done }
        }
    }
}

struct Commit<'a, B> {
    root: &'a Root,
    changes: &'a [Change],
    body: B,
    resumed: bool,
    done: Vec<String>,
    /// Folders in which the commit added or removed names, and which must be synced to disk.
    touched: BTreeSet<Vec<u8>>,
}

enum Stop {
    Conflict(Vec<String>),
    Failed(String, io::Error),
}

fn failed(change: &Change) -> impl FnOnce(io::Error) -> Stop {
    |e| Stop::Failed(change.path.clone(), e)
}

fn conflict<T>(path: String) -> Result<T, Stop> {
    Err(Stop::Conflict(vec![path]))
}

impl<B: Fn(Digest) -> io::Result<Vec<u8>>> Commit<'_, B> {
    fn conflicts(&self) -> Result<Vec<String>, Stop> {
        let mut paths = Vec::new();
        for change in self.changes {
            let seen = look(self.root, change).map_err(failed(change))?;
            let state = state(change, &seen);
            let is_folder = matches!(change.before, Some(Entry::Folder { .. }));
            if !self.may_begin(change, state) || !self.has_a_folder(change) {
                paths.push(change.path.clone());
            } else if state == State::Before && is_folder && is_removed(change) {
                paths.extend(self.strangers(change).map_err(failed(change))?);
            }
        }
        Ok(paths)
    }

    fn may_begin(&self, change: &Change, state: State) -> bool {
        match state {
            State::Before => true,
            // Another process may already have made the same folder.
            State::After => self.resumed || matches!(change.after, Some(Entry::Folder { .. })),
            State::Between => self.resumed,
            State::Other => false,
        }
    }

    /// Returns true if the parent folder of a new entry exists, or if the commit makes this folder.
    fn has_a_folder(&self, change: &Change) -> bool {
        let Some((folder, _)) = change.path.rsplit_once('/') else { return true };
        let is_made = || self.change(folder).is_some_and(|it| matches!(it.after, Some(Entry::Folder { .. })));
        change.after.is_none() || is_made() || self.root.folder(&bytes(folder)).is_ok()
    }

    /// Returns the entries of a folder that prevent the removal of this folder, because the commit does not remove
    /// them.
    fn strangers(&self, change: &Change) -> io::Result<Vec<String>> {
        let path = bytes(&change.path);
        let goes = |path: &str| self.change(path).is_some_and(is_removed);
        let inside = folder::list(self.root.folder(&path)?)?;
        let inside = inside.iter().filter(|name| !temporary::is_temporary(name));
        Ok(inside.map(|name| text_of(&folder::join(&path, name))).filter(|path| !goes(path)).collect())
    }

    fn change(&self, path: &str) -> Option<&Change> {
        let found = self.changes.binary_search_by(|change| change.path.as_str().cmp(path));
        found.ok().map(|at| &self.changes[at])
    }

    fn apply(&mut self) -> Result<(), Stop> {
        // Paths are sorted, so a folder comes before its content. The reverse order removes the content first.
        for change in self.changes.iter().rev().filter(|change| is_removed(change)) {
            self.remove(change)?;
        }
        for change in self.changes.iter().filter(|change| change.after.is_some()) {
            self.make(change)?;
        }
        // Modes are set last, since a folder may become read-only.
        for change in self.changes.iter().rev() {
            if let Some(Entry::Folder { mode }) = change.after {
                set_folder_mode(self.root, change, mode).map_err(failed(change))?;
            }
        }
        for path in &self.touched {
            let synced = match self.root.folder(path) {
                Ok(folder) => rustix::fs::fsync(folder).map_err(io::Error::from),
                Err(e) if leads_nowhere(&e) => Ok(()),
                Err(e) => Err(e),
            };
            synced.map_err(|e| Stop::Failed(text_of(path), e))?;
        }
        Ok(())
    }

    fn remove(&mut self, change: &Change) -> Result<(), Stop> {
        match state(change, &look(self.root, change).map_err(failed(change))?) {
            State::Before => {}
            State::After | State::Between if self.resumed => return Ok(()),
            State::After | State::Between | State::Other => return conflict(change.path.clone()),
        }
        let path = bytes(&change.path);
        let (folder, name) = self.root.parent(&path).map_err(failed(change))?;
        match unlink(folder.as_fd(), name, change.before.as_ref()) {
            Err(Errno::NOTEMPTY) => return conflict(change.path.clone()),
            removed => removed.map_err(|e| failed(change)(e.into()))?,
        }
        self.changed(change, &path);
        Ok(())
    }

    fn make(&mut self, change: &Change) -> Result<(), Stop> {
        let now = look(self.root, change).map_err(failed(change))?;
        let stands = match state(change, &now) {
            State::After => return Ok(()),
            State::Other => return conflict(change.path.clone()),
            State::Before | State::Between => now,
        };
        let path = bytes(&change.path);
        let (folder, name) = self.root.parent(&path).map_err(failed(change))?;
        match self.put(folder.as_fd(), name, change, &stands) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return conflict(change.path.clone()),
            made => made.map_err(failed(change))?,
        }
        self.changed(change, &path);
        Ok(())
    }

    fn put(
        &self,
        folder: BorrowedFd<'_>,
        name: &OsStr,
        change: &Change,
        stands: &ObservedPath,
    ) -> io::Result<()> {
        match change.after.as_ref() {
            None => Ok(()),
            Some(Entry::Folder { mode }) => {
                if stands.entry().is_none() {
                    rustix::fs::mkdirat(folder, name, Mode::RWXU)?;
                }
                set_folder_mode(self.root, change, mode | OWNED)
            }
            Some(Entry::Symlink { target }) => {
                Ok(rustix::fs::symlinkat(OsStr::from_bytes(&bytes(target)), folder, name)?)
            }
            Some(Entry::File { digest, mode, .. }) => match stands {
                ObservedPath::Entry(Entry::File { digest: present, .. }, _) if present == digest => {
                    let file = entry::open(folder, name)?;
                    Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(*mode))?)
                }
                _ => self.put_file(folder, name, *digest, *mode, stands),
            },
        }
    }

    fn put_file(
        &self,
        folder: BorrowedFd<'_>,
        name: &OsStr,
        digest: Digest,
        mode: u32,
        stands: &ObservedPath,
    ) -> io::Result<()> {
        let content = (self.body)(digest)?;
        if Digest::of_bytes(&content) != digest {
            return Err(io::Error::other("the stored content of the file differs from the released content"));
        }
        let (owner, flags) = match stands {
            ObservedPath::Entry(_, stat) => (Some((stat.st_uid, stat.st_gid)), RenameFlags::empty()),
            ObservedPath::Nothing | ObservedPath::Special | ObservedPath::TooLarge => {
                (None, RenameFlags::NOREPLACE)
            }
        };
        let temporary = Temporary::create(folder)?;
        temporary.fill(&content, mode, owner)?;
        temporary.rename(name, flags)
    }

    fn changed(&mut self, change: &Change, path: &[u8]) {
        self.touched.insert(folder::split(path).0.to_vec());
        self.done.push(change.path.clone());
        tracing::trace!(name: "changeset_path_changed", changed = self.done.len(), "a path is committed");
    }
}

/// Permissions that the owner of a folder needs to fill it.
const OWNED: u32 = 0o700;

/// Returns true if the old entry of a change must be removed before new entries are made. Returns false if a file
/// replaces a file, because one rename replaces the old file.
fn is_removed(change: &Change) -> bool {
    match (&change.before, &change.after) {
        (None, _)
        | (Some(Entry::File { .. }), Some(Entry::File { .. }))
        | (Some(Entry::Folder { .. }), Some(Entry::Folder { .. })) => false,
        (Some(_), _) => true,
    }
}

fn look(root: &Root, change: &Change) -> io::Result<ObservedPath> {
    let path = bytes(&change.path);
    let size = |entry: &Entry| if let Entry::File { bytes, .. } = entry { *bytes } else { 0 };
    // A file that is larger than both the `before` file and the `after` file cannot equal either, so the rest is not
    // read.
    let limit = change.before.iter().chain(&change.after).map(size).max().unwrap_or_default();
    match root.parent(&path) {
        Ok((folder, name)) => observe_path(folder, name, limit),
        Err(e) if leads_nowhere(&e) => Ok(ObservedPath::Nothing),
        Err(e) => Err(e),
    }
}

fn state(change: &Change, seen: &ObservedPath) -> State {
    let now = match seen {
        ObservedPath::Nothing => None,
        ObservedPath::Entry(entry, _) => Some(entry),
        ObservedPath::Special | ObservedPath::TooLarge => return State::Other,
    };
    match (now, &change.before, &change.after) {
        (now, before, _) if now == before.as_ref() => State::Before,
        (now, _, after) if now == after.as_ref() => State::After,
        (None, Some(_), Some(_)) if is_removed(change) => State::Between,
        (Some(Entry::Folder { mode }), Some(Entry::Folder { .. }), Some(Entry::Folder { mode: after })) => {
            if *mode == after | OWNED {
                State::Between
            } else {
                State::Other
            }
        }
        (Some(Entry::Folder { .. }), _, Some(Entry::Folder { .. })) => State::Between,
        _ => State::Other,
    }
}

/// Removes the old entry of a change. Before a folder is removed, temporary files that a crash left in the folder are
/// removed.
fn unlink(folder: BorrowedFd<'_>, name: &OsStr, was: Option<&Entry>) -> rustix::io::Result<()> {
    let is_folder = matches!(was, Some(Entry::Folder { .. }));
    let flags = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    match rustix::fs::unlinkat(folder, name, flags) {
        Err(Errno::NOTEMPTY) => {
            if let Ok(inside) = folder::open(folder, name) {
                temporary::remove_left(inside.as_fd());
            }
            rustix::fs::unlinkat(folder, name, flags)
        }
        removed => removed,
    }
}

/// Sets the permission bits of a changed folder. Keeps the set-user-id and set-group-id bits that the folder inherited
/// from its parent.
fn set_folder_mode(root: &Root, change: &Change, mode: u32) -> io::Result<()> {
    let folder = root.folder(&bytes(&change.path))?;
    let has = rustix::fs::fstat(&folder)?.st_mode & 0o7777;
    let wanted = (has & !entry::MODE) | mode;
    if has != wanted {
        rustix::fs::fchmod(folder, Mode::from_raw_mode(wanted))?;
    }
    Ok(())
}

fn leads_nowhere(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        || error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

fn bytes(text: &str) -> Vec<u8> {
    bytes_of(text).unwrap_or_default()
}
