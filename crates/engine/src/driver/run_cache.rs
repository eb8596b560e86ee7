//! Cache of loaded runs. Each active run has one entry: the run in memory, behind a lock. If there are too many idle
//! runs, the cache drops the oldest of them.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use holdshort_core::envelope::Chain;
use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::run::{Action, ActionId, Input, Run};
use tokio::sync::MutexGuard;

use super::lock;

/// Maximum number of idle runs that stay in memory for the next decision or read. An idle run is a run without an
/// action in progress. Further idle runs exist only in the store.
const IDLE: usize = 256;
/// Number of references to a cache entry to which only the map of the cache and the present lock holder refer.
const IN_MAP_AND_HERE: usize = 2;

pub(super) struct LoadedRun {
    pub(super) run: Arc<Run>,
    pub(super) chain: Chain,
    /// Actions that this driver is performing and whose results have not arrived. The set stays the same when the run
    /// is read again, because the actions continue.
    pub(super) in_flight: BTreeSet<ActionId>,
    /// Actions whose start this driver recorded, or tried to record, in the journal, but which it has not begun to
    /// perform. The value is the sequence number of the run before the append that recorded the start. Starts that
    /// other drivers recorded are never in this map. Therefore no start is performed twice.
    pub(super) claimed: BTreeMap<ActionId, u64>,
    /// Action that has ended and whose result is being recorded. The action must not be stopped or treated as lost.
    pub(super) back: Option<ActionId>,
    /// Number of the period (epoch) in which this driver drives the run. Each start of work is recorded with this
    /// number.
    pub(super) epoch: u64,
    /// True if this node was the driver of the run when the run was last read.
    pub(super) driven_here: bool,
    /// True if another writer may have changed the run. If so, the run is read again before the next decision.
    pub(super) stale: bool,
    /// Sequence number of the run before an append whose result is unknown. While the stream still ends at this number,
    /// the append may still be written. A later read may then find more events.
    pub(super) unanswered: Option<u64>,
}

impl LoadedRun {
    pub(super) fn new(run: Run, chain: Chain, epoch: u64, driven_here: bool) -> Self {
        Self {
            run: Arc::new(run),
            chain,
            in_flight: BTreeSet::new(),
            claimed: BTreeMap::new(),
            back: None,
            epoch,
            driven_here,
            stale: false,
            unanswered: None,
        }
    }

    pub(super) fn refresh(&mut self, run: Run, chain: Chain) {
        self.run = Arc::new(run);
        self.chain = chain;
        self.stale = false;
        self.unanswered = self.unanswered.filter(|on| *on >= chain.seq);
    }

    /// Returns the input that tells the run which work was lost. Work that is still in progress on this node is not
    /// lost. The starts in `claimed` are treated as lost, because another node may have recorded the same start.
    pub(super) fn adopt(&self) -> Input {
        let at_work = self.in_flight.iter().chain(&self.back);
        Input::Adopt { at_work: at_work.cloned().collect() }
    }

    /// Returns true if a later driver has recorded a start of work, or if the journal has a start with this driver's
    /// number (epoch) that this driver did not record. This driver will not perform such work.
    pub(super) fn has_lost_work(&self) -> bool {
        let known = |action: &ActionId| {
            self.in_flight.contains(action)
                || self.claimed.contains_key(action)
                || self.back.as_ref() == Some(action)
        };
        self.run.ended.is_none()
            && (self.run.last_epoch() > self.epoch
                || self.run.started().any(|(action, epoch)| epoch == self.epoch && !known(&action)))
    }

    fn is_at_work(&self) -> bool {
        !self.in_flight.is_empty() || !self.claimed.is_empty() || self.unanswered.is_some()
    }

    /// Returns true if all actions of the run that are due are in progress. A due action is not in progress, for
    /// example, while the installation is frozen or this node has no valid lease.
    fn is_under_way(&self) -> bool {
        let is_in_flight = |action: &Action| self.in_flight.contains(&action.id());
        !self.stale
            && self.claimed.is_empty()
            && !self.in_flight.is_empty()
            && self.run.actions().iter().all(is_in_flight)
    }
}

pub(super) type Slot = Option<LoadedRun>;

#[derive(Default)]
pub(super) struct CacheEntry {
    slot: tokio::sync::Mutex<Slot>,
    /// Sequence number of the newest event of the run that was reported to this process. The field is outside the lock,
    /// so that a report does not wait for the lock. The task that holds the lock may have an older state of the run.
    told: AtomicU64,
    /// State of the run that the last holder of the entry's lock published. Readers use this state while the entry is
    /// locked.
    seen: Mutex<Option<CommittedRun>>,
    /// Number of the last time that this entry was released, as [`Inner::releases`] counts.
    released: AtomicU64,
}

