//! The scratch folder of a command. The server has locked the folder as long as it uses the folder.
//!
//! If a server is killed, its scratch folders remain on the disk. The next server first renames the guarded paths that
//! the commands created (*sets them aside*), and then removes these scratch folders. A folder that is locked or that
//! belongs to another user is never touched.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::guard::{Guard, GuardFindings};
use super::plan::Plan;
use super::unguarded;

const PREFIX: &str = "holdshort-";
const LOCK: &str = "lock";
const NEW_LOCK: &str = "lock.new";
/// Name of the file with the list of guarded paths (such as Git hooks) that existed before the command. The file exists
/// until the guarded paths that the command created have been renamed.
pub(super) const GUARDED: &str = "guarded.json";

/// List of the guarded paths (such as Git hooks) of a workspace, stored in the file [`GUARDED`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Note {
    workspace: PathBuf,
    pub found: GuardFindings,
}

pub(super) fn note(plan: &Plan, found: &GuardFindings) -> io::Result<()> {
    let note = Note { workspace: plan.workspace.clone(), found: found.clone() };
    fs::write(plan.guarded(), serde_json::to_vec(&note)?)
}

pub(super) fn noted(file: &Path) -> io::Result<Note> {
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

/// Temporary folder of a command, removed on drop as far as possible.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: PathBuf,
    _lock: File,
}

impl Scratch {
    pub(super) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        // The lock is taken before the lock file gets its final name. Otherwise another server could take the lock
        // first.
        let unnamed = folder.path().join(NEW_LOCK);
        let lock = File::create(&unnamed)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        fs::rename(unnamed, folder.path().join(LOCK))?;
        Ok(Self { folder: folder.keep(), _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }

    /// Prevents the removal of the command's temporary folder on drop, because the list of guarded paths in the folder
    /// is still needed.
    pub(crate) fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.folder != Path::new("") {
            remove(&self.folder);
        }
    }
}

/// Removes the temporary folder of a command or the layer of a run, with everything in it. Folders that even their
/// owner is not allowed to enter are removed too. The content is removed by paths instead of handles. This is safe,
/// because no process of a command is left that could replace a folder with a link.
pub(crate) fn remove(folder: &Path) {
    if fs::remove_dir_all(folder).is_ok() {
        return;
    }
    // Moves each folder to the top level, so that no path gets too long and no handle stays open.
    let mut flat = vec![folder.to_owned()];
    let mut at = 0;
    while let Some(here) = flat.get(at).cloned() {
        at += 1;
        for entry in fs::read_dir(here).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let _ = fs::set_permissions(&path, fs::Permissions::from_mode(0o700));
                let top = folder.join(format!("left-{}", flat.len()));
                let _ = fs::rename(&path, &top);
                flat.push(if top.exists() { top } else { path });
            } else {
                let _ = fs::remove_file(path);
            }
        }
    }
    for folder in flat.iter().rev() {
        let _ = fs::remove_dir(folder);
    }
}

/// Removes the temporary folders of killed servers, and renames the guarded paths (such as Git hooks) that their
/// commands created. Entries that cannot be removed remain. If a guarded path cannot be renamed, later commands in its
/// workspace need an approval. Blocks.
pub fn clean_up() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) || !is_left(&entry.path()) {
            continue;
        }
        match noted(&entry.path().join(GUARDED)) {
            Ok(note) if !is_set_aside(&note) => unguarded::remember(&note.workspace, entry.path()),
            _ => {
                remove(&entry.path());
            }
        }
    }
}

/// Renames the guarded paths (such as Git hooks) that a command created. Returns true if all were renamed, or if the
/// workspace no longer exists.
fn is_set_aside(note: &Note) -> bool {
    match Guard::reopen(&note.workspace, note.found.clone()) {
        Ok(guard) => guard.set_aside().is_complete(),
        Err(_) => true,
    }
}

/// Returns true if the workspace to which a list of guarded paths belongs still has guarded paths (such as Git hooks)
/// that could not be renamed. `list` is the path of the file with the list.
pub(super) fn is_unguarded(list: &Path) -> bool {
    let note = match noted(list) {
        Ok(note) => note,
        // The file is missing because another server has set the paths aside.
        Err(e) if e.kind() == io::ErrorKind::NotFound => return false,
        Err(_) => return true,
    };
    match Guard::reopen(&note.workspace, note.found) {
        Ok(guard) => guard.what_is_new().map_or(true, |new| new > 0),
        Err(_) => false,
    }
}

/// Returns true if a temporary folder belongs to this user and no process has locked it. If a folder has no lock file,
/// it belongs to another program, or is just being created.
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
