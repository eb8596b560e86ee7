//! One entry per run at work: the loaded run, behind a lock. Waiting runs leave theirs.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use holdshort_core::envelope::Chain;
use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::run::{Action, ActionId, Input, Run};
use tokio::sync::MutexGuard;

use super::lock;

/// Runs without work in flight that stay loaded for the next decision or look. The rest are rows.
const IDLE: usize = 256;
/// The map's own reference to an entry, and that of whoever holds its lock.
const IN_MAP_AND_HERE: usize = 2;

/// A loaded run.
pub(super) struct LoadedRun {
    pub(super) run: Arc<Run>,
    pub(super) chain: Chain,
    /// Performed and not answered, by this driver. Outlives a reload: what is under way stays under way.
    pub(super) in_flight: BTreeSet<ActionId>,
    /// Starts that this driver appended, or tried to, and did not perform yet, with the sequence that the append
    /// builds on. What another driver started is not here, so it is never performed twice.
    pub(super) claimed: BTreeMap<ActionId, u64>,
    /// Its answer is being written down: nothing must stop it or take it for lost.
    pub(super) back: Option<ActionId>,
    /// The epoch under which this driver starts work.
    pub(super) epoch: u64,
    /// As far as is known here, this node drives the run.
    pub(super) driven_here: bool,
    /// Somebody else wrote, or may have: read the run again before anything is decided on it.
    pub(super) stale: bool,
    /// An append built on this sequence was dropped before its answer came. While the stream still ends here it may yet
    /// be written, so a read is not final.
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

    /// Takes over what is lost here, and goes on with the rest. What is only claimed is no part of that: another node
    /// may have written the very same start.
    pub(super) fn adopt(&self) -> Input {
        let at_work = self.in_flight.iter().chain(&self.back);
        Input::Adopt { at_work: at_work.cloned().collect() }
    }

    /// Whether something is written down as started that this driver should know of and does not: under its
    /// own epoch, or under a later one. Then nobody here performs it.
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

    /// Whether all that is due is in flight. Beside it something may be due that could not begin when it came up:
    /// the installation was frozen, or no lease stood.
    fn is_under_way(&self) -> bool {
        let is_in_flight = |action: &Action| self.in_flight.contains(&action.id());
        !self.stale
            && self.claimed.is_empty()
            && !self.in_flight.is_empty()
            && self.run.actions().iter().all(is_in_flight)
    }
}

pub(super) type Slot = Option<LoadedRun>;

/// The entry of one run.
#[derive(Default)]
pub(super) struct CacheEntry {
    slot: tokio::sync::Mutex<Slot>,
    /// The last event of the run's stream that this process was told of. Beside the lock, so that telling waits for
    /// nobody: whoever is at the run may have read it before that event was there.
    told: AtomicU64,
    /// The run as whoever was at it last left it: for those who read it while somebody else is at it.
    seen: Mutex<Option<Seen>>,
    /// When it was last let go, as [`Inner::releases`] counts.
    released: AtomicU64,
}

/// A run as it was committed.
struct Seen {
    run: Arc<Run>,
    seq: u64,
    /// An append that builds on it was asked for: the journal may have more by now.
    is_built_on: bool,
}

impl CacheEntry {
    pub(super) async fn lock(&self) -> MutexGuard<'_, Slot> {
        self.aged(self.slot.lock().await)
    }

    /// `None`: somebody is at the run right now.
    fn try_lock(&self) -> Option<MutexGuard<'_, Slot>> {
        Some(self.aged(self.slot.try_lock().ok()?))
    }

    fn aged<'c>(&self, mut slot: MutexGuard<'c, Slot>) -> MutexGuard<'c, Slot> {
        let told = self.told.load(Ordering::Acquire);
        if let Some(loaded) = slot.as_mut() {
            // Whoever brought an answer and is at the run no more did not finish: what it was for is lost.
            let is_left = loaded.back.take().is_some();
            loaded.stale |= is_left || loaded.chain.seq < told || loaded.unanswered.is_some();
        }
        if slot.as_ref().is_none_or(|loaded| loaded.stale) {
            *lock(&self.seen) = None;
        }
        slot
    }

    /// Called by whoever has the lock, before it is let go.
    fn show(&self, slot: &Slot) {
        let shown = slot.as_ref().filter(|loaded| !loaded.stale);
        *lock(&self.seen) = shown.map(|loaded| Seen {
            run: loaded.run.clone(),
            seq: loaded.chain.seq,
            is_built_on: loaded.unanswered.is_some(),
        });
    }

    /// The run as it was at some time. While an append is under way, as it was before; never older than what this
    /// process was told of.
    fn glance(&self) -> Option<Arc<Run>> {
        let Some(slot) = self.try_lock() else { return self.seen(|_| true).map(|(run, _)| run) };
        slot.as_ref().filter(|loaded| !loaded.stale).map(|loaded| loaded.run.clone())
    }

    /// The run as the journal has it.
    fn peek(&self) -> Option<(Arc<Run>, u64)> {
        let Some(slot) = self.try_lock() else { return self.seen(|seen| !seen.is_built_on) };
        slot.as_ref().filter(|loaded| !loaded.stale).map(|loaded| (loaded.run.clone(), loaded.chain.seq))
    }

    fn seen(&self, which: impl Fn(&Seen) -> bool) -> Option<(Arc<Run>, u64)> {
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
    /// Runs that were let go, each with when: the last time counts.
    idle: VecDeque<(RunId, u64)>,
    releases: u64,
    /// The loaded runs of interrupts that were open here.
    asked: HashMap<InterruptId, RunId>,
}

