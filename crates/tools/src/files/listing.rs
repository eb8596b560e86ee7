//! `list_directory`: the names in one folder. Never descends, never follows a link.

use std::io;

use super::workspace_path::{Kind, Last, WorkspacePath, not_found, shown, unreadable};
use crate::limits;
use crate::refusal::Refusal;
use crate::workspace::Workspace;

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

/// One entry a line, sorted; the number of entries.
pub(crate) fn list(workspace: &Workspace, path: Option<&str>) -> Result<(String, usize), Refusal> {
    let place = folder(workspace, path)?;
    let mut names = names(workspace, &place).map_err(|e| unreadable(&place.to_string(), &e))?;
    names.sort();
    let total = names.len();
    let mut lines: Vec<String> = names.into_iter().take(limits::LISTING_ENTRIES).collect();
    if total == 0 {
        lines.push("(empty)".to_owned());
    }
    if total > limits::LISTING_ENTRIES {
        lines.push(format!("({} more entries are left out)", total - limits::LISTING_ENTRIES));
    }
    Ok((lines.join("\n") + "\n", total))
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
