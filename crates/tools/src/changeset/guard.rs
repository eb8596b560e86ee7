//! Dangers in a changeset that the names of its paths do not show: a folder that becomes a git repository, a change to
//! the configuration of a repository whose folder is not called `.git`, and a link that leads out of the workspace.
//!
//! Examines the changesets of all tools, together with the workspace that they would change. This module reads names
//! and the targets of links, and never the content of a file. If a change has a finding, it needs the approval of a
//! person. Guarded names are not findings here, because the core recognizes guarded names itself
//! ([`holdshort_command::guarded`]).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use holdshort_command::guarded;
use holdshort_core::changeset::{Change, Entry, bytes_of, is_of_git};

use super::{ObservedPath, Root, folder, observe_path};
use crate::limits;

/// Names of entries in a Git repository. If a folder contains all of them, Git treats this folder as a repository.
pub(crate) const BARE: [&str; 3] = ["HEAD", "objects", "refs"];
/// Names of entries in a linked Git repository. If a folder contains them, Git treats this folder as a repository that
/// stores its objects in another folder.
const LINKED: [&str; 2] = ["HEAD", "commondir"];

/// Code of the finding that a change makes a folder a Git repository, or changes a file that controls Git in a
/// repository.
const REPOSITORY: &str = "bare_repository";
/// Code of the finding that a change makes a link that leads out of the workspace.
const LINK_OUT: &str = "link_out";

/// Returns the codes of the dangers in `changes`, such as a new Git repository. `path` is the full path of the
/// workspace.
pub(crate) fn findings(changes: &[Change], workspace: &Root, path: &Path) -> BTreeSet<&'static str> {
    let by_path: BTreeMap<_, _> =
        changes.iter().filter_map(|change| Some((bytes_of(&change.path)?, change))).collect();
    let mut by_folder: BTreeMap<Vec<u8>, Vec<EntryChange>> = BTreeMap::new();
    for (path, change) in &by_path {
        let (folder, name) = folder::split(path);
        let name = name.as_bytes().to_ascii_lowercase();
        by_folder
            .entry(folder.to_vec())
            .or_default()
            .push(EntryChange { name, stays: change.after.is_some() });
    }
    let guard = Guard { workspace, path, changes: by_path, by_folder };
    let mut found = BTreeSet::new();
    if guard.meets_a_repository() {
        found.insert(REPOSITORY);
    }
    if guard.changes.iter().any(|(path, change)| guard.leads_out(path, change)) {
        found.insert(LINK_OUT);
    }
    found
}

struct Guard<'a> {
    workspace: &'a Root,
    path: &'a Path,
    changes: BTreeMap<Vec<u8>, &'a Change>,
    /// Changed entries of the workspace, by the path of their folder.
    by_folder: BTreeMap<Vec<u8>, Vec<EntryChange>>,
}

struct EntryChange {
    /// Name of the changed entry in lower case.
    name: Vec<u8>,
    stays: bool,
}

/// Two flags for one folder: Git treats this folder as a repository before the changes, and after the changes.
#[derive(Clone, Copy)]
struct Repository {
    before: bool,
    after: bool,
}

