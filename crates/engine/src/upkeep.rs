//! Background tasks of a node. The tasks expire deadlines, continue runs that no node drives, close idle sessions,
//! delete unused file contents, and read events of other nodes. Each task checks the journal at intervals. A
//! notification only makes the next check earlier.

mod bodies;
mod expire;
mod follow;
mod retention;
mod sweep;
mod timers;

pub use retention::{ErasedRuns, keep_erasing};
pub use timers::keep_time;

use std::sync::Arc;
use std::time::Duration;

use holdshort_store::Journal;

use crate::{Clock, Driver, Executor};

/// Runs the background tasks until the future is dropped.
pub async fn keep_up<J: Journal, C: Clock, E: Executor>(driver: Arc<Driver<J, C, E>>) {
    futures::join!(
        timers::keep_time(driver.clone()),
        sweep::keep_driving(driver.clone()),
        expire::keep_expiring(driver.clone()),
        bodies::keep_dropping(driver.clone()),
        follow::keep_following(driver.clone()),
        keep_looking(driver)
    );
}

/// Time between two checks for open interrupts that were not yet compared with the latest people or rules.
const LOOK: Duration = Duration::from_secs(10);

/// Checks open interrupts against the latest people and rules. The process that changed people or rules may have
/// stopped, or may have lost its store, before its own check.
async fn keep_looking<J: Journal, C: Clock, E: Executor>(driver: Arc<Driver<J, C, E>>) {
    loop {
        if let Err(error) = Box::pin(driver.run_pending_reevaluations()).await {
            tracing::warn!(%error, "assignments cannot be checked");
        }
        if let Err(error) = Box::pin(driver.run_pending_revotes()).await {
            tracing::warn!(%error, "open interrupts cannot be compared with the rules");
        }
        driver.clock().sleep(LOOK).await;
    }
}
