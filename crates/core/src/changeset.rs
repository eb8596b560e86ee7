//! A changeset describes the changes that a call makes to the workspace. A changeset has one entry per changed path
//! (design, part 1).
//!
//! A file tool proposes a changeset. A trial, which runs a command on a copy of the workspace, also produces a
//! changeset. The gates vote on the changeset. An approval is bound to the digest of the changeset. A *commit* applies
//! the changeset to the workspace. Contents of files are stored separately, under their digests.

use std::collections::{BTreeMap, BTreeSet, btree_map};

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::json::is_default;

/// Changes in the order of their paths. Each path has at most one change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Change>", into = "Vec<Change>")]
pub struct Changeset(Vec<Change>);

/// Change of one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Path relative to the workspace, with `/` as the separator. [`text_of`] defines how names that are not UTF-8 are
    /// written.
    pub path: String,
    /// File, link or folder at the path before the change. `None` if nothing exists at the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Entry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Entry>,
    /// True if git ignores the path, for example because it is a cache or build output.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ignored: bool,
}

/// File, link or folder at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Entry {
    /// A file. `mode` contains the permission bits of the file.
    File {
        digest: Digest,
        bytes: u64,
        mode: u32,
    },
    /// A symbolic link. `target` is escaped in the same way as `path`.
    Symlink {
        target: String,
    },
    Folder {
        mode: u32,
    },
}

/// Error returned when a list of changes is not a valid changeset.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    #[error("`{0}` appears twice, or is not in the order of the paths")]
    Order(String),
    #[error("`{0}` is not a path in the workspace")]
    Path(String),
    #[error("`{0}` is unchanged")]
    NoChange(String),
}

/// Changeset that contains no changes.
pub static EMPTY: Changeset = Changeset(Vec::new());

impl Changeset {
    /// Builds a changeset. The changes may be in any order.
    pub fn new(mut changes: Vec<Change>) -> Result<Self, Malformed> {
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        Self::try_from(changes)
    }

    pub fn changes(&self) -> &[Change] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the digest of the canonical JSON of the changeset.
    pub fn digest(&self) -> Digest {
        Digest::of_json(self)
    }

    /// Returns the changes that delete a file or a link.
    pub fn deletions(&self) -> impl Iterator<Item = &Change> {
        self.0.iter().filter(|change| change.deletes())
    }

    /// Returns the changes that rules examine: changes of files and links, and changes of a folder's mode. Leaves out
    /// created and deleted folders.
    pub fn counted(&self) -> impl Iterator<Item = &Change> {
        self.0.iter().filter(|change| change.is_of_content() || change.is_of_a_folders_mode())
    }

    /// Returns the changeset that reverts this changeset.
    pub fn inverse(&self) -> Self {
        Self(self.0.iter().map(Change::inverse).collect())
    }
}

/// Changeset that reverts several changesets, which were committed one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Composed {
    pub changeset: Changeset,
    /// Paths that other programs or people changed between the commits of the reverted changesets.
    pub mixed: Vec<String>,
}

impl Changeset {
    /// Returns the changeset that reverts all of these changesets. The newest changeset must come first. Applied to the
    /// state after the newest changeset, the result restores the state before the oldest changeset. Leaves out paths
    /// that are equal in both states.
    pub fn undoing(newest_first: &[&Self]) -> Composed {
        let mut taken_back: BTreeMap<&str, Change> = BTreeMap::new();
        let mut mixed = BTreeSet::new();
        for change in newest_first.iter().flat_map(|changeset| &changeset.0) {
            match taken_back.entry(&change.path) {
                btree_map::Entry::Vacant(vacant) => {
                    vacant.insert(change.inverse());
                }
                btree_map::Entry::Occupied(mut later) => {
                    let later = later.get_mut();
                    if later.after != change.after {
                        mixed.insert(change.path.clone());
                    }
                    later.after.clone_from(&change.before);
                    later.ignored &= change.ignored;
                }
            }
        }
        let changes = taken_back.into_values().filter(|change| change.before != change.after).collect();
        Composed { changeset: Self(changes), mixed: mixed.into_iter().collect() }
    }
}

/// Error returned when a person selects parts of a changeset that cannot be committed without other parts.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotKept {
    #[error("names nothing to keep; reject the call to drop all of its changes")]
    Nothing,
    #[error("`{0}` is not one of the parts that can be kept")]
    Unknown(String),
}

impl Changeset {
    /// Splits the changeset into the parts that a person can select. The key of each part is its path. Every selection
    /// of parts is a changeset that can be committed by itself.
    ///
    /// A part is a file, a link, the mode of a folder, or an empty folder. The `.git` of a repository and everything in
    /// it is one part. If a path changes from a file to a folder or from a folder to a file, the path and everything
    /// below it are one part. Other folders are not parts, because a folder is committed or dropped together with its
    /// content.
    pub fn parts(&self) -> BTreeMap<&str, Vec<&Change>> {
        let mut parts: BTreeMap<&str, Vec<&Change>> = BTreeMap::new();
        for change in &self.0 {
            let whole = above(&change.path).chain([change.path.as_str()]).find(|path| self.is_whole(path));
            let follows = || change.is_of_a_folder_alone() && !self.below(&change.path).is_empty();
            match whole {
                Some(path) => parts.entry(path).or_default().push(change),
                None if follows() => {}
                None => parts.entry(&change.path).or_default().push(change),
            }
        }
        parts
    }