/// A run in a state that is committed to the journal.
struct CommittedRun {
    run: Arc<Run>,
    seq: u64,
    /// True if an append after this state was requested. The journal may then have more events.
    is_built_on: bool,
}

impl CacheEntry {
    pub(super) async fn lock(&self) -> MutexGuard<'_, Slot> {
        self.aged(self.slot.lock().await)
    }

    /// Locks the cache entry of a run without waiting. Returns `None` if the entry is already locked.
    fn try_lock(&self) -> Option<MutexGuard<'_, Slot>> {
        Some(self.aged(self.slot.try_lock().ok()?))
    }

    fn aged<'c>(&self, mut slot: MutexGuard<'c, Slot>) -> MutexGuard<'c, Slot> {
        let told = self.told.load(Ordering::Acquire);
        if let Some(loaded) = slot.as_mut() {
            // The previous lock holder was dropped while it recorded a result, so the result of that action is lost.
            let is_left = loaded.back.take().is_some();
            loaded.stale |= is_left || loaded.chain.seq < told || loaded.unanswered.is_some();
        }
        if slot.as_ref().is_none_or(|loaded| loaded.stale) {
            *lock(&self.seen) = None;
        }
        slot
    }

    /// Publishes the state of the run for readers of the cache entry. Called by the holder of the entry's lock before
    /// the lock is released.
    fn show(&self, slot: &Slot) {
        let shown = slot.as_ref().filter(|loaded| !loaded.stale);
        *lock(&self.seen) = shown.map(|loaded| CommittedRun {
            run: loaded.run.clone(),
            seq: loaded.chain.seq,
            is_built_on: loaded.unanswered.is_some(),
        });
    }

    /// Returns the published state of the run. While an append is in progress, this is the state before the append. The
    /// state is never older than the newest event that was reported to this process.
    fn glance(&self) -> Option<Arc<Run>> {
        let Some(slot) = self.try_lock() else { return self.seen(|_| true).map(|(run, _)| run) };
        slot.as_ref().filter(|loaded| !loaded.stale).map(|loaded| loaded.run.clone())
    }

    /// Returns the run in its current state in the journal, and its last sequence number.
    fn peek(&self) -> Option<(Arc<Run>, u64)> {
        let Some(slot) = self.try_lock() else { return self.seen(|seen| !seen.is_built_on) };
        slot.as_ref().filter(|loaded| !loaded.stale).map(|loaded| (loaded.run.clone(), loaded.chain.seq))
    }

    fn seen(&self, which: impl Fn(&CommittedRun) -> bool) -> Option<(Arc<Run>, u64)> {
        let told = self.told.load(Ordering::Acquire);
        let seen = lock(&self.seen);
        seen.as_ref().filter(|seen| seen.seq >= told && which(seen)).map(|seen| (seen.run.clone(), seen.seq))
    }
}

#[derive(Default)]
pub(super) struct RunCache(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    entries: HashMap<RunId, Arc<CacheEntry>>,
    /// Runs in the cache that no caller uses, each with the number of its release. If the list contains a run several
    /// times, only the entry of the last release is valid.
    idle: VecDeque<(RunId, u64)>,
    releases: u64,
    /// Ids of loaded runs, by the ids of interrupts that were open while this process had the run loaded.
    asked: HashMap<InterruptId, RunId>,
}

impl RunCache {
    pub(super) fn get(&self, run: &RunId) -> Arc<CacheEntry> {
        lock(&self.0).entries.entry(run.clone()).or_default().clone()
    }

    /// Returns the run in its current state in the journal, and its last sequence number. Returns `None` if the run is
    /// not loaded, or if an append to its stream was requested. Never waits. Does not hold a reference to the entry
    /// afterwards, because a reference would prevent the removal of the entry from the cache.
    pub(super) fn peek(&self, run: &RunId) -> Option<(Arc<Run>, u64)> {
        lock(&self.0).entries.get(run)?.peek()
    }

    /// Returns the run if it is loaded. While an append is in progress, the state is the one before the append.
    pub(super) fn glance(&self, run: &RunId) -> Option<Arc<Run>> {
        lock(&self.0).entries.get(run)?.glance()
    }

    /// Returns the run that opened this interrupt, under the same conditions as [`RunCache::peek`].
    pub(super) fn peek_asker(&self, interrupt: &InterruptId) -> Option<(Arc<Run>, u64)> {
        let inner = lock(&self.0);
        inner.entries.get(inner.asked.get(interrupt)?)?.peek()
    }

    /// Returns the id of the run that opened this interrupt. Returns `None` if the run is not loaded, or if the
    /// interrupt was never open while this process had the run loaded.
    pub(super) fn asker(&self, interrupt: &InterruptId) -> Option<RunId> {
        lock(&self.0).asked.get(interrupt).cloned()
    }

