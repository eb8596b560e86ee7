//! Expires deadlines. One task sleeps until the next deadline in the journal. Because all deadlines are in the journal,
//! a server that was down expires them after its start.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::select;
use holdshort_store::Journal;

use crate::{Clock, Driver, Executor};

/// Maximum sleep of the task that expires deadlines. A longer sleep could miss a jump of the clock, or a deadline that
/// another process wrote.
const LONGEST: Duration = Duration::from_secs(5);
/// Pause of the task that expires deadlines after a failure, or while due deadlines cannot expire because the
/// installation is frozen.
const PAUSE: Duration = Duration::from_secs(1);

/// Expires deadlines until the future is dropped.
pub async fn keep_time<J: Journal, C: Clock, E: Executor>(driver: Arc<Driver<J, C, E>>) {
    loop {
        let done = match driver.due().await {
            Ok(done) => done,
            Err(error) => {
                tracing::error!(%error, "deadlines cannot be read");
                driver.clock().sleep(PAUSE).await;
                continue;
            }
        };
        let wait = match driver.journal().next_deadline().await {
            Ok(Some(at)) => {
                let wait = Duration::from_millis(at.ms_since(driver.clock().now()));
                if wait.is_zero() && done > 0 { PAUSE } else { wait.min(LONGEST) }
            }
            Ok(None) => LONGEST,
            Err(_) => PAUSE,
        };
        select(pin!(driver.clock().sleep(wait)), pin!(driver.deadline.notified())).await;
    }
}
