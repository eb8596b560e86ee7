//! Tasks that wait for decisions.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Tasks that wait for decisions, by the id of the open question. A decided question has no entry.
#[derive(Default)]
pub(super) struct Waiters(Mutex<HashMap<i64, Vec<oneshot::Sender<String>>>>);

impl Waiters {
    pub(super) fn open(&self, id: i64) {
        self.lock().insert(id, Vec::new());
    }

    /// Returns a receiver for the decision on a question. Returns `None` if the question is not open.
    pub(super) fn wait(&self, id: i64) -> Option<oneshot::Receiver<String>> {
        let (sender, receiver) = oneshot::channel();
        self.lock().get_mut(&id)?.push(sender);
        Some(receiver)
    }

    /// Sends the decision on a question to all tasks that wait for it. Must be called after the decision is committed.
    pub(super) fn resolve(&self, id: i64, option: &str) {
        let waiting = self.lock().remove(&id).unwrap_or_default();
        for sender in waiting {
            let _gone = sender.send(option.to_owned());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i64, Vec<oneshot::Sender<String>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
