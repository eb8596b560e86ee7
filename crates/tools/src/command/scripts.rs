//! The files of the workspace that a command line names to be run: bound to what is approved, and shown on its card.
//! What only a script reads is not known here.

use std::fs;
use std::path::Path;

use holdshort_core::digest::Digest;
use holdshort_core::gate::command;
use holdshort_core::tool::Precondition;
use serde_json::{Value, json};

use crate::files::{self, Last, Place};
use crate::limits;
use crate::workspace::Workspace;

/// What an inspection finds out about scripts.
#[derive(Debug, Default)]
pub(super) struct Scripts {
    /// Sorted by path; those that are not there must stay away.
    pub bound: Vec<Precondition>,
    /// `[{path, text, truncated?}]` of those that are there.
    pub card: Vec<Value>,
    /// Something that is run can not be bound.
    pub unbound: bool,
}

/// `folder`: the working directory, from the workspace.
pub(super) fn look(workspace: &Workspace, folder: &[String], line: &str) -> Scripts {
    let command = command::parse(line);
    let named = command.scripts();
    let unbound = named.len() > limits::SCRIPTS || command.runs_unnamed();
    let mut found = Scripts { unbound, ..Scripts::default() };
    let mut folders = Vec::new();
    let interpreted = command.interpreted();
    for named in named.iter().take(limits::SCRIPTS) {
        let path = named;
        let Some(path) = inside(workspace, folder, path) else {
            found.unbound |= leads_inside(workspace, folder, path);
            continue;
        };
        // A link is bound by where it leads: another target is another file.
        let Ok(place) = Place::resolve(workspace, &path, Last::Follow) else {
            // In `.git`, or through a link that file tools do not follow: it runs all the same.
            found.unbound |= Path::new(workspace.path()).join(&path).is_file();
            continue;
        };
        let bound = files::observe(workspace, &[place.to_string()]).into_iter().next();
        match bound.as_ref().and_then(|bound| bound.sha256) {
            Some(Digest::ZERO) if place.kind == files::Kind::Folder => {
                if interpreted.contains(named) {
                    folders.push(path);
                }
                continue;
            }
            Some(Digest::ZERO) => found.unbound = true,
            Some(_) => found.card.push(shown(workspace, &place)),
            None => {}
        }
        found.bound.extend(bound);
    }
    // A folder is run by a file in it, which is named too.
    found.unbound |= folders.iter().any(|folder| {
        let is_run =
            |script: &Precondition| script.sha256.is_some() && Path::new(&script.path).starts_with(folder);
        !found.bound.iter().any(is_run)
    });
    found.bound.sort();
    found.bound.dedup();
    found
}

/// A path as the line names it, from the workspace; `None` where it leads out of it by name.
fn inside(workspace: &Workspace, folder: &[String], path: &str) -> Option<String> {
    let mut names: Vec<&str> =
        match path.strip_prefix(workspace.path()).and_then(|rest| rest.strip_prefix('/')) {
            Some(rest) => rest.split('/').collect(),
            None if path.starts_with('/') => return None,
            None => folder.iter().map(String::as_str).chain(path.split('/')).collect(),
        };
    let mut plain: Vec<&str> = Vec::new();
    for name in names.drain(..) {
        match name {
            "" | "." => {}
            ".." => {
                plain.pop()?;
            }
            name => plain.push(name),
        }
    }
    (!plain.is_empty()).then(|| plain.join("/"))
}

/// Whether a path that leads out of the workspace by name comes back through a link, or by `..`.
fn leads_inside(workspace: &Workspace, folder: &[String], path: &str) -> bool {
    let root = Path::new(workspace.path());
    let folder = folder.iter().fold(root.to_owned(), |path, name| path.join(name));
    fs::canonicalize(folder.join(path)).is_ok_and(|real| real.starts_with(root) && real.is_file())
}

fn shown(workspace: &Workspace, place: &Place) -> Value {
    let path = place.to_string();
    let Ok((_, text)) = files::read_text(workspace, &path) else {
        return json!({ "path": path, "text": null });
    };
    let cut = text.floor_char_boundary(limits::SCRIPT_SHOWN_BYTES);
    let mut card = json!({ "path": path, "text": text[..cut] });
    if cut < text.len() {
        card["truncated"] = Value::Bool(true);
    }
    card
}
