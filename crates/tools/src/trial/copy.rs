//! Copies the workspace for a trial if no overlay is possible. If the file system supports it, a copied file shares its
//! data with the original. A copy never exceeds its limits.

use std::fs::{File, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{PermissionsExt, fchown};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid};

use crate::changeset::{Root, entry, folder};
use crate::limits;
use crate::sandbox::take_after;

#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("the workspace has more than {} files and directories to copy", limits::COPIED_PATHS)]
    TooMany,
    #[error("the workspace has more than {} MiB to copy", limits::COPIED_BYTES / 1024 / 1024)]
    TooLarge,
    #[error("`{path}` cannot be copied: {source}")]
    Unreadable { path: String, source: io::Error },
}

/// Copies files, links and folders of the workspace with their modes and, if this process is root, their owners. A file
/// with several hard links becomes several files. Pipes, sockets and devices are skipped.
pub(super) fn copy(workspace: &Root, path: &Path, to: &Path) -> Result<(), Error> {
    std::fs::create_dir(to).map_err(failed(b"."))?;
    copy_over(workspace, to)?;
    take_after(to, path).map_err(failed(b"."))
}

fn failed(path: &[u8]) -> impl FnOnce(io::Error) -> Error {
    let path = String::from_utf8_lossy(path).escape_debug().to_string();
    |source| Error::Unreadable { path, source }
}

/// Copies the content of a folder into another folder. Existing entries of the same name are replaced.
pub(super) fn copy_over(workspace: &Root, to: &Path) -> Result<(), Error> {
    let mut left = (limits::COPIED_PATHS, limits::COPIED_BYTES);
    let mut folders = vec![Vec::new()];
    let mut done = 0;
    let copied = Root::open(to).map_err(failed(b"."))?;
    while let Some(at) = folders.get(done).cloned() {
        done += 1;
        let (from, into) =
            workspace.folder(&at).and_then(|from| Ok((from, copied.folder(&at)?))).map_err(failed(&at))?;
        for name in folder::list(&from).map_err(failed(&at))? {
            let path = folder::join(&at, &name);
            left.0 = left.0.checked_sub(1).ok_or(Error::TooMany)?;
            let Some(stat) = entry::stat(&from, &name).map_err(failed(&path))? else { continue };
            if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
                let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
                left.1 = left.1.checked_sub(size).ok_or(Error::TooLarge)?;
            }
            let is_folder = copy_one(from.as_fd(), into.as_fd(), &name, &stat).map_err(failed(&path))?;
            if is_folder {
                folders.push(path);
            }
        }
    }
    // The mode of a folder is set after its content is copied, since the folder may be read-only.
    for at in folders.iter().rev().filter(|at| !at.is_empty()) {
        let mode = workspace.folder(at).and_then(|folder| Ok(rustix::fs::fstat(folder)?.st_mode & 0o7777));
        let set =
            mode.and_then(|mode| Ok(rustix::fs::fchmod(copied.folder(at)?, Mode::from_raw_mode(mode))?));
        set.map_err(failed(at))?;
    }
    Ok(())
}

/// Removes the existing entry with this name from a folder that is the target of a copy. A folder is not removed if a
/// folder is about to be copied to its path.
fn make_way(into: BorrowedFd<'_>, name: &std::ffi::OsStr, kind: FileType) -> io::Result<()> {
    let Some(stat) = entry::stat(into, name)? else { return Ok(()) };
    match (FileType::from_raw_mode(stat.st_mode), kind) {
        (FileType::Directory, FileType::Directory) => Ok(()),
        (FileType::Directory, _) => {
            let at = Path::new("/proc/self/fd").join(into.as_raw_fd().to_string()).join(name);
            std::fs::remove_dir_all(at)
        }
        _ => Ok(rustix::fs::unlinkat(into, name, AtFlags::empty())?),
    }
}

/// Copies one entry of a folder to another folder. Returns true if the entry is a folder, whose content the caller must
/// copy.
fn copy_one(
    from: BorrowedFd<'_>,
    into: BorrowedFd<'_>,
    name: &std::ffi::OsStr,
    stat: &Stat,
) -> io::Result<bool> {
    let (user, group) = (stat.st_uid, stat.st_gid);
    let kind = FileType::from_raw_mode(stat.st_mode);
    make_way(into, name, kind)?;
    match kind {
        FileType::Directory => match rustix::fs::mkdirat(into, name, Mode::RWXU) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(e) => return Err(e.into()),
        },
        FileType::Symlink => {
            rustix::fs::symlinkat(rustix::fs::readlinkat(from, name, Vec::new())?.as_c_str(), into, name)?;
        }
        FileType::RegularFile => {
            let mut source = File::from(entry::open(from, name)?);
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mut copy = File::from(rustix::fs::openat(into, name, flags, Mode::RUSR | Mode::WUSR)?);
            if rustix::fs::ioctl_ficlone(&copy, &source).is_err() {
                io::copy(&mut source, &mut copy)?;
            }
            // The owner is set before the mode, since changing the owner clears bits of the mode.
            let _ = fchown(&copy, Some(user), Some(group));
            copy.set_permissions(Permissions::from_mode(stat.st_mode & 0o7777))?;
        }
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => return Ok(false),
    }
    if kind != FileType::RegularFile {
        let owner = (Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
        let _ = rustix::fs::chownat(into, name, owner.0, owner.1, AtFlags::SYMLINK_NOFOLLOW);
    }
    Ok(kind == FileType::Directory)
}
