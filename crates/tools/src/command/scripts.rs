//! Binds the approval of a command to the files of the workspace that the command line runs, and to the folders in
//! which it runs. If a file or folder changes to which the approval is bound, the approval is not valid. The card shows
//! these files. A file that is named only inside a script is not found.

use std::fs;
use std::path::Path;

use holdshort_command::NamedPaths;
use holdshort_core::digest::Digest;
use holdshort_core::tool::Precondition;
use serde_json::{Value, json};

use crate::files::{self, Last, WorkspacePath};
use crate::limits;
use crate::workspace::Workspace;

/// Maximum number of files and folders to which the approval of a command line is bound, including missing files. The
/// search ends when this number is reached.
const MOST_BOUND: usize = 4 * limits::SCRIPTS;

/// Maximum number of folders in which the arguments of one command are looked up as names of scripts. Only folders that
/// the command itself names are searched.
const MOST_BELOW: usize = 16;

/// Scripts that the inspection of a command line finds, and the files to which the approval of the line is bound.
#[derive(Debug, Default)]
pub(super) struct Scripts {
    /// Preconditions of the command line, sorted by path. If a file does not exist now, the precondition is that the
    /// file still does not exist when the command runs.
    pub bound: Vec<Precondition>,
    /// Scripts that a person sees before the approval of the command line, as `[{path, text, truncated?}]`: each
    /// existing file to which the approval is bound.
    pub card: Vec<Value>,
    /// True if the approval of the command line cannot be bound to all files that it runs and all folders in which it
    /// runs.
    pub unbound: bool,
}

impl Scripts {
    /// Binds the approval of the command line to the digest of a file. If the file exists, adds it to the scripts that
    /// a person sees.
    fn bind(&mut self, workspace: &Workspace, place: &WorkspacePath) {
        let path = place.to_string();
        if self.bound.iter().any(|bound| bound.path == path) {
            return;
        }
        let Some(bound) = files::observe(workspace, &[path]).into_iter().next() else { return };
        match bound.sha256 {
            Some(Digest::ZERO) => self.unbound = true,
            Some(_) => self.card.push(render_script(workspace, place)),
            None => {}
        }
        self.bound.push(bound);
    }

    fn bind_folder(&mut self, workspace: &Workspace, path: &str) {
        let path = format!("{path}/");
        if !self.bound.iter().any(|bound| bound.path == path) {
            let sha256 = files::identity(workspace, &path);
            self.bound.push(Precondition { path, sha256 });
        }
    }
}

/// Finds the scripts that a command line runs. `folder` is the working directory, relative to the workspace.
pub(super) fn look(workspace: &Workspace, folder: &[String], line: &str) -> Scripts {
    let command = holdshort_command::parse(line);
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
        // The approval is bound to the path of a link's target, so a link with a new target is a different file.
        let Ok(place) = WorkspacePath::resolve(workspace, &path, Last::Follow) else {
            // The file is in `.git`, or behind a link that file tools do not follow. The shell would run it
            // nevertheless.
            found.unbound |= Path::new(workspace.path()).join(&path).is_file();
            continue;
        };
        if place.kind == files::Kind::Folder {
            if interpreted.contains(named) {
                folders.push(path);
            }
            continue;
        }
        found.bind(workspace, &place);
    }
    // Running a folder, as in `python3 DIR`, runs a file in the folder. If the approval is bound to no file in the
    // folder, the file that runs is unknown.
    found.unbound |= folders.iter().any(|folder| {
        let is_run =
            |script: &Precondition| script.sha256.is_some() && Path::new(&script.path).starts_with(folder);
        !found.bound.iter().any(is_run)
    });
    match command.named_paths() {
        Some(named) => {
            for named in named {
                look_up(workspace, folder, &named, command.is_read_only(), &mut found);
            }
        }
        None => found.unbound = true,
    }
    let is_there = |bound: &&Precondition| bound.sha256.is_some();
    found.unbound |= found.bound.iter().filter(is_there).count() > limits::SCRIPTS;
    found.bound.sort();
    found.bound.dedup();
    found
}

