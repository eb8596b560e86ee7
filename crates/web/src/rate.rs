//! Rate limits of agents, as token buckets that fill at a steady rate. Each agent has its own bucket, and one more
//! bucket is shared by all agents. The limits do not apply to people.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::limits::{AGENT_BURST_SECONDS, AGENT_SHARES, RATED_AGENTS};

/// Rate limits of agents: one for each agent, and one for all agents together.
pub struct Rates {
    per_second: u32,
    each: Mutex<HashMap<String, Rate>>,
    all: Rate,
}

impl Rates {
    /// Creates the rate limits of agents. `per_second` is the average number of requests of each agent. All agents
    /// together may send [`AGENT_SHARES`] times this number.
    pub fn new(per_second: u32) -> Self {
        let all = per_second.saturating_mul(AGENT_SHARES);
        Self { per_second, each: Mutex::default(), all: Rate::per_second(all) }
    }

    /// Returns true if an agent may send a request at the time `now`. An allowed request is counted.
    pub fn admits(&self, agent: &str, now: Instant) -> bool {
        let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
        if each.len() >= RATED_AGENTS && !each.contains_key(agent) {
            // A full bucket can be deleted without effect on its agent.
            each.retain(|_, rate| rate.is_ahead(now));
        }
        let admitted = match each.get(agent) {
            Some(rate) => rate.admits(now),
            None if each.len() >= RATED_AGENTS => false,
            None => {
                each.entry(agent.to_owned()).or_insert_with(|| Rate::per_second(self.per_second)).admits(now)
            }
        };
        drop(each);
        admitted && self.all.admits(now)
    }
}

pub(crate) struct Rate {
    /// Average time between two requests that the rate limit allows.
    interval: Duration,
    /// Time by which a request may come early, measured against the average rate, so that bursts are possible.
    ahead: Duration,
    /// Time at which the next request would be due at the average rate of the limit (GCRA).
    due: Mutex<Option<Instant>>,
}

impl Rate {
    fn new(per_second: u32, burst: u32) -> Self {
        Self::every(Duration::from_secs(1) / per_second.max(1), burst)
    }

    fn per_second(per_second: u32) -> Self {
        Self::new(per_second, per_second.saturating_mul(AGENT_BURST_SECONDS))
    }

    /// Creates a rate limit of one request per `interval` on average. `burst` is the number of requests that may come
    /// together.
    pub(crate) fn every(interval: Duration, burst: u32) -> Self {
        Self { interval, ahead: interval * burst.saturating_sub(1), due: Mutex::new(None) }
    }

    /// Returns the time until the rate limit allows a burst of the maximum size again.
    pub(crate) fn full(&self, now: Instant) -> Duration {
        let due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        due.map_or(Duration::ZERO, |due| due.saturating_duration_since(now))
    }

    /// Returns the time until the rate limit allows a request again.
    pub(crate) fn wait(&self, now: Instant) -> Duration {
        self.full(now).saturating_sub(self.ahead)
    }

    /// Returns the number of requests that the rate limit allows now.
    pub(crate) fn left(&self, now: Instant) -> u32 {
        let room = (self.ahead + self.interval).saturating_sub(self.full(now));
        u32::try_from(room.as_nanos() / self.interval.as_nanos().max(1)).unwrap_or(u32::MAX)
    }

    pub(crate) fn is_ahead(&self, now: Instant) -> bool {
        self.due.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|due| due > now)
    }

    /// Returns true if the rate limit allows a request at the time `now`. An allowed request is counted.
    pub(crate) fn admits(&self, now: Instant) -> bool {
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
    fn one_agent_does_not_use_up_what_others_have() {
        let rates = Rates::new(2);
        let now = Instant::now();
        let served = |agent: &str| (0..100).filter(|_| rates.admits(agent, now)).count();
        let burst = (2 * AGENT_BURST_SECONDS) as usize;
        assert_eq!([served("a"), served("a"), served("b")], [burst, 0, burst]);
        let all: usize = (0..20).map(|n| served(&format!("other {n}"))).sum();
        assert_eq!(all, burst * (AGENT_SHARES as usize - 2), "all together have a limit too");
    }

    #[test]
    fn those_that_rest_are_forgotten_before_new_ones_are_refused() {
        let rates = Rates::new(u32::MAX / 64);
        let start = Instant::now();
        let admitted = |n: usize, now| rates.admits(&n.to_string(), now);
        assert!((0..RATED_AGENTS).all(|n| admitted(n, start)));
        assert!(!admitted(RATED_AGENTS, start));
        assert!(admitted(RATED_AGENTS, start + Duration::from_secs(1)));
    }

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
