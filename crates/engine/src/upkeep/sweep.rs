//! Runs that should be driven and are not: left behind by a node that is gone, changed by another node, or begun
//! in an append whose answer got lost.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::select;
use holdshort_store::Journal;

use crate::{Clock, Driver, Executor};

/// Between two looks at all runs that this node should drive.
const SWEEP: Duration = Duration::from_secs(10);

/// Runs until it is dropped.
pub(super) async fn keep_driving<J: Journal, C: Clock, E: Executor>(driver: Arc<Driver<J, C, E>>) {
    let wait = driver.journal().poll().unwrap_or(SWEEP);
    let mut waited = Duration::ZERO;
    loop {
        select(pin!(driver.clock().sleep(wait)), pin!(driver.others.notified())).await;
        let looked = match driver.settle().await {
            Ok(()) => driver.claim().await.map(drop),
            Err(error) => Err(error),
        };
        if let Err(error) = looked {
            tracing::warn!(%error, "runs that nobody drives can not be looked for");
        }
        waited += wait;
        if waited >= SWEEP {
            waited = Duration::ZERO;
            if let Err(error) = driver.sweep().await {
                tracing::warn!(%error, "runs that should go on can not be looked for");
            }
        }
    }
}
