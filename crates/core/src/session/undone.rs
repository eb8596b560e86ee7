//! Undone changes: records that a person reverted changes of a run, and informs later runs.

use std::sync::Arc;

use crate::id::RunId;

/// Changes of a run that one undo reverted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// Run that made the changes.
    pub of: RunId,
    /// Run that reverted them.
    pub by: RunId,
    /// Front run at that time.
    pub front: Option<RunId>,
    /// The reverted files. Empty if the text was erased.
    pub text: Arc<str>,
}

impl Undone {
    /// Describes the undo to an agent.
    pub fn describe(&self) -> String {
        let told = format!("A person has undone changes that you may rely on. {}", self.text);
        told.trim_end().to_owned()
    }
}
