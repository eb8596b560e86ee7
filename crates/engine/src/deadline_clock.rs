//! Clock of a server for deadlines. The clock follows the wall clock, but never runs backward within an installation.
//!
//! Deadlines of interrupts, approvals, grants, links, keys and sign-ins are compared with this clock. If the wall clock
//! is behind this clock, this clock runs at half speed until the wall clock has caught up. Therefore a deadline that
//! has expired stays expired, and no deadline waits forever. The clock learns the latest time from the journal, from a
//! file in the data folder, and from the events of other nodes: see `real/clock_mark.rs` and [`Clock::observe`].

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use holdshort_core::id::Seed;
use holdshort_core::time::Timestamp;

use crate::{Clock, SystemClock};

const NANOS_PER_MS: i64 = 1_000_000;

#[derive(Clone, Debug)]
pub struct DeadlineClock(Arc<Mutex<Reading>>);

/// Last time that the clock returned, in nanoseconds since 1970. With a coarser unit, a rounding error would accumulate
/// with each read.
#[derive(Clone, Copy, Debug)]
struct Reading {
    time_ns: i64,
    at: Instant,
}

impl Reading {
    /// Returns the next reading of the clock: the later of the wall clock, and the last reading plus half of the time
    /// that has passed since it.
    fn next(self, wall: Timestamp, at: Instant) -> Self {
        let passed = at.saturating_duration_since(self.at) / 2;
        let slow = self.time_ns.saturating_add(i64::try_from(passed.as_nanos()).unwrap_or(i64::MAX));
        Self { time_ns: slow.max(nanos(wall)), at }
    }

    fn time(self) -> Timestamp {
        Timestamp::from_millis(self.time_ns.div_euclid(NANOS_PER_MS))
    }
}

fn nanos(at: Timestamp) -> i64 {
    at.as_millis().saturating_mul(NANOS_PER_MS)
}

impl Default for DeadlineClock {
    fn default() -> Self {
        let reading = Reading { time_ns: nanos(SystemClock.now()), at: Instant::now() };
        Self(Arc::new(Mutex::new(reading)))
    }
}

impl DeadlineClock {
    /// Returns by how many milliseconds this clock is ahead of the wall clock.
    pub fn ahead_ms(&self) -> u64 {
        self.now().ms_since(SystemClock.now())
    }
}

impl Clock for DeadlineClock {
    fn now(&self) -> Timestamp {
        let mut reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *reading = reading.next(SystemClock.now(), Instant::now());
        reading.time()
    }

    fn observe(&self, at: Timestamp) {
        let mut reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Keeps the elapsed fraction of a millisecond.
        if at > reading.time() {
            reading.time_ns = nanos(at);
        }
    }

    fn seed(&self) -> Seed {
        SystemClock.seed()
    }

    async fn sleep(&self, time: Duration) {
        SystemClock.sleep(time).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_runs_backward_and_never_stops() {
        let start = Instant::now();
        let wall = |ms: i64| Timestamp::from_millis(ms);
        let mut reading = Reading { time_ns: nanos(wall(10_000)), at: start };
        // Each row contains the milliseconds since the start, the wall clock at that moment, and
        // the expected reading.
        let table = [
            (1_000, 11_000, 11_000),
            // The wall clock was set back by ten seconds, so the clock runs at half speed.
            (2_000, 2_000, 11_500),
            (3_000, 3_000, 12_000),
            (20_000, 20_000, 20_500),
            // The wall clock has caught up.
            (21_000, 21_000, 21_000),
            // The wall clock was set forward.
            (22_000, 90_000, 90_000),
        ];
        for (at_ms, shown, expected) in table {
            reading = reading.next(wall(shown), start + Duration::from_millis(at_ms));
            assert_eq!(reading.time(), wall(expected), "{at_ms}");
        }
    }

    #[test]
    fn many_readings_lose_no_time() {
        let start = Instant::now();
        let mut reading = Reading { time_ns: nanos(Timestamp::from_millis(10_000)), at: start };
        for n in 1..=10_000 {
            reading = reading.next(Timestamp::from_millis(0), start + Duration::from_micros(200 * n));
        }
        assert_eq!(reading.time(), Timestamp::from_millis(11_000));
    }

    #[test]
    fn it_takes_in_later_times_of_others() {
        let clock = DeadlineClock::default();
        let later = clock.now().plus_ms(3_600_000);
        clock.observe(later);
        assert!(clock.now() >= later);
        assert!(clock.ahead_ms() > 3_500_000);
        clock.observe(Timestamp::from_millis(0));
        assert!(clock.now() >= later);
    }
}
