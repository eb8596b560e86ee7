//! Limits how many callbacks to agents are sent at the same time. Only a few callbacks to one host and port are sent at
//! the same time. Therefore a slow agent delays only callbacks to its own host. No single host and no single agent can
//! use up the callbacks that the server can send at the same time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::limits::{CALLED_AT_HOST, CALLED_OF_ASKER, HELD_AT_HOST};

pub(super) struct Turns {
    askers: Shares,
    places: Shares,
    told: Shares,
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            askers: Shares::new(CALLED_OF_ASKER),
            places: Shares::new(HELD_AT_HOST),
            told: Shares::new(CALLED_AT_HOST),
        }
    }
}

impl Turns {
    /// Reserves a slot for one more callback of the agent `asker` to `place`, a host and port. The slot becomes free
    /// when the permits are dropped. Returns `None` if `asker` or `place` has no free slot.
    pub(super) fn room(&self, asker: &str, place: &str) -> Option<[OwnedSemaphorePermit; 2]> {
        let at_place = self.places.at(place).try_acquire_owned().ok()?;
        let of_asker = self.askers.at(asker).try_acquire_owned().ok()?;
        Some([at_place, of_asker])
    }

    /// Waits until a callback may be sent to `place`, a host and port. The next callback may be sent when the permit is
    /// dropped.
    pub(super) async fn at(&self, place: &str) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        self.told.at(place).acquire_owned().await.ok()
    }
}

/// Semaphores by name, each with the same number of permits. A semaphore is removed when no task holds a permit of it
/// or waits for one.
struct Shares {
    each: usize,
    taken: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

impl Shares {
    fn new(each: usize) -> Self {
        Self { each, taken: Mutex::default() }
    }

    fn at(&self, name: &str) -> Arc<Semaphore> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.retain(|_, share| Arc::strong_count(share) > 1);
        let share = taken.entry(name.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(self.each)));
        share.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::CALLED_AT_ONCE;
    use super::*;

    #[test]
    fn neither_a_place_nor_an_asker_takes_all_that_is_told_at_a_time() {
        let turns = Turns::default();
        let mut taken = Vec::new();
        let mut take = |asker: &str, place: &str| {
            let before = taken.len();
            while let Some(room) = turns.room(asker, place) {
                assert!(taken.len() < CALLED_AT_ONCE, "there is an end");
                taken.push(room);
            }
            taken.len() - before
        };
        let left = CALLED_OF_ASKER - HELD_AT_HOST;
        for (asker, place, found) in [
            ("one", "slow:443", HELD_AT_HOST),
            ("one", "slow:443", 0),
            ("other", "slow:443", 0),
            ("one", "quick:443", left.min(HELD_AT_HOST)),
            ("one", "third:443", left.saturating_sub(HELD_AT_HOST)),
            ("other", "third:443", HELD_AT_HOST),
        ] {
            assert_eq!(take(asker, place), found, "{asker} at {place}");
        }
        taken.clear();
        assert!(turns.room("one", "slow:443").is_some(), "the sent notice has made room");
    }
}
