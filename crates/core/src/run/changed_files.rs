//! Lists the files that a run has changed so far, for the cards of checkpoints. The list does not include changes by
//! commands that ran without a trial, because these changes are unknown.

use serde_json::{Value, json};

use super::Run;
use crate::changeset::{Change, Changeset, is_of_git};
use crate::limits;

/// Field of a checkpoint's payload that contains the list of files that the run has changed.
pub(super) const MEMBER: &str = "changed_files";

impl Run {
    /// Returns one line for each file that the run has changed, such as `created src/a.rs`. Leaves out changes that
    /// were reverted later, and git's internal files. `None` if the run changed no file.
    pub(super) fn changed_files(&self) -> Option<Value> {
        let committed = self.committed();
        let commits: Vec<_> = committed.iter().filter_map(|(_, found)| found.changeset.as_deref()).collect();
        let undoing = Changeset::undoing(&commits).changeset;
        let is_listed = |change: &&Change| change.is_of_content() && !is_of_git(&change.path);
        let changes: Vec<&Change> = undoing.changes().iter().filter(is_listed).collect();
        let shown = changes.iter().take(limits::CHANGED_FILES).map(|undoing| {
            let did = match (&undoing.after, &undoing.before) {
                (None, _) => "created",
                (_, None) => "deleted",
                (Some(_), Some(_)) => "changed",
            };
            format!("{did} {}", undoing.path)
        });
        let more = changes.len().saturating_sub(limits::CHANGED_FILES);
        let more = (more > 0).then(|| format!("and {more} more"));
        (!changes.is_empty()).then(|| json!(shown.chain(more).collect::<Vec<_>>()))
    }
}
