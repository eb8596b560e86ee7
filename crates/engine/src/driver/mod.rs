//! The driver: load → handle → append → actions. One input, one append.
//!
//! Nothing here decides; the core does. Every path is safe against others on the same streams by the
//! journal's compare-and-set, so what is kept in memory is for speed alone and may be dropped at any moment.

mod beginnings;
mod commit;
mod conversation;
mod follow_up;
mod history;
mod key;
mod load;
mod lookups;
mod model_calls;
mod perform;
mod relook;
mod run_cache;
mod sessions;
mod start;
mod step;
mod streams;
mod telling;

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
use beginnings::Beginnings;
pub(crate) use load::{Definitions, first};
use lookups::Lookups;
use run_cache::{CacheEntry, RunCache, Slot};
use step::{By, SentInput, Step, Stepped};
use streams::Streams;
pub(crate) use streams::system_of;

/// Drives runs. Cheap while nothing happens: a waiting run is rows.
pub struct Driver<J, C, E> {
    journal: Arc<J>,
    clock: C,
    executor: E,
    metrics: Metrics,
    traces: OnceLock<Arc<TraceQueue>>,
    cache: RunCache,
    streams: Streams,
    beginnings: Beginnings,
    definitions: Definitions,
    /// Of streams that somebody follows: how far each has come.
    watchers: Mutex<HashMap<StreamId, watch::Sender<u64>>>,
    /// Changes of the installation that this process makes come one after the other, so that many at once, as where all
    /// sign in for the first time, do not take turns failing. Those of other nodes are met as conflicts.
    changing_system: tokio::sync::Mutex<()>,
    /// How many sessions were opened, as far as this process knows.
    opened: watch::Sender<u64>,
    /// Rung when a deadline may have come closer.
    pub(crate) deadline: Notify,
    /// Rung when other nodes may have left something to do.
    pub(crate) others: Notify,
    /// Another node changed the installation: perhaps it lifted a freeze, and what waited for that goes on.
    pub(crate) changed: AtomicBool,
    /// Where people are told.
    channels: RwLock<Arc<[Channel]>>,
    /// Rung when there may be something to send.
    pub(crate) told: Notify,
    /// People changed, and open asks that name them may not have been looked at since: also before this process began.
    relook: AtomicBool,
    /// A run was met that is as it was written, and that this binary can not read.
    has_unreadable: AtomicBool,
    /// What is asked about is to be compared with the rules again.
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
            beginnings: Beginnings::default(),
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

    /// Puts runs that end here into this queue. Called once, before anything is driven.
    pub fn queue_traces(&self, queue: Arc<TraceQueue>) {
        let _first = self.traces.set(queue);
    }

