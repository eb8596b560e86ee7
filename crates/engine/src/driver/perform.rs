//! From committed state to the world: every action that is due and not under way is handed to the executor.

use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::id::RunId;
use holdshort_core::run::{Action, ActionId, Call, CallState, Input, ModelCall, Rejection, Run};
use holdshort_core::tool::Precondition;
use holdshort_store::Journal;

use super::Driver;
use super::cells::Live;
use crate::{Clock, Deliver, Error, Executor, Job, Work};

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    pub(super) fn perform(self: &Arc<Self>, live: &mut Live) {
        let awaited = live.run.awaited();
        let dropped: Vec<ActionId> = live.in_flight.difference(&awaited).cloned().collect();
        for id in dropped {
            live.in_flight.remove(&id);
            self.executor.abort(&live.run.id, &id);
        }
        live.claimed.retain(|action| awaited.contains(action));
        for (action, step, work) in self.due_work(&live.run) {
            // A start is performed by the driver that wrote it down, and once.
            let begun = matches!(work, Work::CallTool { .. } | Work::CallModel { .. });
            if begun && !live.claimed.remove(&action) {
                continue;
            }
            if !live.in_flight.insert(action.clone()) {
                continue;
            }
            let job = Job {
                run: live.run.id.clone(),
                action: action.clone(),
                step,
                work,
                definition: live.run.definition.clone(),
                config: live.run.config().cloned().unwrap_or_default(),
            };
            self.executor.perform(job, self.deliver(live.run.id.clone(), action));
        }
    }

    /// Looks and probes as the state asks for them; calls and models that are written down as started by
    /// this process.
    fn due_work(&self, run: &Run) -> Vec<(ActionId, String, Work)> {
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
                Action::Probe { call, attempt } => run.calls.get(call).map(|found| {
                    let work = Work::Probe {
                        call: call.clone(),
                        attempt: *attempt,
                        tool: found.tool.clone(),
                        arguments: found.arguments.clone(),
                        preconditions: preconditions(found),
                    };
                    (found.step.clone(), work)
                }),
                // Not written down as started: not to be done.
                Action::CallTool { .. } | Action::CallModel { .. } => None,
            };
            due.extend(work.map(|(step, work)| (id, step, work)));
        }
        let epoch = self.journal.epoch();
        for (id, call) in &run.calls {
            if call.state == (CallState::Started { epoch }) && run.ended.is_none() {
                let action = Action::CallTool { call: id.clone(), attempt: call.attempt }.id();
                let work = Work::CallTool {
                    call: id.clone(),
                    attempt: call.attempt,
                    tool: call.tool.clone(),
                    arguments: call.arguments.clone(),
                    preconditions: preconditions(call),
                };
                due.push((action, call.step.clone(), work));
            }
        }
        for (id, step) in &run.steps {
            let ModelCall::Running { attempt, epoch: of } = step.model else { continue };
            if of != epoch || run.ended.is_some() {
                continue;
            }
            let Some(request) = run.request(id) else { continue };
            let action =
                Action::CallModel { step: id.clone(), turn: step.turn, attempt, not_before: None }.id();
            due.push((action, id.clone(), Work::CallModel { turn: step.turn, request: Box::new(request) }));
        }
        due
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

    /// An action came back. What nobody waits for any more is dropped.
    async fn delivered(self: &Arc<Self>, run: &RunId, action: &ActionId, input: Input) -> Result<(), Error> {
        let cell = self.cells.get(run);
        let mut slot = cell.lock().await;
        // It is back: what follows must neither stop it nor wait for it.
        let was_awaited = slot.as_mut().is_some_and(|live| live.in_flight.remove(action));
        let result = self.step(&mut slot, run, input, Actor::engine()).await;
        // Not written down: the executor comes again, and until then the action counts as under way.
        if let (true, Err(Error::Store(_) | Error::Busy), Some(live)) = (was_awaited, &result, slot.as_mut())
        {
            live.in_flight.insert(action.clone());
        }
        self.release(run, &cell, &slot);
        match result {
            Ok(_) | Err(Error::Rejected(Rejection::Outdated | Rejection::Ended(_))) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// The files that a call relies on, as its last look saw them.
fn preconditions(call: &Call) -> Vec<Precondition> {
    call.look.as_ref().map(|look| look.preconditions.clone()).unwrap_or_default()
}
