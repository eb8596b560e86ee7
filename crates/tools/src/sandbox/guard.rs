//! Keeps what a person's own tools run by themselves from being written by commands: `.git/config`, hooks, `.envrc` and
//! the like, at every level of the workspace ([`guarded`]).
//!
//! Before a command, what is there is found and made read-only by the view. After it, what is new is renamed, so that no
//! tool finds it. Both follow no link and see nothing but the workspace.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::{fs, iter};

use holdshort_core::gate::guarded;
use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags};
use serde::{Deserialize, Serialize};

use crate::files::BARE;
use crate::limits;

/// Git itself writes these while it works for the agent; the gates ask where a command line names one.
const OF_GITS_OWN_WORK: [&str; 3] = ["rebase-merge", "rebase-apply", "sequencer"];

/// The ending of what was renamed.
const HELD: &str = "held";

/// What a walk found.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Found {
    /// Guarded files and folders. Nothing below them is listed.
    pub guarded: Vec<PathBuf>,
    /// Folders that hold a repository. Moved away, they would take what is guarded with them.
    pub repositories: Vec<PathBuf>,
}

/// Finds what is guarded below some folders.
pub(super) fn find(roots: &[PathBuf]) -> io::Result<Found> {
    let mut walk = Walk { found: Found::default(), left: limits::GUARD_ENTRIES };
    roots.iter().try_for_each(|root| walk.folder(root, &[]))?;
    Ok(walk.found)
}

struct Walk {
    found: Found,
    left: usize,
}

impl Walk {
    /// `names`: those of the folder, from the root of the walk.
    fn folder(&mut self, folder: &Path, names: &[String]) -> io::Result<()> {
        let mut entries = Vec::new();
        for entry in read(folder)? {
            self.left = self.left.checked_sub(1).ok_or_else(|| {
                io::Error::other(format!(
                    "it holds more than {} files, too many to find git's configuration among them",
                    limits::GUARD_ENTRIES
                ))
            })?;
            entries.push((entry.file_name(), entry.file_type()?.is_dir()));
        }
        let is_git = names.last().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
        let is_bare = !is_git && BARE.iter().all(|name| entries.iter().any(|(entry, _)| entry == *name));
        if is_git || is_bare {
            self.found.repositories.push(folder.to_owned());
        }
        for (name, is_folder) in entries {
            let path = folder.join(&name);
            let text = name.to_string_lossy().into_owned();
            if is_git && OF_GITS_OWN_WORK.contains(&text.as_str()) {
                continue;
            }
            let names: Vec<String> = names.iter().cloned().chain([text]).collect();
            // A bare repository is one whatever its name.
            let as_git = iter::once(".git").chain(names.last().map(String::as_str));
            let is_repository = is_folder && name.eq_ignore_ascii_case(".git");
            if !is_repository && (is_guarded(&names) || (is_bare && guarded::guards(as_git).is_some())) {
                self.found.guarded.push(path);
            } else if is_folder && !(is_git && name != "objects") && !(is_bare && name != "objects") {
                self.folder(&path, &names)?;
            }
        }
        Ok(())
    }
}

/// Whether the last of these names is guarded; those before it are not. The longest row has four names.
fn is_guarded(names: &[String]) -> bool {
    let from = names.len().saturating_sub(4);
    guarded::guards(names[from..].iter().map(String::as_str)).is_some()
}

/// What lies in a folder; nothing where it can not be read, for then nobody finds a repository there either.
fn read(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.collect(),
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
            Ok(Vec::new())
        }
        Err(e) => Err(e),
    }
}

/// Renames what is guarded and was not there before, and makes new bare repositories none. Returns the paths that it
/// took away.
pub(super) fn hold_back(roots: &[PathBuf], before: &Found) -> io::Result<Vec<PathBuf>> {
    let after = find(roots)?;
    // What was moved with its folder is a mount of the view still, and was guarded all the time.
    let is_new = |before: &[PathBuf], path: &PathBuf| !before.contains(path) && !is_mount(path);
    let as_none = |folder: PathBuf| {
        let is_git = folder.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
        if is_git { folder } else { folder.join(BARE[0]) }
    };
    let repositories = after.repositories.into_iter().filter(|path| is_new(&before.repositories, path));
    let guarded = after.guarded.into_iter().filter(|path| is_new(&before.guarded, path));
    let mut new: Vec<PathBuf> = repositories.map(as_none).chain(guarded).collect();
    // What lies in a folder that is taken away goes with it.
    new.sort();
    new.dedup_by(|inner, outer| inner.starts_with(outer));
    new.iter().try_for_each(|path| fs::rename(path, free_name(path)))?;
    Ok(new)
}

fn is_mount(path: &Path) -> bool {
    rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS)
        .is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// `config.held`, or `config.held.2` where that is taken.
fn free_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or(OsStr::new(HELD));
    let with = |ending: &str| {
        let mut name = OsString::from(name);
        name.push(".");
        name.push(ending);
        path.with_file_name(name)
    };
    iter::once(with(HELD))
        .chain((2..limits::HELD_NAMES).map(|n| with(&format!("{HELD}.{n}"))))
        .find(|path| fs::symlink_metadata(path).is_err())
        .unwrap_or_else(|| with(HELD))
}
