//! Divides the changes of a trial between the workspace and the layer of the run.
//!
//! Two kinds of changes go to the layer: new paths that git ignores, and changes of paths that exist only in the layer.
//! All other changes belong to the workspace and need the approval of a person, even if git ignores the changed file.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::changeset::{Change, Entry, bytes_of};

use super::read::TrialDifferences;
use crate::changeset::{Root, entry};
use crate::run_layer::RunLayer;

/// Changes of a trial in the workspace, its changes in the run's layer, and the codes of findings in the changes of the
/// workspace.
#[derive(Default)]
pub(super) struct Split {
    pub workspace: Vec<Change>,
    pub layer: Vec<Change>,
    pub codes: BTreeSet<&'static str>,
}

/// Divides the changes of a trial in a run that has no layer. All changes belong to the workspace.
pub(super) fn without_layer(left: &TrialDifferences) -> Split {
    split_by(left, |_| false)
}

/// Divides the changes of a trial in a run that has a layer. Changes of new Git-ignored paths go to this layer.
pub(super) fn with_layer(left: &TrialDifferences, workspace: &Root, run_layer: &RunLayer) -> Split {
    let split = split_by(left, |change| goes_to_layer(change) && !leads_into(workspace, change));
    with_folders(split, workspace, run_layer)
}

/// Divides the changes of a trial in a run whose layer is full. New ignored files become changes of the workspace,
/// which a person must approve.
pub(super) fn with_full_layer(left: &TrialDifferences, workspace: &Root, run_layer: &RunLayer) -> Split {
    let mut split = with_folders(split_by(left, |_| false), workspace, run_layer);
    split.codes.insert("layer_full");
    split
}

fn split_by(left: &TrialDifferences, goes_to_layer: impl Fn(&Change) -> bool) -> Split {
    let TrialDifferences { changes, in_layer, linked, codes } = left;
    let mut split = Split { codes: codes.clone(), ..Split::default() };
    for change in changes {
        let held = in_layer.get(&change.path);
        if goes_to_layer(change) {
            split.layer.extend(layer_change(change, held, change.after.clone()));
            continue;
        }
        // The change belongs to the workspace. The layer's entry at this path is removed, because it would hide the
        // committed entry.
        let is_folder = matches!(change.after, Some(Entry::Folder { .. }));
        let stays = change.after.clone().filter(|_| is_folder && held.is_some());
        split.layer.extend(layer_change(change, held, stays));
        if change.before != change.after {
            if linked.contains(&change.path) {
                split.codes.insert("hard_link");
            }
            split.workspace.push(change.clone());
        }
    }
    split
}

fn with_folders(mut split: Split, workspace: &Root, run_layer: &RunLayer) -> Split {
    let missing = missing_folders(&split, workspace, run_layer);
    split.workspace.extend(missing);
    split
}

fn goes_to_layer(change: &Change) -> bool {
    change.before.is_none() && (change.ignored || change.after.is_none())
}

/// Returns true if a change makes a link whose target is an existing path of the workspace. Such a link is not allowed
/// in the run's layer, because rules about paths apply only to names in the workspace, so no rule would apply to the
/// link.
fn leads_into(workspace: &Root, change: &Change) -> bool {
    let Some(Entry::Symlink { target }) = &change.after else { return false };
    let (Some(target), Some(path)) = (bytes_of(target), bytes_of(&change.path)) else { return true };
    if target.starts_with(b"/") {
        return false;
    }
    let mut at: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    at.pop();
    for name in target.split(|byte| *byte == b'/').filter(|name| !matches!(*name, b"" | b".")) {
        if name != b".." {
            at.push(name);
        } else if at.pop().is_none() {
            return false;
        }
    }
    let joined = at.join(&b'/');
    let stands = |path: &[u8]| {
        let (folder, name) = workspace.parent(path)?;
        entry::stat(&folder, name)
    };
    joined.is_empty() || matches!(stands(&joined), Ok(Some(_)))
}

fn layer_change(change: &Change, held: Option<&Entry>, after: Option<Entry>) -> Option<Change> {
    let before = held.cloned();
    (before != after).then(|| Change { path: change.path.clone(), before, after, ignored: true })
}

/// Returns the parent folders of a trial's new paths that the workspace lacks, because they exist only in the layer of
/// the run.
fn missing_folders(split: &Split, workspace: &Root, run_layer: &RunLayer) -> Vec<Change> {
    let changed: BTreeMap<&str, &Change> =
        split.workspace.iter().map(|change| (change.path.as_str(), change)).collect();
    let in_layer: BTreeMap<&str, &Entry> = split
        .layer
        .iter()
        .filter_map(|change| Some((change.path.as_str(), change.after.as_ref()?)))
        .collect();
    let opened = run_layer.open();
    let mut missing: BTreeMap<&str, u32> = BTreeMap::new();
    for change in split.workspace.iter().filter(|change| change.after.is_some()) {
        for (at, _) in change.path.match_indices('/') {
            let folder = &change.path[..at];
            let path = bytes_of(folder).unwrap_or_default();
            if changed.contains_key(folder) || missing.contains_key(folder) || workspace.folder(&path).is_ok()
            {
                continue;
            }
            let mode = match in_layer.get(folder) {
                Some(Entry::Folder { mode }) => Some(*mode),
                Some(Entry::File { .. } | Entry::Symlink { .. }) | None => opened
                    .as_ref()
                    .and_then(|layer| layer.folder(&path).ok())
                    .and_then(|folder| rustix::fs::fstat(folder).ok())
                    .map(|stat| stat.st_mode & entry::MODE),
            };
            missing.insert(folder, mode.unwrap_or(0o755));
        }
    }
    let made = |(path, mode): (&str, u32)| Change {
        path: path.to_owned(),
        before: None,
        after: Some(Entry::Folder { mode }),
        ignored: true,
    };
    missing.into_iter().map(made).collect()
}
