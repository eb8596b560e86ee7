//! Stores in memory which workspaces contain dangerous files: a command created a guarded path, such as a Git hook that
//! a person's tools would run, and the path could not be renamed (*set aside*). If a workspace contains such a path,
//! every later call that is allowed to write in it needs the approval of a person.
//!
//! After a restart, the server finds the same workspaces through the scratch folders that remain. This module never
//! changes a workspace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::scratch;

/// Temporary folders of commands that created guarded paths (such as Git hooks) which could not be renamed, by
/// workspace.
static LEFT: Mutex<BTreeMap<PathBuf, Vec<PathBuf>>> = Mutex::new(BTreeMap::new());

fn left() -> MutexGuard<'static, BTreeMap<PathBuf, Vec<PathBuf>>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stores the path of a command's temporary folder. This folder contains the list of guarded paths (such as Git hooks)
/// that existed before the command.
pub(crate) fn remember(workspace: &Path, folder: PathBuf) {
    left().entry(workspace.to_owned()).or_default().push(folder);
}

/// Returns true if the workspace, or one that overlaps it, still has a guarded path (such as a Git hook) that a command
/// created and that could not be renamed. The workspace is checked at every call. Forgets commands whose guarded paths
/// are gone.
pub(crate) fn is_unguarded(workspace: &Path) -> bool {
    let overlaps = |other: &Path| other.starts_with(workspace) || workspace.starts_with(other);
    let folders: Vec<(PathBuf, PathBuf)> = left()
        .iter()
        .filter(|(other, _)| overlaps(other))
        .flat_map(|(other, folders)| folders.iter().map(|folder| (other.clone(), folder.clone())))
        .collect();
    let mut still = false;
    for (workspace, folder) in folders {
        if scratch::is_unguarded(&folder.join(scratch::GUARDED)) {
            still = true;
            continue;
        }
        scratch::remove(&folder);
        if let Some(folders) = left().get_mut(&workspace) {
            folders.retain(|other| *other != folder);
        }
    }
    still
}
