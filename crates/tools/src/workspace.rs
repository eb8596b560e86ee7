//! The workspace: one folder, which is opened once per run and then used through its handle.
//!
//! This module checks that neither the workspace nor the data folder contains the other. Files are opened through this
//! handle, never by a path.

use std::path::{Path, PathBuf};
use std::{fs, io};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

/// Reason why a folder cannot be a workspace.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the workspace `{path}` cannot be opened; name an existing directory that you may access")]
    Unreachable { path: PathBuf, source: io::Error },
    #[error("the workspace `{path}` is not a directory; name the directory that the agent works in")]
    NotAFolder { path: PathBuf },
    #[error("the path of the workspace `{path}` is not UTF-8; choose another directory")]
    NotUtf8 { path: PathBuf },
    #[error("the data folder `{path}` was not found; start the server once, or name another data folder")]
    DataFolder { path: PathBuf, source: io::Error },
    #[error(
        "the workspace `{workspace}` and the data folder `{data}` overlap; agents must not reach the journal: choose another workspace or data folder"
    )]
    Overlap { workspace: PathBuf, data: PathBuf },
}

/// A folder in which tools work.
#[derive(Debug)]
pub struct Workspace {
    path: String,
    dir: Dir,
}

impl Workspace {
    /// Opens a folder as a workspace. The paths of the workspace and of the data folder are first canonicalised.
    /// Returns an error if one folder contains the other.
    pub fn open(path: &Path, data_dir: &Path) -> Result<Self, Error> {
        let unreachable = |source| Error::Unreachable { path: path.to_owned(), source };
        let canonical = fs::canonicalize(path).map_err(unreachable)?;
        if !fs::metadata(&canonical).map_err(unreachable)?.is_dir() {
            return Err(Error::NotAFolder { path: canonical });
        }
        let data = fs::canonicalize(data_dir)
            .map_err(|source| Error::DataFolder { path: data_dir.to_owned(), source })?;
        if canonical.starts_with(&data) || data.starts_with(&canonical) {
            return Err(Error::Overlap { workspace: canonical, data });
        }
        let dir = Dir::open_ambient_dir(&canonical, ambient_authority()).map_err(unreachable)?;
        let path = canonical
            .into_os_string()
            .into_string()
            .map_err(|path| Error::NotUtf8 { path: PathBuf::from(path) })?;
        Ok(Self { path, dir })
    }

    /// Opens the folder with a run's Git-ignored files (its layer), so that file tools can read it like a workspace.
    pub(crate) fn open_layer(content: &Path) -> Option<Self> {
        let path = content.to_str()?.to_owned();
        let dir = Dir::open_ambient_dir(content, ambient_authority()).ok()?;
        Some(Self { path, dir })
    }

    /// Returns the canonical path of the workspace.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the open handle of the workspace's folder.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }
}
