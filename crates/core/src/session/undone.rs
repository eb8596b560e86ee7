//! What people took back of what runs of a session changed, and which runs are told of it.

use std::sync::Arc;

use super::Session;
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

impl Session {
    pub(super) fn take_back(&mut self, of: &RunId, by: &RunId, text: &str) {
        let front = self.front_run().cloned();
        let undone = Undone { of: of.clone(), by: by.clone(), front, text: text.into() };
        self.undone.push_back_mut(undone);
    }

    /// What a run is told: what was taken back of its own changes, and of any run's while it had the front.
    pub fn undone_for<'s>(&'s self, run: &'s RunId) -> impl Iterator<Item = &'s Undone> {
        self.undone.iter().filter(move |undone| undone.front.as_ref() == Some(run) || undone.of == *run)
    }
}

impl Undone {
    /// What an agent is told of it.
    pub fn told(&self) -> String {
        let told = format!("A person has taken back changes that you may rely on. {}", self.text);
        told.trim_end().to_owned()
    }
}
