//! The data that the stages need, passed on as one argument.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use holdshort_command::guarded;
use holdshort_core::tool::{CommandEffect, SandboxLevel};
use serde::{Deserialize, Serialize};

use super::layer::Layer;

/// Path of the private temporary folder in the view.
pub(super) const PRIVATE_IN_VIEW: &str = "/tmp";

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    pub command: String,
    pub cwd: PathBuf,
    /// Exact level to reach.
    pub level: SandboxLevel,
    pub network: bool,
    /// Readable folder. `effect` says how far it is writable.
    pub workspace: PathBuf,
    pub effect: CommandEffect,
    /// Layer that receives the command's writes in a trial.
    pub layer: Option<Layer>,
    /// Layer of the run: a folder that is shown over the workspace and never written.
    pub run_layer: Option<PathBuf>,
    /// Folders that were inspected before. The command does not run if another folder has replaced one of them.
    pub identities: Vec<Identity>,
    /// Fresh folder on the host; see [`Plan::private_on_host`].
    pub scratch: PathBuf,
    /// Readable folders outside the system's, because `PATH` or a toolchain needs them.
    pub tool_folders: Vec<PathBuf>,
    /// Folders that are never readable, even below a readable one: the data folder, the home folder.
    pub hidden: Vec<PathBuf>,
    /// The whole environment except `HOME` and `TMPDIR`.
    pub environment: BTreeMap<String, String>,
    pub cpu_s: u64,
    /// Bytes that the command may write to disks in total.
    pub write_bytes: u64,
}

/// Identity of the folder at a path: its device and inode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Identity {
    pub path: PathBuf,
    pub device: u64,
    pub inode: u64,
}

impl Identity {
    /// Reads the current identity of a folder. Follows links.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self { path: path.to_owned(), device: found.dev(), inode: found.ino() })
    }

    pub(super) fn check(&self) -> io::Result<()> {
        self.compare(&fs::metadata(&self.path)?)
    }

    /// Compares it with the working directory of this process, whatever its path is now.
    pub(super) fn check_here(&self) -> io::Result<()> {
        self.compare(&fs::metadata(".")?)
    }

    fn compare(&self, found: &fs::Metadata) -> io::Result<()> {
        if (found.dev(), found.ino()) == (self.device, self.inode) {
            return Ok(());
        }
        Err(io::Error::other(format!("`{}` was replaced by another directory", self.path.display())))
    }
}

impl Plan {
    /// Returns the command's temporary folder on the host.
    pub(crate) fn private_on_host(&self) -> PathBuf {
        self.scratch.join("private")
    }

    /// Returns the path of the list of guarded paths, which the first stage writes. The second stage reads it. The next
    /// server reads it too, if this stage was killed before it set aside new guarded paths.
    pub(super) fn guarded(&self) -> PathBuf {
        self.scratch.join(super::scratch::GUARDED)
    }

    /// Returns the folder where the view of the file system is built.
    pub(crate) fn view_root(&self) -> PathBuf {
        self.scratch.join("view")
    }

    /// Returns the command's temporary folder as the command sees it.
    pub(crate) fn private(&self) -> PathBuf {
        if self.has_namespaces() { PRIVATE_IN_VIEW.into() } else { self.private_on_host() }
    }

    /// Returns the paths that the command may write in the workspace.
    pub(super) fn written(&self) -> Vec<PathBuf> {
        match &self.effect {
            CommandEffect::Reads => Vec::new(),
            // With this effect a guarded path is never writable, even if it is named as a place.
            CommandEffect::Writes { places } => places
                .iter()
                .filter(|place| guarded::guards(place.split('/')).is_none())
                .map(|place| self.join_workspace(place))
                .collect(),
            CommandEffect::Workspace | CommandEffect::Guarded => vec![self.workspace.clone()],
        }
    }

    /// Returns true if the command may write, but not to guarded paths.
    pub(crate) fn is_guarded(&self) -> bool {
        match &self.effect {
            CommandEffect::Reads | CommandEffect::Guarded => false,
            CommandEffect::Writes { .. } | CommandEffect::Workspace => true,
        }
    }

    /// Returns true if the command must not reach sockets and pipes that others left in the workspace.
    ///
    /// A layer has its own inodes, so no connection leads through it. A command that only reads has no Unix sockets
    /// (`seccomp`) and no right to write to a pipe (`landlock`), unless the workspace lies in its temporary folder.
    pub(super) fn closes_channels(&self) -> bool {
        let is_reader = self.effect == CommandEffect::Reads && !self.workspace.starts_with(self.private());
        self.has_namespaces() && !self.network && self.layer.is_none() && !is_reader
    }

    /// Returns true if the command sees the workspace through a layer, whose folders have other identities.
    pub(super) fn shows_a_layer(&self) -> bool {
        self.has_namespaces() && (self.layer.is_some() || self.run_layer.is_some())
    }

    fn join_workspace(&self, place: &str) -> PathBuf {
        if place == "." { self.workspace.clone() } else { self.workspace.join(place) }
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
