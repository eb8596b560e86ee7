//! What the stages need to know, as the one argument they pass on. Data only.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use holdshort_core::tool::SandboxLevel;
use serde::{Deserialize, Serialize};

/// Where the private temporary folder appears in the view.
pub(super) const PRIVATE_IN_VIEW: &str = "/tmp";

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    pub command: String,
    pub cwd: PathBuf,
    /// The level to reach: no more and no less.
    pub level: SandboxLevel,
    pub network: bool,
    /// Read and written.
    pub workspace: PathBuf,
    /// A fresh folder on the host; see [`Plan::private_on_host`].
    pub scratch: PathBuf,
    /// Folders outside the system's that are read, because `PATH` or a toolchain needs them.
    pub tool_folders: Vec<PathBuf>,
    /// Never read, not even where a folder above is: the data folder, the home folder.
    pub hidden: Vec<PathBuf>,
    /// The whole environment, temporary folders aside.
    pub environment: BTreeMap<String, String>,
    pub cpu_s: u64,
}

impl Plan {
    /// The command's temporary folder on the host.
    pub(crate) fn private_on_host(&self) -> PathBuf {
        self.scratch.join("private")
    }

    /// Where the view of the file system is put together.
    pub(crate) fn view_root(&self) -> PathBuf {
        self.scratch.join("view")
    }

    /// The command's temporary folder as the command sees it.
    pub(crate) fn private(&self) -> PathBuf {
        if self.has_namespaces() { PRIVATE_IN_VIEW.into() } else { self.private_on_host() }
    }

    pub(crate) fn has_namespaces(&self) -> bool {
        self.level == SandboxLevel::Full
    }

    pub(crate) fn is_hidden(&self, path: &Path) -> bool {
        self.hidden.iter().any(|hidden| path.starts_with(hidden))
    }

    pub(crate) fn hides_something_in(&self, path: &Path) -> bool {
        self.hidden.iter().any(|hidden| hidden.starts_with(path))
    }
}
