//! Prevents commands from writing guarded paths, that is, files that a person's tools run automatically: `.git/config`,
//! hooks, `.envrc` and similar files, in every folder of the workspace ([`guarded`](holdshort_command::guarded)).
//!
//! Before a command, `look` searches for existing guarded paths, and the command's view of the file system makes them
//! read-only. After the command, `set_aside` renames the guarded paths that are new. A guarded path is new if its inode
//! did not exist before the command. A path that was only moved is not new. A link is followed only to learn its
//! target. `walk` visits the folders.

mod findings;
mod walk;

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

pub(super) use findings::GuardFindings;
use findings::{EarlierFindings, Inode};
use walk::Walk;

use crate::limits;

/// A workspace whose guarded paths (such as Git hooks) are protected while a command runs.
pub(super) struct Guard {
    root: OwnedFd,
    pub found: GuardFindings,
}

/// Guarded paths (such as Git hooks) that a command created: those that were renamed, and those that could not be
/// renamed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetAside {
    /// The first guarded paths (such as Git hooks) that were renamed, up to a maximum number.
    pub renamed: Vec<Renamed>,
    pub renamed_count: usize,
    /// The first guarded paths (such as Git hooks) that could not be renamed, up to a maximum number.
    pub left: Vec<String>,
    pub left_count: usize,
    /// Reason why the search of the workspace is incomplete. `None` if the search is complete.
    pub unseen: Option<String>,
}

/// A guarded path (such as a Git hook) that was renamed, and its new name in the same folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Renamed {
    pub path: String,
    pub now: String,
}

impl SetAside {
    /// Returns true if the search of the workspace was complete and every new guarded path was renamed.
    pub(crate) fn is_complete(&self) -> bool {
        self.left_count == 0 && self.unseen.is_none()
    }

    fn renamed(&mut self, path: &Path, now: &OsStr) {
        self.renamed_count += 1;
        if self.renamed.len() < limits::SET_ASIDE_NAMED {
            let (path, now) = (path.to_string_lossy().into_owned(), now.to_string_lossy().into_owned());
            self.renamed.push(Renamed { path, now });
        }
    }

    fn left(&mut self, path: &Path) {
        self.left_count += 1;
        if self.left.len() < limits::SET_ASIDE_NAMED {
            self.left.push(path.to_string_lossy().into_owned());
        }
    }
}

impl Guard {
    /// Searches for the guarded paths (such as Git hooks) of a workspace. Fails as soon as `is_wanted` returns false,
    /// which means that the server has ended.
    pub(super) fn look(workspace: &Path, is_wanted: &dyn Fn() -> bool) -> io::Result<Self> {
        let root = opened(workspace)?;
        let mut found = GuardFindings { root: Inode::of_handle(root.as_fd())?, ..GuardFindings::default() };
        Walk::new(walk::Purpose::Look(&mut found), is_wanted).go(root.as_fd())?;
        Ok(Self { root, found })
    }

    /// Opens the workspace in which an earlier search was made. Fails if another folder is now at the path of the
    /// workspace.
    pub(super) fn reopen(workspace: &Path, found: GuardFindings) -> io::Result<Self> {
        let root = opened(workspace)?;
        if Inode::of_handle(root.as_fd())? != found.root {
            return Err(io::Error::other("the workspace was replaced by another directory"));
        }
        Ok(Self { root, found })
    }

    /// Renames guarded paths (such as Git hooks) that did not exist before the command, and disables new repositories.
    ///
    ///
    /// If one path cannot be renamed, the search of the workspace continues with the other paths. The content of a
    /// renamed folder is searched too.
    pub(super) fn set_aside(&self) -> SetAside {
        let before = EarlierFindings::from_findings(&self.found);
        let mut aside = SetAside::default();
        let walked = Walk::new(walk::Purpose::SetAside(&before, &mut aside), &|| true).go(self.root.as_fd());
        if let Err(e) = walked {
            aside.unseen = Some(e.to_string());
        }
        aside
    }

    /// Counts the paths that [`Guard::set_aside`] would rename.
    pub(super) fn what_is_new(&self) -> io::Result<usize> {
        let before = EarlierFindings::from_findings(&self.found);
        let mut now = GuardFindings::default();
        Walk::new(walk::Purpose::Look(&mut now), &|| true).go(self.root.as_fd())?;
        Ok(before.new_of(&now))
    }
}

/// Opens the folder of a workspace. Fails if a link is now at the path of the workspace.
fn opened(workspace: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(workspace, flags, Mode::empty())?)
}
