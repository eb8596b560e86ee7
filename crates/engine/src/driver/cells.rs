//! One cell per run at work: the loaded run, behind a lock. Waiting runs leave theirs.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use holdshort_core::event::Chain;
use holdshort_core::id::RunId;
use holdshort_core::run::{ActionId, Run};

use super::lock;

/// Runs without work in flight that stay loaded for the next decision or look. The rest are rows.
const IDLE: usize = 256;
/// The map's own reference to a cell, and that of whoever holds its lock.
const IN_MAP_AND_HERE: usize = 2;

/// A loaded run.
pub(super) struct Live {
    pub(super) run: Arc<Run>,
    pub(super) chain: Chain,
    /// Performed and not answered, by this driver. Outlives a reload: what is under way stays under way.
    pub(super) in_flight: BTreeSet<ActionId>,
    /// Starts that this driver appended, or tried to, and did not perform yet. What another driver started is
    /// not here, so it is never performed twice.
    pub(super) claimed: BTreeSet<ActionId>,
    /// Somebody else wrote: read the run again before anything is decided on it.
    pub(super) stale: bool,
}

impl Live {
    pub(super) fn new(run: Run, chain: Chain) -> Self {
        Self { run: Arc::new(run), chain, in_flight: BTreeSet::new(), claimed: BTreeSet::new(), stale: false }
    }

    pub(super) fn refresh(&mut self, run: Run, chain: Chain) {
        self.run = Arc::new(run);
        self.chain = chain;
        self.stale = false;
    }

    fn is_at_work(&self) -> bool {
        !self.in_flight.is_empty() || !self.claimed.is_empty()
    }
}

pub(super) type Slot = Option<Live>;
pub(super) type Cell = Arc<tokio::sync::Mutex<Slot>>;

#[derive(Default)]
pub(super) struct Cells(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    cells: HashMap<RunId, Cell>,
    idle: VecDeque<RunId>,
}

impl Cells {
    pub(super) fn get(&self, run: &RunId) -> Cell {
        lock(&self.0).cells.entry(run.clone()).or_default().clone()
    }

    /// The run as the journal has it, if it is loaded and nobody is at it right now. Takes no share in the
    /// cell: that would keep it from being dropped.
    pub(super) fn peek(&self, run: &RunId) -> Option<Arc<Run>> {
        let inner = lock(&self.0);
        let slot = inner.cells.get(run)?.try_lock().ok()?;
        slot.as_ref().filter(|live| !live.stale).map(|live| live.run.clone())
    }

    /// Runs that are loaded.
    pub(super) fn len(&self) -> usize {
        lock(&self.0).cells.len()
    }

    /// Called with the slot's lock held: keeps what is at work, and some of what is not.
    ///
    /// A run has one cell in a process, so that one lock covers it and what is in flight is known. A cell is
    /// dropped only while nobody else holds it: `get` clones under the same lock.
    pub(super) fn release(&self, run: &RunId, cell: &Cell, slot: &Slot) {
        let mut inner = lock(&self.0);
        if !is_idle(slot) {
            return;
        }
        if slot.is_none() {
            if Arc::strong_count(cell) <= IN_MAP_AND_HERE {
                inner.cells.remove(run);
            }
            return;
        }
        inner.idle.push_back(run.clone());
        while inner.idle.len() > IDLE {
            let Some(oldest) = inner.idle.pop_front() else { break };
            let Inner { cells, idle } = &mut *inner;
            let unused = cells.get(&oldest).is_some_and(|cell| {
                Arc::strong_count(cell) == 1 && cell.try_lock().is_ok_and(|slot| is_idle(&slot))
            });
            if unused && !idle.contains(&oldest) {
                cells.remove(&oldest);
            }
        }
    }
}

/// Nothing that this process performs for the run is unanswered.
fn is_idle(slot: &Slot) -> bool {
    slot.as_ref().is_none_or(|live| !live.is_at_work())
}
