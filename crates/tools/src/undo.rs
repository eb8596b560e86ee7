//! Undo: selects those changes that undo the work of a run and that can be committed to the workspace now.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use holdshort_core::changeset::{Change, Changeset};
use holdshort_core::digest::Digest;
use serde_json::Value;

use crate::changeset::{self, Root};
use crate::trial::{Side, Source, of_changes};

/// Changes of a run that can be undone, and the paths that cannot be undone, each with its reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undoable {
    pub changeset: Changeset,
    pub left: BTreeMap<String, &'static str>,
}

/// Reason code: the path cannot be undone, because it has changed since the run.
pub const CHANGED: &str = "changed_since";
/// Reason code: the path need not be undone, because it already has the state that the undo would restore.
pub const AS_BEFORE: &str = "as_before";
/// Reason code: the undo would remove the folder, but the folder contains an entry that the run did not create.
pub const HOLDS_OTHERS: &str = "holds_others";
/// Reason code: the folder that contains this entry cannot be removed, because the run did not create the entry.
pub const NOT_EMPTY: &str = "not_empty";

/// Returns the changes of a run that can be undone. Paths that have changed since the run are excluded, and so are the
/// paths in `left`. Changes that depend on each other are either all undone or all excluded.
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
                // A folder outside all parts is not removed if its content stays.
                (None, Some(_)) => {
                    folders_left.insert(path);
                }
                // The conflicting entry is inside folders that would be removed. These folders are kept, and so are all
                // changes that depend on their removal.
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

/// Source of file contents that are stored by their digests.
struct StoredFiles<F>(F);

impl<F: Fn(Digest) -> io::Result<Vec<u8>>> Source for StoredFiles<F> {
    fn read(&self, _: &Change, _: Side, digest: Digest, _: u64) -> io::Result<Vec<u8>> {
        self.0(digest)
    }

    fn find(&self, digest: Digest) -> io::Result<Vec<u8>> {
        self.0(digest)
    }
}

/// Returns the changes of a changeset in the form of a card for a person, with the contents of files read by digest.
/// Blocks.
pub fn card(changeset: &Changeset, body: impl Fn(Digest) -> io::Result<Vec<u8>>) -> Value {
    of_changes(changeset, &StoredFiles(body))
}
