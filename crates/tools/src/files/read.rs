//! Reads files in the workspace: either their text, or their state for a precondition. Must never write.

use std::io::{self, Read};
use std::path::Path;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, MetadataExt, OpenOptions, OpenOptionsExt};
use holdshort_core::digest::Digest;
use holdshort_core::tool::Precondition;
use rustix::fs::{AtFlags, StatxFlags};
use serde_json::json;

use super::workspace_path::{Kind, Last, WorkspacePath, escape_path, names_a_file, not_found, unreadable};
use crate::limits;
use crate::refusal::Refusal;
use crate::sandbox;
use crate::workspace::Workspace;

/// Digest that stands for a path without a regular file within the size limit, for example a folder. No real file has
/// this digest.
const NO_FILE: Digest = Digest::ZERO;

/// Content and metadata of a regular file at the time when it was read.
pub(crate) struct FileSnapshot {
    pub bytes: Vec<u8>,
    pub digest: Digest,
    /// Permission bits of the file that was read.
    pub mode: u32,
    pub links: u64,
}

/// Reads a whole file as text for an agent. The file in the run's layer takes precedence over the file in the
/// workspace.
pub(crate) fn read_text(
    workspace: &Workspace,
    layer: Option<&Workspace>,
    path: &str,
) -> Result<(WorkspacePath, String), Refusal> {
    names_a_file(path)?;
    // A link in the layer that points into the workspace cannot be read here, so the file is read from the workspace.
    if let Some(found) = layer.and_then(|layer| read_text_in(layer, path).ok()) {
        return Ok(found);
    }
    read_text_in(workspace, path)
}

fn read_text_in(workspace: &Workspace, path: &str) -> Result<(WorkspacePath, String), Refusal> {
    let place = WorkspacePath::resolve(workspace, path, Last::Follow)?;
    let found = existing(workspace, &place, path, limits::READ_BYTES)?;
    Ok((place, text(found.bytes, path)?))
}

/// Reads the file at a resolved path of the workspace. Fails if the file does not exist.
pub(crate) fn existing(
    workspace: &Workspace,
    place: &WorkspacePath,
    path: &str,
    limit: u64,
) -> Result<FileSnapshot, Refusal> {
    match place.kind {
        Kind::Absent => Err(not_found(path)),
        Kind::Folder | Kind::Other => Err(not_a_file(path)),
        Kind::File => match open(workspace, place, limit).map_err(|e| unreadable(path, &e))? {
            Opened::File(found) => Ok(found),
            Opened::TooLarge => Err(too_large(path, limit)),
            Opened::NotAFile => Err(not_a_file(path)),
        },
    }
}

pub(crate) fn text(bytes: Vec<u8>, path: &str) -> Result<String, Refusal> {
    String::from_utf8(bytes).map_err(|_| {
        Refusal::new(
            "not_utf8",
            format!("`{}` is not UTF-8 text; use run_command to inspect it", escape_path(path)),
        )
    })
}

pub(crate) fn not_a_file(path: &str) -> Refusal {
    Refusal::new("not_a_file", format!("`{}` is not a regular file; name a regular file", escape_path(path)))
}

pub(crate) fn too_large(path: &str, limit: u64) -> Refusal {
    Refusal::new(
        "too_large",
        format!(
            "`{}` is larger than {} KiB; use search_codebase, or run_command with sed, to read a part of \
             the file",
            escape_path(path),
            limit / 1024
        ),
    )
}

/// Returns the current state of the files at these paths, sorted by path. If the state of a file cannot be determined,
/// the returned state differs from every expected one.
pub(crate) fn observe(workspace: &Workspace, paths: &[String]) -> Vec<Precondition> {
    let mut seen: Vec<_> = paths
        .iter()
        .map(|path| Precondition { path: path.clone(), sha256: state(workspace, path) })
        .collect();
    seen.sort();
    seen.dedup();
    seen
}

fn state(workspace: &Workspace, path: &str) -> Option<Digest> {
    if path.ends_with('/') {
        return identity(workspace, path);
    }
    match WorkspacePath::resolve(workspace, path, Last::Refuse) {
        Ok(WorkspacePath { kind: Kind::Absent, .. }) => None,
        Ok(place) => Some(match open(workspace, &place, limits::FILE_BYTES) {
            Ok(Opened::File(found)) => found.digest,
            Ok(Opened::TooLarge | Opened::NotAFile) | Err(_) => NO_FILE,
        }),
        Err(_) => Some(NO_FILE),
    }
}

/// Returns the identity of the folder at a path of the workspace. The identity consists of the inode number and the
/// creation time, because the file system gives the inode number of a removed folder to a new folder. Returns `None` if
/// the folder does not exist.
///
///
/// The identity of a workspace also changes when guarded paths in the workspace could not be renamed. A call that was
/// allowed before this change and has not started is then checked again, and needs the approval of a person.
pub(crate) fn identity(workspace: &Workspace, path: &str) -> Option<Digest> {
    let place = match WorkspacePath::resolve(workspace, path, Last::Refuse) {
        Ok(place) if place.kind == Kind::Absent => return None,
        Ok(place) => place,
        Err(_) => return Some(NO_FILE),
    };
    let looked = WorkspacePath::open_folder(workspace, place.components()).and_then(|dir| {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        Ok(rustix::fs::statx(&dir, "", AtFlags::EMPTY_PATH, wanted)?)
    });
    Some(looked.map_or(NO_FILE, |found| {
        let made = found.stx_btime;
        let mut identity = json!({ "inode": found.stx_ino, "made": [made.tv_sec, made.tv_nsec] });
        if place.components().is_empty() && sandbox::is_unguarded(Path::new(workspace.path())) {
            identity["unguarded"] = json!(true);
        }
        Digest::of_json(&identity)
    }))
}

enum Opened {
    File(FileSnapshot),
    TooLarge,
    NotAFile,
}

fn open(workspace: &Workspace, place: &WorkspacePath, limit: u64) -> io::Result<Opened> {
    let Some((folders, name)) = place.split() else { return Ok(Opened::NotAFile) };
    let folder = WorkspacePath::open_folder(workspace, folders)?;
    open_in(&folder, name, limit)
}

fn open_in(folder: &Dir, name: &str, limit: u64) -> io::Result<Opened> {
    let mut options = OpenOptions::new();
    // Opens the file without blocking, because a named pipe may have replaced the file.
    options.read(true).follow(FollowSymlinks::No).custom_flags(nix::libc::O_NONBLOCK);
    let file = folder.open_with(name, &options)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(Opened::NotAFile);
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Ok(Opened::TooLarge);
    }
    Ok(Opened::File(FileSnapshot {
        digest: Digest::of_bytes(&bytes),
        bytes,
        mode: metadata.mode(),
        links: metadata.nlink(),
    }))
}

/// Reads a file that the search has found in a folder. Returns `None` for a file whose content must not be searched.
pub(crate) fn for_search(
    workspace: &Workspace,
    components: &[String],
    limit: u64,
) -> io::Result<Option<Vec<u8>>> {
    let Some((name, folders)) = components.split_last() else { return Ok(None) };
    let folder = WorkspacePath::open_folder(workspace, folders)?;
    Ok(match open_in(&folder, name, limit)? {
        Opened::File(found) => Some(found.bytes),
        Opened::TooLarge | Opened::NotAFile => None,
    })
}