/// Binds the approval of a command line to the existing files that one command of the line may run, and to the folders
/// in which this command may run.
fn look_up(
    workspace: &Workspace,
    folder: &[String],
    named: &NamedPaths,
    only_reads: bool,
    found: &mut Scripts,
) {
    for entered in &named.entered {
        let Some(path) = inside(workspace, folder, entered) else {
            // This path leads to the workspace folder or out of it. The approval is always bound to the workspace
            // folder.
            continue;
        };
        found.bind_folder(workspace, &path);
        // If the folder is a link, the approval is bound only to the link and not to its target.
        let place = WorkspacePath::resolve(workspace, &path, Last::Refuse);
        let is_itself = place.is_ok_and(|place| place.to_string() == path);
        found.unbound |= !only_reads && !is_itself;
    }
    let mut folders = if named.folders.is_empty() { vec![String::new()] } else { named.folders.clone() };
    folders.extend(named.entered.iter().cloned());
    let texts: Vec<String> =
        folders.iter().flat_map(|folder| named.texts.iter().map(move |text| joined(folder, text))).collect();
    let mut below = Vec::new();
    for text in texts {
        look_up_text(workspace, folder, &text, found, Some(&mut below));
    }
    below.sort();
    below.dedup();
    found.unbound |= below.len() > MOST_BELOW;
    below.truncate(MOST_BELOW);
    for text in named.texts.iter().map(String::as_str).chain(named.looked_for.iter().copied()) {
        for folder in &below {
            look_up_text(workspace, &[], &joined(folder, text), found, None);
        }
    }
}

fn joined(folder: &str, text: &str) -> String {
    if folder.is_empty() || text.starts_with('/') { text.to_owned() } else { format!("{folder}/{text}") }
}

/// Binds the approval of a command line to the file that one word of the line names. If the word names a folder, binds
/// the approval to the folder, and adds the folder to `below`.
fn look_up_text(
    workspace: &Workspace,
    folder: &[String],
    text: &str,
    found: &mut Scripts,
    below: Option<&mut Vec<String>>,
) {
    if found.bound.len() > MOST_BOUND {
        found.unbound = true;
        return;
    }
    let Some(path) = inside(workspace, folder, text) else {
        found.unbound |= leads_inside(workspace, folder, text);
        return;
    };
    match WorkspacePath::resolve(workspace, &path, Last::Follow) {
        Ok(place) if place.kind == files::Kind::File => found.bind(workspace, &place),
        Ok(place) if place.kind == files::Kind::Folder => {
            if let Some(below) = below {
                found.bind_folder(workspace, &path);
                below.push(place.to_string());
            }
        }
        Ok(place) => found.unbound |= place.kind == files::Kind::Other,
        Err(_) => found.unbound |= Path::new(workspace.path()).join(&path).is_file(),
    }
}

/// Converts a path in the command line to a path relative to the workspace. Returns `None` if the names in the path
/// lead out of the workspace, or to the workspace folder itself.
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

/// Returns true if a path in the command line leads out of the workspace by its names, and back into the workspace
/// through a link or `..`.
fn leads_inside(workspace: &Workspace, folder: &[String], path: &str) -> bool {
    let root = Path::new(workspace.path());
    let folder = folder.iter().fold(root.to_owned(), |path, name| path.join(name));
    fs::canonicalize(folder.join(path)).is_ok_and(|real| real.starts_with(root) && real.is_file())
}

fn render_script(workspace: &Workspace, place: &WorkspacePath) -> Value {
    let path = place.to_string();
    let Ok((_, text)) = files::read_text(workspace, None, &path) else {
        return json!({ "path": path, "text": null });
    };
    let cut = text.floor_char_boundary(limits::SCRIPT_SHOWN_BYTES);
    let mut card = json!({ "path": path, "text": text[..cut] });
    if cut < text.len() {
        card["truncated"] = Value::Bool(true);
    }
    card
}
