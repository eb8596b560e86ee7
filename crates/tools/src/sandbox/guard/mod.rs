//! Keeps what a person's own tools run by themselves from being written by commands: `.git/config`, hooks, `.envrc` and
//! the like, at every level of the workspace ([`guarded`](holdshort_command::guarded)).
//!
//! Before a command, [`look`] finds what is there, and the view makes it read-only. After it, [`set_aside`] renames what
//! is there and was not: a guarded path is old only if it is the same inode as before, wherever it lies now. Never
//! follows a link, except to learn where it leads. Read `walk` for how folders are gone through.

mod found;
mod walk;

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

pub(super) use found::Found;
use found::{Before, Inode};
use walk::Walk;

use crate::limits;

/// A workspace that is guarded while a command runs in it.
pub(super) struct Guard {
    root: OwnedFd,
    pub found: Found,
}

/// What became of the guarded paths that a command made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetAside {
    /// The first of those that were renamed.
    pub renamed: Vec<Renamed>,
    pub renamed_count: usize,
    /// The first of those that are still there.
    pub left: Vec<String>,
    pub left_count: usize,
    /// Why the workspace could not be looked through to the end.
    pub unseen: Option<String>,
}

/// A guarded path, and the name that it has now in its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Renamed {
    pub path: String,
    pub now: String,
}

impl SetAside {
    /// Whether nothing is left that a person's own tools might run.
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
    /// Finds what is guarded below a workspace. `is_wanted` ends the look when it says no.
    pub(super) fn look(workspace: &Path, is_wanted: &dyn Fn() -> bool) -> io::Result<Self> {
        let root = opened(workspace)?;
        let mut found = Found { root: Inode::of_handle(root.as_fd())?, ..Found::default() };
        Walk::new(walk::Purpose::Look(&mut found), is_wanted).go(root.as_fd())?;
        Ok(Self { root, found })
    }

    /// The workspace as an earlier look found it; an error if another folder has replaced it.
    pub(super) fn of(workspace: &Path, found: Found) -> io::Result<Self> {
        let root = opened(workspace)?;
        if Inode::of_handle(root.as_fd())? != found.root {
            return Err(io::Error::other("the workspace is another folder now"));
        }
        Ok(Self { root, found })
    }

    /// Renames what is guarded and was not there before, and makes new repositories none.
    ///
    /// Each path is tried, whatever became of the others. What lies in a folder that was renamed is looked through too.
    pub(super) fn set_aside(&self) -> SetAside {
        let before = Before::of(&self.found);
        let mut aside = SetAside::default();
        let walked = Walk::new(walk::Purpose::SetAside(&before, &mut aside), &|| true).go(self.root.as_fd());
        if let Err(e) = walked {
            aside.unseen = Some(e.to_string());
        }
        aside
    }

    /// What [`Guard::set_aside`] would rename, without renaming it.
    pub(super) fn what_is_new(&self) -> io::Result<usize> {
        let before = Before::of(&self.found);
        let mut now = Found::default();
        Walk::new(walk::Purpose::Look(&mut now), &|| true).go(self.root.as_fd())?;
        Ok(before.new_of(&now))
    }
}

/// A workspace's folder; an error if a link has replaced it.
fn opened(workspace: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(workspace, flags, Mode::empty())?)
}
