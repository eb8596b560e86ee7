//! Undo: of a changeset that takes back what a run did, the part that can be committed as the workspace is now.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use holdshort_core::changeset::{Change, Changeset};
use holdshort_core::digest::Digest;
use serde_json::Value;

use crate::changeset::{self, Root};
use crate::trial::{Side, Source, of_changes};

/// What can be taken back, and what is left as it is, path by path, with why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undoable {
    pub changeset: Changeset,
    pub left: BTreeMap<String, &'static str>,
}

/// Somebody has changed it since.
pub const CHANGED: &str = "changed_since";
/// It is as the undo would leave it.
pub const AS_BEFORE: &str = "as_before";
/// Something that the run did not put there is in what would go with it.
pub const HOLDS_OTHERS: &str = "holds_others";
/// Something is in the folder that the run did not put there.
pub const NOT_EMPTY: &str = "not_empty";

/// Leaves out what is no longer as the run left it, and what `left` names. A part that cannot be undone whole is left
/// whole.
pub(crate) fn undoable(
    root: &Root,
    wanted: &Changeset,
    mut left: BTreeMap<String, &'static str>,
) -> io::Result<Undoable> {
    let parts = wanted.parts();
    let part_of: BTreeMap<&str, &str> = parts
        .iter()
        .flat_map(|(name, part)| part.iter().map(move |change| (change.path.as_str(), *name)))
        .collect();
    let mut names: BTreeSet<&str> = parts.keys().copied().collect();
    names.retain(|name| !parts[name].iter().any(|change| left.contains_key(&change.path)));
    let mut folders_left: BTreeSet<String> =
        left.keys().filter(|path| !part_of.contains_key(path.as_str())).cloned().collect();
    loop {
        let Ok(chosen) = wanted.only(&names) else { return Ok(Undoable { left, ..Undoable::default() }) };
        let stays = |change: &Change| folders_left.contains(change.path.as_str());
        let chosen = chosen.changes().iter().filter(|change| !stays(change)).cloned().collect();
        let chosen = Changeset::new(chosen).map_err(io::Error::other)?;
        let conflicts = changeset::conflicts(root, &chosen)?;
        if conflicts.is_empty() {
            return Ok(Undoable { changeset: chosen, left });
        }
        let is_in: BTreeMap<&str, &Change> =
            chosen.changes().iter().map(|change| (change.path.as_str(), change)).collect();
        for path in conflicts {
            match (part_of.get(path.as_str()), is_in.get(path.as_str())) {
                (Some(part), Some(change)) => {
                    names.remove(part);
                    let why = if changeset::is_as_wanted(root, change) { AS_BEFORE } else { CHANGED };
                    left.insert(path, why);
                }
                // A folder alone, which follows what is in it.
                (None, Some(_)) => {
                    folders_left.insert(path);
                }
                // It stands in folders that would go: they stay, and so does all that goes only with them.
                (_, None) => {
                    for (at, _) in path.match_indices('/') {
                        match part_of.get(&path[..at]) {
                            Some(part) if names.remove(part) => {
                                left.entry((*part).to_owned()).or_insert(HOLDS_OTHERS);
                            }
                            Some(_) => {}
                            None => _ = folders_left.insert(path[..at].to_owned()),
                        }
                    }
                    left.entry(path).or_insert(NOT_EMPTY);
                }
            }
        }
    }
}

/// Files by their digests.
struct Kept<F>(F);

impl<F: Fn(Digest) -> io::Result<Vec<u8>>> Source for Kept<F> {
    fn read(&self, _: &Change, _: Side, digest: Digest, _: u64) -> io::Result<Vec<u8>> {
        self.0(digest)
    }

    fn find(&self, digest: Digest) -> io::Result<Vec<u8>> {
        self.0(digest)
    }
}

/// What a person is shown of changes whose files are kept by their digests. Blocks.
pub fn card(changeset: &Changeset, body: impl Fn(Digest) -> io::Result<Vec<u8>>) -> Value {
    of_changes(changeset, &Kept(body))
}