impl Guard<'_> {
    fn meets_a_repository(&self) -> bool {
        let above = repository_above(self.path);
        let mut folders: BTreeMap<&[u8], Repository> = BTreeMap::new();
        // Paths below a folder called `.git` are skipped, because the table of guarded names covers them.
        self.changes.iter().filter(|(_, change)| !is_of_git(&change.path)).any(|(path, _)| {
            if above.as_ref().is_some_and(|above| is_gits(&[above.as_slice(), path].join(&b'/'))) {
                return true;
            }
            let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
            [None].into_iter().chain(ends.map(Some)).any(|end| {
                let (folder, below) = end.map_or((&b""[..], &path[..]), |at| (&path[..at], &path[at + 1..]));
                let Repository { before, after } =
                    *folders.entry(folder).or_insert_with(|| self.repository(folder));
                (after && !before) || (before && is_gits(below))
            })
        })
    }

    /// Determines for a folder if it is a Git repository before and after the changes. A folder that cannot be listed
    /// is treated as a new repository.
    fn repository(&self, folder: &[u8]) -> Repository {
        let listed = self.workspace.folder(folder).and_then(folder::list);
        let before: BTreeSet<Vec<u8>> = match listed {
            Ok(names) => names.iter().map(|name| name.as_bytes().to_ascii_lowercase()).collect(),
            Err(e) if is_no_folder(&e) => BTreeSet::new(),
            Err(_) => return Repository { before: false, after: true },
        };
        let mut after = before.clone();
        for EntryChange { name, stays } in self.by_folder.get(folder).into_iter().flatten() {
            if *stays {
                after.insert(name.clone());
            } else {
                after.remove(name);
            }
        }
        Repository { before: is_repository(&before), after: is_repository(&after) }
    }

    /// Returns true if a change makes a link that leaves the workspace. The target of the link is followed through
    /// other links.
    fn leads_out(&self, path: &[u8], change: &Change) -> bool {
        let Some(Entry::Symlink { target }) = &change.after else { return false };
        let Some(target) = bytes_of(target) else { return true };
        let (folder, _) = folder::split(path);
        let mut at: Vec<Vec<u8>> = names(folder).map(<[u8]>::to_vec).collect();
        let mut ahead = VecDeque::new();
        let mut links = 0;
        let mut next = Some(target);
        loop {
            if let Some(target) = next.take() {
                links += 1;
                if links > limits::SYMLINKS || !self.follow(&target, &mut at, &mut ahead) {
                    return true;
                }
            }
            let Some(name) = ahead.pop_front() else { return false };
            if name == b".." {
                if at.pop().is_none() {
                    return true;
                }
                continue;
            }
            at.push(name);
            next = match self.link_at(&at.join(&b'/')) {
                Ok(target) => target,
                Err(_) => return true,
            };
            if next.is_some() {
                at.pop();
            }
        }
    }

    /// Inserts the names of a link's target before the names of the path that are still to be followed (`ahead`).
    /// Returns false if the target is an absolute path outside the workspace.
    fn follow(&self, target: &[u8], at: &mut Vec<Vec<u8>>, ahead: &mut VecDeque<Vec<u8>>) -> bool {
        let mut target = target;
        if target.starts_with(b"/") {
            let workspace = self.path.as_os_str().as_bytes();
            let Some(inside) = target.strip_prefix(workspace) else { return false };
            if !inside.is_empty() && !inside.starts_with(b"/") {
                return false;
            }
            at.clear();
            target = inside;
        }
        for name in names(target).rev() {
            ahead.push_front(name.to_vec());
        }
        true
    }

    /// Returns the target that the link at a path will have after the changes. Returns `None` if the path will not be a
    /// link.
    fn link_at(&self, path: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let entry = match self.changes.get(path) {
            Some(change) => change.after.clone(),
            None => match self.workspace.parent(path) {
                // The limit 0 avoids reading the content of a file, which is not needed here.
                Ok((folder, name)) => match observe_path(folder, name, 0)? {
                    ObservedPath::Entry(entry, _) => Some(entry),
                    ObservedPath::Nothing | ObservedPath::Special | ObservedPath::TooLarge => None,
                },
                Err(e) if is_no_folder(&e) => None,
                Err(e) => return Err(e),
            },
        };
        match entry {
            Some(Entry::Symlink { target }) => {
                bytes_of(&target).map(Some).ok_or_else(|| io::ErrorKind::InvalidData.into())
            }
            Some(Entry::File { .. } | Entry::Folder { .. }) | None => Ok(None),
        }
    }
}

/// Returns the names in a path, in order, without empty names and `.`.
fn names(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|name| !matches!(*name, b"" | b"."))
}

fn is_no_folder(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(nix::libc::ENOENT | nix::libc::ENOTDIR | nix::libc::ELOOP))
}

/// Returns true if Git treats a folder that contains these names, given in lower case, as a repository.
fn is_repository(names: &BTreeSet<Vec<u8>>) -> bool {
    let has = |wanted: &&str| names.contains(wanted.to_ascii_lowercase().as_bytes());
    BARE.iter().all(&has) || LINKED.iter().all(&has)
}

/// Returns true if a file of a repository controls what Git does. `below` is the path of the file relative to the
/// folder of the repository.
fn is_gits(below: &[u8]) -> bool {
    let below = String::from_utf8_lossy(below);
    guarded::guards([".git"].into_iter().chain(below.split('/'))).is_some()
}

/// Finds the innermost Git repository that contains the workspace, and returns the path of the workspace relative to
/// this repository. Returns `None` if no repository contains the workspace, or if the repository's folder is called
/// `.git`.
fn repository_above(workspace: &Path) -> Option<Vec<u8>> {
    let above = workspace.ancestors().skip(1).find(|folder| {
        let has = |name: &&str| fs::symlink_metadata(folder.join(name)).is_ok();
        BARE.iter().all(&has) || LINKED.iter().all(&has)
    })?;
    let is_git = above.file_name().is_some_and(|name: &OsStr| name.eq_ignore_ascii_case(".git"));
    let below = workspace.strip_prefix(above).ok().filter(|_| !is_git)?;
    Some(below.as_os_str().as_bytes().to_vec())
}
