//! Gate that every action on this node must pass when it starts. A process that is about to stop first closes the gate.
//! Calls and model requests whose start was recorded before that are still performed. No others start.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{RwLock, RwLockReadGuard};

#[derive(Default)]
pub(super) struct StartGate {
    closed: AtomicBool,
    /// Lock that is held for reading from the decision to start an action until the executor has received the action.
    passing: RwLock<()>,
}

impl StartGate {
    /// Enters the gate that every action must pass to start, and returns a guard. The caller keeps the guard until the
    /// started action is running. Returns `None` if the gate is closed.
    pub(super) async fn enter(&self) -> Option<RwLockReadGuard<'_, ()>> {
        let passage = self.passing.read().await;
        (!self.is_closed()).then_some(passage)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Closes the gate, so that no further action starts. Waits until every action that entered the gate before is
    /// running.
    pub(super) async fn close(&self) {
        self.closed.store(true, Ordering::Release);
        drop(self.passing.write().await);
    }
}
