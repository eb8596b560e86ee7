//! `list_directory`: the names in one folder. Subfolders are never listed, and links are never followed.

use std::io;

use holdshort_core::gate::WithheldPaths;

use super::workspace_path::{Kind, Last, WorkspacePath, escape_path, not_found, unreadable};
use crate::limits;
use crate::refusal::Refusal;
use crate::workspace::Workspace;

/// Returns the folder that a call to list or search names. Without a path, the folder is the workspace.
pub(crate) fn folder(workspace: &Workspace, path: Option<&str>) -> Result<WorkspacePath, Refusal> {
    let path = path.filter(|path| !path.is_empty()).unwrap_or(".");
    let place = WorkspacePath::resolve(workspace, path, Last::Follow)?;
    match place.kind {
        Kind::Folder => Ok(place),
        Kind::Absent => Err(not_found(path)),
        Kind::File | Kind::Other => Err(Refusal::new(
            "not_a_directory",
            format!("`{}` is not a directory; use read_file to read a file", escape_path(path)),
        )),
    }
}

/// Text of a listing or search, the number of results in this text, and the number of omitted paths.
#[derive(Debug)]
pub(crate) struct Listed {
    pub text: String,
    pub shown: usize,
    pub left_out: usize,
}

/// Returns a note about the number of paths that a listing or search omitted. Returns `None` if no path was omitted.
pub(super) fn left_out_words(left_out: usize) -> Option<String> {
    let paths = match left_out {
        0 => return None,
        1 => "1 path is".to_owned(),
        n => format!("{n} paths are"),
    };
    Some(format!("({paths} left out: a rule forbids reading there or requires approval)"))
}

/// Lists the entries of a folder in the run's layer and in the workspace, sorted together, without the paths that rules
/// withhold from agents.
pub(crate) fn list(
    workspace: &Workspace,
    layer: Option<&Workspace>,
    path: Option<&str>,
    withheld: &WithheldPaths,
) -> Result<Listed, Refusal> {
    let look = |root: &Workspace| {
        let place = folder(root, path)?;
        let names = names(root, &place).map_err(|e| unreadable(&place.to_string(), &e))?;
        Ok((place, names))
    };
    let in_layer = layer.and_then(|layer| look(layer).ok());
    let (place, mut names) = match (look(workspace), in_layer) {
        (Ok((place, mut names)), Some((_, more))) => {
            names.extend(more);
            (place, names)
        }
        (Ok(found), None) | (Err(_), Some(found)) => found,
        (Err(refusal), None) => return Err(refusal),
    };
    names.sort();
    names.dedup();
    let is_withheld = |name: &str| {
        let path: Vec<&str> = place.components().iter().map(String::as_str).chain([name]).collect();
        withheld.withholds(&path.join("/"))
    };
    let (left_out, names): (Vec<_>, Vec<_>) = names.into_iter().partition(|(name, _)| is_withheld(name));
    let left_out = left_out.len();
    let mut names: Vec<String> =
        names.into_iter().map(|(name, mark)| format!("{}{mark}", name.escape_debug())).collect();
    names.sort();
    names.dedup();
    let total = names.len();
    let mut lines: Vec<String> = names.into_iter().take(limits::LISTING_ENTRIES).collect();
    if total == 0 && left_out == 0 {
        lines.push("(empty)".to_owned());
    }
    if total > limits::LISTING_ENTRIES {
        lines.push(match total - limits::LISTING_ENTRIES {
            1 => "(1 more entry is left out)".to_owned(),
            more => format!("({more} more entries are left out)"),
        });
    }
    lines.extend(left_out_words(left_out));
    Ok(Listed { text: lines.join("\n") + "\n", shown: total, left_out })
}

/// Returns the names in a folder of the workspace, each with a mark for the kind of entry.
fn names(workspace: &Workspace, place: &WorkspacePath) -> io::Result<Vec<(String, &'static str)>> {
    let mut names = Vec::new();
    for entry in WorkspacePath::open_folder(workspace, place.components())?.entries()? {
        let entry = entry?;
        let name = entry.file_name();
        if name.eq_ignore_ascii_case(".git") {
            continue;
        }
        let kind = entry.file_type()?;
        let mark = if kind.is_dir() {
            "/"
        } else if kind.is_symlink() {
            "@"
        } else {
            ""
        };
        names.push((name.to_string_lossy().into_owned(), mark));
    }
    Ok(names)
}
