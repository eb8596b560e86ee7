//! Plans writes and edits of a file: its current content, its new content, and the card for a person.
//!
//! This module never changes a file. `proposal` converts the plan to a changeset, and the commit of this changeset
//! changes the file.

use holdshort_core::tool::Precondition;
use serde_json::{Value, json};

use super::diff::Diff;
use super::read::{self, FileSnapshot};
use super::workspace_path::{Kind, Last, WorkspacePath, escape_path, names_a_file};
use crate::limits;
use crate::refusal::Refusal;
use crate::request::{Change, EditFile};
use crate::workspace::Workspace;

/// Planned change of one file, computed from the current content of this file.
pub(crate) struct Planned {
    pub(super) place: WorkspacePath,
    pub(super) before: Option<FileSnapshot>,
    pub(super) after: String,
}

impl Planned {
    pub(crate) fn new(workspace: &Workspace, change: &Change) -> Result<Self, Refusal> {
        let path = change.path();
        names_a_file(path)?;
        let place = WorkspacePath::resolve(workspace, path, Last::Refuse)?;
        let before = match (place.kind, change) {
            (Kind::Absent, Change::Write(_)) => None,
            _ => Some(read::existing(workspace, &place, path, limits::FILE_BYTES)?),
        };
        let after = match (change, &before) {
            (Change::Write(write), _) => write.content.clone(),
            (Change::Edit(edit), Some(found)) => edited(&read::text(found.bytes.clone(), path)?, edit)?,
            (Change::Edit(_), None) => return Err(super::workspace_path::not_found(path)),
        };
        if after.len() as u64 > limits::FILE_BYTES {
            return Err(Refusal::new(
                "too_large",
                format!("the new content is larger than {} KiB; write less", limits::FILE_BYTES / 1024),
            ));
        }
        Ok(Self { place, before, after })
    }

    pub(crate) fn precondition(&self) -> Precondition {
        Precondition { path: self.place.to_string(), sha256: self.before.as_ref().map(|found| found.digest) }
    }

    /// Returns true if the file to change has other hard links. When the file is replaced, its other hard links still
    /// lead to the old content.
    pub(crate) fn has_other_names(&self) -> bool {
        self.before.as_ref().is_some_and(|found| found.links > 1)
    }

    pub(crate) fn card(&self) -> Value {
        json!({
            "path": self.place.to_string(),
            "new_file": self.before.is_none(),
            "diff": self.diff().to_value(),
        })
    }

    pub(super) fn diff(&self) -> Diff {
        match &self.before {
            None => Diff::between("", &self.after),
            Some(found) => match std::str::from_utf8(&found.bytes) {
                Ok(before) => Diff::between(before, &self.after),
                Err(_) => Diff::unshowable(),
            },
        }
    }
}

/// Returns `text` with the replacement that the call `edit` describes. The replaced passage must occur exactly once.
fn edited(text: &str, edit: &EditFile) -> Result<String, Refusal> {
    let path = escape_path(&edit.path);
    if edit.old == edit.new {
        return Err(Refusal::new("nothing_to_change", "`old` and `new` are the same; change one of them"));
    }
    let mut found = occurrences(text, &edit.old);
    let Some(at) = found.next() else {
        let hint = if text.contains("\r\n") && !edit.old.contains('\r') {
            " (its lines end with \\r\\n)"
        } else {
            ""
        };
        return Err(Refusal::new(
            "old_not_found",
            format!("`old` does not occur in `{path}`{hint}; read the file and copy the passage exactly"),
        ));
    };
    if found.next().is_some() {
        return Err(Refusal::new(
            "old_not_unique",
            format!("`old` occurs more than once in `{path}`; add lines around it until it is unique"),
        ));
    }
    Ok(spliced(text, at, edit.old.len(), &edit.new))
}

/// Returns the positions in a text at which a passage occurs, including overlapping occurrences. Returns no positions
/// for an empty passage.
fn occurrences<'a>(text: &'a str, passage: &'a str) -> impl Iterator<Item = usize> + 'a {
    let mut from = if passage.is_empty() { None } else { Some(0) };
    std::iter::from_fn(move || {
        let start = from?;
        let at = start + text.get(start..)?.find(passage)?;
        from = text[at..].chars().next().map(|c| at + c.len_utf8());
        Some(at)
    })
}

fn spliced(text: &str, at: usize, length: usize, with: &str) -> String {
    [&text[..at], with, &text[at + length..]].concat()
}
