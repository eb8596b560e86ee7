//! Closes sessions whose idle period has passed. The idle time is computed from the journal, so a session that became
//! due while no server was running is closed after the next start.

use std::sync::Arc;
use std::time::Duration;

use holdshort_store::Journal;

use crate::{Clock, Driver, Executor};

/// Time between two checks for idle sessions (contract A30).
const SWEEP: Duration = Duration::from_mins(1);

/// Closes idle sessions periodically, until the future is dropped.
pub(super) async fn keep_expiring<J: Journal, C: Clock, E: Executor>(driver: Arc<Driver<J, C, E>>) {
    loop {
        // The future is boxed only while the sweep runs, to save memory: most of the time this task only waits.
        match Box::pin(driver.expire_sessions()).await {
            Ok(0) => {}
            Ok(closed) => tracing::info!(closed, "idle sessions expired"),
            Err(error) => tracing::warn!(%error, "idle sessions cannot be closed"),
        }
        driver.clock().sleep(SWEEP).await;
    }
}
