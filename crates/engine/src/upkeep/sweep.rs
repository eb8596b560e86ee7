//! Finds runs that no node drives although they could continue, and running actions that must be stopped. A run is in
//! this state if its node has stopped, if another node has changed it, or if the result of the append that started it
//! was lost.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::{Either, select};
use holdshort_store::Journal;

use crate::{Clock, Driver, Executor};

/// Time between two sweeps over all runs that this node should drive.
const SWEEP: Duration = Duration::from_secs(10);

/// Continues runs that no node drives, and stops actions whose results are no longer needed. Checks periodically, until
/// the future is dropped.
pub(super) async fn keep_driving<J: Journal, C: Clock, E: Executor>(driver: Arc<Driver<J, C, E>>) {
    let wait = driver.journal().poll().unwrap_or(SWEEP);
    let mut sweep = pin!(driver.clock().sleep(SWEEP));
    loop {
        let looks = async {
            select(pin!(driver.clock().sleep(wait)), pin!(driver.others.notified())).await;
        };
        let is_time = matches!(select(sweep.as_mut(), pin!(looks)).await, Either::Left(_));
        if is_time {
            sweep.set(driver.clock().sleep(SWEEP));
        }
        let looked = match driver.settle().await {
            Ok(()) => driver.claim().await.map(drop),
            Err(error) => Err(error),
        };
        if let Err(error) = looked {
            tracing::warn!(%error, "runs that no node drives cannot be listed");
        }
        let has_changed = driver.changed.swap(false, Ordering::AcqRel);
        if (is_time || has_changed)
            && let Err(error) = driver.sweep().await
        {
            tracing::warn!(%error, "runs that should continue cannot be listed");
        }
    }
}
