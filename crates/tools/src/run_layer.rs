//! The layer of a run: the files that the run's commands wrote and that git ignores. The layer is stored outside the
//! workspace.
//!
//! Only the commands of a run see the layer of the run. For them, it is mounted over the workspace. The layer is only a
//! cache: if it is lost, the next command starts with an empty layer. The layer never contains a file that already
//! existed in the workspace when the command wrote it.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use holdshort_core::changeset::{Change, Changeset, Entry, bytes_of};
use holdshort_core::digest::Digest;
use holdshort_core::tool::LayerChanges;
use rustix::fs::{FileType, Mode, OFlags, Stat};

use crate::changeset::{Root, entry, folder};
use crate::limits::CHANGED_FILE_BYTES;
use crate::sandbox::{remove, take_after};

/// Layer of one run: a folder with the Git-ignored files that the commands of the run wrote. Only the server can open
/// this folder. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLayer(PathBuf);

/// Name of the folder with the files of a run's layer, which is mounted over the workspace.
const CONTENT: &str = "files";
/// Name of the file inside a layer's folder that stores the size of the layer's content in bytes. While the content is
/// being changed, this file does not exist.
const SIZE: &str = "bytes";

/// Number of entries in the layer of a run, and the total size of these entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    paths: usize,
    bytes: u64,
}

/// Limits for the layer of a run: the maximum number of entries, and the maximum total size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    pub paths: usize,
    pub bytes: u64,
}

impl Usage {
    /// Returns true if `changes` make a run's layer larger and the larger layer exceeds the limits in `room`.
    pub(crate) fn exceeds_with(self, changes: &[Change], room: Room) -> bool {
        let size = |entry: &Option<Entry>| match entry {
            Some(Entry::File { bytes, .. }) => *bytes,
            Some(Entry::Symlink { .. } | Entry::Folder { .. }) | None => 0,
        };
        let sum = |sizes: &mut dyn Iterator<Item = u64>| sizes.fold(0, u64::saturating_add);
        let (gone, new) = (
            sum(&mut changes.iter().map(|change| size(&change.before))),
            sum(&mut changes.iter().map(|change| size(&change.after))),
        );
        let bytes = self.bytes.saturating_add(new).saturating_sub(gone);
        let there = |entry: fn(&Change) -> &Option<Entry>| {
            changes.iter().filter(|change| entry(change).is_some()).count()
        };
        let added = self.paths + there(|change| &change.after);
        let paths = added.saturating_sub(there(|change| &change.before));
        (bytes > room.bytes && bytes > self.bytes) || (paths > room.paths && paths > self.paths)
    }
}

impl RunLayer {
    /// Returns the layer of a run that is stored in `folder`. This folder must not be inside a workspace, and need not
    /// exist.
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Returns the folder with the files of the run's layer, which is mounted over the workspace.
    pub(crate) fn content(&self) -> PathBuf {
        self.0.join(CONTENT)
    }

    /// Opens the folder with the files of the run's layer. Returns `None` if this folder does not exist.
    pub(crate) fn open(&self) -> Option<Root> {
        Root::open(&self.content()).ok()
    }

    /// Removes the layer of the run as far as possible, and ignores errors. Blocks.
    pub fn remove(&self) {
        if self.0.exists() {
            remove(&self.0);
        }
    }

