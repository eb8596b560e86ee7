//! The layer of a trial: a folder that receives the writes of a command, and that the command sees at the path of the
//! workspace.
//!
//! This module creates and mounts a layer. `trial` reads the layer after the command has ended. This module never
//! writes to the workspace.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use rustix::fs::XattrFlags;
use serde::{Deserialize, Serialize};

use super::report::Report;

/// A layer that receives the writes of a trial, in a folder whose path only this process knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Layer {
    /// A layer that is an overlay (`overlayfs`): the folder contains only the differences from the workspace.
    Overlay { folder: PathBuf },
    /// A layer that is a copy: the folder contains the whole workspace.
    Copy { folder: PathBuf },
}

/// Mount options of every overlay. With these options, every file in the overlay is complete: no part of its data is
/// outside the overlay. The kernel does not sync the overlay to disk.
const OPTIONS: &str = "redirect_dir=nofollow,metacopy=off,index=off,volatile";

/// Kind of extended attributes in which an overlay stores its marks, for example that a folder hides the content of the
/// same folder in the workspace. `Trusted` attributes are safer, because the owner of a file in the workspace cannot
/// set them. They require the rights of the first user namespace. Without these rights, `User` attributes are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notes {
    Trusted,
    User,
}

impl Notes {
    fn of_this_process() -> io::Result<Self> {
        Ok(if has_rights_of_the_machine()? { Self::Trusted } else { Self::User })
    }

    /// Returns the mount option that selects the overlay's extended attributes.
    fn option(self) -> &'static str {
        match self {
            Self::Trusted => "",
            Self::User => ",userxattr",
        }
    }

    /// Returns the name of the extended attribute that marks a folder of an overlay as opaque. An opaque folder hides
    /// the content of the same folder in the workspace.
    pub(crate) fn opaque(self) -> &'static str {
        match self {
            Self::Trusted => "trusted.overlay.opaque",
            Self::User => "user.overlay.opaque",
        }
    }
}

/// Names in the folder of an overlay. [`UPPER`] is the folder with the content of the overlay, and [`WORK`] is the
/// kernel's working folder. [`OF_USER`] is an empty file whose presence means [`Notes::User`].
const UPPER: &str = "upper";
const WORK: &str = "work";
const OF_USER: &str = "user";

impl Layer {
    /// Makes the folders of an overlay, with the mode and the owner of the workspace folder.
    pub(crate) fn overlay(folder: PathBuf, workspace: &Path) -> io::Result<Self> {
        fs::create_dir(&folder)?;
        fs::create_dir(folder.join(WORK))?;
        let layer = Self::Overlay { folder };
        fs::create_dir(layer.content())?;
        take_after(&layer.content(), workspace)?;
        Ok(layer)
    }

    /// Returns the folder of the layer that receives the command's writes. In a copy, this folder contains the whole
    /// workspace.
    pub(crate) fn content(&self) -> PathBuf {
        match self {
            Self::Overlay { folder } => folder.join(UPPER),
            Self::Copy { folder } => folder.clone(),
        }
    }

    /// Returns the kind of extended attributes in which an overlay stores its marks. Returns `None` for a copy, because
    /// a copy has no marks.
    pub(crate) fn notes(&self) -> Option<Notes> {
        match self {
            Self::Overlay { folder } if folder.join(OF_USER).exists() => Some(Notes::User),
            Self::Overlay { .. } => Some(Notes::Trusted),
            Self::Copy { .. } => None,
        }
    }

    /// Mounts the layer of a trial at a path. If the mount fails, reports to the server that no layer can be made in
    /// this workspace.
    pub(super) fn mount(&self, lower: Lower<'_>, place: &Path) -> io::Result<()> {
        let mounted = match self {
            Self::Overlay { folder } => self.mount_overlay(folder, lower, place),
            Self::Copy { folder } => {
                mount(Some(folder), place, NOTHING, MsFlags::MS_BIND, NOTHING).map_err(Into::into)
            }
        };
        mounted.inspect_err(|e| Report::NoLayer { why: e.to_string() }.send())
    }

    fn mount_overlay(&self, folder: &Path, lower: Lower<'_>, place: &Path) -> io::Result<()> {
        let notes = Notes::of_this_process()?;
        if notes == Notes::User {
            File::create(folder.join(OF_USER))?;
        }
        // Checks that extended attributes can be set. Without this check the kernel would mount an overlay whose
        // operations fail later.
        rustix::fs::setxattr(self.content(), notes.opaque(), b"x", XattrFlags::empty())?;
        rustix::fs::removexattr(self.content(), notes.opaque())?;
        // Mounts by handle. In a path, the kernel would interpret commas and colons, and the path could have been
        // exchanged.
        let [upper, work] = [self.content(), folder.join(WORK)].map(File::open);
        let (upper, work) = (upper?, work?);
        let opened = lower.open()?;
        let options = format!(
            "lowerdir={},upperdir={},workdir={},{OPTIONS}{}",
            lower_folders(&opened),
            handle(&upper),
            handle(&work),
            notes.option()
        );
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        Ok(mount(Some("holdshort"), place, Some("overlay"), flags, Some(options.as_str()))?)
    }
}

/// Folders that the layer of a trial covers, from top to bottom: the layer of the run if it exists, and the workspace.
#[derive(Clone, Copy)]
pub(super) struct Lower<'a> {
    pub run_layer: Option<&'a Path>,
    pub workspace: &'a Path,
}

impl Lower<'_> {
    fn open(self) -> io::Result<Vec<File>> {
        self.run_layer.into_iter().chain([self.workspace]).map(File::open).collect()
    }

    /// Mounts the workspace, with the layer of the run over it, read-only at a path.
    pub(super) fn mount_read_only(self, place: &Path) -> io::Result<()> {
        let opened = self.open()?;
        let notes = Notes::of_this_process()?;
        let options = format!(
            "lowerdir={},redirect_dir=nofollow,metacopy=off{}",
            lower_folders(&opened),
            notes.option()
        );
        let flags = MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        Ok(mount(Some("holdshort"), place, Some("overlay"), flags, Some(options.as_str()))?)
    }
}

fn lower_folders(opened: &[File]) -> String {
    opened.iter().map(handle).collect::<Vec<_>>().join(":")
}

/// Returns a path that refers to an open folder through its handle.
fn handle(folder: &File) -> String {
    format!("/proc/self/fd/{}", folder.as_raw_fd())
}

const NOTHING: Option<&str> = None;

/// Gives a folder the mode and the owner of another folder.
pub(crate) fn take_after(folder: &Path, of: &Path) -> io::Result<()> {
    let found = fs::metadata(of)?;
    // Only root can set another user as the owner, so a failure is ignored.
    let _ = chown(folder, Some(found.uid()), Some(found.gid()));
    fs::set_permissions(folder, Permissions::from_mode(found.mode() & 0o7777))
}

/// Returns true if this process is in the first user namespace of the machine, whose id map contains every id.
fn has_rights_of_the_machine() -> io::Result<bool> {
    let map = fs::read_to_string("/proc/self/uid_map")?;
    Ok(map.split_whitespace().eq(["0", "0", "4294967295"]))
}
