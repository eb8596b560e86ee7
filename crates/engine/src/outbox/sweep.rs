//! Marks deliveries that have waited too long as failed, and deletes old deliveries. Also runs if no channel is
//! configured.

use std::sync::Arc;
use std::time::Duration;

use holdshort_store::{DeliveryChange, Journal};

use super::limits::{DELIVERY_ATTEMPTS, DELIVERY_BODIES, DELIVERY_WAITS};
use crate::{Clock, Driver, Error, Executor};

/// Delay between the start of the server and the first sweep of old deliveries. The sweep is never urgent, and an
/// immediate sweep would slow down the start of the server.
const FIRST: Duration = Duration::from_mins(1);
/// Time between two sweeps. A sweep marks old deliveries as failed, or deletes them.
const SWEEP: Duration = Duration::from_hours(1);
const TOO_LONG: &str = "the delivery waited too long: its channel is disabled or no longer configured";

/// Periodically marks deliveries that waited too long as failed, and deletes old deliveries, until the future is dropped.
/// `kept` is the time for which the content of runs is kept. `None` means unlimited retention.
pub(super) async fn keep_forgetting<J: Journal, C: Clock, E: Executor>(
    driver: Arc<Driver<J, C, E>>,
    kept: Option<Duration>,
) {
    driver.clock().sleep(FIRST).await;
    loop {
        match driver.forget_deliveries(kept).await {
            Ok((0, _)) => {}
            Ok((failed, _)) => {
                tracing::warn!(failed, "deliveries waited too long and are not sent");
            }
            Err(error) => tracing::warn!(%error, "old deliveries cannot be deleted"),
        }
        driver.clock().sleep(SWEEP).await;
    }
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Marks deliveries that have waited too long as failed, and deletes old deliveries. Returns the numbers of failed
    /// and of deleted deliveries. While the whole installation is frozen, nothing is sent. Therefore no delivery is
    /// marked as failed. Recipients are deleted when the content of runs is deleted (after `kept`), but not earlier
    /// than after [`DELIVERY_ATTEMPTS`] (contract E19). If the content of runs is kept without a limit, recipients are
    /// deleted after [`DELIVERY_ATTEMPTS`].
    pub async fn forget_deliveries(&self, kept: Option<Duration>) -> Result<(usize, usize), Error> {
        let now = self.clock().now();
        let ago = |time: Duration| now.minus_ms(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        let fail = DeliveryChange::FailOld { before: ago(DELIVERY_WAITS), why: TOO_LONG.to_owned(), now };
        let attempts = kept.map_or(DELIVERY_ATTEMPTS, |kept| kept.max(DELIVERY_ATTEMPTS));
        let forget = DeliveryChange::Forget { bodies: ago(DELIVERY_BODIES), attempts: ago(attempts) };
        let is_frozen = self.system().await?.freezes.all.is_some();
        let failed = if is_frozen { 0 } else { self.all_of(fail).await? };
        Ok((failed, self.all_of(forget).await?))
    }

    /// Repeats a change of deliveries in batches until there is no delivery left to change. Returns the number of
    /// changed deliveries.
    async fn all_of(&self, change: DeliveryChange) -> Result<usize, Error> {
        let mut changed = 0;
        loop {
            match self.journal().change_deliveries(change.clone()).await? {
                0 => return Ok(changed),
                more => changed += more,
            }
        }
    }
}
