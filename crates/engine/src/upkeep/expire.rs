//! Closes idle sessions when their idle period has passed. The journal is the truth: sessions that became due while no
//! server ran are closed at the next start.

use std::sync::Arc;
use std::time::Duration;

use holdshort_store::Journal;

use crate::{Clock, Driver, Executor};

/// Time between two sweeps (contract A30).
const SWEEP: Duration = Duration::from_mins(1);

/// Runs until it is dropped.
pub(super) async fn keep_expiring<J: Journal, C: Clock, E: Executor>(driver: Arc<Driver<J, C, E>>) {
    loop {
        // Boxed only while it runs: most of the time this task only waits.
        match Box::pin(driver.expire_sessions()).await {
            Ok(0) => {}
            Ok(closed) => tracing::info!(closed, "idle sessions expired"),
            Err(error) => tracing::warn!(%error, "idle sessions cannot be closed"),
        }
        driver.clock().sleep(SWEEP).await;
    }
}
