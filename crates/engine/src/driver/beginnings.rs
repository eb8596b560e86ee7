//! Whether anything may begin on this node. A process that stops closes this first: calls and model requests that
//! were written down as started before are performed, none is started after.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{RwLock, RwLockReadGuard};

#[derive(Default)]
pub(super) struct Beginnings {
    closed: AtomicBool,
    /// Read while a start is decided, appended and handed to the executor.
    passing: RwLock<()>,
}

impl Beginnings {
    /// Held until what is started is under way. `None`: nothing may start.
    pub(super) async fn enter(&self) -> Option<RwLockReadGuard<'_, ()>> {
        let passage = self.passing.read().await;
        (!self.is_closed()).then_some(passage)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Answers once all that entered before is under way.
    pub(super) async fn close(&self) {
        self.closed.store(true, Ordering::Release);
        drop(self.passing.write().await);
    }
}
