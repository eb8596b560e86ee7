//! The layer of a trial: what a command writes to instead of the workspace, mounted at the workspace's own path.
//!
//! Owns how a layer is made and mounted; `trial` reads it when the command has ended. The workspace is never written.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use rustix::fs::XattrFlags;
use serde::{Deserialize, Serialize};

use super::report::Report;

/// Below a folder of its own, which only this process knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Layer {
    /// An overlay (`overlayfs`): the folder holds what differs from the workspace.
    Overlay { folder: PathBuf },
    /// The folder holds all of the workspace.
    Copy { folder: PathBuf },
}

/// What every overlay is mounted with: nothing in it stands for something elsewhere, and the disk is not waited for.
const OPTIONS: &str = "redirect_dir=nofollow,metacopy=off,index=off,volatile";

/// Whose attributes an overlay keeps its notes in. Only the first kind can not be given to a file of the workspace by
/// its owner, but it takes rights in the machine's own namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notes {
    Trusted,
    User,
}

impl Notes {
    /// The attribute of a folder that hides what the workspace has in it.
    pub(crate) fn opaque(self) -> &'static str {
        match self {
            Self::Trusted => "trusted.overlay.opaque",
            Self::User => "user.overlay.opaque",
        }
    }
}

/// In the folder of an overlay: what it holds, the kernel's own working folder, and a mark for [`Notes::User`].
const UPPER: &str = "upper";
const WORK: &str = "work";
const OF_USER: &str = "user";

impl Layer {
    /// Makes the folders of an overlay that looks as the workspace does.
    pub(crate) fn overlay(folder: PathBuf, workspace: &Path) -> io::Result<Self> {
        fs::create_dir(&folder)?;
        fs::create_dir(folder.join(WORK))?;
        let layer = Self::Overlay { folder };
        fs::create_dir(layer.content())?;
        take_after(&layer.content(), workspace)?;
        Ok(layer)
    }

    /// What the command wrote, or all of its workspace.
    pub(crate) fn content(&self) -> PathBuf {
        match self {
            Self::Overlay { folder } => folder.join(UPPER),
            Self::Copy { folder } => folder.clone(),
        }
    }

    /// Where an overlay's notes are; `None` for a copy, which has none.
    pub(crate) fn notes(&self) -> Option<Notes> {
        match self {
            Self::Overlay { folder } if folder.join(OF_USER).exists() => Some(Notes::User),
            Self::Overlay { .. } => Some(Notes::Trusted),
            Self::Copy { .. } => None,
        }
    }

    /// Shows the layer at a place. Where that can not be the server is told so.
    pub(super) fn mount(&self, workspace: &Path, place: &Path) -> io::Result<()> {
        let mounted = match self {
            Self::Overlay { folder } => self.mount_overlay(folder, workspace, place),
            Self::Copy { folder } => {
                mount(Some(folder), place, NOTHING, MsFlags::MS_BIND, NOTHING).map_err(Into::into)
            }
        };
        mounted.inspect_err(|e| Report::NoLayer { why: e.to_string() }.send())
    }

    fn mount_overlay(&self, folder: &Path, workspace: &Path, place: &Path) -> io::Result<()> {
        let notes = if has_rights_of_the_machine()? { Notes::Trusted } else { Notes::User };
        if notes == Notes::User {
            File::create(folder.join(OF_USER))?;
        }
        // Without attributes the kernel mounts an overlay that fails later.
        rustix::fs::setxattr(self.content(), notes.opaque(), b"x", XattrFlags::empty())?;
        rustix::fs::removexattr(self.content(), notes.opaque())?;
        // By handle, since commas and colons in a path would have a meaning, and a path could lead elsewhere by now.
        let [lower, upper, work] = [workspace, &self.content(), &folder.join(WORK)].map(File::open);
        let (lower, upper, work) = (lower?, upper?, work?);
        let path = |handle: &File| format!("/proc/self/fd/{}", handle.as_raw_fd());
        let of_user = if notes == Notes::User { ",userxattr" } else { "" };
        let options = format!(
            "lowerdir={},upperdir={},workdir={},{OPTIONS}{of_user}",
            path(&lower),
            path(&upper),
            path(&work)
        );
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        Ok(mount(Some("holdshort"), place, Some("overlay"), flags, Some(options.as_str()))?)
    }
}

const NOTHING: Option<&str> = None;

/// Gives a folder the mode and the owner of another.
pub(crate) fn take_after(folder: &Path, of: &Path) -> io::Result<()> {
    let found = fs::metadata(of)?;
    // Only root can give it another owner; for anybody else the folder is the writer's, as the copies of files are.
    let _ = chown(folder, Some(found.uid()), Some(found.gid()));
    fs::set_permissions(folder, Permissions::from_mode(found.mode() & 0o7777))
}

/// Whether this process is in the first user namespace, whose map holds every id.
fn has_rights_of_the_machine() -> io::Result<bool> {
    let map = fs::read_to_string("/proc/self/uid_map")?;
    Ok(map.split_whitespace().eq(["0", "0", "4294967295"]))
}
