//! Folders below a root folder. Each folder is opened name by name, starting at the handle of the root folder, without
//! following a link.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{Dir, Mode, OFlags};

const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Handle of an open folder, such as the workspace, to which paths are relative.
#[derive(Debug)]
pub(crate) struct Root(OwnedFd);

impl Root {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(path, FLAGS, Mode::empty())?))
    }

    /// Reopens the folder to which an open handle refers. The handle may be a path-only handle (`O_PATH`).
    pub(crate) fn from_handle(handle: impl AsFd) -> io::Result<Self> {
        Ok(Self(rustix::fs::openat(handle, ".", FLAGS, Mode::empty())?))
    }

    /// Opens the folder at a path that contains only plain names, relative to the root folder. The path `""` is the
    /// root folder itself.
    pub(crate) fn folder(&self, path: &[u8]) -> io::Result<OwnedFd> {
        let mut folder = self.0.try_clone()?;
        for name in names(path) {
            folder = open(&folder, name)?;
        }
        Ok(folder)
    }

    /// Opens the parent folder of a path, and returns it with the last name of the path.
    pub(crate) fn parent<'a>(&self, path: &'a [u8]) -> io::Result<(OwnedFd, &'a OsStr)> {
        let (folder, name) = split(path);
        Ok((self.folder(folder)?, name))
    }
}

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

pub(crate) fn open(folder: impl AsFd, name: &OsStr) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(folder, name, FLAGS, Mode::empty())?)
}

pub(crate) fn list(folder: impl AsFd) -> io::Result<Vec<OsString>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            found.push(OsStr::from_bytes(name).to_owned());
        }
    }
    found.sort();
    Ok(found)
}

pub(crate) fn split(path: &[u8]) -> (&[u8], &OsStr) {
    let at = path.iter().rposition(|byte| *byte == b'/');
    let (folder, name) = at.map_or((&b""[..], path), |at| (&path[..at], &path[at + 1..]));
    (folder, OsStr::from_bytes(name))
}

pub(crate) fn join(path: &[u8], name: &OsStr) -> Vec<u8> {
    let between: &[u8] = if path.is_empty() { b"" } else { b"/" };
    [path, between, name.as_bytes()].concat()
}

fn names(path: &[u8]) -> impl Iterator<Item = &OsStr> {
    path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).map(OsStr::from_bytes)
}
