//! One step of a run: the handling of one input. A step handles an input, adds the calls and model requests that can
//! now start, appends all events, and performs the actions.

use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::event;
use holdshort_core::event::Event;
use holdshort_core::id::{InterruptId, RunId, StreamId};
use holdshort_core::interrupt::Refusal;
use holdshort_core::run::{Action, Begin, Context, Fact, HandledInput, Input, Rejection, ReturnReason, Run};
use holdshort_core::schema::Problem;
use holdshort_core::session::{self, Session};
use holdshort_core::system::System;
use holdshort_store::Journal;

use super::Driver;
use super::commit::{Committed, Extra};
use super::key::IdempotencyKey;
use super::lookups::{Lookup, Lookups, Missing};
use super::run_cache::{LoadedRun, Slot};
use crate::{Clock, Error, Executor, Unfit};

/// Maximum number of times that a step of a run is repeated because another writer was faster.
const ATTEMPTS: usize = 20;

/// Result of a step (the handling of one input of a run) whose events are durable.
pub(super) struct StepOutcome {
    pub(super) run: Arc<Run>,
    /// Lookups that must be made before further calls can start.
    pub(super) missing: Option<Missing>,
    pub(super) wrote: bool,
    /// Interrupt that the input opened or decided.
    pub(super) about: Option<InterruptId>,
}

/// Outcome of a step, which is the handling of one input of a run.
pub(super) enum Step {
    Taken(StepOutcome),
    /// The step wrote no event. The step must be repeated with the results of these lookups, such as digests of files.
    Misses(Missing),
}

enum AppendAttempt {
    /// The events were written. Contains the interrupt that the input opened or decided, and the lookups that must be
    /// made before further calls can start.
    Done(Option<InterruptId>, Option<Missing>),
    /// The input produced no events for the run.
    Nothing,
    /// The events were not written, because another writer appended first. The run must be read again, and the input
    /// handled again.
    Again,
    /// The events were not written, because a different node drives the run.
    Driven,
    /// These lookups, such as digests of files, must be made before the input can be handled.
    Misses(Missing),
}

#[derive(Clone, Copy)]
pub(super) struct SentInput<'a> {
    pub(super) input: &'a Input,
    pub(super) actor: &'a Actor,
    pub(super) by: InputOrigin,
    /// Idempotency key that is stored in the same append as the events of the input.
    pub(super) key: Option<&'a IdempotencyKey>,
}

