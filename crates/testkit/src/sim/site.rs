//! State that all nodes of a simulation share: the store, the simulated world of the tools, and the witness. The
//! witness checks the other two.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use holdshort_engine::Clock;

use super::check::Witness;
use super::history::History;
use super::journal::Queue;
use super::leases::Leases;
use super::mutants::Mutant;
use super::outbox::Sink;
use super::store::Store;
use super::world::World;
use crate::clock::SimClock;

pub(super) struct Site {
    /// Handle with which the checks read the simulated store. If the store is for one node only, this is the handle of
    /// that node. Otherwise it belongs to an additional node, which drives no run.
    pub(super) store: Arc<Store>,
    pub(super) leases: Leases,
    pub(super) queue: Queue,
    pub(super) world: World,
    pub(super) sink: Sink,
    pub(super) witness: Witness,
    /// Deliberate defect that is added to the engine in this simulation.
    pub(super) mutant: Option<Mutant>,
    pub(super) clock: SimClock,
    pub(super) appends: u64,
    /// Number of times that leases were checked while the mutant is [`Mutant::AdoptEverything`].
    pub(super) doubts: u64,
    /// Number of messages that simulated people have sent.
    pub(super) said: u64,
    pub(super) history: History,
}

pub(super) type Shared = Arc<Mutex<Site>>;

impl Site {
    pub(super) fn new(store: Store, clock: SimClock, mutant: Option<Mutant>, history: History) -> Shared {
        Arc::new(Mutex::new(Self {
            store: Arc::new(store),
            leases: Leases::default(),
            queue: Queue::default(),
            world: World::default(),
            sink: Sink::default(),
            witness: Witness::default(),
            mutant,
            clock,
            appends: 0,
            doubts: 0,
            said: 0,
            history,
        }))
    }

    pub(super) fn record_history(&mut self, line: impl FnOnce() -> String) {
        let now = self.clock.now();
        self.history.record_line(now, line);
    }
}

/// Locks the state that all nodes of a simulation share. If the lock is poisoned, a check has already panicked.
pub(super) fn lock(site: &Shared) -> MutexGuard<'_, Site> {
    site.lock().unwrap_or_else(PoisonError::into_inner)
}
