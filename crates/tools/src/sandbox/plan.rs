//! The data that the stages of the sandbox need. The data is passed from stage to stage as one argument.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use holdshort_command::guarded;
use holdshort_core::tool::{CommandEffect, SandboxLevel};
use serde::{Deserialize, Serialize};

use super::layer::Layer;

/// Path of the command's temporary folder, if the command has a view of the file system of its own.
pub(super) const PRIVATE_IN_VIEW: &str = "/tmp";

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    pub command: String,
    pub cwd: PathBuf,
    /// The sandbox level that is applied to the command, neither a lower nor a higher one.
    pub level: SandboxLevel,
    pub network: bool,
    /// The workspace, which the command can always read. `effect` determines which paths in it the command can write.
    pub workspace: PathBuf,
    pub effect: CommandEffect,
    /// Layer that receives the command's writes. `None` if the command is not a trial.
    pub layer: Option<Layer>,
    /// Folder with the earlier Git-ignored files of the run (its layer), which is mounted over the workspace. The
    /// command never writes to this folder.
    pub run_layer: Option<PathBuf>,
    /// Identities of the folders that were inspected before the command was approved. If another folder is now at one
    /// of these paths, the command does not run.
    pub identities: Vec<Identity>,
    /// New, empty folder of the command on the host; see [`Plan::private_on_host`].
    pub scratch: PathBuf,
    /// Folders outside the system folders that the command can read, because `PATH` or a toolchain needs them.
    pub tool_folders: Vec<PathBuf>,
    /// Folders that the command can never read, even if they are inside a readable folder: the data folder and the home
    /// folder.
    pub hidden: Vec<PathBuf>,
    /// All environment variables of the command except `HOME` and `TMPDIR`.
    pub environment: BTreeMap<String, String>,
    pub cpu_s: u64,
    /// Maximum number of bytes that the command may write to disks in total.
    pub write_bytes: u64,
}

/// Identity of the folder at a path: the device and the inode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Identity {
    pub path: PathBuf,
    pub device: u64,
    pub inode: u64,
}

impl Identity {
    /// Reads the current device and inode of a folder. Follows links.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self { path: path.to_owned(), device: found.dev(), inode: found.ino() })
    }

    pub(super) fn check(&self) -> io::Result<()> {
        self.compare(&fs::metadata(&self.path)?)
    }

    /// Compares the folder's identity with the identity of the current working directory. No path is used, because
    /// another folder may be at the path by now.
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
    /// Returns the path on the host of the command's temporary folder.
    pub(crate) fn private_on_host(&self) -> PathBuf {
        self.scratch.join("private")
    }

    /// Returns the path of the file with the list of guarded paths (such as Git hooks). The first stage of the sandbox
    /// writes the file, and the second stage reads it. If the first stage was killed before it renamed new guarded
    /// paths, the next server reads the file.
    pub(super) fn guarded(&self) -> PathBuf {
        self.scratch.join(super::scratch::GUARDED)
    }

    /// Returns the folder in which the command's view of the file system is built.
    pub(crate) fn view_root(&self) -> PathBuf {
        self.scratch.join("view")
    }

    /// Returns the path of the command's temporary folder as the command sees it.
    pub(crate) fn private(&self) -> PathBuf {
        if self.has_namespaces() { PRIVATE_IN_VIEW.into() } else { self.private_on_host() }
    }

    pub(super) fn written(&self) -> Vec<PathBuf> {
        match &self.effect {
            CommandEffect::Reads => Vec::new(),
            // A guarded path is never writable with this effect, even if `places` names it.
            CommandEffect::Writes { places } => places
                .iter()
                .filter(|place| guarded::guards(place.split('/')).is_none())
                .map(|place| self.join_workspace(place))
                .collect(),
            CommandEffect::Workspace | CommandEffect::Guarded => vec![self.workspace.clone()],
        }
    }

    /// Returns true if the command may write in the workspace, or in some of its paths, but not to guarded paths (such
    /// as Git hooks).
    pub(crate) fn is_guarded(&self) -> bool {
        match &self.effect {
            CommandEffect::Reads | CommandEffect::Guarded => false,
            CommandEffect::Writes { .. } | CommandEffect::Workspace => true,
        }
    }

    /// Returns true if sockets and pipes in the workspace must be made unreachable for the command.
    ///
    /// In a trial, the command cannot reach a process outside through a socket or pipe, because the files that it sees
    /// have other inodes. A command that is only allowed to read has no Unix sockets (`seccomp`) and cannot write to a
    /// pipe (`landlock`), unless the workspace is inside the command's temporary folder.
    pub(super) fn closes_channels(&self) -> bool {
        let is_reader = self.effect == CommandEffect::Reads && !self.workspace.starts_with(self.private());
        self.has_namespaces() && !self.network && self.layer.is_none() && !is_reader
    }

    /// Returns true if the command sees the workspace through a layer. The identities of folders in a layer differ from
    /// the identities of the same folders in the workspace.
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
