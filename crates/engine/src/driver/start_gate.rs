//! Gate that every start on this node passes. A stopping process first closes the gate. Calls and model requests that
//! were recorded as started before are still performed, and none starts after that.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{RwLock, RwLockReadGuard};

#[derive(Default)]
pub(super) struct StartGate {
    closed: AtomicBool,
    /// Held for reading while a start is decided, appended and handed to the executor.
    passing: RwLock<()>,
}

impl StartGate {
    /// Returns a guard that the caller holds until the started work is running. Returns `None` if the gate is closed.
    pub(super) async fn enter(&self) -> Option<RwLockReadGuard<'_, ()>> {
        let passage = self.passing.read().await;
        (!self.is_closed()).then_some(passage)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Closes the gate, and waits until all work that entered earlier is running.
    pub(super) async fn close(&self) {
        self.closed.store(true, Ordering::Release);
        drop(self.passing.write().await);
    }
}
