//! Changesets: the effect of a call on the workspace, path by path, as data (design, part 1).
//!
//! A file tool proposes a changeset, and the trial of a command yields one. Gates vote on it, the digest of an approval
//! binds it, and *commit* applies it. The bytes of files are stored under their digests.

use std::collections::{BTreeMap, BTreeSet, btree_map};

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::json::is_default;

/// Changes in the order of their paths, at most one for each path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Change>", into = "Vec<Change>")]
pub struct Changeset(Vec<Change>);

/// Change of one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Relative to the workspace, with `/`. [`text_of`] defines the form of names that are not UTF-8.
    pub path: String,
    /// `None` if nothing exists at the path, both here and in `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Entry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Entry>,
    /// True if git ignores the path, as it does caches and build output.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ignored: bool,
}

/// Entry at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Entry {
    /// A file. `mode` holds its permission bits.
    File {
        digest: Digest,
        bytes: u64,
        mode: u32,
    },
    /// A symbolic link. `target` is escaped like a path.
    Symlink {
        target: String,
    },
    Folder {
        mode: u32,
    },
}

/// Error for a list of changes that is not a valid changeset.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    #[error("`{0}` appears twice, or is not in the order of the paths")]
    Order(String),
    #[error("`{0}` is not a path in the workspace")]
    Path(String),
    #[error("`{0}` is unchanged")]
    NoChange(String),
}

/// Changeset of a call that changes nothing.
pub static EMPTY: Changeset = Changeset(Vec::new());

impl Changeset {
    /// Builds a changeset from changes in any order.
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

    /// Returns the digest of the canonical JSON.
    pub fn digest(&self) -> Digest {
        Digest::of_json(self)
    }

    /// Returns the changes that delete a file or link.
    pub fn deletions(&self) -> impl Iterator<Item = &Change> {
        self.0.iter().filter(|change| change.deletes())
    }

    /// Returns the changes that rules consider. A change of a folder itself is considered only if it changes the mode.
    pub fn counted(&self) -> impl Iterator<Item = &Change> {
        self.0.iter().filter(|change| change.is_of_content() || change.is_of_a_folders_mode())
    }

    /// Returns the changeset that undoes this one.
    pub fn inverse(&self) -> Self {
        Self(self.0.iter().map(Change::inverse).collect())
    }
}

/// Inverse of several changesets that were committed one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Composed {
    pub changeset: Changeset,
    /// Paths that were changed by others between the changesets.
    pub mixed: Vec<String>,
}

impl Changeset {
    /// Returns the changeset that undoes all of these. The newest must come first. Each path goes from the state that
    /// the newest left to the state that the oldest found. Paths with equal states are left out.
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

/// Error for a part of a changeset that cannot be kept.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotKept {
    #[error("names nothing to keep; reject the call to drop all of its changes")]
    Nothing,
    #[error("`{0}` is not one of the parts that can be kept")]
    Unknown(String),
}

impl Changeset {
    /// Returns the parts, each by its path. Every selection of parts is a changeset that can be committed.
    ///
    /// A part is a file, a link, the mode of a folder, or an empty folder. A repository's `.git` is one part with all
    /// of its content. A path that changes from a file to a folder, or the reverse, is one part with everything below
    /// it. Other folders are not parts: they follow their content.
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

    /// Returns the changes of the named parts. A new folder is kept if something below it is kept. A folder is deleted
    /// only if all deletions below it are kept.
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
        // Innermost folders first: a folder is deleted after its content.
        for folder in self.0.iter().rev().filter(|change| change.after.is_none()) {
            let below = self.below(&folder.path);
            if !below.is_empty() && below.iter().all(|change| kept.contains(change.path.as_str())) {
                kept.insert(&folder.path);
            }
        }
        let is_kept = |change: &&Change| kept.contains(change.path.as_str());
        Ok(Self(self.0.iter().filter(is_kept).cloned().collect()))
    }

    /// Returns true if the changes at this path and below form one part.
    fn is_whole(&self, path: &str) -> bool {
        is_gits_own(path) || self.at(path).is_some_and(Change::replaces_a_folder)
    }

    fn at(&self, path: &str) -> Option<&Change> {
        let at = self.0.binary_search_by(|change| change.path.as_str().cmp(path)).ok()?;
        self.0.get(at)
    }

    /// Returns the changes below a folder, at any depth. They are contiguous, because paths are sorted by their bytes.
    fn below(&self, folder: &str) -> &[Change] {
        let first = format!("{folder}/");
        let from = self.0.partition_point(|change| change.path < first);
        let count = self.0[from..].iter().take_while(|change| change.path.starts_with(&first)).count();
        &self.0[from..from + count]
    }
}

/// Returns the folders above a path, outermost first.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

/// Returns true if the path ends in `.git`, in any case.
fn is_gits_own(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(".git"))
}

/// Returns true if the path is a `.git`, or lies in one.
pub fn is_of_git(path: &str) -> bool {
    above(path).chain([path]).any(is_gits_own)
}

impl Change {
    fn inverse(&self) -> Self {
        Self { before: self.after.clone(), after: self.before.clone(), ..self.clone() }
    }

    /// Returns true if a folder replaces something else, or the reverse.
    fn replaces_a_folder(&self) -> bool {
        matches!((&self.before, &self.after), (Some(before), Some(after)) if before.is_content() != after.is_content())
    }

    /// Returns true if the change only creates or removes a folder.
    fn is_of_a_folder_alone(&self) -> bool {
        !self.is_of_content() && !self.is_of_a_folders_mode()
    }

    /// Returns true if the change removes a file or a link. A removed folder is not a deletion itself; its content is.
    pub fn deletes(&self) -> bool {
        self.before.as_ref().is_some_and(Entry::is_content)
            && !self.after.as_ref().is_some_and(Entry::is_content)
    }

    /// Returns true if the change concerns a file or a link, not only a folder.
    pub fn is_of_content(&self) -> bool {
        self.before.iter().chain(&self.after).any(Entry::is_content)
    }

    /// Returns true if the change only alters the mode of a folder.
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

/// Renders the bytes of a path or of a link's target as text. UTF-8 stays as it is, except that `\` becomes `\\`. Any
/// other byte becomes `\xff`.
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

/// Decodes a text of [`text_of`]. Returns `None` for any other text.
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
    // Each sequence of bytes has exactly one text: an unnecessary escape would give a file a second name.
    (text_of(&bytes) == text).then_some(bytes)
}