    /// Counts the files, folders and links in the layer of the run. Blocks.
    pub(crate) fn usage(&self) -> io::Result<Usage> {
        let mut usage = Usage::default();
        self.visit(|_, stat| {
            usage.paths += 1;
            if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
                usage.bytes = usage.bytes.saturating_add(u64::try_from(stat.st_size).unwrap_or(u64::MAX));
            }
        })?;
        Ok(usage)
    }

    /// Counts the files and links of the run's layer that differ from the workspace. A file differs if the workspace
    /// has no file at its path, or if the workspace's file has another size or an earlier modification time. Compares
    /// no content. Blocks.
    pub fn unmerged(&self, workspace: &Path) -> io::Result<usize> {
        let workspace = Root::open(workspace).ok();
        let in_workspace = |path: &[u8]| {
            let (folder, name) = workspace.as_ref()?.parent(path).ok()?;
            entry::stat(&folder, name).ok()?
        };
        let kind = |stat: &Stat| FileType::from_raw_mode(stat.st_mode);
        let modified = |stat: &Stat| (stat.st_mtime, stat.st_mtime_nsec);
        let mut files = 0;
        self.visit(|path, stat| {
            let is_there = kind(stat) == FileType::Directory
                || in_workspace(path).is_some_and(|there| {
                    kind(&there) == kind(stat)
                        && there.st_size == stat.st_size
                        && modified(&there) >= modified(stat)
                });
            files += usize::from(!is_there);
        })?;
        Ok(files)
    }

    /// Calls `each` with every path in the run's layer and the metadata of the entry at this path.
    fn visit(&self, mut each: impl FnMut(&[u8], &Stat)) -> io::Result<()> {
        let Some(root) = self.open() else { return Ok(()) };
        let mut ahead = vec![Vec::new()];
        while let Some(at) = ahead.pop() {
            let folder = root.folder(&at)?;
            for name in folder::list(&folder)? {
                let Some(stat) = entry::stat(&folder, &name)? else { continue };
                let path = folder::join(&at, &name);
                each(&path, &stat);
                if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                    ahead.push(path);
                }
            }
        }
        Ok(())
    }

    /// Returns the total size in bytes of the layers of all other runs on this node. Blocks.
    pub(crate) fn bytes_of_others(&self) -> io::Result<u64> {
        let Some(all) = self.0.parent() else { return Ok(0) };
        let listed = match fs::read_dir(all) {
            Ok(listed) => listed,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(e) => return Err(e),
        };
        let mut bytes = 0_u64;
        for entry in listed {
            let other = Self(entry?.path());
            if other != *self {
                bytes = bytes.saturating_add(other.bytes()?);
            }
        }
        Ok(bytes)
    }

    /// Returns the size of the run's layer in bytes, as stored in the file [`SIZE`]. If this file does not exist,
    /// counts the bytes.
    fn bytes(&self) -> io::Result<u64> {
        let noted = fs::read_to_string(self.0.join(SIZE)).ok().and_then(|text| text.trim().parse().ok());
        match noted {
            Some(bytes) => Ok(bytes),
            None => match self.usage() {
                // A different task is removing or changing the layer.
                Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(0),
                counted => Ok(counted?.bytes),
            },
        }
    }

    /// Applies changes to the run's layer: the entries at the changed paths are replaced. A path that now exists in the
    /// workspace is skipped, because the layer would hide the workspace's entry. If an error occurs, the whole layer is
    /// removed: an incomplete cache can mislead a command, but an empty cache cannot. Blocks.
    pub(crate) fn commit(
        &self,
        workspace: &Path,
        layer: &LayerChanges,
        body: impl Fn(Digest) -> io::Result<Vec<u8>>,
    ) -> io::Result<()> {
        let committed = self.write(workspace, layer, body).and_then(|()| self.write_size());
        if committed.is_err() {
            self.remove();
        }
        committed
    }

    fn write(
        &self,
        workspace: &Path,
        layer: &LayerChanges,
        body: impl Fn(Digest) -> io::Result<Vec<u8>>,
    ) -> io::Result<()> {
        let root = self.create(workspace)?;
        self.remove_size()?;
        let below = Root::open(workspace)?;
        let changes = layer.changes.changes();
        // Paths are sorted, so a folder comes before its content. The reverse order removes the content first.
        for change in changes.iter().rev() {
            take_away(&root, change, matches!(change.after, Some(Entry::Folder { .. })))?;
        }
        let made_at = SystemTime::UNIX_EPOCH
            + Duration::from_millis(u64::try_from(layer.made_at.as_millis()).unwrap_or_default());
        let mut written = Vec::new();
        for change in changes {
            let path = bytes_of(&change.path).unwrap_or_default();
            let Some(after) = &change.after else { continue };
            if hides(&below, &path, after)? {
                continue;
            }
            written.push(change);
            make_folders(&root, &below, folder::split(&path).0)?;
            let (folder, name) = root.parent(&path)?;
            match after {
                Entry::Folder { .. } => match rustix::fs::mkdirat(&folder, name, Mode::RWXU) {
                    Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                    Err(e) => return Err(e.into()),
                },
                Entry::Symlink { target } => {
                    let target = bytes_of(target).unwrap_or_default();
                    rustix::fs::symlinkat(target.as_slice(), &folder, name)?;
                }
                Entry::File { digest, mode, .. } => {
                    let flags =
                        OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    let new = rustix::fs::openat(&folder, name, flags, Mode::RUSR | Mode::WUSR)?;
                    let mut file = File::from(new);
                    file.write_all(&body(*digest)?)?;
                    file.set_permissions(Permissions::from_mode(*mode))?;
                    file.set_modified(made_at)?;
                }
            }
        }
        for change in written.iter().rev() {
            if let Some(Entry::Folder { mode }) = change.after {
                let folder = root.folder(&bytes_of(&change.path).unwrap_or_default())?;
                // The mode always includes full access for the owner. Otherwise the next command could not use this
                // part of the layer.
                rustix::fs::fchmod(folder, Mode::from_raw_mode(mode) | Mode::RWXU)?;
            }
        }
        Ok(())
    }

    /// Removes from the run's layer the paths that the run has committed to the workspace. If an error occurs, the
    /// whole layer is removed, because it must not hide the committed files. Blocks.
    pub(crate) fn forget(&self, changeset: &Changeset) {
        self.forget_where(changeset, |_, _| true);
    }

    /// Removes from the run's layer the entries that were copied into the workspace and that the run has not changed
    /// since. If an error occurs, the whole layer is removed, as in `forget`. Blocks.
    pub fn forget_merged(&self, changeset: &Changeset) {
        self.forget_where(changeset, is_same);
    }

    fn forget_where(&self, changeset: &Changeset, goes: impl Fn(&Root, &Change) -> bool) {
        let Some(root) = self.open() else { return };
        let taken = self.remove_size().and_then(|()| {
            for change in changeset.changes().iter().rev().filter(|change| goes(&root, change)) {
                take_away(&root, change, matches!(change.after, Some(Entry::Folder { .. })))?;
            }
            self.write_size()
        });
        if taken.is_err() {
            self.remove();
        }
    }

    fn remove_size(&self) -> io::Result<()> {
        match fs::remove_file(self.0.join(SIZE)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }

    fn write_size(&self) -> io::Result<()> {
        fs::write(self.0.join(SIZE), self.usage()?.bytes.to_string())
    }

    fn create(&self, workspace: &Path) -> io::Result<Root> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        let content = self.content();
        match fs::create_dir(&content) {
            Ok(()) => take_after(&content, workspace)?,
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
        Root::open(&content)
    }
}