impl RunCache {
    pub(super) fn get(&self, run: &RunId) -> Arc<CacheEntry> {
        lock(&self.0).entries.entry(run.clone()).or_default().clone()
    }

    /// The run as the journal has it, with its last sequence number, if it is loaded and no append to it
    /// was asked for. A reader waits for nobody, and takes no share in the entry: that would keep it from being dropped.
    pub(super) fn peek(&self, run: &RunId) -> Option<(Arc<Run>, u64)> {
        lock(&self.0).entries.get(run)?.peek()
    }

    /// The same, also while an append is under way: then the run as it was before.
    pub(super) fn glance(&self, run: &RunId) -> Option<Arc<Run>> {
        lock(&self.0).entries.get(run)?.glance()
    }

    /// The run that asks this, as [`RunCache::peek`] has it.
    pub(super) fn peek_asker(&self, interrupt: &InterruptId) -> Option<(Arc<Run>, u64)> {
        let inner = lock(&self.0);
        inner.entries.get(inner.asked.get(interrupt)?)?.peek()
    }

    /// The run that asks this, if it is loaded and the interrupt was open here.
    pub(super) fn asker(&self, interrupt: &InterruptId) -> Option<RunId> {
        lock(&self.0).asked.get(interrupt).cloned()
    }

    /// An append to the run's stream is about to be asked for. Called with the entry's lock held.
    pub(super) fn appends(&self, run: &RunId) {
        let inner = lock(&self.0);
        let Some(entry) = inner.entries.get(run) else { return };
        if let Some(seen) = lock(&entry.seen).as_mut() {
            seen.is_built_on = true;
        }
    }

    /// Whether all that this process does for the run is under way, and nothing more is known.
    pub(super) fn is_under_way(&self, run: &RunId) -> bool {
        let inner = lock(&self.0);
        let Some(entry) = inner.entries.get(run) else { return false };
        // Somebody is at it right now.
        let Some(slot) = entry.try_lock() else { return true };
        slot.as_ref().is_some_and(LoadedRun::is_under_way)
    }

    /// Runs that something is performed for, or would be if an append without an answer is written.
    pub(super) fn at_work(&self) -> Vec<RunId> {
        self.those(LoadedRun::is_at_work)
    }

    /// Those of them that have to be read again.
    pub(super) fn unsettled(&self) -> Vec<RunId> {
        self.those(|loaded| loaded.stale && loaded.is_at_work())
    }

    /// Runs that nobody is at right now, in an order that does not depend on hashes.
    fn those(&self, wanted: impl Fn(&LoadedRun) -> bool) -> Vec<RunId> {
        let inner = lock(&self.0);
        let is_wanted =
            |entry: &CacheEntry| entry.try_lock().is_some_and(|slot| slot.as_ref().is_some_and(&wanted));
        let found = inner.entries.iter().filter(|(_, entry)| is_wanted(entry)).map(|(run, _)| run.clone());
        let mut found: Vec<RunId> = found.collect();
        found.sort();
        found
    }

    /// Changes what is known here of a run, if it is loaded.
    pub(super) async fn change(&self, run: &RunId, change: impl FnOnce(&mut LoadedRun)) {
        let entry = lock(&self.0).entries.get(run).cloned();
        let Some(entry) = entry else { return };
        let mut slot = entry.lock().await;
        if let Some(loaded) = slot.as_mut() {
            change(loaded);
        }
        self.release(run, &entry, &slot);
    }

    /// The run's stream has this event: what is older here is read again before anything is decided on it. Waits
    /// for nobody. `false`: this process had read it already.
    pub(super) fn told(&self, run: &RunId, seq: u64) -> bool {
        let inner = lock(&self.0);
        let Some(entry) = inner.entries.get(run) else { return true };
        entry.told.fetch_max(seq, Ordering::AcqRel);
        entry.try_lock().is_none_or(|slot| slot.as_ref().is_none_or(|loaded| loaded.stale))
    }

    /// Runs that are loaded.
    pub(super) fn len(&self) -> usize {
        lock(&self.0).entries.len()
    }

    /// Called with the slot's lock held: keeps what is at work, and some of what is not.
    ///
    /// A run has one entry in a process, so that one lock covers it and what is in flight is known. An entry is
    /// dropped only while nobody else holds it: `get` clones under the same lock.
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

/// Nothing that this process performs for the run is unanswered.
fn is_idle(slot: &Slot) -> bool {
    slot.as_ref().is_none_or(|loaded| !loaded.is_at_work())
}
