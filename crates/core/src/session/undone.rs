//! Undone changes: records that a person undid changes of a run, and informs later runs.

use std::sync::Arc;

use crate::id::RunId;

/// Changes of a run that one undo reversed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// Run that made the changes.
    pub of: RunId,
    /// Run that undid the changes.
    pub by: RunId,
    /// Front run at the time of the undo.
    pub front: Option<RunId>,
    /// Text that lists the files. Empty if the text was erased.
    pub text: Arc<str>,
}

impl Undone {
    /// Describes the undo to an agent.
    pub fn describe(&self) -> String {
        let told = format!("A person has undone changes that you may rely on. {}", self.text);
        told.trim_end().to_owned()
    }
}
