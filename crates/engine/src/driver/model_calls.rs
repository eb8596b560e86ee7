//! Lists the model calls of a run from its events. Only reads.

use holdshort_core::event;
use holdshort_core::id::RunId;
use holdshort_core::message::Usage;
use holdshort_core::pricing::Cost;
use holdshort_core::run::{Fact, ModelCall as State, Run};
use holdshort_core::time::Timestamp;
use holdshort_store::Journal;

use super::Driver;
use crate::{Clock, Error, Executor};

/// One call of a run to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCall {
    /// Number of the model call in the run, counted from 1.
    pub n: u64,
    pub step: String,
    pub agent: String,
    /// The requested model. `None` means the default model of the installation.
    pub model: Option<String>,
    pub at: Timestamp,
    pub shortened: bool,
    pub outcome: ModelOutcome,
}

/// Outcome of a model call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelOutcome {
    Running,
    Replied {
        /// Name of the model that answered, as the provider reports it.
        model: String,
        usage: Usage,
        /// Cost of the model call, and its currency. `None` if the workflow has no price for this model.
        cost: Option<(Cost, String)>,
    },
    Failed,
    /// The server process that waited for the response of the model ended.
    Lost,
    /// A person interrupted the model call.
    Interrupted,
    /// The step that made the model call ended before the response arrived.
    Dropped,
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Returns at most `limit` model calls, beginning with the call after number `after`. Replays the whole run each
    /// time.
    pub async fn model_calls(&self, id: &RunId, after: u64, limit: usize) -> Result<Vec<ModelCall>, Error> {
        let mut n = 0;
        let mut calls: Vec<ModelCall> = Vec::new();
        let (run, _) = self
            .fold_until(id, |run, event| {
                let event::Fact::Run(fact) = &event.fact else { return false };
                if let Fact::ModelStarted { step, shortened, .. } = fact {
                    n += 1;
                    if n > after && calls.len() < limit {
                        calls.push(ModelCall {
                            n,
                            step: step.clone(),
                            agent: run.steps.get(step).map(|step| step.agent.clone()).unwrap_or_default(),
                            model: run.model_of(step),
                            at: event.at,
                            shortened: *shortened,
                            outcome: ModelOutcome::Running,
                        });
                    }
                }
                if let Some((step, outcome)) = outcome(run, fact)
                    && let Some(call) = last_of(&mut calls, run, step)
                {
                    call.outcome = outcome;
                }
                false
            })
            .await?;
        for call in &mut calls {
            let is_out = run.steps.get(&call.step).is_some_and(|step| step.model != State::Idle)
                && run.ended.is_none();
            if call.outcome == ModelOutcome::Running && !is_out {
                call.outcome = ModelOutcome::Dropped;
            }
        }
        Ok(calls)
    }
}

/// Returns the step whose model call ended with this fact, and the outcome of the call.
fn outcome<'f>(run: &Run, fact: &'f Fact) -> Option<(&'f str, ModelOutcome)> {
    match fact {
        Fact::ModelReplied { step, model, usage, .. } => {
            let cost = run.cost_of(step, model, *usage);
            Some((step, ModelOutcome::Replied { model: model.clone(), usage: *usage, cost }))
        }
        Fact::ModelFailed { step, .. } => Some((step, ModelOutcome::Failed)),
        Fact::ModelLost { step, .. } => Some((step, ModelOutcome::Lost)),
        Fact::ModelStopped { step, .. } => Some((step, ModelOutcome::Interrupted)),
        _ => None,
    }
}

/// Returns the pending model call of a step, if `calls` contains it. A step has at most one pending call. The call may
/// be missing because it is on an earlier page.
fn last_of<'c>(calls: &'c mut [ModelCall], run: &Run, step: &str) -> Option<&'c mut ModelCall> {
    let is_out = run.steps.get(step).is_some_and(|step| step.model != State::Idle);
    let last = calls.iter_mut().rev().find(|call| call.step == step)?;
    (is_out && last.outcome == ModelOutcome::Running).then_some(last)
}