/// Returns true if the path of a change is still in the state that the change produced.
fn is_same(root: &Root, change: &Change) -> bool {
    let path = bytes_of(&change.path).unwrap_or_default();
    let Ok((folder, name)) = root.parent(&path) else { return false };
    entry::observe_path(&folder, name, CHANGED_FILE_BYTES)
        .is_ok_and(|seen| seen.entry() == change.after.as_ref())
}

/// Removes the entry of a layer at the path of a change. If `wants_folder` is true, a folder is not removed.
fn take_away(root: &Root, change: &Change, wants_folder: bool) -> io::Result<()> {
    let path = bytes_of(&change.path).unwrap_or_default();
    let Ok((folder, name)) = root.parent(&path) else { return Ok(()) };
    let Some(stat) = entry::stat(&folder, name)? else { return Ok(()) };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Ok(rustix::fs::unlinkat(&folder, name, rustix::fs::AtFlags::empty())?);
    }
    if wants_folder {
        return Ok(());
    }
    let path = Path::new("/proc/self/fd").join(folder.as_fd().as_raw_fd().to_string()).join(name);
    fs::remove_dir_all(path)
}

/// Returns true if an entry of a layer at this path would hide an entry of the workspace.
fn hides(workspace: &Root, path: &[u8], entry: &Entry) -> io::Result<bool> {
    let ends =
        path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at).chain([path.len()]);
    for end in ends {
        let (folder, name) = workspace.parent(&path[..end])?;
        let Some(stat) = entry::stat(&folder, name)? else { return Ok(false) };
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return Ok(true);
        }
    }
    Ok(!matches!(entry, Entry::Folder { .. }))
}

/// Makes the missing parent folders of a path in a layer, with the mode and the owner of the same folders in the
/// workspace.
fn make_folders(root: &Root, below: &Root, path: &[u8]) -> io::Result<()> {
    if path.is_empty() || root.folder(path).is_ok() {
        return Ok(());
    }
    let (above, name) = folder::split(path);
    make_folders(root, below, above)?;
    let folder = root.folder(above)?;
    rustix::fs::mkdirat(&folder, name, Mode::RWXU)?;
    let Ok(like) = below.folder(path).and_then(|folder| Ok(rustix::fs::fstat(folder)?)) else {
        return Ok(());
    };
    let made = File::from(folder::open(&folder, name)?);
    // Only root can set another user as the owner, so a failure is ignored.
    let _ = std::os::unix::fs::fchown(&made, Some(like.st_uid), Some(like.st_gid));
    made.set_permissions(Permissions::from_mode(like.st_mode & 0o7777))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: u64) -> Entry {
        Entry::File { digest: Digest::ZERO, bytes, mode: 0o644 }
    }

    #[test]
    fn a_layer_that_is_past_its_limits_takes_no_more_and_gives_back() {
        let usage = Usage { paths: 9, bytes: 90 };
        let room = Room { paths: 10, bytes: 100 };
        let small = Room { paths: 5, bytes: 50 };
        let link = Some(Entry::Symlink { target: "a".to_owned() });
        let table = [
            ("as large as may be", room, Some(file(0)), Some(file(10)), false),
            ("one byte too many", room, Some(file(0)), Some(file(11)), true),
            ("one path more", room, None, link.clone(), false),
            ("smaller, and still past the limit", small, Some(file(40)), Some(file(1)), false),
            ("gone, and still past the limit", small, Some(file(40)), None, false),
            ("larger, and past the limit", small, Some(file(1)), Some(file(2)), true),
            ("one path more, and past the limit", small, None, link, true),
        ];
        for (what, room, before, after, exceeds) in table {
            let change = Change { path: "a".to_owned(), before, after, ignored: true };
            assert_eq!(usage.exceeds_with(&[change], room), exceeds, "{what}");
        }
    }
}
