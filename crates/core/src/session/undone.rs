//! What people took back of what runs of a session changed, and which runs are told of it.

use std::sync::Arc;

use crate::id::RunId;

/// What one undo took back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The run that had changed it.
    pub of: RunId,
    /// The run that took it back.
    pub by: RunId,
    /// The front run of that time.
    pub front: Option<RunId>,
    /// Which files; empty where the words were erased.
    pub text: Arc<str>,
}

impl Undone {
    /// What an agent is told of it.
    pub fn told(&self) -> String {
        let told = format!("A person has taken back changes that you may rely on. {}", self.text);
        told.trim_end().to_owned()
    }
}
