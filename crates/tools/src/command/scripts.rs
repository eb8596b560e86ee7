//! The files of the workspace that a command line names to be run: bound to what is approved, and shown on its card.
//! What only a script reads is not known here.

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
    let named = command::parse(line).scripts();
    let mut found = Scripts { unbound: named.len() > limits::SCRIPTS, ..Scripts::default() };
    for path in named.iter().take(limits::SCRIPTS) {
        let Some(path) = inside(workspace, folder, path) else { continue };
        // A link is bound by where it leads: another target is another file.
        let Ok(place) = Place::resolve(workspace, &path, Last::Follow) else { continue };
        let bound = files::observe(workspace, &[place.to_string()]).into_iter().next();
        match bound.as_ref().and_then(|bound| bound.sha256) {
            Some(Digest::ZERO) if place.kind == files::Kind::Folder => continue,
            Some(Digest::ZERO) => found.unbound = true,
            Some(_) => found.card.push(shown(workspace, &place)),
            None => {}
        }
        found.bound.extend(bound);
    }
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
