//! Gate through which every start of an action on this node passes. A process that stops first closes the gate. Calls
//! and model requests whose start was already recorded are still performed. After that, none starts.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{RwLock, RwLockReadGuard};

#[derive(Default)]
pub(super) struct StartGate {
    closed: AtomicBool,
    /// Locked for reading from the decision to start an action until the executor has the action.
    passing: RwLock<()>,
}

impl StartGate {
    /// Returns a guard. The caller holds the guard until the started action is running. Returns `None` if the gate is
    /// closed.
    pub(super) async fn enter(&self) -> Option<RwLockReadGuard<'_, ()>> {
        let passage = self.passing.read().await;
        (!self.is_closed()).then_some(passage)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Closes the gate, and waits until every action whose start entered earlier is running.
    pub(super) async fn close(&self) {
        self.closed.store(true, Ordering::Release);
        drop(self.passing.write().await);
    }
}
