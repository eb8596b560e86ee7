//! Folders that are made before a run starts, and taken away again where it does not.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders that were made for a run. Those that are empty go again where it does not start.
#[derive(Debug, Default)]
#[must_use]
pub struct MadeFolders(Vec<PathBuf>);

impl MadeFolders {
    /// Makes a folder, and those that it lies in.
    pub fn make(&mut self, folder: &Path) -> io::Result<()> {
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let missing: Vec<&Path> = folder.ancestors().take_while(is_missing).collect();
        self.0.extend(missing.into_iter().rev().map(Path::to_owned));
        fs::create_dir_all(folder)
    }

    /// The run has started.
    pub(super) fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        for folder in self.0.iter().rev() {
            // One that is not empty stays.
            let _ = fs::remove_dir(folder);
        }
    }
}
