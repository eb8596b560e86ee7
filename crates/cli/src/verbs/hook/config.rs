//! Configuration of one installed hook: `hooks/CLI.json` in the data folder, readable only by its owner.
//!
//! `hook install` writes the file, `hook run` reads it. The file contains no secret: `key_file` names the file with the
//! secret of the agent key.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use holdshort_http::secret_file;
use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::coding_cli::CodingCli;
use super::files;
use crate::exit::usage;
use crate::limits::HOOK_FILE_BYTES;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookConfig {
    pub cli: CodingCli,
    /// Address of the server that decides.
    pub server: Url,
    /// File with the secret of the agent key.
    pub key_file: PathBuf,
    /// Folder in which the agent works, fixed at the installation.
    pub root: PathBuf,
    pub root_identity: RootIdentity,
    /// Milliseconds after which the coding agent stops waiting for the hook.
    pub timeout_ms: u64,
    /// Absolute path of this program.
    pub program: PathBuf,
    /// Files and folders that no tool of the agent may read or change.
    pub protected: Vec<PathBuf>,
    /// True if the server may try commands of the agent: the agent key names the root as its folder.
    #[serde(default)]
    pub tries: bool,
}

/// Device and inode of the root. A folder that replaced the root has another identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RootIdentity {
    pub device: u64,
    pub inode: u64,
}

impl RootIdentity {
    /// Returns the identity of an existing folder.
    pub(crate) fn of_folder(root: &Path) -> std::io::Result<Self> {
        let found = std::fs::metadata(root)?;
        Ok(Self { device: found.dev(), inode: found.ino() })
    }
}

/// Reads a configuration. Refuses a file that other users can read.
pub(crate) fn read(path: &Path) -> anyhow::Result<HookConfig> {
    let bytes = secret_file::read(path, HOOK_FILE_BYTES)
        .map_err(|error| usage(format!("{} {error}", path.display())))?;
    serde_json::from_slice(&bytes).with_context(|| format!("{} is not a hook configuration", path.display()))
}

/// Replaces the configuration. After a crash, the old file or the new file is complete.
pub(crate) fn write(path: &Path, config: &HookConfig) -> anyhow::Result<()> {
    files::replace_private(path, &serde_json::to_vec_pretty(config)?)
}