/// Sender of an input, which determines the nodes that may record the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputOrigin {
    /// The input comes from a person or from the clock. Any node may record it, and the node that drives the run is
    /// then notified.
    Anybody,
    /// The input comes from the node that drives the run. For example, it is the result of an action. Other nodes
    /// reject such an input.
    Driver,
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    pub(super) async fn step(
        self: &Arc<Self>,
        slot: &mut Slot,
        id: &RunId,
        SentInput { input, actor, by, key }: SentInput<'_>,
        lookups: &Lookups,
    ) -> Result<Step, Error> {
        // The cached state may be stale. Therefore the run is read again before an input is rejected or found to have
        // no effect. An append needs no such read, because it compares sequence numbers.
        let mut is_new = by == InputOrigin::Driver || !self.is_shared();
        // This node is assumed to drive the run until the journal reports that another node does.
        let mut drives = true;
        for _ in 0..ATTEMPTS {
            is_new |= slot.as_ref().is_none_or(|loaded| loaded.stale);
            let loaded = self.ensure_loaded(slot, id).await?;
            // Another process, which drove this run, has stopped. The work that it lost is settled before the input is
            // handled.
            let adopts = drives && loaded.run.needs_adoption(loaded.epoch);
            let (input, actor) =
                if adopts { (loaded.adopt(), Actor::engine()) } else { (input.clone(), actor.clone()) };
            match self.try_step(loaded, input, actor, drives, key.filter(|_| !adopts), lookups).await {
                Ok(AppendAttempt::Nothing) | Err(Error::Rejected(_)) if !is_new => {
                    loaded.stale = true;
                    self.forget_streams(loaded);
                }
                Ok(AppendAttempt::Nothing) if !adopts => {
                    if loaded.driven_here {
                        self.perform(loaded);
                    }
                    let run = loaded.run.clone();
                    return Ok(Step::Taken(StepOutcome { run, missing: None, wrote: false, about: None }));
                }
                Ok(AppendAttempt::Done(about, missing)) if !adopts => {
                    let run = loaded.run.clone();
                    return Ok(Step::Taken(StepOutcome { run, missing, wrote: true, about }));
                }
                Ok(AppendAttempt::Misses(missing)) => return Ok(Step::Misses(missing)),
                Ok(AppendAttempt::Driven) => {
                    drives = false;
                    self.give_up_run(loaded);
                    if by == InputOrigin::Driver {
                        return Err(Error::Rejected(Rejection::Outdated));
                    }
                }
                // The step is repeated after an adoption, or after a conflict with another writer.
                Ok(AppendAttempt::Done(..) | AppendAttempt::Nothing | AppendAttempt::Again) => {}
                Err(error) => {
                    // An earlier append with a lost result may have recorded starts. These starts are performed
                    // although this input was rejected.
                    let is_ours = loaded.driven_here || loaded.run.ended.is_some();
                    if matches!(error, Error::Rejected(_)) && !loaded.stale && is_ours {
                        self.perform(loaded);
                    }
                    return Err(error);
                }
            }
        }
        Err(Error::Busy)
    }

    /// Before a decision, loads the current state of the run. Also takes a new epoch (the number of a period in which
    /// one process drives the run) if this driver needs one to start work.
    pub(super) async fn ensure_loaded<'s>(
        &self,
        slot: &'s mut Slot,
        id: &RunId,
    ) -> Result<&'s mut LoadedRun, Error> {
        if slot.as_ref().is_none_or(|loaded| loaded.stale) {
            let replayed = self.replay(id).await;
            // The append that should have started the run was not written.
            if matches!(replayed, Err(Error::NotFound)) {
                *slot = None;
            }
            let (mut run, chain) = replayed?;
            run.earlier = match slot {
                Some(loaded) => loaded.run.earlier.clone(),
                None => self.earlier_of(&run).await?,
            };
            match slot {
                Some(loaded) => loaded.refresh(run, chain),
                None => *slot = Some(LoadedRun::new(run, chain, self.journal.epoch(), !self.is_shared())),
            }
            if let Some(loaded) = slot.as_mut().filter(|loaded| loaded.has_lost_work()) {
                // If no new epoch can be taken, the run must be read again.
                loaded.stale = true;
                self.take_new_epoch(loaded).await?;
                loaded.stale = false;
            }
        }
        slot.as_mut().ok_or(Error::NotFound)
    }

    /// Takes a new, higher epoch, the number of a period in which one process drives the run. A new epoch is needed if
    /// another node has driven the run, or if work that started on this node was lost. If another node has driven the
    /// run, work that this node still performs is stopped.
    async fn take_new_epoch(&self, loaded: &mut LoadedRun) -> Result<(), Error> {
        let last = loaded.run.last_epoch();
        let mut epoch = self.journal.epoch();
        while epoch <= last {
            epoch = self.journal.draw_epoch().await?;
        }
        if last > loaded.epoch {
            self.abandon(loaded);
        }
        loaded.epoch = epoch;
        Ok(())
    }

    /// Stops driving a run that another node drives. The other node learns from the journal which work is in progress.
    fn give_up_run(&self, loaded: &mut LoadedRun) {
        self.abandon(loaded);
        loaded.driven_here = false;
        loaded.stale = true;
    }

    fn abandon(&self, loaded: &mut LoadedRun) {
        loaded.claimed.clear();
        for action in std::mem::take(&mut loaded.in_flight) {
            tracing::debug!(run = %loaded.run.id, %action, "an action was stopped because another node drives the run");
            self.executor.abort(&loaded.run.id, &action);
        }
    }

    async fn try_step(
        self: &Arc<Self>,
        loaded: &mut LoadedRun,
        input: Input,
        actor: Actor,
        drives: bool,
        key: Option<&IdempotencyKey>,
        lookups: &Lookups,
    ) -> Result<AppendAttempt, Error> {
        let Some(session_id) = loaded.run.session().cloned() else { return Err(Error::NotFound) };
        let (mut session, mut session_chain) = self.session_chain(&session_id).await?;
        // Another node may have resumed the session. Therefore a session that seems suspended is read again.
        if session.state != session::State::Open && self.is_shared() {
            self.streams.forget(&StreamId::Session(session_id.clone()));
            (session, session_chain) = self.session_chain(&session_id).await?;
        }
        let (system, _) = self.system_chain().await?;

        let cx = self.context(actor, &session, &system, loaded.epoch);
        let mut about = match &input {
            Input::Decide { interrupt, .. }
            | Input::UseApproval { interrupt, .. }
            | Input::ReportExec { interrupt, .. }
            | Input::Withdraw { interrupt, .. } => Some(interrupt.clone()),
            _ => None,
        };
        let asks = matches!(input, Input::Ask(_) | Input::Hold(_));
        self.check_source(&loaded.run, &input).await?;
        let mut decided = loaded.run.handle(&cx, input)?;
        let none = Lookups::default();
        let lookups = lookups.at(loaded.chain.seq).unwrap_or(&none);
        let unchecked = check_edits(&decided, lookups)?;
        if let Some(missing) = Missing::new(&decided.run, loaded.chain.seq, unchecked) {
            return Ok(AppendAttempt::Misses(missing));
        }
        self.reuse_answers(&mut decided, loaded, &system).await?;
        // The guard is held until the started work is running, because a stopping process waits for that.
        let passage = if drives { self.beginnings.enter().await } else { None };
        let missing = match &passage {
            Some(_) => self.begin(&mut decided, loaded, &system, lookups),
            None => None,
        };

        if decided.events.is_empty() {
            return Ok(missing.map_or(AppendAttempt::Nothing, AppendAttempt::Misses));
        }
        // After a commit, the node that drives the run performs the recorded starts, and stops work that is no longer
        // needed. It does so even if the append ended its lease.
        let performs = loaded.driven_here || drives;
        if asks {
            about = opened(&decided.events);
        }
        let reference = about.as_ref().map_or_else(|| decided.run.id.to_string(), ToString::to_string);
        let keys = key.map(|key| key.record(reference)).into_iter().collect();
        let extra = Extra { keys, blobs: Vec::new() };
        match self.commit(decided, loaded, drives, (session_chain, &system), extra, lookups).await? {
            Committed::Yes => {}
            Committed::Conflict => return Ok(AppendAttempt::Again),
            Committed::KeyTaken => return Err(Error::KeyTaken),
            Committed::Driven => return Ok(AppendAttempt::Driven),
            Committed::Misses(missing) => return Ok(AppendAttempt::Misses(missing)),
        }
        if performs {
            self.perform(loaded);
        }
        Ok(AppendAttempt::Done(about, missing))
    }

    /// Marks the cached state of the session and of the installation as stale. Called when a decision about the run
    /// that depended on them has failed.
    pub(super) fn forget_streams(&self, loaded: &LoadedRun) {
        self.streams.forget(&StreamId::System);
        if let Some(session) = loaded.run.session() {
            self.streams.forget(&StreamId::Session(session.clone()));
        }
    }

    pub(super) fn context<'a>(
        &self,
        actor: Actor,
        session: &'a Session,
        system: &'a System,
        epoch: u64,
    ) -> Context<'a> {
        Context { now: self.clock.now(), seed: self.clock.seed(), actor, session, system, epoch }
    }

    /// Adds to the append the start of every call and model request that has become possible. If the files that a call
    /// depends on have not been looked up, the call starts in a later append. Returns the missing lookups.
    pub(super) fn begin(
        &self,
        decided: &mut HandledInput,
        loaded: &LoadedRun,
        system: &System,
        lookups: &Lookups,
    ) -> Option<Missing> {
        // Without a valid lease, this node would not perform the starts. A later sweep adds them. In a suspended
        // session, the work continues when the session is resumed.
        if decided.run.freeze(system).is_some()
            || decided.session.state != session::State::Open
            || !self.journal.has_valid_leases()
        {
            return None;
        }
        loop {
            let (mut begins, mut missing) = (Vec::new(), Vec::new());
            for action in decided.run.actions() {
                if loaded.in_flight.contains(&action.id()) {
                    continue;
                }
                match action {
                    Action::Try { call, .. } => begins.push(Begin::Trial { call }),
                    Action::CallTool { call, .. } => {
                        let paths: Vec<String> = decided
                            .run
                            .calls
                            .get(&call)
                            .and_then(|call| call.look.as_ref())
                            .map(|look| look.preconditions.iter().map(|each| each.path.clone()).collect())
                            .unwrap_or_default();
                        match lookups.files(&paths) {
                            Some(observed) => {
                                begins.push(Begin::Tool { call, observed: observed.to_vec() });
                            }
                            None => missing.push(Lookup::Files(paths)),
                        }
                    }
                    Action::CallModel { step, turn, not_before, .. } => {
                        let due = not_before.is_none_or(|at| at <= self.clock.now());
                        if due && self.executor.has_model(&decided.run) {
                            begins.push(Begin::Model { step, turn });
                        }
                    }
                    Action::Inspect { .. } => {}
                }
            }
            let missing = Missing::new(&decided.run, decided.run.seq, missing);
            begins.retain(|begin| !decided.run.is_of_frozen_agent(begin, system));
            if begins.is_empty() {
                return missing;
            }
            let cx = self.context(Actor::engine(), &decided.session, system, loaded.epoch);
            match decided.run.handle(&cx, Input::Begin { begins }) {
                Ok(begun) if begun.events.is_empty() => return missing,
                Ok(begun) => decided.then(begun),
                Err(Rejection::Frozen) => return None,
                Err(error) => {
                    tracing::error!(run = %decided.run.id, %error, "the next action was rejected");
                    return None;
                }
            }
        }
    }
}

