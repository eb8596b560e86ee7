//! The driver loads a run, lets the core handle an input, appends the events, and performs the actions. One input
//! causes at most one append.
//!
//! All decisions are made by the core, none by the driver. Each append compares the sequence numbers of its streams, so
//! concurrent writers are safe. Therefore the state in memory is only a cache, which can be dropped at any time.

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

/// Drives runs: loads a run, lets the core handle an input, and performs the resulting actions. An idle driver costs
/// little, because a waiting run exists only in the database.
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
    /// Last sequence number of each stream that a caller watches.
    watchers: Mutex<HashMap<StreamId, watch::Sender<u64>>>,
    /// Lock that one task of this process holds while it changes the installation. Without the lock, simultaneous
    /// changes in this process would conflict and some would fail, for example at many first sign-ins. A simultaneous
    /// change by another node still causes a conflict.
    changing_system: tokio::sync::Mutex<()>,
    /// Number of opened sessions that this process has observed.
    opened: watch::Sender<u64>,
    /// Wakes the deadline task when a deadline may be due earlier than the task expects.
    pub(crate) deadline: Notify,
    /// Notified when other nodes may have given up runs, so that this node can take them over.
    pub(crate) others: Notify,
    /// True if another node has changed the state of the installation. For example, the change may have lifted a
    /// freeze. In that case, work that waited for the end of the freeze can continue.
    pub(crate) changed: AtomicBool,
    channels: RwLock<Arc<[Channel]>>,
    /// Wakes the outbox when a delivery may be due.
    pub(crate) told: Notify,
    /// True if people may have changed since the open interrupts were last checked against the list of people. Also
    /// true when the process starts, because people may have changed while it was not running.
    relook: AtomicBool,
    /// True if this node found a run whose data is intact but can be read only by another version of the program.
    has_unreadable: AtomicBool,
    /// True if rules have changed and the open approvals have not been checked against the new rules yet.
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

    /// Sets the queue that receives the traces of runs that end in this process. Called once, before any run is driven.
    pub fn queue_traces(&self, queue: Arc<TraceQueue>) {
        let _first = self.traces.set(queue);
    }

    /// Returns the metrics about the commits of this process.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    pub fn clock(&self) -> &C {
        &self.clock
    }

    pub fn executor(&self) -> &E {
        &self.executor
    }

    /// Gives an input to a run. `Ok` means that the decision is durable, and that the resulting actions have been
    /// started.
    pub async fn send(self: &Arc<Self>, run: &RunId, input: Input, actor: Actor) -> Result<Arc<Run>, Error> {
        Ok(self.give(run, input, None, actor).await?.run)
    }

    /// Gives an input to a run. Returns true if this input produced events. Events that other writers append at the
    /// same time do not affect the result.
    pub async fn change(self: &Arc<Self>, run: &RunId, input: Input, actor: Actor) -> Result<bool, Error> {
        Ok(self.give(run, input, None, actor).await?.wrote)
    }

    /// Handles an input of a run, for [`Driver::send`] and [`Driver::change`]. `key` is stored in the same append as
    /// the events of the input.
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

    /// Continues every run that could continue without a person, but for which this node performs no action at present.
    /// Such a run was interrupted by a crash or stopped by a freeze that is now lifted, or the result of the append
    /// that started it was lost. Also stops the work of runs that this node no longer drives. Called at the start of
    /// the server and then periodically.
    pub async fn sweep(self: &Arc<Self>) -> Result<usize, Error> {
        // Another node may have lifted a freeze, and this node may have missed the notification.
        if self.is_shared() {
            self.streams.forget(&StreamId::System);
        }
        // The active runs are read before the leases. In the opposite order, a run that starts between the two reads
        // would seem to have no lease.
        let mut doubted = self.cache.at_work();
        let mut runs = self.journal.runnable(usize::MAX >> 1).await?;
        let held: BTreeSet<&RunId> = runs.iter().collect();
        doubted.retain(|run| !held.contains(run));
        for run in &doubted {
            self.cache.change(run, |loaded| loaded.stale = true).await;
        }
        runs.retain(|run| !self.cache.is_under_way(run));
        for run in &runs {
            // `runs` also includes each run whose lease this node got in an append with a lost result.
            self.drive(run).await?;
        }
        self.settle().await?;
        Ok(runs.len())
    }

    /// Reads a run again if another node has changed it while this node is performing an action of the run. Stops
    /// actions whose result the run no longer needs.
    pub(crate) async fn settle(self: &Arc<Self>) -> Result<(), Error> {
        for run in &self.cache.unsettled() {
            self.nudge(run).await?;
        }
        Ok(())
    }

    /// Takes over runs whose driving node has stopped. Also reads runs of this node again if another node has changed
    /// them.
    pub async fn claim(self: &Arc<Self>) -> Result<usize, Error> {
        const AT_ONCE: usize = 100;
        let mut claimed = 0;
        loop {
            let runs = self.journal.claim(AT_ONCE).await?;
            for run in &runs {
                // All runs are marked as stale before the first one is driven. If the store fails in between, a sweep
                // reads the remaining runs again.
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

    /// Continues a run whose lease this node holds, from its current state in the journal.
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

    /// Performs the lookups that a step of a run still needs, and then starts the calls that waited for these lookups.
    /// If a lookup or a start fails, the next sweep starts the calls that are left.
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

    /// Wakes the outbox. Called, for example, when a person has requested an immediate retry of a delivery.
    pub fn ring_outbox(&self) {
        self.told.notify_one();
    }

    /// Stops this node from starting further calls, model requests and inspections. Decisions and results are still
    /// recorded. The actions that follow from them are performed after a restart, or by another node that takes over
    /// the run.
    pub async fn close(&self) {
        self.beginnings.close().await;
    }

    /// Informs every run whose deadline has passed of the current time. The run then expires the deadline. If a run
    /// cannot expire its deadline, for example because of a freeze, the other runs are still processed.
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

    /// Expires every deadline that passed while no node was running. Called before the server accepts requests.
    pub async fn catch_up(self: &Arc<Self>) -> Result<usize, Error> {
        Ok(self.due().await? + self.expire_sessions().await?)
    }

    async fn nudge(self: &Arc<Self>, run: &RunId) -> Result<(), Error> {
        let nudged = self.send(run, Input::Tick, Actor::engine()).await.map(drop);
        self.handle_drive_result(run, nudged).await
    }

    /// Handles the result of driving a run. If the run is unreadable, logs the error and stops driving this run; other
    /// runs continue. If the run has ended, or if another node drives it, does nothing. If only another version of the
    /// program can read the run, gives up the lease of this node on the run.
    async fn handle_drive_result(&self, run: &RunId, result: Result<(), Error>) -> Result<(), Error> {
        match result {
            Ok(()) | Err(Error::Rejected(Rejection::Ended(_) | Rejection::Outdated)) => return Ok(()),
            Err(Error::Store(error)) => return Err(error.into()),
            Err(error) => {
                tracing::error!(%run, %error, "a run cannot continue");
                if self.is_shared() && error.is_of_another_version() {
                    self.has_unreadable.store(true, Ordering::Release);
                    self.journal.give_back(run).await?;
                }
            }
        }
        Ok(())
    }

    /// Returns true if this node found a run whose data is intact but can be read only by another version of the
    /// program.
    pub fn has_unreadable(&self) -> bool {
        self.has_unreadable.load(Ordering::Acquire)
    }

    /// Returns the run in its current state in the journal. Returns `None` if the run is not loaded, or if an append to
    /// its stream is in progress. If other nodes may have written to the journal, one read from the store checks that
    /// the state is current.
    pub async fn current(&self, run: &RunId) -> Option<Arc<Run>> {
        self.if_current(self.cache.peek(run)?).await
    }

    /// Returns the run that opened this interrupt, under the same conditions as [`Driver::current`].
    pub async fn current_asker(&self, interrupt: &InterruptId) -> Option<Arc<Run>> {
        self.if_current(self.cache.peek_asker(interrupt)?).await
    }

    /// Returns the id of the run that opened this interrupt. Returns `None` if the run is not loaded, or if the
    /// interrupt was never open while this process had the run loaded.
    pub fn asker(&self, interrupt: &InterruptId) -> Option<RunId> {
        self.cache.asker(interrupt)
    }

    async fn if_current(&self, (run, seq): (Arc<Run>, u64)) -> Option<Arc<Run>> {
        if self.is_shared() && self.journal.chain(&StreamId::Run(run.id.clone())).await.ok()?.seq != seq {
            return None;
        }
        Some(run)
    }

    /// Returns the run if it is loaded. The state may be outdated: while a step is in progress, it is the state before
    /// the step. Use it for facts that never change, such as the person who started the run, or if you follow changes
    /// with [`Driver::watch`].
    pub fn glance(&self, run: &RunId) -> Option<Arc<Run>> {
        self.cache.glance(run)
    }

    /// Returns true if other nodes may write to the journal, so that state in memory may be stale.
    pub(crate) fn is_shared(&self) -> bool {
        self.journal.poll().is_some()
    }

    /// Returns the number of runs in memory: all runs with actions in progress, and a limited number of idle runs.
    pub fn loaded_runs(&self) -> usize {
        self.cache.len()
    }

    /// Returns a receiver of the sequence number of the newest committed event of the run that this process knows.
    pub fn watch(&self, run: &RunId) -> watch::Receiver<u64> {
        self.watch_stream(&StreamId::Run(run.clone()))
    }

    /// Returns a receiver of the sequence number of the newest committed event of the stream that this process knows.
    pub fn watch_stream(&self, stream: &StreamId) -> watch::Receiver<u64> {
        let mut watchers = lock(&self.watchers);
        // Unused watchers are removed only when the number of watchers reaches a power of two, so that few calls spend
        // time on the removal.
        if !watchers.contains_key(stream) && watchers.len().is_power_of_two() {
            watchers.retain(|_, sender| sender.receiver_count() > 0);
        }
        watchers.entry(stream.clone()).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }

    /// Returns a receiver of the number of opened sessions, for callers that wait for a session that does not exist
    /// yet.
    pub fn watch_opened(&self) -> watch::Receiver<u64> {
        self.opened.subscribe()
    }

    fn notify_followers(&self, stream: &StreamId, seq: u64) {
        if seq == 1 && matches!(stream, StreamId::Session(_)) {
            self.opened.send_modify(|opened| *opened += 1);
        }
        if let Some(sender) = lock(&self.watchers).get(stream) {
            sender.send_if_modified(|told| *told < seq && std::mem::replace(told, seq) < seq);
        }
    }

    /// Ends the exclusive use of a run after a step, and notifies the watchers of the run of its last sequence number.
    fn release(&self, run: &RunId, entry: &Arc<CacheEntry>, slot: &Slot) {
        self.cache.release(run, entry, slot);
        if let Some(loaded) = slot {
            self.notify_followers(&StreamId::Run(run.clone()), loaded.chain.seq);
        }
    }

    /// Records that another writer appended an event. Marks the cached state of the stream as stale, and notifies the
    /// watchers of the stream. Returns false if this process already knew the event.
    pub(crate) fn written(&self, change: &Change) -> bool {
        let is_news = match &change.stream {
            StreamId::Run(run) => self.cache.note_event(run, change.seq),
            StreamId::Session(_) | StreamId::System => self.streams.note_event(&change.stream, change.seq),
        };
        // The cached state is marked as stale first, because a follower reads the stream as soon as it is notified.
        self.notify_followers(&change.stream, change.seq);
        is_news
    }
}

/// Locks the mutex even if it is poisoned, because the maps stay valid after a panic.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
