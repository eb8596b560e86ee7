//! What a node does in the background: it expires what is due, looks for runs that no node drives, closes idle
//! sessions, drops the bytes of files that nobody needs, and reads what other nodes wrote. Each task looks at the journal at intervals; a wake-up only makes it
//! sooner.

mod bodies;
mod expire;
mod follow;
mod sweep;
mod timers;

pub use timers::keep_time;

use std::sync::Arc;

use holdshort_store::Journal;

use crate::{Clock, Driver, Executor};

/// Runs until it is dropped.
pub async fn keep_up<J: Journal, C: Clock, E: Executor>(driver: Arc<Driver<J, C, E>>) {
    futures::join!(
        timers::keep_time(driver.clone()),
        sweep::keep_driving(driver.clone()),
        expire::keep_expiring(driver.clone()),
        bodies::keep_dropping(driver.clone()),
        follow::keep_following(driver.clone()),
        look_at_assignments(driver)
    );
}

/// Whoever changed people may have stopped before the assignments were looked at that name them.
async fn look_at_assignments<J: Journal, C: Clock, E: Executor>(driver: Arc<Driver<J, C, E>>) {
    if let Err(error) = Box::pin(driver.look_at_all_assignments()).await {
        tracing::warn!(%error, "assignments can not be looked at");
    }
}
