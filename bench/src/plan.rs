//! Numbers and durations of the measurements, for a quick and for a full bench.

use std::time::Duration;

#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    pub(crate) warm_up: Duration,
    /// Duration of one measurement of cycles at concurrency 1.
    pub(crate) alone: Duration,
    /// Duration of one measurement of cycles at concurrency [`CROWD`].
    pub(crate) together: Duration,
    /// Duration of one measurement of the disk.
    pub(crate) syncs: Duration,
}

/// Number of concurrent pairs of agent and person in the measurement with high concurrency.
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
        rounds: 1,
        warm_up: Duration::from_millis(100),
        alone: Duration::from_millis(250),
        together: Duration::from_millis(250),
        syncs: Duration::from_millis(50),
    };
}