    /// What this process has committed.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    pub fn clock(&self) -> &C {
        &self.clock
    }

    pub fn executor(&self) -> &E {
        &self.executor
    }

    /// Gives an input to a run. `Ok` means that what it decided is durable, and what follows is under way.
    pub async fn send(self: &Arc<Self>, run: &RunId, input: Input, actor: Actor) -> Result<Arc<Run>, Error> {
        Ok(self.give(run, input, None, actor).await?.run)
    }

    /// The same; whether anything came of it. What others did meanwhile is not counted.
    pub async fn change(self: &Arc<Self>, run: &RunId, input: Input, actor: Actor) -> Result<bool, Error> {
        Ok(self.give(run, input, None, actor).await?.wrote)
    }

    /// The same; `key` goes into the append of the input.
    fn give<'a>(
        self: &'a Arc<Self>,
        run: &'a RunId,
        input: Input,
        key: Option<&'a IdempotencyKey>,
        actor: Actor,
    ) -> BoxFuture<'a, Result<Stepped, Error>> {
        Box::pin(async move {
            let sent = SentInput { input: &input, actor: &actor, by: By::Anybody, key };
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

    /// Drives every run that could go on without a person and that nothing is under way for: what a crash left
    /// behind, what an unfreeze lets go on, what an append began whose answer got lost. Stops what is under way for
    /// runs that are not this node's any more. Called at the start and now and then.
    pub async fn sweep(self: &Arc<Self>) -> Result<usize, Error> {
        // An unfreeze elsewhere that nobody told of here.
        if self.is_shared() {
            self.streams.forget(&StreamId::System);
        }
        // Before the leases are read: whatever begins meanwhile is not doubted.
        let mut doubted = self.cache.at_work();
        let mut runs = self.journal.runnable(usize::MAX >> 1).await?;
        let held: BTreeSet<&RunId> = runs.iter().collect();
        doubted.retain(|run| !held.contains(run));
        for run in &doubted {
            self.cache.change(run, |loaded| loaded.stale = true).await;
        }
        runs.retain(|run| !self.cache.is_under_way(run));
        for run in &runs {
            // Also where this node took the lease in an append whose answer got lost.
            self.drive(run).await?;
        }
        self.settle().await?;
        Ok(runs.len())
    }

    /// Reads again what somebody else changed while something is under way for it here: what nobody waits for any
    /// more is stopped.
    pub(crate) async fn settle(self: &Arc<Self>) -> Result<(), Error> {
        for run in &self.cache.unsettled() {
            self.nudge(run).await?;
        }
        Ok(())
    }

    /// Takes over runs that nobody drives or whose node is gone, and looks at those of this node that another
    /// one changed.
    pub async fn claim(self: &Arc<Self>) -> Result<usize, Error> {
        const AT_ONCE: usize = 100;
        let mut claimed = 0;
        loop {
            let runs = self.journal.claim(AT_ONCE).await?;
            for run in &runs {
                // Should the store fail before all are driven, a sweep reads what was done to the others.
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

    /// Lets a run go on whose lease this node holds, from where the journal has it now.
    async fn drive(self: &Arc<Self>, run: &RunId) -> Result<(), Error> {
        let (input, actor) = (Input::Tick, Actor::engine());
        let sent = SentInput { input: &input, actor: &actor, by: By::Driver, key: None };
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
            return self.went_on(run, driven).await;
        }
    }

    /// Makes the lookups that a step lacks, and begins the calls that wait for them. After an error the next sweep begins
    /// them.
    async fn begin_rest(self: &Arc<Self>, mut stepped: Stepped) -> Stepped {
        let (input, actor) = (Input::Tick, Actor::engine());
        let sent = SentInput { input: &input, actor: &actor, by: By::Driver, key: None };
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

    /// There may be something to send: a delivery is to be tried again at once.
    pub fn ring_outbox(&self) {
        self.told.notify_one();
    }

    /// Begins nothing from here on: no call is started, no model asked, nothing looked at. Decisions and answers are
    /// written down as before; what follows from them waits for the next start, or for another node.
    pub async fn close(&self) {
        self.beginnings.close().await;
    }

    /// Lets every run act whose deadline has come. What stays due although it was looked at, such as in a frozen
    /// installation, keeps none behind it from its turn.
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

    /// Lets every deadline that passed while no node looked take effect, before anybody is answered.
    pub async fn catch_up(self: &Arc<Self>) -> Result<usize, Error> {
        Ok(self.due().await? + self.expire_sessions().await?)
    }

    async fn nudge(self: &Arc<Self>, run: &RunId) -> Result<(), Error> {
        let nudged = self.send(run, Input::Tick, Actor::engine()).await.map(drop);
        self.went_on(run, nudged).await
    }

    /// A run that can not be read stops by itself; it never stops the others. One that has ended, or that another node
    /// drives by now, has nothing to go on with here. One that another version wrote is left to nodes that can read it.
    async fn went_on(&self, run: &RunId, result: Result<(), Error>) -> Result<(), Error> {
        match result {
            Ok(()) | Err(Error::Rejected(Rejection::Ended(_) | Rejection::Outdated)) => return Ok(()),
            Err(Error::Store(error)) => return Err(error.into()),
            Err(error) => {
                tracing::error!(%run, %error, "a run can not go on");
                if self.is_shared() && error.is_of_another_version() {
                    self.has_unreadable.store(true, Ordering::Release);
                    self.journal.give_back(run).await?;
                }
            }
        }
        Ok(())
    }

    /// Whether this node met a run that it can not read, though it is as it was written.
    pub fn has_unreadable(&self) -> bool {
        self.has_unreadable.load(Ordering::Acquire)
    }

    /// The run as the journal has it now, if it is loaded and no append to it is under way. Takes no read, or one
    /// where other nodes may have written.
    pub async fn current(&self, run: &RunId) -> Option<Arc<Run>> {
        self.if_current(self.cache.peek(run)?).await
    }

    /// The run that asks this, as [`Driver::current`] has it.
    pub async fn current_asker(&self, interrupt: &InterruptId) -> Option<Arc<Run>> {
        self.if_current(self.cache.peek_asker(interrupt)?).await
    }

    /// Which run asks this, if it is loaded and the interrupt was open here.
    pub fn asker(&self, interrupt: &InterruptId) -> Option<RunId> {
        self.cache.asker(interrupt)
    }

    async fn if_current(&self, (run, seq): (Arc<Run>, u64)) -> Option<Arc<Run>> {
        if self.is_shared() && self.journal.chain(&StreamId::Run(run.id.clone())).await.ok()?.seq != seq {
            return None;
        }
        Some(run)
    }

    /// The run as it was at some time, if it is loaded; while a step is written, as it was before. For what never
    /// changes, such as who started it, and for whoever is told of changes by [`Driver::watch`].
    pub fn glance(&self, run: &RunId) -> Option<Arc<Run>> {
        self.cache.glance(run)
    }

    /// Other nodes may write to the journal: what is in memory may be old.
    pub(crate) fn is_shared(&self) -> bool {
        self.journal.poll().is_some()
    }

    /// Runs that are held in memory: those at work, and a bounded number of others.
    pub fn loaded_runs(&self) -> usize {
        self.cache.len()
    }

    /// Follows the run's last committed sequence number, as far as this process knows it.
    pub fn watch(&self, run: &RunId) -> watch::Receiver<u64> {
        self.watch_stream(&StreamId::Run(run.clone()))
    }

    /// The same of any stream.
    pub fn watch_stream(&self, stream: &StreamId) -> watch::Receiver<u64> {
        let mut watchers = lock(&self.watchers);
        // Now and then, so that each call pays for a few of those that nobody follows any more.
        if !watchers.contains_key(stream) && watchers.len().is_power_of_two() {
            watchers.retain(|_, sender| sender.receiver_count() > 0);
        }
        watchers.entry(stream.clone()).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }

    /// Follows the opening of sessions, for those whose session is not there yet.
    pub fn watch_opened(&self) -> watch::Receiver<u64> {
        self.opened.subscribe()
    }

    /// Tells those who follow a stream that it has this event.
    fn tell(&self, stream: &StreamId, seq: u64) {
        if seq == 1 && matches!(stream, StreamId::Session(_)) {
            self.opened.send_modify(|opened| *opened += 1);
        }
        if let Some(sender) = lock(&self.watchers).get(stream) {
            sender.send_if_modified(|told| *told < seq && std::mem::replace(told, seq) < seq);
        }
    }

    /// Lets a run go that a step was taken on, and tells those who follow it how far it came.
    fn release(&self, run: &RunId, entry: &Arc<CacheEntry>, slot: &Slot) {
        self.cache.release(run, entry, slot);
        if let Some(loaded) = slot {
            self.tell(&StreamId::Run(run.clone()), loaded.chain.seq);
        }
    }

    /// An event that somebody wrote: what is older in memory of its stream is read again, and those who follow it
    /// are told. `false`: this process knew of it.
    pub(crate) fn written(&self, change: &Change) -> bool {
        let is_news = match &change.stream {
            StreamId::Run(run) => self.cache.told(run, change.seq),
            StreamId::Session(_) | StreamId::System => self.streams.told(&change.stream, change.seq),
        };
        // What is in memory goes first: whoever follows looks at once.
        self.tell(&change.stream, change.seq);
        is_news
    }
}

/// A poisoned lock guards plain maps: what they hold is still right.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
