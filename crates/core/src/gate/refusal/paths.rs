//! Digests of paths, and a test for overlaps between two sets of paths.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::json::is_default;

/// Root folder. The root folder contains every path, so it is also used for an unknown path.
pub(super) const ROOT: &str = "/";

/// Number of hexadecimal digits of a [`PathDigest`].
const DIGITS: usize = 16;

/// Maximum number of parent folders of a path. If one of several paths that are digested together has more folders,
/// [`ROOT`] replaces all of these paths.
const DEPTH: usize = 256;

/// Maximum number of bytes of the name of a program or subcommand that is stored as text. A longer name is stored as a
/// digest.
const NAME_BYTES: usize = 64;

/// First 16 hexadecimal digits of the SHA-256 of a full path or of an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PathDigest(String);

/// Digests of several paths, and of all folders that contain these paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paths {
    pub paths: BTreeSet<PathDigest>,
    /// Digests of all folders that contain one of the paths.
    #[serde(default, skip_serializing_if = "is_default")]
    pub above: BTreeSet<PathDigest>,
}

impl PathDigest {
    pub(super) fn from_path(path: &str) -> Self {
        let mut digits = Digest::of_bytes(path.as_bytes()).to_string();
        digits.truncate(DIGITS);
        Self(digits)
    }

    pub(super) fn root() -> Self {
        Self::from_path(ROOT)
    }
}

/// Returns the name of a program or of a subcommand. If the text cannot be a name, returns the digest of the text.
pub(super) fn name_or_digest(text: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '+');
    if text.len() <= NAME_BYTES && text.chars().all(is_name) {
        return text.to_owned();
    }
    PathDigest::from_path(text).0
}

impl Paths {
    pub(super) fn from_paths(paths: &BTreeSet<String>) -> Self {
        if paths.is_empty() {
            return Self::default();
        }
        let mut digested = Self::default();
        let mut folders: BTreeSet<&str> = BTreeSet::new();
        for path in paths {
            if path.matches('/').count() > DEPTH {
                return Self::root();
            }
            digested.paths.insert(PathDigest::from_path(path));
            let mut rest = path.as_str();
            while let Some((folder, _)) = rest.rsplit_once('/') {
                folders.insert(folder);
                rest = folder;
            }
        }
        folders.remove("");
        digested.above = folders.into_iter().map(PathDigest::from_path).collect();
        digested.above.insert(PathDigest::root());
        digested.above.retain(|folder| !digested.paths.contains(folder));
        digested
    }

    /// Returns a set of paths that overlaps with every path, because it contains only the root folder.
    pub(super) fn root() -> Self {
        Self { paths: [PathDigest::root()].into(), above: BTreeSet::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Returns true if a path of one set equals, contains, or lies below a path of the other set.
    pub(super) fn overlap(&self, other: &Self) -> bool {
        !self.paths.is_disjoint(&other.paths)
            || !self.paths.is_disjoint(&other.above)
            || !self.above.is_disjoint(&other.paths)
    }
}
