//! The entry at a path: a file by its digest, a link by its target, or a folder. This module never follows a link, and
//! never waits for the other end of a named pipe.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};

use holdshort_core::changeset::{Entry, text_of};
use holdshort_core::digest::Digest;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use sha2::{Digest as _, Sha256};

/// Permission bits of a file that a changeset records. The set-user-id and set-group-id bits are never recorded.
pub(crate) const MODE: u32 = 0o1777;

#[derive(Debug)]
pub(crate) enum ObservedPath {
    Nothing,
    Entry(Entry, Stat),
    /// The entry is a pipe, a socket or a device.
    Special,
    /// The entry is a file larger than the limit.
    TooLarge,
}

impl ObservedPath {
    pub(crate) fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Entry(entry, _) => Some(entry),
            Self::Nothing | Self::Special | Self::TooLarge => None,
        }
    }
}

/// Examines the entry with this name in a folder. Reads the content of a file of at most `limit` bytes.
pub(crate) fn observe_path(folder: impl AsFd, name: &OsStr, limit: u64) -> io::Result<ObservedPath> {
    let Some(stat) = stat(&folder, name)? else { return Ok(ObservedPath::Nothing) };
    let mode = stat.st_mode & MODE;
    let entry = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if u64::try_from(stat.st_size).map_or(true, |size| size > limit) => {
            return Ok(ObservedPath::TooLarge);
        }
        FileType::RegularFile => {
            let (digest, bytes) = digest(open(&folder, name)?, stat.st_size)?;
            Entry::File { digest, bytes, mode }
        }
        FileType::Directory => Entry::Folder { mode },
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(&folder, name, Vec::new())?;
            Entry::Symlink { target: text_of(target.as_bytes()) }
        }
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => return Ok(ObservedPath::Special),
    };
    Ok(ObservedPath::Entry(entry, stat))
}

/// Returns the metadata of a folder's entry without following a link. Returns `None` if the folder has no entry with
/// this name.
pub(crate) fn stat(folder: impl AsFd, name: &OsStr) -> io::Result<Option<Stat>> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(rustix::io::Errno::NOENT) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Opens a regular file in a folder for reading. Fails for any other kind of entry, and never waits for the other end
/// of a named pipe.
pub(crate) fn open(folder: impl AsFd, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    if FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("the file is no longer a regular file"));
    }
    Ok(file)
}

/// Reads at most `limit` bytes of a file in a folder.
pub(crate) fn bytes(folder: impl AsFd, name: &OsStr, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::from(open(folder, name)?).take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

const CHUNK_BYTES: usize = 256 * 1024;

fn digest(file: OwnedFd, size: i64) -> io::Result<(Digest, u64)> {
    let mut file = std::fs::File::from(file);
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; usize::try_from(size).map_or(CHUNK_BYTES, |size| CHUNK_BYTES.min(size + 1))];
    let mut bytes = 0;
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok((Digest::from_bytes(hasher.finalize().into()), bytes)),
            Ok(read) => {
                hasher.update(&chunk[..read]);
                bytes += read as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}
