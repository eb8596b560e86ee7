//! Folders that are created before a run starts, and deleted if the run does not start.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders that were created for a run. Dropping the value deletes the empty folders, unless the run has started.
#[derive(Debug, Default)]
#[must_use]
pub struct MadeFolders(Vec<PathBuf>);

impl MadeFolders {
    /// Creates a folder and its missing parents, and records which of them were created.
    pub fn make(&mut self, folder: &Path) -> io::Result<()> {
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let missing: Vec<&Path> = folder.ancestors().take_while(is_missing).collect();
        self.0.extend(missing.into_iter().rev().map(Path::to_owned));
        fs::create_dir_all(folder)
    }

    /// Keeps the folders that were created for a run, because the run has started.
    pub(super) fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        for folder in self.0.iter().rev() {
            // `remove_dir` fails for a folder that is not empty, so such a folder stays.
            let _ = fs::remove_dir(folder);
        }
    }
}
