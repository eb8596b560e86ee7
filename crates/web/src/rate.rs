//! Rate limits of agents: a token bucket that fills at a steady rate. People have none.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub struct Rate {
    /// Between two requests, on average.
    interval: Duration,
    /// How far ahead of the average they may be.
    ahead: Duration,
    /// When the next request would be due if all came on average (GCRA).
    due: Mutex<Option<Instant>>,
}

impl Rate {
    pub fn new(per_second: u32, burst: u32) -> Self {
        let interval = Duration::from_secs(1) / per_second.max(1);
        Self { interval, ahead: interval * burst.saturating_sub(1), due: Mutex::new(None) }
    }

    /// Whether a request may be served now; it counts if it may.
    pub fn admits(&self, now: Instant) -> bool {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let expected = due.map_or(now, |due| due.max(now));
        let admitted = expected.duration_since(now) <= self.ahead;
        if admitted {
            *due = Some(expected + self.interval);
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_served_then_the_rate() {
        let rate = Rate::new(10, 5);
        let start = Instant::now();
        let served = |after_ms: u64, wanted: usize| {
            let now = start + Duration::from_millis(after_ms);
            (0..wanted).filter(|_| rate.admits(now)).count()
        };
        assert_eq!(
            [served(0, 20), served(99, 20), served(100, 20), served(400, 20), served(10_000, 20)],
            [5, 0, 1, 3, 5]
        );
    }
}
