//! Deletes the contents of files in changesets that the journal stores. A content is deleted if it was not used for a
//! while. If the contents together exceed the size limit, those that were used longest ago are deleted too. If a person
//! approves a change whose contents were deleted, the command is tried again. If an undo needs a deleted content, it
//! reports that it is no longer possible.

use std::sync::Arc;
use std::time::Duration;

use holdshort_core::limits;
use holdshort_store::Journal;

use crate::{Clock, Driver, Error, Executor};

/// Delay between the start of the server and the first deletion of unused file contents.
const FIRST: Duration = Duration::from_mins(1);
/// Time between two deletions of unused file contents.
const SWEEP: Duration = Duration::from_mins(10);

/// Deletes unused file contents periodically, until the future is dropped.
pub(super) async fn keep_dropping<J: Journal, C: Clock, E: Executor>(driver: Arc<Driver<J, C, E>>) {
    // The first sweep is delayed, so that it does not slow down the start of the server.
    driver.clock().sleep(FIRST).await;
    loop {
        match driver.drop_bodies().await {
            Ok(0) => {}
            Ok(files) => tracing::info!(
                files,
                "deleted the stored contents of changed files that were not used for a while"
            ),
            Err(error) => {
                tracing::warn!(%error, "the stored contents of changed files that are not used cannot be deleted");
            }
        }
        driver.clock().sleep(SWEEP).await;
    }
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Deletes file contents that were not used for a while. If the remaining contents exceed the size limit, also
    /// deletes those that were used longest ago. Returns the number of deleted contents.
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
