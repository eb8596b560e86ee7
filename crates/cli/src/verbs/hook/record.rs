//! Record of an installation: `hooks/CLI.installed.json` in the data folder, readable only by its owner.
//!
//! `hook uninstall` undoes the recorded change. `hook status` compares the present state with the record. `hook run` never reads it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use holdshort_core::digest::Digest;
use holdshort_http::secret_file;
use serde::{Deserialize, Serialize};

use super::coding_cli::CodingCli;
use super::files;
use super::settings::Step;
use super::versions::Version;
use crate::exit::usage;
use crate::limits::HOOK_FILE_BYTES;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InstallRecord {
    pub cli: CodingCli,
    /// True for `--user`: the root is the home folder, and the settings are below it.
    pub is_for_user: bool,
    pub settings: PathBuf,
    /// Command line of the hook in the settings.
    pub command: String,
    pub version: Version,
    /// SHA-256 of this program at the installation.
    pub program_digest: Digest,
    /// The agent key. Absent while the key is being created.
    pub key: Option<InstalledKey>,
    pub change: SettingsChange,
    /// Command lines of other hooks before the same tools that the person accepted.
    pub accepted_hooks: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InstalledKey {
    pub id: String,
    pub name: String,
    /// Folder in which the server may try commands of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

/// Change of the settings that an installation made, and with which it is undone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingsChange {
    /// SHA-256 of the settings after the change. While the settings are unchanged, the steps undo it byte by byte.
    pub after: Option<Digest>,
    /// Inserted texts, in the order of their insertion.
    pub steps: Vec<Step>,
    /// Lists and objects that the change created, such as `hooks` and `hooks/PreToolUse`.
    pub created: Vec<String>,
    /// Files and folders that the change created, the outermost first.
    pub created_paths: Vec<PathBuf>,
}

/// Reads a record. `None` if the hook is not installed.
pub(crate) fn read(path: &Path) -> anyhow::Result<Option<InstallRecord>> {
    let bytes = match secret_file::read(path, HOOK_FILE_BYTES) {
        Ok(bytes) => bytes,
        Err(secret_file::Error::Io(error)) if files::is_missing(&error) => return Ok(None),
        Err(error) => return Err(usage(format!("{} {error}", path.display()))),
    };
    let record = serde_json::from_slice(&bytes)
        .with_context(|| format!("{} does not describe an installation", path.display()))?;
    Ok(Some(record))
}

pub(crate) fn write(path: &Path, record: &InstallRecord) -> anyhow::Result<()> {
    files::replace_private(path, &serde_json::to_vec_pretty(record)?)
}
