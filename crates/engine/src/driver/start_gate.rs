//! Gate for starts on this node. A stopping process closes it first. Calls and model requests recorded as started
//! before that are performed, and none starts after it.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{RwLock, RwLockReadGuard};

#[derive(Default)]
pub(super) struct StartGate {
    closed: AtomicBool,
    /// Held for reading while a start is decided, appended and handed to the executor.
    passing: RwLock<()>,
}

impl StartGate {
    /// Returns a guard, held until the started work is running; `None` if nothing may start.
    pub(super) async fn enter(&self) -> Option<RwLockReadGuard<'_, ()>> {
        let passage = self.passing.read().await;
        (!self.is_closed()).then_some(passage)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Closes the gate, and waits until everything that entered before is running.
    pub(super) async fn close(&self) {
        self.closed.store(true, Ordering::Release);
        drop(self.passing.write().await);
    }
}
