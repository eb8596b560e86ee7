//! The driver: load → handle → append → actions. One input, one append.
//!
//! The driver decides nothing; the core does. The journal's compare-and-set makes every path safe against other writers
//! of the same streams. State in memory therefore only saves time, and may be dropped at any moment.

mod commit;
mod conversation;
mod follow_up;
mod history;
mod key;
mod load;
mod lookups;
mod model_calls;
mod notifications;
mod perform;
mod reevaluate;
mod run_cache;
mod sessions;
mod start;
mod start_gate;
mod step;
mod streams;

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use futures::future::BoxFuture;
use holdshort_core::actor::Actor;
use holdshort_core::channel::Channel;
use holdshort_core::id::{InterruptId, RunId, StreamId};
use holdshort_core::run::{Input, Rejection, Run};
use holdshort_store::{Change, Journal};
use tokio::sync::{Notify, watch};

pub use conversation::{NextRun, Say};
pub use follow_up::FollowUp;
pub use key::IdempotencyKey;
pub use model_calls::{ModelCall, ModelOutcome};
pub use sessions::{OpenSession, OpenedSession};
pub use start::{StartRun, StartedRun, TakesFront};

use crate::metrics::Metrics;
use crate::traces::TraceQueue;
use crate::{Clock, Error, Executor};
pub(crate) use load::{Definitions, first};
use lookups::Lookups;
use run_cache::{CacheEntry, RunCache, Slot};
use start_gate::StartGate;
use step::{InputOrigin, SentInput, Step, StepOutcome};
use streams::Streams;
pub(crate) use streams::system_of;

/// Drives runs. An idle driver costs little: a waiting run is only rows.
pub struct Driver<J, C, E> {
    journal: Arc<J>,
    clock: C,
    executor: E,
    metrics: Metrics,
    traces: OnceLock<Arc<TraceQueue>>,
    cache: RunCache,
    streams: Streams,
    beginnings: StartGate,
    definitions: Definitions,
    /// Last sequence of each followed stream.
    watchers: Mutex<HashMap<StreamId, watch::Sender<u64>>>,
    /// Serialises changes of the installation by this process, so that concurrent ones do not fail in turns, such as
    /// many first sign-ins at once. Changes of other nodes appear as conflicts.
    changing_system: tokio::sync::Mutex<()>,
    /// Number of sessions opened, as far as this process knows.
    opened: watch::Sender<u64>,
    /// Rung when the next deadline may have moved closer.
    pub(crate) deadline: Notify,
    /// Rung when other nodes may have left work.
    pub(crate) others: Notify,
    /// True if another node changed the installation. It may have lifted a freeze, and waiting work continues.
    pub(crate) changed: AtomicBool,
    /// Channels that notify people.
    channels: RwLock<Arc<[Channel]>>,
    /// Rung when there may be something to send.
    pub(crate) told: Notify,
    /// True if open interrupts with changed people may not have been checked yet, also from before this process
    /// started.
    relook: AtomicBool,
    /// True if this node met an intact run that this binary cannot read.
    has_unreadable: AtomicBool,
    /// True if open approvals must be compared with the rules again.
    rules_changed: AtomicBool,
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    pub fn new(journal: Arc<J>, clock: C, executor: E) -> Arc<Self> {
        Arc::new(Self {
            journal,
            clock,
            executor,
            metrics: Metrics::default(),
            traces: OnceLock::new(),
            cache: RunCache::default(),
            streams: Streams::default(),
            beginnings: StartGate::default(),
            definitions: Definitions::default(),
            watchers: Mutex::default(),
            changing_system: tokio::sync::Mutex::default(),
            opened: watch::Sender::new(0),
            deadline: Notify::new(),
            others: Notify::new(),
            changed: AtomicBool::new(false),
            channels: RwLock::default(),
            told: Notify::new(),
            relook: AtomicBool::new(true),
            has_unreadable: AtomicBool::new(false),
            rules_changed: AtomicBool::new(false),
        })
    }

    pub fn journal(&self) -> &Arc<J> {
        &self.journal
    }

    /// Sets the queue for runs that end here. Called once, before any run is driven.
    pub fn queue_traces(&self, queue: Arc<TraceQueue>) {
        let _first = self.traces.set(queue);
    }

