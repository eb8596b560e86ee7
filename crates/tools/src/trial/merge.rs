//! Computes a merge: the differences between the layer of a run and the workspace.
//!
//! If the workspace has a folder at a path and the layer has a file or a link there, the path is skipped, because a
//! merge deletes nothing.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use holdshort_core::changeset::{Change, Changeset, Entry, text_of};
use serde_json::Value;

use super::{Layers, Trial};
use crate::changeset::{ObservedPath, Root, entry, folder, guard, observe_path};
use crate::limits;
use crate::run_layer::RunLayer;

/// Compares the layer of a run (the Git-ignored files that the run wrote) with the workspace. `paths` are the files and
/// folders that are compared. If `paths` is empty, all are compared. `path` is the full path of the workspace.
pub(crate) fn merge(
    workspace: Root,
    path: &Path,
    layer: &RunLayer,
    paths: &BTreeSet<String>,
) -> io::Result<Trial> {
    let Some(layer) = layer.open() else {
        let why = "the run has no files that git ignores: its commands wrote none, or the files were \
                   discarded";
        return Err(io::Error::other(why));
    };
    let mut changes = Vec::new();
    let mut ahead = vec![Vec::new()];
    let mut bytes = 0_u64;
    while let Some(at) = ahead.pop() {
        let above = layer.folder(&at)?;
        let below = workspace.folder(&at).ok();
        for name in folder::list(&above)? {
            let place = folder::join(&at, &name);
            let text = text_of(&place);
            let limit = limits::CHANGED_FILE_BYTES;
            let Some(after) = wanted(&observe_path(&above, &name, limit)?, &text)? else { continue };
            let is_folder = matches!(after, Entry::Folder { .. });
            if !is_named(paths, &text, is_folder) {
                continue;
            }
            if is_folder {
                ahead.push(place);
            }
            let found = below.as_ref().map(|below| entry::stat(below, &name)).transpose()?.flatten();
            let before = match (&below, found) {
                (Some(below), Some(_)) => wanted(&observe_path(below, &name, limit)?, &text)?,
                _ => None,
            };
            if matches!(before, Some(Entry::Folder { .. })) || before.as_ref() == Some(&after) {
                continue;
            }
            if let Entry::File { bytes: more, .. } = after {
                bytes += more;
            }
            changes.push(Change { path: text, before, after: Some(after), ignored: true });
            if changes.len() > limits::CHANGED_PATHS || bytes > limits::CHANGED_BYTES {
                return Err(io::Error::other(
                    "the run has too many git-ignored files for one merge; name some of their paths",
                ));
            }
        }
    }
    let findings = guard::findings(&changes, &workspace, path);
    let codes = ["merge"].into_iter().chain(findings).map(ToOwned::to_owned).collect();
    let changeset = Changeset::new(changes).map_err(io::Error::other)?;
    Ok(Trial {
        changeset,
        run_layer: None,
        codes,
        text: String::new(),
        data: Value::Null,
        over: Layers::None,
        capture: None,
        layer,
        workspace,
        _scratch: None,
    })
}

fn wanted(seen: &ObservedPath, path: &str) -> io::Result<Option<Entry>> {
    match seen {
        ObservedPath::Entry(entry, _) => Ok(Some(entry.clone())),
        ObservedPath::Nothing => Ok(None),
        ObservedPath::Special | ObservedPath::TooLarge => {
            let path = path.escape_debug();
            Err(io::Error::other(format!(
                "`{path}` is too large, or not a file, directory or symbolic link: name other paths"
            )))
        }
    }
}

/// Returns true if `paths` contains the path or one of its parent folders. For a folder, also returns true if `paths`
/// contains an entry in this folder.
fn is_named(paths: &BTreeSet<String>, path: &str, is_folder: bool) -> bool {
    let is_below = |one: &str, other: &str| {
        one == other || one.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'))
    };
    let names = |named: &String| {
        let named = named.trim_end_matches('/');
        is_below(path, named) || (is_folder && is_below(named, path))
    };
    paths.is_empty() || paths.iter().any(names)
}
