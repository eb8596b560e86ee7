//! One cell per run at work: the loaded run, behind a lock. Waiting runs leave theirs.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use holdshort_core::event::Chain;
use holdshort_core::id::RunId;
use holdshort_core::run::{ActionId, Run};

use super::lock;

/// Runs without work in flight that stay loaded for the next decision. The rest are rows.
const IDLE: usize = 256;

/// A loaded run.
pub(super) struct Live {
    pub(super) run: Arc<Run>,
    pub(super) chain: Chain,
    /// Performed and not answered, in this process.
    pub(super) in_flight: BTreeSet<ActionId>,
}

pub(super) type Slot = Option<Live>;
type Cell = Arc<tokio::sync::Mutex<Slot>>;

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

    /// Called before the slot's lock is given back: keeps what is at work, and some of what is not.
    pub(super) fn release(&self, run: &RunId, slot: &mut Slot) {
        let at_work = slot.as_ref().is_some_and(|live| !live.in_flight.is_empty());
        if at_work {
            return;
        }
        let over = slot.as_ref().is_none_or(|live| live.run.ended.is_some());
        let mut inner = lock(&self.0);
        if over {
            *slot = None;
            inner.cells.remove(run);
            return;
        }
        inner.idle.push_back(run.clone());
        while inner.idle.len() > IDLE {
            let Some(oldest) = inner.idle.pop_front() else { break };
            let unused = inner.cells.get(&oldest).and_then(|cell| {
                cell.try_lock().ok().map(|slot| slot.as_ref().is_none_or(|live| live.in_flight.is_empty()))
            });
            if unused == Some(true) && !inner.idle.contains(&oldest) {
                inner.cells.remove(&oldest);
            }
        }
    }
}
