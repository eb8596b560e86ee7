//! What the stages need to know, as the one argument they pass on. Data only.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use holdshort_command::guarded;
use holdshort_core::tool::{CommandEffect, SandboxLevel};
use serde::{Deserialize, Serialize};

use super::layer::Layer;

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
    /// Read; written as far as `effect` says.
    pub workspace: PathBuf,
    pub effect: CommandEffect,
    /// Where the command writes instead of the workspace: a trial.
    pub layer: Option<Layer>,
    /// Folder that is shown over the workspace and never written: the layer of the run.
    pub run_layer: Option<PathBuf>,
    /// The folders that were looked at before: another one under the same name stops the command.
    pub identities: Vec<Identity>,
    /// A fresh folder on the host; see [`Plan::private_on_host`].
    pub scratch: PathBuf,
    /// Folders outside the system's that are read, because `PATH` or a toolchain needs them.
    pub tool_folders: Vec<PathBuf>,
    /// Never read, not even where a folder above is: the data folder, the home folder.
    pub hidden: Vec<PathBuf>,
    /// The whole environment, temporary folders aside.
    pub environment: BTreeMap<String, String>,
    pub cpu_s: u64,
    /// Bytes that the command may write to disks altogether.
    pub write_bytes: u64,
}

/// Which folder stands at a path: its device and inode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Identity {
    pub path: PathBuf,
    pub device: u64,
    pub inode: u64,
}

impl Identity {
    /// Looks at a folder now, through links.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self { path: path.to_owned(), device: found.dev(), inode: found.ino() })
    }

    pub(super) fn check(&self) -> io::Result<()> {
        self.compare(&fs::metadata(&self.path)?)
    }

    /// Compares it with the working directory of this process, whatever path that has by now.
    pub(super) fn check_here(&self) -> io::Result<()> {
        self.compare(&fs::metadata(".")?)
    }

    fn compare(&self, found: &fs::Metadata) -> io::Result<()> {
        if (found.dev(), found.ino()) == (self.device, self.inode) {
            return Ok(());
        }
        Err(io::Error::other(format!("`{}` is another folder now", self.path.display())))
    }
}

impl Plan {
    /// The command's temporary folder on the host.
    pub(crate) fn private_on_host(&self) -> PathBuf {
        self.scratch.join("private")
    }

    /// Where the first stage writes down what is guarded: for the second, and for the next start of a server, should
    /// this stage be killed before it set aside what was made.
    pub(super) fn guarded(&self) -> PathBuf {
        self.scratch.join(super::scratch::GUARDED)
    }

    /// Where the view of the file system is put together.
    pub(crate) fn view_root(&self) -> PathBuf {
        self.scratch.join("view")
    }

    /// The command's temporary folder as the command sees it.
    pub(crate) fn private(&self) -> PathBuf {
        if self.has_namespaces() { PRIVATE_IN_VIEW.into() } else { self.private_on_host() }
    }

    /// The paths that the command may write in the workspace.
    pub(super) fn written(&self) -> Vec<PathBuf> {
        match &self.effect {
            CommandEffect::Reads => Vec::new(),
            // What is guarded is not written with this effect, whoever names it as a place.
            CommandEffect::Writes { places } => places
                .iter()
                .filter(|place| guarded::guards(place.split('/')).is_none())
                .map(|place| self.place(place))
                .collect(),
            CommandEffect::Workspace | CommandEffect::Guarded => vec![self.workspace.clone()],
        }
    }

    /// Whether the command may write, but not what is guarded.
    pub(crate) fn is_guarded(&self) -> bool {
        match &self.effect {
            CommandEffect::Reads | CommandEffect::Guarded => false,
            CommandEffect::Writes { .. } | CommandEffect::Workspace => true,
        }
    }

    /// Returns true if sockets and pipes that others left in the workspace are closed to the command.
    ///
    /// A layer has inodes of its own, so no connection leads through it. A command that only reads has no Unix sockets
    /// (`seccomp`) and no right to write to a pipe (`landlock`), unless the workspace lies in its temporary folder.
    pub(super) fn closes_channels(&self) -> bool {
        let is_reader = self.effect == CommandEffect::Reads && !self.workspace.starts_with(self.private());
        self.has_namespaces() && !self.network && self.layer.is_none() && !is_reader
    }

    /// Returns true if the command sees the workspace through a layer, whose folders are others.
    pub(super) fn shows_a_layer(&self) -> bool {
        self.has_namespaces() && (self.layer.is_some() || self.run_layer.is_some())
    }

    fn place(&self, place: &str) -> PathBuf {
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