    /// Records that the caller is about to append events to the stream of the run. The caller must hold the lock of the
    /// run's cache entry.
    pub(super) fn appends(&self, run: &RunId) {
        let inner = lock(&self.0);
        let Some(entry) = inner.entries.get(run) else { return };
        if let Some(seen) = lock(&entry.seen).as_mut() {
            seen.is_built_on = true;
        }
    }

    /// Returns true if all due actions of the run are in progress and the cached state is not stale.
    pub(super) fn is_under_way(&self, run: &RunId) -> bool {
        let inner = lock(&self.0);
        let Some(entry) = inner.entries.get(run) else { return false };
        // The entry is locked, so a step of the run is in progress.
        let Some(slot) = entry.try_lock() else { return true };
        slot.as_ref().is_some_and(LoadedRun::is_under_way)
    }

    /// Returns the runs that have actions in progress, or that will have some if a pending append is written.
    pub(super) fn at_work(&self) -> Vec<RunId> {
        self.those(LoadedRun::is_at_work)
    }

    /// Returns the runs that have actions in progress and must be read again.
    pub(super) fn unsettled(&self) -> Vec<RunId> {
        self.those(|loaded| loaded.stale && loaded.is_at_work())
    }

    /// Returns the runs that are not locked and for which `wanted` returns true, always in the same order.
    fn those(&self, wanted: impl Fn(&LoadedRun) -> bool) -> Vec<RunId> {
        let inner = lock(&self.0);
        let is_wanted =
            |entry: &CacheEntry| entry.try_lock().is_some_and(|slot| slot.as_ref().is_some_and(&wanted));
        let found = inner.entries.iter().filter(|(_, entry)| is_wanted(entry)).map(|(run, _)| run.clone());
        let mut found: Vec<RunId> = found.collect();
        found.sort();
        found
    }

    /// If the run is loaded, applies `change` to its cached state.
    pub(super) async fn change(&self, run: &RunId, change: impl FnOnce(&mut LoadedRun)) {
        let entry = lock(&self.0).entries.get(run).cloned();
        let Some(entry) = entry else { return };
        let mut slot = entry.lock().await;
        if let Some(loaded) = slot.as_mut() {
            change(loaded);
        }
        self.release(run, &entry, &slot);
    }

    /// Records that the run's stream has event `seq`. If the cached state is older, the run is read again before the
    /// next decision. Never waits. Returns false if this process already has the state after the event.
    pub(super) fn note_event(&self, run: &RunId, seq: u64) -> bool {
        let inner = lock(&self.0);
        let Some(entry) = inner.entries.get(run) else { return true };
        entry.told.fetch_max(seq, Ordering::AcqRel);
        entry.try_lock().is_none_or(|slot| slot.as_ref().is_none_or(|loaded| loaded.stale))
    }

    pub(super) fn len(&self) -> usize {
        lock(&self.0).entries.len()
    }

    /// Ends the use of a run. The caller still holds the lock of its slot. Keeps active runs in the cache, and a
    /// limited number of idle runs.
    ///
    /// A run has only one entry in a process. Therefore one lock protects the run, and this process knows all actions
    /// in progress. An entry is removed only if no caller uses it: `get` clones the entry under the same lock as this
    /// function.
    pub(super) fn release(&self, run: &RunId, entry: &Arc<CacheEntry>, slot: &Slot) {
        entry.show(slot);
        let mut inner = lock(&self.0);
        if let Some(loaded) = slot.as_ref().filter(|loaded| !loaded.stale) {
            for (interrupt, _) in loaded.run.open_interrupts() {
                if !inner.asked.contains_key(interrupt) {
                    inner.asked.insert(interrupt.clone(), run.clone());
                }
            }
        }
        if !is_idle(slot) {
            return;
        }
        if slot.is_none() {
            if Arc::strong_count(entry) <= IN_MAP_AND_HERE {
                inner.entries.remove(run);
            }
            return;
        }
        inner.releases += 1;
        let now = inner.releases;
        entry.released.store(now, Ordering::Relaxed);
        inner.idle.push_back((run.clone(), now));
        while inner.idle.len() > IDLE {
            let Some((oldest, at)) = inner.idle.pop_front() else { break };
            let Inner { entries, asked, .. } = &mut *inner;
            let is_last = |entry: &&Arc<CacheEntry>| entry.released.load(Ordering::Relaxed) == at;
            let Some(entry) = entries.get(&oldest).filter(is_last) else { continue };
            let Some(slot) = entry.try_lock().filter(|slot| Arc::strong_count(entry) == 1 && is_idle(slot))
            else {
                continue;
            };
            for interrupt in slot.iter().flat_map(|loaded| loaded.run.interrupts.keys()) {
                asked.remove(interrupt);
            }
            drop(slot);
            entries.remove(&oldest);
        }
    }
}

/// Returns true if this process has no pending work for the run.
fn is_idle(slot: &Slot) -> bool {
    slot.as_ref().is_none_or(|loaded| !loaded.is_at_work())
}
