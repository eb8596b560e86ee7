//! Workspaces in which a command left guarded paths that could not be set aside. Each call that may write there asks a
//! person.
//!
//! The list belongs to the process. The next server finds the same workspaces in the scratch folders that remain.
//! Must never change a workspace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::scratch;

/// Scratch folders of such commands, by workspace.
static LEFT: Mutex<BTreeMap<PathBuf, Vec<PathBuf>>> = Mutex::new(BTreeMap::new());

fn left() -> MutexGuard<'static, BTreeMap<PathBuf, Vec<PathBuf>>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers a command's scratch folder, which holds the list of paths that were guarded before it.
pub(crate) fn remember(workspace: &Path, folder: PathBuf) {
    left().entry(workspace.to_owned()).or_default().push(folder);
}

/// Returns true if a guarded path that could not be set aside still exists. Checks each time, and forgets what is gone.
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
