//! Time and randomness, behind a trait that tests can replace.

use std::future::Future;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use holdshort_core::id::Seed;
use holdshort_core::time::Timestamp;

/// Source of the current time, and of random seeds for ids and salts.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;
    /// Tells the clock the timestamp of an event. A clock that never runs backward uses this time as its new minimum.
    fn observe(&self, _at: Timestamp) {}
    fn seed(&self) -> Seed;
    /// Waits for a duration. The duration of the wait does not change if the wall clock jumps.
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send;
}

/// The machine's wall clock and random source.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn seed(&self) -> Seed {
        let mut bytes = [0; 16];
        // Panics on failure: without randomness, ids could be guessed and salts would not hide content.
        getrandom::fill(&mut bytes).expect("the operating system provides random bytes");
        Seed(bytes)
    }

    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}
