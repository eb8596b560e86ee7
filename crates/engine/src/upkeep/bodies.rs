//! The bytes of files that changesets name: dropped once nobody has needed them for a while, and the oldest of them where
//! there are too many. A change that is released after that is tried again, and one that can not be taken back any more is
//! told as such.

use std::sync::Arc;
use std::time::Duration;

use holdshort_core::limits;
use holdshort_store::Journal;

use crate::{Clock, Driver, Error, Executor};

/// Before the first look.
const FIRST: Duration = Duration::from_mins(1);
/// Between two looks.
const SWEEP: Duration = Duration::from_mins(10);

/// Runs until it is dropped.
pub(super) async fn keep_dropping<J: Journal, C: Clock, E: Executor>(driver: Arc<Driver<J, C, E>>) {
    // Nothing is so old that the start has to wait for it.
    driver.clock().sleep(FIRST).await;
    loop {
        match driver.drop_bodies().await {
            Ok(0) => {}
            Ok(files) => tracing::info!(files, "files that nobody needed for a while are kept no more"),
            Err(error) => tracing::warn!(%error, "files that nobody needs can not be dropped"),
        }
        driver.clock().sleep(SWEEP).await;
    }
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Drops what was not needed for long enough, and what is too much. How many files that were.
    pub async fn drop_bodies(&self) -> Result<usize, Error> {
        let before = self.clock().now().minus_ms(limits::BODIES_MS);
        let mut dropped = 0;
        loop {
            match self.journal().drop_bodies(before, limits::BODIES_BYTES).await? {
                0 => return Ok(dropped),
                more => dropped += more,
            }
        }
    }
}