    /// Returns a changeset with only the parts that `names` lists by path. A new folder is created if something below
    /// it is selected. A folder is deleted only if all deletions below it are selected.
    pub fn only(&self, names: &BTreeSet<&str>) -> Result<Self, NotKept> {
        if names.is_empty() {
            return Err(NotKept::Nothing);
        }
        let parts = self.parts();
        let mut kept = BTreeSet::new();
        for name in names {
            let part = parts.get(name).ok_or_else(|| NotKept::Unknown((*name).to_owned()))?;
            kept.extend(part.iter().map(|change| change.path.as_str()));
        }
        let is_made = |folder: &&str| self.at(folder).is_some_and(|change| change.before.is_none());
        let made: Vec<&str> = kept.iter().flat_map(|path| above(path).filter(is_made)).collect();
        kept.extend(made);
        // Inner folders come first, because a folder can be deleted only after its content is deleted.
        for folder in self.0.iter().rev().filter(|change| change.after.is_none()) {
            let below = self.below(&folder.path);
            if !below.is_empty() && below.iter().all(|change| kept.contains(change.path.as_str())) {
                kept.insert(&folder.path);
            }
        }
        let is_kept = |change: &&Change| kept.contains(change.path.as_str());
        Ok(Self(self.0.iter().filter(is_kept).cloned().collect()))
    }

    /// Returns true if the change at this path and all changes below this path can only be selected together.
    fn is_whole(&self, path: &str) -> bool {
        is_gits_own(path) || self.at(path).is_some_and(Change::replaces_a_folder)
    }

    fn at(&self, path: &str) -> Option<&Change> {
        let at = self.0.binary_search_by(|change| change.path.as_str().cmp(path)).ok()?;
        self.0.get(at)
    }

    /// Returns the changes below a folder, at any depth. These changes are contiguous, because the paths are sorted by
    /// their bytes.
    fn below(&self, folder: &str) -> &[Change] {
        let first = format!("{folder}/");
        let from = self.0.partition_point(|change| change.path < first);
        let count = self.0[from..].iter().take_while(|change| change.path.starts_with(&first)).count();
        &self.0[from..from + count]
    }
}

/// Returns the parent folders of a path, the outermost first.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

/// Returns true if the last component of the path is `.git`, in any letter case.
fn is_gits_own(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(".git"))
}

/// Returns true if a component of the path is `.git`.
pub fn is_of_git(path: &str) -> bool {
    above(path).chain([path]).any(is_gits_own)
}

impl Change {
    fn inverse(&self) -> Self {
        Self { before: self.after.clone(), after: self.before.clone(), ..self.clone() }
    }

    /// Returns true if this change replaces a file or link by a folder, or a folder by a file or link.
    fn replaces_a_folder(&self) -> bool {
        matches!((&self.before, &self.after), (Some(before), Some(after)) if before.is_content() != after.is_content())
    }

    /// Returns true if the change only creates or removes a folder.
    fn is_of_a_folder_alone(&self) -> bool {
        !self.is_of_content() && !self.is_of_a_folders_mode()
    }

    /// Returns true if the change removes a file or a link. For a removed folder, returns false. The files and links in
    /// the folder have their own changes.
    pub fn deletes(&self) -> bool {
        self.before.as_ref().is_some_and(Entry::is_content)
            && !self.after.as_ref().is_some_and(Entry::is_content)
    }

    /// Returns true if a file or a link exists at the path before or after the change.
    pub fn is_of_content(&self) -> bool {
        self.before.iter().chain(&self.after).any(Entry::is_content)
    }

    /// Returns true if the change only changes the mode of a folder.
    fn is_of_a_folders_mode(&self) -> bool {
        matches!((&self.before, &self.after), (Some(Entry::Folder { .. }), Some(Entry::Folder { .. })))
    }
}

impl Entry {
    fn is_content(&self) -> bool {
        !matches!(self, Self::Folder { .. })
    }
}

impl TryFrom<Vec<Change>> for Changeset {
    type Error = Malformed;

    fn try_from(changes: Vec<Change>) -> Result<Self, Malformed> {
        for change in &changes {
            let is_name = |name: &str| !matches!(name, "" | "." | "..");
            let is_path = change.path.split('/').all(is_name) && bytes_of(&change.path).is_some();
            if !is_path {
                return Err(Malformed::Path(change.path.clone()));
            }
            if change.before == change.after {
                return Err(Malformed::NoChange(change.path.clone()));
            }
        }
        match changes.windows(2).find(|pair| pair[0].path >= pair[1].path) {
            Some(pair) => Err(Malformed::Order(pair[1].path.clone())),
            None => Ok(Self(changes)),
        }
    }
}

impl From<Changeset> for Vec<Change> {
    fn from(changeset: Changeset) -> Self {
        changeset.0
    }
}

const HEX: [&str; 16] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e", "f"];

/// Renders the bytes of a path or of a link target as text. UTF-8 stays unchanged, except that `\` becomes `\\`. Each
/// byte that is not part of UTF-8 is escaped like `\xff`.
pub fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            text.extend(["\\x", HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
    }
    text
}

/// Decodes a text that [`text_of`] rendered. `None` if [`text_of`] never renders this text.
pub fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = match (byte, after) {
            (b'\\', [b'\\', rest @ ..]) => {
                bytes.push(b'\\');
                rest
            }
            (b'\\', [b'x', high, low, rest @ ..]) => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest
            }
            (b'\\' | 0, _) => return None,
            (byte, rest) => {
                bytes.push(*byte);
                rest
            }
        };
    }
    // Only one text may stand for a sequence of bytes. With an unnecessary escape, a file would have a second name.
    (text_of(&bytes) == text).then_some(bytes)
}
