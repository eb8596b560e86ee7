//! Time and chance that a test sets by hand. Shared by all clones; moves only when told to.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use holdshort_core::id::Seed;
use holdshort_core::time::Timestamp;
use holdshort_engine::Clock;

/// 2026-01-31T09:30:00Z: where every clock starts.
pub const START: Timestamp = Timestamp::from_millis(1_769_851_800_000);

/// A clock for drivers under test.
#[derive(Clone, Debug)]
pub struct SimClock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    now: AtomicI64,
    random: AtomicU64,
}

impl SimClock {
    /// Equal seeds give equal ids and salts, as long as they are drawn in the same order.
    pub fn new(seed: u64) -> Self {
        let inner = Inner { now: AtomicI64::new(START.as_millis()), random: AtomicU64::new(seed) };
        Self(Arc::new(inner))
    }

    /// Clocks jump backwards too.
    pub fn set(&self, now: Timestamp) {
        self.0.now.store(now.as_millis(), Ordering::SeqCst);
    }

    pub fn advance_ms(&self, ms: i64) {
        self.0.now.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.now.load(Ordering::SeqCst))
    }

    fn seed(&self) -> Seed {
        let mut bytes = [0; 16];
        for half in bytes.chunks_exact_mut(8) {
            half.copy_from_slice(&mix(self.0.random.fetch_add(GAMMA, Ordering::SeqCst)).to_le_bytes());
        }
        Seed(bytes)
    }
}

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of `SplitMix64`: enough for tests, the same on every machine.
pub fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(GAMMA);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
