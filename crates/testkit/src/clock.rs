//! A clock and a random source that a test controls. All clones share one state. Time passes only if the test moves it.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use holdshort_core::id::Seed;
use holdshort_core::time::Timestamp;
use holdshort_engine::Clock;

/// Start time of every clock: 2026-01-31T09:30:00Z.
pub const START: Timestamp = Timestamp::from_millis(1_769_851_800_000);

/// Clock of a tested driver, which a test sets. All clones share one state.
#[derive(Clone, Debug)]
pub struct SimClock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    now: AtomicI64,
    random: AtomicU64,
    sleepers: Mutex<Sleepers>,
}

/// Monotonic time of the simulated clock, and the tasks that sleep until it reaches a certain value. If the wall clock
/// jumps, the monotonic time does not change.
#[derive(Debug, Default)]
struct Sleepers {
    passed_ms: u64,
    next: u64,
    /// Tasks that sleep. The key consists of the time in milliseconds at which the task wakes up, and of a counter,
    /// which keeps the order of tasks.
    waiting: BTreeMap<(u64, u64), Waker>,
}

impl SimClock {
    /// Creates a simulated clock at [`START`]. Two clocks with the same seed give the same ids and salts, if the test
    /// requests them in the same order.
    pub fn new(seed: u64) -> Self {
        let (now, random) = (AtomicI64::new(START.as_millis()), AtomicU64::new(seed));
        Self(Arc::new(Inner { now, random, sleepers: Mutex::default() }))
    }

    /// Sets the simulated wall clock, which may jump backwards.
    pub fn set(&self, now: Timestamp) {
        self.0.now.store(now.as_millis(), Ordering::SeqCst);
    }

    /// Moves the simulated wall clock, but does not wake sleeping tasks.
    pub fn advance_ms(&self, ms: i64) {
        self.0.now.fetch_add(ms, Ordering::SeqCst);
    }

    /// Moves the simulated wall clock and the monotonic time. Wakes the sleeping tasks whose time has come.
    pub fn pass_ms(&self, ms: u64) {
        self.advance_ms(i64::try_from(ms).unwrap_or(i64::MAX));
        let mut sleepers = self.0.sleepers();
        sleepers.passed_ms += ms;
        let first_to_sleep_on = (sleepers.passed_ms + 1, 0);
        let later = sleepers.waiting.split_off(&first_to_sleep_on);
        for waker in std::mem::replace(&mut sleepers.waiting, later).into_values() {
            waker.wake();
        }
    }

    pub fn passed_ms(&self) -> u64 {
        self.0.sleepers().passed_ms
    }

    /// Returns in how many milliseconds the next sleeping task wakes up.
    pub fn next_ms(&self) -> Option<u64> {
        let sleepers = self.0.sleepers();
        sleepers.waiting.keys().next().map(|(at, _)| at - sleepers.passed_ms)
    }
}

impl Inner {
    fn sleepers(&self) -> MutexGuard<'_, Sleepers> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send {
        let mut sleepers = self.0.sleepers();
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let place = (sleepers.passed_ms.saturating_add(ms), sleepers.next);
        sleepers.next += 1;
        Sleep { clock: self.0.clone(), place }
    }
}

struct Sleep {
    clock: Arc<Inner>,
    place: (u64, u64),
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut sleepers = self.clock.sleepers();
        if sleepers.passed_ms >= self.place.0 {
            return Poll::Ready(());
        }
        sleepers.waiting.insert(self.place, cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.clock.sleepers().waiting.remove(&self.place);
    }
}

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the pseudo-random number that `SplitMix64` computes from a state, the same on every machine.
pub fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(GAMMA);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
