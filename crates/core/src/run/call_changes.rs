//! Changes of a call, which its trial made or its tool proposed: the changes that a person selected, and a short
//! description of the changes.

use std::sync::Arc;

use serde_json::Value;

use super::{Call, CallChanges};
use crate::changeset::{self, Change, Changeset};
use crate::kept_changes::{choice, selected};
use crate::limits;
use crate::schema::Problem;

pub(super) fn not_tried() -> Problem {
    Problem::new("/option", "the call has no trial with changes that can be kept")
}

impl Call {
    /// Returns the changes of a tool call that a person selected, and the dropped paths as text. `edit` is the list of
    /// selected paths, such as `["src/a.rs"]`.
    pub(super) fn select_changes(&self, edit: &Value) -> Result<(Changeset, String), Problem> {
        let changes = self.found().and_then(|found| found.changeset.as_deref()).ok_or_else(not_tried)?;
        let (kept, dropped) = selected(changes, edit)?;
        Ok((kept, some(&dropped)))
    }

    /// Returns the changes that are committed to the workspace when the tool call starts. `None` if the tool itself
    /// writes its changes.
    pub fn committing(&self) -> Option<&Arc<CallChanges>> {
        self.trial.found.as_ref().or(self.proposal.as_ref())
    }

    /// Returns the changes that the trial of the tool call made. The gates vote on these changes, and an approval is
    /// valid only for these changes.
    pub(super) fn found(&self) -> Option<&CallChanges> {
        self.trial.found.as_deref()
    }
}

/// Formats file paths for a message to an agent: the first paths, and the number of further paths.
pub(super) fn some<S: AsRef<str>>(paths: &[S]) -> String {
    let named: Vec<&str> = paths.iter().take(limits::TOLD_PATHS).map(AsRef::as_ref).collect();
    match paths.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

impl CallChanges {
    /// Returns the changed paths among which a person can choose, and the number of further paths that the card does
    /// not list. `None` if there are not at least two paths.
    pub(super) fn choice(&self) -> Option<Value> {
        choice(self.changeset.as_deref()?)
    }

    /// Returns the changes that a tool call makes in the run's private layer: files that git ignores and that only this
    /// run sees.
    pub(super) fn in_layer(&self) -> &Changeset {
        self.layer.as_deref().map_or(&changeset::EMPTY, |layer| &layer.changes)
    }

    pub(super) fn describe(&self) -> String {
        let files = |n: usize| if n == 1 { "1 file".to_owned() } else { format!("{n} files") };
        let of_content = |changeset: &Changeset| {
            changeset.changes().iter().filter(|change: &&Change| change.is_of_content()).count()
        };
        let changed = self.changeset.as_deref().map_or(self.changed, of_content).saturating_sub(self.deleted);
        match (self.changed, changed, self.deleted) {
            (0, _, _) if self.layer.is_some() => "changes only files that git ignores".to_owned(),
            (0, _, _) => "changes nothing".to_owned(),
            (_, 0, 0) => "changes folders".to_owned(),
            (_, 0, deleted) => format!("deletes {}", files(deleted)),
            (_, changed, 0) => format!("changes {}", files(changed)),
            (_, changed, deleted) => format!("changes {}, deletes {deleted}", files(changed)),
        }
    }
}
