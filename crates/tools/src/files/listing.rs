//! `list_directory`: the names in one folder. Never descends, never follows a link.

use std::io;

use super::workspace_path::{Kind, Last, WorkspacePath, not_found, shown, unreadable};
use crate::limits;
use crate::refusal::Refusal;
use crate::workspace::Workspace;

/// Names in a folder, one a line, and how many there are.
#[derive(Debug)]
pub(crate) struct Listing {
    pub text: String,
    pub entries: usize,
}

/// The folder that a call names; without a name the workspace.
pub(crate) fn folder(workspace: &Workspace, path: Option<&str>) -> Result<WorkspacePath, Refusal> {
    let path = path.filter(|path| !path.is_empty()).unwrap_or(".");
    let place = WorkspacePath::resolve(workspace, path, Last::Follow)?;
    match place.kind {
        Kind::Folder => Ok(place),
        Kind::Absent => Err(not_found(path)),
        Kind::File | Kind::Other => Err(Refusal::new(
            "not_a_directory",
            format!("`{}` is not a folder; read_file reads a file", shown(path)),
        )),
    }
}

/// Lists a folder of the run's layer and of the workspace as one, sorted.
pub(crate) fn list(
    workspace: &Workspace,
    layer: Option<&Workspace>,
    path: Option<&str>,
) -> Result<(WorkspacePath, Listing), Refusal> {
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
    let total = names.len();
    let mut lines: Vec<String> = names.into_iter().take(limits::LISTING_ENTRIES).collect();
    if total == 0 {
        lines.push("(empty)".to_owned());
    }
    if total > limits::LISTING_ENTRIES {
        lines.push(format!("({} more entries are left out)", total - limits::LISTING_ENTRIES));
    }
    Ok((place, Listing { text: lines.join("\n") + "\n", entries: total }))
}

fn names(workspace: &Workspace, place: &WorkspacePath) -> io::Result<Vec<String>> {
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
        names.push(format!("{}{mark}", name.to_string_lossy().escape_debug()));
    }
    Ok(names)
}
