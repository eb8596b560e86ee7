//! Sessions in which nothing happened for as long as they were opened for. The journal is the truth: what became
//! due while no server ran is closed when one starts.

use std::sync::Arc;
use std::time::Duration;

use holdshort_store::Journal;

use crate::{Clock, Driver, Executor};

/// Between two looks (contract A30).
const SWEEP: Duration = Duration::from_mins(1);

/// Runs until it is dropped.
pub(super) async fn keep_expiring<J: Journal, C: Clock, E: Executor>(driver: Arc<Driver<J, C, E>>) {
    loop {
        // On the heap for as long as it lasts: most of the time this only waits.
        match Box::pin(driver.expire_sessions()).await {
            Ok(0) => {}
            Ok(closed) => tracing::info!(closed, "sessions expired: nothing happened in them"),
            Err(error) => tracing::warn!(%error, "idle sessions can not be closed"),
        }
        driver.clock().sleep(SWEEP).await;
    }
}
