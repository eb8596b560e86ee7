//! Marks the changes of a call that git ignores, according to the current `.gitignore` files of the workspace and
//! `.git/info/exclude`. An ignore file that the call itself would create or change is never used, and git is never run.
//!
//! If there is any doubt, a path is *not ignored*. A path in git's index is not ignored. If the index cannot be read,
//! no path is ignored. The index cannot be read in a worktree or submodule, whose index is in another folder. An index
//! that is split or has an unknown format cannot be read either. A path in a repository inside the workspace is not
//! ignored, because the index of this repository is not read. Ignore files in folders above the workspace, and the
//! person's global ignore file, are not read.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use holdshort_core::changeset::{Change, Entry, bytes_of};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::changeset::{Root, entry, folder};
use crate::limits;

const NAME: &str = ".gitignore";
const EXCLUDE: &[u8] = b".git/info/exclude";

/// Marks the changes of paths that Git ignores.
pub(crate) fn mark(changes: &mut [Change], workspace: &Root) {
    let mut rules = Rules {
        workspace,
        exclude: read(workspace, b"", EXCLUDE),
        of_folders: BTreeMap::new(),
        repositories: BTreeMap::new(),
    };
    let mut ignored: Vec<(&mut Change, Vec<u8>)> = changes
        .iter_mut()
        .filter_map(|change| bytes_of(&change.path).map(|path| (change, path)))
        .filter(|(change, path)| rules.ignore(path, is_folder(change)))
        .collect();
    if ignored.is_empty() {
        return;
    }
    let Some(tracked) = tracked(workspace) else { return };
    for (change, path) in &mut ignored {
        change.ignored = !tracked.contains(path.as_slice());
    }
}

fn is_folder(change: &Change) -> bool {
    matches!(change.after.as_ref().or(change.before.as_ref()), Some(Entry::Folder { .. }))
}

struct Rules<'a> {
    workspace: &'a Root,
    exclude: Gitignore,
    of_folders: BTreeMap<Vec<u8>, Gitignore>,
    /// For each folder that was examined: true if it possibly is the folder of a Git repository.
    repositories: BTreeMap<Vec<u8>, bool>,
}

impl Rules<'_> {
    /// Returns true if Git ignores a path. Everything in an ignored folder is ignored, no matter what other rules say.
    fn ignore(&mut self, path: &[u8], is_folder: bool) -> bool {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        let ends: Vec<usize> = ends.chain([path.len()]).collect();
        let is_git = path.split(|byte| *byte == b'/').any(|name| name.eq_ignore_ascii_case(b".git"));
        !is_git
            && ends.iter().any(|end| self.names(&path[..*end], is_folder || *end < path.len()))
            && !ends.iter().any(|end| (is_folder || *end < path.len()) && self.is_repository(&path[..*end]))
    }

    /// Returns true if the folder is the root of a Git repository inside the workspace, or if that cannot be
    /// determined.
    fn is_repository(&mut self, folder: &[u8]) -> bool {
        let workspace = self.workspace;
        *self.repositories.entry(folder.to_vec()).or_insert_with(|| match workspace.folder(folder) {
            Ok(folder) => !matches!(entry::stat(&folder, OsStr::new(".git")), Ok(None)),
            Err(e) => e.kind() != std::io::ErrorKind::NotFound,
        })
    }

    /// Returns true if Git's ignore rules match the path. If several folders have matching rules, the rules of the
    /// nearest folder decide.
    fn names(&mut self, path: &[u8], is_folder: bool) -> bool {
        let mut at = path;
        while !at.is_empty() {
            at = folder::split(at).0;
            let workspace = self.workspace;
            let rules = self
                .of_folders
                .entry(at.to_vec())
                .or_insert_with(|| read(workspace, at, &folder::join(at, OsStr::new(NAME))));
            match matched(rules, path, is_folder) {
                Match::Ignore(()) => return true,
                Match::Whitelist(()) => return false,
                Match::None => {}
            }
        }
        matches!(matched(&self.exclude, path, is_folder), Match::Ignore(()))
    }
}

