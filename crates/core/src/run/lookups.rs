//! Functions that look up values in the state of a run.

use std::sync::LazyLock;

use super::fact::StepRole;
use super::{Call, PlanPart, Rounds, Run, step_ids};
use crate::actor::Actor;
use crate::definition::{Control, Judge, Smart};
use crate::id::InterruptId;
use crate::interrupt::{About, Interrupt};
use crate::plan::Plan;
use crate::tool::Runs;

static NO_ROUNDS: LazyLock<Rounds> = LazyLock::new(Rounds::default);

impl Run {
    /// Returns the id of the actor who started the run.
    pub fn starter(&self) -> Option<&str> {
        self.begun_by().map(|by| by.id.as_str())
    }

    /// Returns the actor who started the run.
    pub fn begun_by(&self) -> Option<&Actor> {
        self.started.as_ref().map(|started| &started.by)
    }

    pub(super) fn is_client_call(&self, call: &Call) -> bool {
        matches!(self.spec(&call.tool).map(|spec| &spec.runs), Some(Runs::Client { .. }))
    }

    /// Returns true if the server itself executes calls of this tool. Returns false for tools that a client executes,
    /// and for tools whose calls open an interrupt, begin a phase, hand work over, or only record an assumption.
    pub fn runs_here(&self, tool: &str) -> bool {
        matches!(self.spec(tool).map(|spec| &spec.runs), Some(Runs::Here { .. }))
    }

    pub(super) fn rounds_of(&self, phase: &str) -> &Rounds {
        self.rounds.get(phase).map_or(&NO_ROUNDS, |rounds| &**rounds)
    }

    /// Returns the first open interrupt that stops the whole run. Ignores the interrupt `than`.
    pub(super) fn held_by_another(&self, than: &InterruptId) -> Option<InterruptId> {
        let holds = |each: &Interrupt| matches!(each.opened.about, About::Interruption | About::Hold);
        let mut open = self.open_interrupts().filter(|(id, each)| *id != than && holds(each));
        open.next().map(|(id, _)| id.clone())
    }

    pub(super) fn settled(&self, control: &Control) -> Option<&Plan> {
        self.plans.get(&control.plan)?.settled().map(|plan| &**plan)
    }

    /// Returns the subtask that the step with this id carries out. The phase must be a phase that carries out a plan.
    pub(super) fn part_to_carry_out(&self, phase: &str, step: &str) -> Option<PlanPart> {
        let phase = self.phase(phase)?;
        let plan = self.settled(phase.kind.control()?)?;
        let mut numbered = (1..).zip(&plan.subtasks);
        let (number, subtask) =
            numbered.find(|(_, subtask)| step_ids::carrying_out(phase, &subtask.id) == step)?;
        Some(PlanPart { id: subtask.id.clone(), number, of: plan.subtasks.len() })
    }

    pub(super) fn call_to_judge(&self, step: &str) -> Option<String> {
        self.calls.keys().find(|call| step_ids::judging(call) == step).cloned()
    }

    /// Returns the settings of smart approval, merged from the workflow and the run.
    pub(super) fn smart(&self) -> Option<Smart> {
        let own = self.definition.gates.smart.clone();
        let added = self.config().and_then(|config| config.gates.smart.clone());
        match (own, added) {
            (Some(own), Some(added)) => Some(together(own, added)),
            (own, added) => own.or(added),
        }
    }

    /// Returns the name of the model that requests of the step `id` use.
    pub fn model_of(&self, id: &str) -> Option<String> {
        let step = self.steps.get(id)?;
        let own = match step.role {
            StepRole::Overseer => match self.smart().map(|smart| smart.judge) {
                Some(Judge::Model(name)) => Some(name),
                Some(Judge::Run | Judge::Off) | None => None,
            },
            StepRole::Summariser => return self.model_of(step.summarises.as_deref()?),
            StepRole::Worker
            | StepRole::Improver
            | StepRole::Planner
            | StepRole::Judge
            | StepRole::Maker
            | StepRole::Router
            | StepRole::Subtask => self.definition.agents.get(&step.agent)?.model.clone(),
        };
        own.or_else(|| self.config().and_then(|config| config.model.clone()))
    }
}

/// Returns the workflow's settings of smart approval with the run's keywords added. Uses the judging model of the run
/// only if the workflow names none.
fn together(mut own: Smart, added: Smart) -> Smart {
    let new: Vec<String> = added.keywords.into_iter().filter(|word| !own.keywords.contains(word)).collect();
    own.keywords.extend(new);
    if own.judge == Judge::Off {
        own.judge = added.judge;
    }
    own
}