    /// Returns the counts of this process's commits.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    pub fn clock(&self) -> &C {
        &self.clock
    }

    pub fn executor(&self) -> &E {
        &self.executor
    }

    /// Gives an input to a run. `Ok` means that its decision is durable, and the following actions are started.
    pub async fn send(self: &Arc<Self>, run: &RunId, input: Input, actor: Actor) -> Result<Arc<Run>, Error> {
        Ok(self.give(run, input, None, actor).await?.run)
    }

    /// Gives an input to a run. Returns true if it produced events. Events of other writers are not counted.
    pub async fn change(self: &Arc<Self>, run: &RunId, input: Input, actor: Actor) -> Result<bool, Error> {
        Ok(self.give(run, input, None, actor).await?.wrote)
    }

    /// Gives an input to a run; `key` goes into the append of the input.
    fn give<'a>(
        self: &'a Arc<Self>,
        run: &'a RunId,
        input: Input,
        key: Option<&'a IdempotencyKey>,
        actor: Actor,
    ) -> BoxFuture<'a, Result<StepOutcome, Error>> {
        Box::pin(async move {
            let sent = SentInput { input: &input, actor: &actor, by: InputOrigin::Anybody, key };
            let mut lookups = Lookups::default();
            loop {
                let entry = self.cache.get(run);
                let mut slot = entry.lock().await;
                let result = self.step(&mut slot, run, sent, &lookups).await;
                self.release(run, &entry, &slot);
                drop(slot);
                match result? {
                    Step::Taken(stepped) => return Ok(self.begin_rest(stepped).await),
                    Step::Misses(missing) => self.look_up(missing, &mut lookups).await?,
                }
            }
        })
    }

    /// Drives every run that could continue without a person and has no work in flight. Such a run was left by a crash,
    /// released by an unfreeze, or started in an append whose answer was lost. Stops the work for runs that this node
    /// no longer drives. Called at the start and regularly.
    pub async fn sweep(self: &Arc<Self>) -> Result<usize, Error> {
        // Another node may have lifted a freeze without a notification.
        if self.is_shared() {
            self.streams.forget(&StreamId::System);
        }
        // Read before the leases, so that work which starts in between is not doubted.
        let mut doubted = self.cache.at_work();
        let mut runs = self.journal.runnable(usize::MAX >> 1).await?;
        let held: BTreeSet<&RunId> = runs.iter().collect();
        doubted.retain(|run| !held.contains(run));
        for run in &doubted {
            self.cache.change(run, |loaded| loaded.stale = true).await;
        }
        runs.retain(|run| !self.cache.is_under_way(run));
        for run in &runs {
            // Includes runs whose lease this node took in an append whose answer was lost.
            self.drive(run).await?;
        }
        self.settle().await?;
        Ok(runs.len())
    }

    /// Reads runs again that another node changed while this one has work in flight for them. Stops work that is no
    /// longer needed.
    pub(crate) async fn settle(self: &Arc<Self>) -> Result<(), Error> {
        for run in &self.cache.unsettled() {
            self.nudge(run).await?;
        }
        Ok(())
    }

    /// Takes over runs without a living driver, and refreshes runs of this node that another one changed.
    pub async fn claim(self: &Arc<Self>) -> Result<usize, Error> {
        const AT_ONCE: usize = 100;
        let mut claimed = 0;
        loop {
            let runs = self.journal.claim(AT_ONCE).await?;
            for run in &runs {
                // If the store fails before all are driven, a sweep reads the changes of the rest.
                self.cache.change(run, |loaded| (loaded.driven_here, loaded.stale) = (true, true)).await;
            }
            for run in &runs {
                self.drive(run).await?;
            }
            claimed += runs.len();
            if runs.len() < AT_ONCE {
                return Ok(claimed);
            }
        }
    }

    /// Continues a run whose lease this node holds, from its present state in the journal.
    async fn drive(self: &Arc<Self>, run: &RunId) -> Result<(), Error> {
        let (input, actor) = (Input::Tick, Actor::engine());
        let sent = SentInput { input: &input, actor: &actor, by: InputOrigin::Driver, key: None };
        let mut lookups = Lookups::default();
        loop {
            let entry = self.cache.get(run);
            let mut slot = entry.lock().await;
            if let Some(loaded) = slot.as_mut() {
                loaded.stale |= self.is_shared();
            }
            let driven = async {
                self.ensure_loaded(&mut slot, run).await?.driven_here = true;
                self.step(&mut slot, run, sent, &lookups).await
            };
            let driven = driven.await;
            self.release(run, &entry, &slot);
            drop(slot);
            let driven = match driven {
                Ok(Step::Misses(missing)) => match self.look_up(missing, &mut lookups).await {
                    Ok(()) => continue,
                    Err(error) => Err(error),
                },
                Ok(Step::Taken(stepped)) => {
                    self.begin_rest(stepped).await;
                    Ok(())
                }
                Err(error) => Err(error),
            };
            return self.handle_drive_result(run, driven).await;
        }
    }

    /// Makes the lookups that a step lacks, and starts the calls that wait for them. After an error the next sweep
    /// starts them.
    async fn begin_rest(self: &Arc<Self>, mut stepped: StepOutcome) -> StepOutcome {
        let (input, actor) = (Input::Tick, Actor::engine());
        let sent = SentInput { input: &input, actor: &actor, by: InputOrigin::Driver, key: None };
        let mut lookups = Lookups::default();
        while let Some(missing) = stepped.missing.take() {
            let begun = async {
                self.look_up(missing, &mut lookups).await?;
                let entry = self.cache.get(&stepped.run.id);
                let mut slot = entry.lock().await;
                let result = self.step(&mut slot, &stepped.run.id, sent, &lookups).await;
                self.release(&stepped.run.id, &entry, &slot);
                result
            };
            match begun.await {
                Ok(Step::Taken(next)) => (stepped.run, stepped.missing) = (next.run, next.missing),
                Ok(Step::Misses(missing)) => stepped.missing = Some(missing),
                Err(error) => tracing::debug!(run = %stepped.run.id, %error, "begins later"),
            }
        }
        stepped
    }

    /// Wakes the outbox, because a delivery is to be retried at once.
    pub fn ring_outbox(&self) {
        self.told.notify_one();
    }

    /// Starts no call, model request or inspection from now on. Decisions and answers are recorded as before. The
    /// resulting actions wait for the next start, or for another node.
    pub async fn close(&self) {
        self.beginnings.close().await;
    }

    /// Lets every run with a passed deadline act. A run that stays due, such as in a frozen installation, does not
    /// block later ones.
    pub async fn due(self: &Arc<Self>) -> Result<usize, Error> {
        const AT_ONCE: usize = 500;
        let now = self.clock.now();
        let (mut looked_at, mut last) = (0, None);
        loop {
            let page = self.journal.due(now, last.as_ref(), AT_ONCE).await?;
            for due in &page {
                self.nudge(&due.run).await?;
            }
            looked_at += page.len();
            if page.len() < AT_ONCE {
                return Ok(looked_at);
            }
            last = page.into_iter().next_back();
        }
    }

    /// Applies every deadline that passed while no node was running, before any request is answered.
    pub async fn catch_up(self: &Arc<Self>) -> Result<usize, Error> {
        Ok(self.due().await? + self.expire_sessions().await?)
    }

    async fn nudge(self: &Arc<Self>, run: &RunId) -> Result<(), Error> {
        let nudged = self.send(run, Input::Tick, Actor::engine()).await.map(drop);
        self.handle_drive_result(run, nudged).await
    }

    /// Handles the result of driving a run. An unreadable run stops by itself, and never stops the others. A run that
    /// has ended, or that another node drives, needs nothing here. A run of another version is left to nodes that can
    /// read it.
    async fn handle_drive_result(&self, run: &RunId, result: Result<(), Error>) -> Result<(), Error> {
        match result {
            Ok(()) | Err(Error::Rejected(Rejection::Ended(_) | Rejection::Outdated)) => return Ok(()),
            Err(Error::Store(error)) => return Err(error.into()),
            Err(error) => {
                tracing::error!(%run, %error, "a run cannot go on");
                if self.is_shared() && error.is_of_another_version() {
                    self.has_unreadable.store(true, Ordering::Release);
                    self.journal.give_back(run).await?;
                }
            }
        }
        Ok(())
    }

    /// Returns true if this node met an intact run that it cannot read.
    pub fn has_unreadable(&self) -> bool {
        self.has_unreadable.load(Ordering::Acquire)
    }

    /// Returns the run as the journal has it now, if it is loaded and no append to it is in flight. Takes no read, or
    /// one if other nodes may have written.
    pub async fn current(&self, run: &RunId) -> Option<Arc<Run>> {
        self.if_current(self.cache.peek(run)?).await
    }

    /// Returns the run of this interrupt, with the same guarantees as [`Driver::current`].
    pub async fn current_asker(&self, interrupt: &InterruptId) -> Option<Arc<Run>> {
        self.if_current(self.cache.peek_asker(interrupt)?).await
    }

    /// Returns the id of the run of this interrupt, if the run is loaded and the interrupt was open here.
    pub fn asker(&self, interrupt: &InterruptId) -> Option<RunId> {
        self.cache.asker(interrupt)
    }

    async fn if_current(&self, (run, seq): (Arc<Run>, u64)) -> Option<Arc<Run>> {
        if self.is_shared() && self.journal.chain(&StreamId::Run(run.id.clone())).await.ok()?.seq != seq {
            return None;
        }
        Some(run)
    }

    /// Returns the run in a past state, if it is loaded; during a step, its state before the step. For fixed facts,
    /// such as who started it, and for callers that follow changes by [`Driver::watch`].
    pub fn glance(&self, run: &RunId) -> Option<Arc<Run>> {
        self.cache.glance(run)
    }

    /// Returns true if other nodes may write to the journal: state in memory may be stale.
    pub(crate) fn is_shared(&self) -> bool {
        self.journal.poll().is_some()
    }

    /// Returns the number of runs in memory: those with work in flight, and a bounded number of others.
    pub fn loaded_runs(&self) -> usize {
        self.cache.len()
    }

    /// Follows the run's last committed sequence number, as far as this process knows it.
    pub fn watch(&self, run: &RunId) -> watch::Receiver<u64> {
        self.watch_stream(&StreamId::Run(run.clone()))
    }

    /// Follows the last committed sequence number of any stream.
    pub fn watch_stream(&self, stream: &StreamId) -> watch::Receiver<u64> {
        let mut watchers = lock(&self.watchers);
        // Cleans up at powers of two, so that each call pays only for a few unused watchers.
        if !watchers.contains_key(stream) && watchers.len().is_power_of_two() {
            watchers.retain(|_, sender| sender.receiver_count() > 0);
        }
        watchers.entry(stream.clone()).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }

    /// Follows the opening of sessions, for callers whose session does not exist yet.
    pub fn watch_opened(&self) -> watch::Receiver<u64> {
        self.opened.subscribe()
    }

    /// Notifies the followers of a stream that it has this event.
    fn notify_followers(&self, stream: &StreamId, seq: u64) {
        if seq == 1 && matches!(stream, StreamId::Session(_)) {
            self.opened.send_modify(|opened| *opened += 1);
        }
        if let Some(sender) = lock(&self.watchers).get(stream) {
            sender.send_if_modified(|told| *told < seq && std::mem::replace(told, seq) < seq);
        }
    }

    /// Releases a run after a step, and notifies its followers of its sequence.
    fn release(&self, run: &RunId, entry: &Arc<CacheEntry>, slot: &Slot) {
        self.cache.release(run, entry, slot);
        if let Some(loaded) = slot {
            self.notify_followers(&StreamId::Run(run.clone()), loaded.chain.seq);
        }
    }

    /// Takes note of an event of another writer. Marks older state of its stream as stale, and notifies its followers.
    /// Returns false if this process knew the event.
    pub(crate) fn written(&self, change: &Change) -> bool {
        let is_news = match &change.stream {
            StreamId::Run(run) => self.cache.note_event(run, change.seq),
            StreamId::Session(_) | StreamId::System => self.streams.note_event(&change.stream, change.seq),
        };
        // State in memory is marked first: a follower reads at once.
        self.notify_followers(&change.stream, change.seq);
        is_news
    }
}

/// Locks the mutex, even if it is poisoned: the maps stay valid.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