/// Rejects a decision whose edited call no tool could execute. The interrupt then stays open. A missing path is no
/// reason for a rejection, because another call may create the path first. The edited call is inspected again before it
/// runs. Returns the checks whose results are still missing.
fn check_edits(decided: &HandledInput, lookups: &Lookups) -> Result<Vec<Lookup>, Error> {
    let mut missing = Vec::new();
    for event in &decided.events {
        let event::Fact::Run(Fact::ToolReturned { call, why: ReturnReason::Edited, .. }) = &event.fact else {
            continue;
        };
        let Some(edited) = decided.run.calls.get(call).filter(|call| decided.run.runs_here(&call.tool))
        else {
            continue;
        };
        let problem = match lookups.check(&edited.tool, &edited.arguments) {
            None => {
                let (tool, arguments) = (edited.tool.clone(), edited.arguments.clone());
                missing.push(Lookup::Check { tool, arguments });
                continue;
            }
            Some(Ok(())) => continue,
            Some(Err(Unfit::Now { lack, .. })) if decided.run.may_be_provided(call, edited, lack) => {
                continue;
            }
            Some(Err(Unfit::Now { problem, .. } | Unfit::Always(problem))) => problem,
        };
        let pointer = format!("/edit{}", problem.pointer);
        let problem = Problem { pointer, ..problem.clone() };
        return Err(Rejection::Refused(Refusal::Invalid(vec![problem])).into());
    }
    Ok(missing)
}

/// Returns the first interrupt that these events open.
fn opened(events: &[Event]) -> Option<InterruptId> {
    events.iter().find_map(|event| match &event.fact {
        event::Fact::Run(Fact::InterruptOpened(opened)) => Some(opened.interrupt.clone()),
        _ => None,
    })
}
