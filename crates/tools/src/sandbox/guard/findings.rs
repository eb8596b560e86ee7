//! Data about the guarded paths and other entries that a search of a workspace has found, and the comparison with an
//! earlier search. A file is examined only to determine its identity.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, StatxFlags};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GuardFindings {
    pub root: Inode,
    /// Guarded files (such as Git hooks), folders and links of the workspace. The content of a guarded folder is not
    /// listed.
    pub guarded: Vec<Item>,
    /// Folders of Git repositories in the workspace. If a repository were moved, its guarded paths would move too.
    pub repositories: Vec<Item>,
    /// Folders of the workspace that the search could not open.
    pub unreadable: Vec<Inode>,
    /// Paths of sockets and named pipes in the workspace, relative to the workspace.
    #[serde(default)]
    pub channels: Vec<Channel>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Channel(#[serde(serialize_with = "as_bytes", deserialize_with = "from_bytes")] pub PathBuf);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Item {
    /// Path of the found entry relative to the workspace. Stored as bytes, since a name need not be UTF-8.
    #[serde(serialize_with = "as_bytes", deserialize_with = "from_bytes")]
    pub path: PathBuf,
    pub inode: Inode,
    pub link: Option<Link>,
}

/// Target of a symbolic link that was found in the workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Link {
    pub target: Vec<u8>,
    /// Identity of the file to which the link leads. `None` if the target does not exist.
    pub leads_to: Option<Inode>,
}

/// Identity of an existing file. The identity includes the creation time if the file system records one, because the
/// file system gives the inode number of a removed file to a new file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Inode {
    device: (u32, u32),
    number: u64,
    made: Option<(i64, u32)>,
}

pub(super) struct EntryIdentity {
    pub inode: Inode,
    pub kind: Kind,
}

/// Kind of a directory entry, as far as the guard needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Folder,
    Link,
    Channel,
    Other,
}

impl From<rustix::fs::FileType> for Kind {
    fn from(kind: rustix::fs::FileType) -> Self {
        match kind {
            rustix::fs::FileType::Directory => Self::Folder,
            rustix::fs::FileType::Symlink => Self::Link,
            rustix::fs::FileType::Socket | rustix::fs::FileType::Fifo => Self::Channel,
            _ => Self::Other,
        }
    }
}

impl Inode {
    pub(super) fn of_handle(file: BorrowedFd<'_>) -> io::Result<Self> {
        Ok(look(file, OsStr::new(""), AtFlags::EMPTY_PATH)?.inode)
    }
}

impl EntryIdentity {
    /// Examines an entry of a folder without following a link.
    pub(super) fn examine(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<Self> {
        look(folder, name, AtFlags::SYMLINK_NOFOLLOW)
    }
}

fn look(folder: BorrowedFd<'_>, name: &OsStr, flags: AtFlags) -> io::Result<EntryIdentity> {
    let found = rustix::fs::statx(folder, name, flags, StatxFlags::BASIC_STATS | StatxFlags::BTIME)?;
    let has_time = found.stx_mask & StatxFlags::BTIME.bits() != 0;
    let kind = rustix::fs::FileType::from_raw_mode(found.stx_mode.into());
    Ok(EntryIdentity {
        inode: Inode {
            device: (found.stx_dev_major, found.stx_dev_minor),
            number: found.stx_ino,
            made: has_time.then_some((found.stx_btime.tv_sec, found.stx_btime.tv_nsec)),
        },
        kind: kind.into(),
    })
}

impl Item {
    pub(super) fn from_entry(
        folder: BorrowedFd<'_>,
        name: &OsStr,
        path: PathBuf,
        seen: &EntryIdentity,
    ) -> io::Result<Self> {
        let link = if seen.kind == Kind::Link {
            let target = rustix::fs::readlinkat(folder, name, Vec::new())?.into_bytes();
            let leads_to = look(folder, name, AtFlags::empty()).ok().map(|seen| seen.inode);
            Some(Link { target, leads_to })
        } else {
            None
        };
        Ok(Self { path, inode: seen.inode, link })
    }
}

/// Guarded paths that the search before a command found, indexed for a fast comparison with those after the command.
pub(super) struct EarlierFindings {
    guarded: BTreeSet<Inode>,
    links: BTreeSet<(Link, Inode)>,
    link_paths: BTreeSet<(Link, PathBuf)>,
    repositories: BTreeSet<Inode>,
    unreadable: BTreeSet<Inode>,
}

impl EarlierFindings {
    pub(super) fn from_findings(found: &GuardFindings) -> Self {
        let links = || found.guarded.iter().filter_map(|item| Some((item.link.clone()?, item)));
        Self {
            guarded: found.guarded.iter().filter(|it| it.link.is_none()).map(|it| it.inode).collect(),
            links: links().map(|(link, item)| (link, item.inode)).collect(),
            link_paths: links().map(|(link, item)| (link, item.path.clone())).collect(),
            repositories: found.repositories.iter().map(|it| it.inode).collect(),
            unreadable: found.unreadable.iter().copied().collect(),
        }
    }

    /// Returns true if the found entry existed before the command. A link cannot be mounted read-only, so its target
    /// must be unchanged too.
    pub(super) fn has(&self, item: &Item) -> bool {
        match &item.link {
            None => self.guarded.contains(&item.inode),
            Some(link) => {
                self.links.contains(&(link.clone(), item.inode))
                    || self.link_paths.contains(&(link.clone(), item.path.clone()))
            }
        }
    }

    pub(super) fn has_repository(&self, folder: Inode) -> bool {
        self.repositories.contains(&folder)
    }

    pub(super) fn could_not_read(&self, folder: Inode) -> bool {
        self.unreadable.contains(&folder)
    }

    pub(super) fn new_of(&self, now: &GuardFindings) -> usize {
        now.guarded.iter().filter(|item| !self.has(item)).count()
            + now.repositories.iter().filter(|item| !self.has_repository(item.inode)).count()
            + now.unreadable.iter().filter(|folder| !self.could_not_read(**folder)).count()
    }
}

fn as_bytes<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_os_str().as_bytes().serialize(serializer)
}

fn from_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    Ok(OsString::from_vec(Vec::deserialize(deserializer)?).into())
}
