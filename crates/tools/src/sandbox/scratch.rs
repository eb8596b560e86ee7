//! The scratch folder of each command. A lock holds it for as long as its server lives.
//!
//! The next server removes a folder that a killed server left, after setting aside what the command made of guarded
//! names. Never touches a folder that is locked, or that belongs to another user.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::guard::{Found, Guard};
use super::plan::Plan;
use super::unguarded;

const PREFIX: &str = "holdshort-";
const LOCK: &str = "lock";
const NEW_LOCK: &str = "lock.new";
/// What was guarded before the command; there until what the command made is set aside.
pub(super) const GUARDED: &str = "guarded.json";

/// The content of that file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Note {
    workspace: PathBuf,
    pub found: Found,
}

pub(super) fn note(plan: &Plan, found: &Found) -> io::Result<()> {
    let note = Note { workspace: plan.workspace.clone(), found: found.clone() };
    fs::write(plan.guarded(), serde_json::to_vec(&note)?)
}

pub(super) fn noted(file: &Path) -> io::Result<Note> {
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

/// A folder that goes when this is dropped. What can not be taken away stays.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: PathBuf,
    _lock: File,
}

impl Scratch {
    pub(super) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        // Held before it has its name, so that nobody finds it free.
        let unnamed = folder.path().join(NEW_LOCK);
        let lock = File::create(&unnamed)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        fs::rename(unnamed, folder.path().join(LOCK))?;
        Ok(Self { folder: folder.keep(), _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }

    /// Leaves the folder, for its list of what was guarded is still needed.
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

/// Removes a scratch folder or the layer of a run, with folders that their owner may not enter, and however deep they are. No process of a
/// command is left that could exchange one of them for a link.
pub(crate) fn remove(folder: &Path) {
    if fs::remove_dir_all(folder).is_ok() {
        return;
    }
    // Each folder is brought to the top, so that no path is too long and none of them is held open.
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

/// Takes away what servers left that were killed, and sets aside what their commands made of guarded names. Blocks;
/// what can not be taken away stays, and where something can not be set aside commands ask.
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

/// A workspace that is gone needs nothing.
fn is_set_aside(note: &Note) -> bool {
    match Guard::of(&note.workspace, note.found.clone()) {
        Ok(guard) => guard.set_aside().is_complete(),
        Err(_) => true,
    }
}

/// Whether a command left something in the workspace of such a list that could not be set aside.
pub(super) fn is_unguarded(list: &Path) -> bool {
    let note = match noted(list) {
        Ok(note) => note,
        // Another server has set it aside.
        Err(e) if e.kind() == io::ErrorKind::NotFound => return false,
        Err(_) => return true,
    };
    match Guard::of(&note.workspace, note.found) {
        Ok(guard) => guard.what_is_new().map_or(true, |new| new > 0),
        Err(_) => false,
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