fn matched(rules: &Gitignore, path: &[u8], is_folder: bool) -> Match<()> {
    rules.matched(Path::new("/").join(OsStr::from_bytes(path)), is_folder).map(|_| ())
}

/// Reads the rules of a Git ignore file. The rules apply to paths below the folder `of`. A link or an unreadable file
/// is treated as a file without rules.
fn read(workspace: &Root, of: &[u8], path: &[u8]) -> Gitignore {
    // The workspace is treated as the root of the file system, since rules see only paths.
    let mut rules = GitignoreBuilder::new(Path::new("/").join(OsStr::from_bytes(of)));
    for line in content(workspace, path).unwrap_or_default().split(|byte| *byte == b'\n') {
        // An invalid pattern ignores nothing. A line that is not UTF-8 ignores nothing either.
        if let Ok(line) = std::str::from_utf8(line) {
            let _ = rules.add_line(None, line.trim_end_matches('\r'));
        }
    }
    rules.build().unwrap_or_else(|_| Gitignore::empty())
}

fn content(workspace: &Root, path: &[u8]) -> Option<Vec<u8>> {
    let (folder, name) = workspace.parent(path).ok()?;
    let bytes = entry::bytes(folder, name, limits::CHANGED_FILE_BYTES + 1).ok()?;
    (bytes.len() as u64 <= limits::CHANGED_FILE_BYTES).then_some(bytes)
}

/// Returns the files that Git tracks, from Git's index. Returns `None` if the index cannot be parsed. Also returns
/// `None` if the workspace contains no repository, because the workspace may be a part of one.
fn tracked(workspace: &Root) -> Option<BTreeSet<Vec<u8>>> {
    let git = workspace.folder(b".git").ok()?;
    match entry::stat(&git, OsStr::new("index")) {
        Ok(None) => Some(BTreeSet::new()),
        Ok(Some(_)) => names(&content(workspace, b".git/index")?),
        Err(_) => None,
    }
}

/// Number of bytes of an entry in Git's index before the flags of the entry: the file's metadata and a SHA-1 digest.
const BEFORE_FLAGS: usize = 60;
const EXTENDED: u16 = 0x4000;
const DIGEST: usize = 20;

/// Parses the file names in Git's index (`gitformat-index(5)`), versions 2 to 4 with SHA-1.
fn names(index: &[u8]) -> Option<BTreeSet<Vec<u8>>> {
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let version = number(4)?;
    if !index.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let (mut found, mut last, mut at) = (BTreeSet::new(), Vec::new(), 12);
    for _ in 0..number(8)? {
        let flags = u16::from_be_bytes(index.get(at + BEFORE_FLAGS..at + BEFORE_FLAGS + 2)?.try_into().ok()?);
        let mut name_at = at + BEFORE_FLAGS + if flags & EXTENDED == 0 { 2 } else { 4 };
        if version == 4 {
            let (drop, length) = varint(index.get(name_at..)?)?;
            last.truncate(last.len().checked_sub(drop)?);
            name_at += length;
        } else {
            last.clear();
        }
        let length = index.get(name_at..)?.iter().position(|byte| *byte == 0)?;
        last.extend(&index[name_at..name_at + length]);
        let end = name_at + length;
        // Except in version 4, an entry is padded with at least one NUL byte to a multiple of eight bytes.
        at = if version == 4 { end + 1 } else { at + ((end - at) / 8 + 1) * 8 };
        found.insert(last.clone());
    }
    // Extensions and a digest must fill the rest exactly; otherwise the names were parsed wrongly. With the extension
    // `link` the names are in a different file.
    while index.len().checked_sub(at)? > DIGEST {
        let size = usize::try_from(number(at + 4)?).ok()?;
        if index.get(at..at + 4)? == b"link" {
            return None;
        }
        at = at.checked_add(8)?.checked_add(size)?;
    }
    (index.len() - at == DIGEST).then_some(found)
}

/// Parses the variable-length integer of Git's index. Returns the value and the number of bytes that it occupies.
fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (n, byte) in bytes.iter().enumerate().take(9) {
        value = value << 7 | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, n + 1));
        }
        value += 1;
    }
    None
}
