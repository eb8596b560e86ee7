//! Performs the actions that follow from the committed state: passes each action that is due and not yet running to the
//! executor.

use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::id::RunId;
use holdshort_core::run::{Action, ActionId, Call, CallState, Input, ModelCall, Rejection, Run, merge};
use holdshort_core::tool::Precondition;
use holdshort_store::Journal;
use holdshort_tools::{Follow, Withhold};
use serde::Deserialize;

use super::Driver;
use super::lookups::Lookups;
use super::run_cache::LoadedRun;
use super::step::{InputOrigin, SentInput, Step};
use crate::{Clock, Deliver, Error, Executor, Job, Work};

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    pub(super) fn perform(self: &Arc<Self>, loaded: &mut LoadedRun) {
        let awaited = loaded.run.awaited();
        let dropped: Vec<ActionId> = loaded.in_flight.difference(&awaited).cloned().collect();
        for id in dropped {
            loaded.in_flight.remove(&id);
            tracing::debug!(
                run = %loaded.run.id, action = %id,
                "an action was stopped because its run no longer needs the result"
            );
            self.executor.abort(&loaded.run.id, &id);
        }
        // An append with an unknown result may still be written later. This is possible until the stream has an event
        // after the expected sequence number.
        let now = loaded.chain.seq;
        loaded.claimed.retain(|action, on| awaited.contains(action) || *on == now);
        for (action, step, work) in due_work(&loaded.run, loaded.epoch) {
            // Each recorded start is performed once, by the driver that recorded it.
            let begun = match work {
                Work::Inspect { .. } => false,
                Work::Try { .. } | Work::Commit { .. } | Work::CallTool { .. } | Work::CallModel { .. } => {
                    true
                }
            };
            if begun && loaded.claimed.remove(&action).is_none() {
                continue;
            }
            // While the gate is closed, no inspection starts. The server requests the inspection again after its
            // restart.
            if !begun && self.beginnings.is_closed() {
                continue;
            }
            // The lease of this node expired after the append, so another node may take over the run. The next driver
            // of the run treats a start that was recorded but not performed as lost work.
            if begun && !self.journal.has_valid_leases() {
                loaded.stale = true;
                continue;
            }
            if !loaded.in_flight.insert(action.clone()) {
                continue;
            }
            let (follow, withhold) = match &work {
                Work::CallTool { call, .. } => (
                    self.follow(loaded.run.id.clone(), call.clone()),
                    self.withhold(loaded.run.id.clone(), call.clone()),
                ),
                _ => (Follow::never(), Withhold::nothing()),
            };
            let job = Job {
                run: loaded.run.id.clone(),
                action: action.clone(),
                step,
                work,
                definition: loaded.run.definition.clone(),
                config: loaded.run.config().cloned().unwrap_or_default(),
                input: loaded.run.started.as_ref().map(|started| started.input.clone()).unwrap_or_default(),
                follow,
                withhold,
            };
            self.executor.perform(job, self.deliver(loaded.run.id.clone(), action));
        }
        for action in loaded.run.stopping().filter(|action| loaded.in_flight.contains(action)) {
            self.executor.stop(&loaded.run.id, &action);
        }
    }

    /// Returns a function that decides if `web_fetch` is allowed to follow a redirect. The function uses the rules that
    /// are in effect at the time of the redirect. If the rules are unreadable, the redirect is refused.
    fn follow(self: &Arc<Self>, run: RunId, call: String) -> Follow {
        let driver = Arc::downgrade(self);
        Follow::new(move |url| {
            let (driver, run, call) = (driver.clone(), run.clone(), call.clone());
            async move {
                let Some(driver) = driver.upgrade() else { return false };
                driver.may_follow(&run, &call, &url).await.unwrap_or_else(|error| {
                    tracing::warn!(%run, %call, %error, "a redirect is not followed: its permission cannot \
                        be checked");
                    false
                })
            }
        })
    }

    async fn may_follow(&self, run: &RunId, call: &str, url: &str) -> Result<bool, Error> {
        let run = self.load(run).await?;
        let session = self.session(run.session().ok_or(Error::NotFound)?).await?;
        let system = self.system().await?;
        Ok(run.freeze(&system).is_none()
            && !run.is_call_of_frozen_agent(call, &system)
            && run.may_follow(call, url, &session, &system, self.clock.now()))
    }

    /// Returns a function that tells a search or a listing which paths to leave out. The function reads the path rules
    /// each time that it is called.
    fn withhold(self: &Arc<Self>, run: RunId, call: String) -> Withhold {
        let driver = Arc::downgrade(self);
        Withhold::new(move || {
            let (driver, run, call) = (driver.clone(), run.clone(), call.clone());
            async move {
                let driver = driver.upgrade()?;
                let read = async { Ok::<_, Error>((driver.load(&run).await?, driver.system().await?)) };
                match read.await {
                    Ok((run, system)) => run.withheld_paths(&call, &system),
                    Err(error) => {
                        tracing::warn!(%run, %call, %error, "the path rules could not be read");
                        None
                    }
                }
            }
        })
    }

    fn deliver(self: &Arc<Self>, run: RunId, action: ActionId) -> Deliver {
        let driver = Arc::downgrade(self);
        Arc::new(move |input| {
            let (driver, run, action) = (driver.clone(), run.clone(), action.clone());
            Box::pin(async move {
                match driver.upgrade() {
                    Some(driver) => driver.delivered(&run, &action, input).await,
                    None => Ok(()),
                }
            })
        })
    }

    /// Records the result of an action. Discards the result if the run no longer needs it.
    async fn delivered(self: &Arc<Self>, run: &RunId, action: &ActionId, input: Input) -> Result<(), Error> {
        let actor = Actor::engine();
        let sent = SentInput { input: &input, actor: &actor, by: InputOrigin::Driver, key: None };
        let mut lookups = Lookups::default();
        let entry = self.cache.get(run);
        let mut slot = entry.lock().await;
        // The action was stopped, because the run ended or another node took over the run.
        let Some(loaded) = slot.as_mut().filter(|loaded| loaded.in_flight.contains(action)) else {
            tracing::debug!(%run, %action, "a result was discarded: no run on this node waits for it");
            return Ok(());
        };
        loaded.back = loaded.in_flight.take(action);
        // The lock of the run is held until the result is recorded, also during lookups, so that no other input is
        // handled before the result.
        let result = loop {
            match self.step(&mut slot, run, sent, &lookups).await {
                Ok(Step::Misses(missing)) => {
                    if let Err(error) = self.look_up(missing, &mut lookups).await {
                        break Err(error);
                    }
                }
                Ok(Step::Taken(stepped)) => break Ok(stepped),
                Err(error) => break Err(error),
            }
        };
        if let Some(loaded) = slot.as_mut() {
            // If the result was not recorded, the executor delivers the result again. Until then the action is still in
            // flight.
            let back = loaded.back.take().filter(|_| matches!(result, Err(Error::Store(_) | Error::Busy)));
            loaded.in_flight.extend(back);
        }
        self.release(run, &entry, &slot);
        drop(slot);
        match result {
            Ok(stepped) => {
                self.begin_rest(stepped).await;
                Ok(())
            }
            Err(Error::Rejected(rejection @ (Rejection::Outdated | Rejection::Ended(_)))) => {
                tracing::debug!(%run, %action, %rejection, "a result arrived too late and was discarded");
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns the work that the executor can start now: the inspections that the run needs, and the calls and model
/// requests whose start the journal records with this epoch. An epoch is the number of a period in which one process
/// drives the run.
fn due_work(run: &Run, epoch: u64) -> Vec<(ActionId, String, Work)> {
    let mut due = Vec::new();
    for action in run.actions() {
        let id = action.id();
        let work = match &action {
            Action::Inspect { call, revision } => run.calls.get(call).map(|found| {
                let (tool, arguments) = (found.tool.clone(), found.arguments.clone());
                (
                    found.step.clone(),
                    Work::Inspect { call: call.clone(), revision: *revision, tool, arguments },
                )
            }),
            // An action that has not been recorded as started is not performed.
            Action::Try { .. } | Action::CallTool { .. } | Action::CallModel { .. } => None,
        };
        due.extend(work.map(|(step, work)| (id, step, work)));
    }
    for (id, call) in run.calls.open().filter(|_| run.ended.is_none()) {
        if call.trial.running == Some(epoch) {
            let attempt = call.trial.attempt;
            let work = Work::Try {
                call: id.clone(),
                attempt,
                tool: call.tool.clone(),
                arguments: call.arguments.clone(),
                preconditions: preconditions(call),
            };
            due.push((Action::trial_id(id, attempt), call.step.clone(), work));
        }
        if call.state == (CallState::Started { epoch }) {
            let action = Action::tool_id(id, call.attempt);
            let work = match call.committing() {
                Some(found) => Work::Commit {
                    call: id.clone(),
                    attempt: call.attempt,
                    changeset: found.changeset.clone(),
                    layer: found.layer.clone(),
                    merges: merges(call),
                    is_resumed: call.trial.commits > 1,
                },
                None => Work::CallTool {
                    call: id.clone(),
                    attempt: call.attempt,
                    tool: call.tool.clone(),
                    arguments: call.arguments.clone(),
                    preconditions: preconditions(call),
                    effect: call.effect.clone(),
                },
            };
            due.push((action, call.step.clone(), work));
        }
    }
    for (id, step) in run.steps.open() {
        let ModelCall::Running { attempt, epoch: of } = step.model else { continue };
        if of != epoch || run.ended.is_some() {
            continue;
        }
        let Some(request) = run.request(id) else { continue };
        let action = Action::CallModel { step: id.clone(), turn: step.turn, attempt, not_before: None }.id();
        due.push((action, id.clone(), Work::CallModel { turn: step.turn, request: Box::new(request) }));
    }
    due
}

/// Returns the files on which a call depends, each in the state that the last inspection of the call found.
fn preconditions(call: &Call) -> Vec<Precondition> {
    call.look.as_ref().map(|look| look.preconditions.clone()).unwrap_or_default()
}

/// Returns the run whose Git-ignored files the call merges into the workspace. Returns `None` if the call is not a
/// merge.
fn merges(call: &Call) -> Option<RunId> {
    let arguments = (call.tool == merge::TOOL).then(|| merge::Arguments::deserialize(&call.arguments))?;
    arguments.ok().map(|arguments| arguments.run)
}
