//! How long and how often: a short run and a full one.

use std::time::Duration;

#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    pub(crate) warm_up: Duration,
    /// Of one measurement at concurrency 1.
    pub(crate) alone: Duration,
    /// Of one measurement at [`CROWD`].
    pub(crate) together: Duration,
    /// Of one measurement of the disk.
    pub(crate) syncs: Duration,
}

/// The higher of the two concurrencies.
pub(crate) const CROWD: usize = 64;

impl Plan {
    pub(crate) const FULL: Self = Self {
        rounds: 5,
        warm_up: Duration::from_secs(2),
        alone: Duration::from_secs(4),
        together: Duration::from_secs(5),
        syncs: Duration::from_millis(500),
    };
    pub(crate) const QUICK: Self = Self {
        rounds: 2,
        warm_up: Duration::from_millis(200),
        alone: Duration::from_millis(500),
        together: Duration::from_millis(500),
        syncs: Duration::from_millis(100),
    };
}
