//! Reads the events of other nodes as soon as they are visible. Notifies the watchers of each changed stream on this
//! node, and marks its cached state as stale. This task only makes this node react faster: the task in `sweep.rs` finds
//! every event that it misses.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use holdshort_core::id::StreamId;
use holdshort_store::Journal;

use crate::{Clock, Driver, Executor};

const PAGE: usize = 1_000;
/// Pause after a failure to read the events of other nodes.
const PAUSE: Duration = Duration::from_secs(1);

/// Reads the events of other nodes until the future is dropped or the store is closed. Returns immediately if there are
/// no other nodes.
pub(super) async fn keep_following<J: Journal, C: Clock, E: Executor>(driver: Arc<Driver<J, C, E>>) {
    if driver.journal().poll().is_none() {
        return;
    }
    let mut commits = driver.journal().watch();
    let mut after = *commits.borrow_and_update();
    while commits.changed().await.is_ok() {
        loop {
            let page = match driver.journal().changes(after, PAGE).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::warn!(%error, "events from other nodes cannot be read");
                    driver.clock().sleep(PAUSE).await;
                    continue;
                }
            };
            let mut is_news = false;
            for change in &page {
                is_news |= driver.written(change);
                if change.stream == StreamId::System {
                    driver.changed.store(true, Ordering::Release);
                }
            }
            if is_news {
                driver.others.notify_one();
            }
            after = page.last().map_or(after, |last| last.position);
            if page.len() < PAGE {
                break;
            }
        }
    }
}
