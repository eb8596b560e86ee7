//! What waited too long has failed, and what is old is forgotten. Also where no channel is configured any more.

use std::sync::Arc;
use std::time::Duration;

use holdshort_store::{DeliveryChange, Journal};

use super::limits::{DELIVERY_ATTEMPTS, DELIVERY_BODIES, DELIVERY_WAITS};
use crate::{Clock, Driver, Error, Executor};

/// Before the first look: nothing is so old that the start has to wait for it.
const FIRST: Duration = Duration::from_mins(1);
/// Between two looks.
const SWEEP: Duration = Duration::from_hours(1);
const TOO_LONG: &str = "it waited too long: its channel is disabled, or not configured any more";

/// `kept`: how long what runs said is kept, where that is not for ever.
pub(super) async fn keep_forgetting<J: Journal, C: Clock, E: Executor>(
    driver: Arc<Driver<J, C, E>>,
    kept: Option<Duration>,
) {
    driver.clock().sleep(FIRST).await;
    loop {
        match driver.forget_deliveries(kept).await {
            Ok((0, _)) => {}
            Ok((failed, _)) => {
                tracing::warn!(failed, "deliveries waited too long, and are not sent any more");
            }
            Err(error) => tracing::warn!(%error, "old deliveries can not be forgotten"),
        }
        driver.clock().sleep(SWEEP).await;
    }
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Fails what waited too long, and forgets what is old enough. How many of each. While everything is frozen nothing is
    /// sent, so nothing waits too long. Who was told is kept as long as what runs said (`kept`), and never less than
    /// [`DELIVERY_ATTEMPTS`] (contract E19): for so long where what runs said is kept for ever.
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

    /// The store does some at a time.
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
