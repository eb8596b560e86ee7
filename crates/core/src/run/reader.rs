//! Read-only view of a run: the subtask of each step, the attempts and the activity of each step, and the questions and
//! decisions of people. The API, the terminal and the browser show these values as they are.
//!
//! The values depend only on the state of the run. A replay of the events up to some point therefore shows the values
//! that the live run had at this point. This module changes nothing and decides nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{CallState, Run, Step, StepEnd, Trouble};
use crate::definition::{Phase, PhaseKind};
use crate::id::InterruptId;
use crate::interrupt::{About, Cause, Effect, Interrupt, Kind, Opened, Outcome};
use crate::plan::{Plan, Subtask};

/// Subtask of the plan that agents of a run are carrying out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part<'r> {
    /// Planning phase to which the subtask's plan belongs.
    pub planning: &'r str,
    pub subtask: &'r Subtask,
    /// Position of the subtask in the plan, from 1.
    pub number: usize,
    /// Total number of subtasks in the plan.
    pub of: usize,
}

/// Activity of a step, as clients show it to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepActivity {
    Running,
    /// The run of the step is paused, or its session is suspended.
    Paused,
    /// The step waits for a person's decision, or the whole run waits after an interruption or for a review. Also used
    /// for a step that a person decided to stop or skip, until the step has ended.
    Waiting,
    Ended(StepEnd),
    /// The run ended while a person was asked about the failure or the limit of the step.
    Failed,
    /// The run ended while the step was running.
    Cancelled,
}

impl Step {
    /// Returns the number of attempts of the step so far. 0 if the agent has not been asked yet.
    pub fn attempts(&self) -> u32 {
        let again = self.retries + self.redos;
        u32::from(self.begun || again > 0) + again
    }
}

impl Run {
    /// Returns true if the interrupt asks a person. Returns false for a checkpoint that is approved without a person.
    /// Such a checkpoint also opens an interrupt, which is resolved in the same append.
    pub fn asks(&self, opened: &Opened) -> bool {
        let About::Phase(phase) = &opened.about else { return true };
        match self.phase(phase).map(|phase| &phase.kind) {
            Some(PhaseKind::Checkpoint(look)) => !self.asks_nobody(look),
            Some(
                PhaseKind::OneShot { .. }
                | PhaseKind::Planning(_)
                | PhaseKind::Control(_)
                | PhaseKind::IdeaGeneration(_)
                | PhaseKind::Call { .. }
                | PhaseKind::Copilot(_),
            )
            | None => true,
        }
    }

    /// Returns the open interrupts of the run that ask people.
    pub fn asked_interrupts(&self) -> impl Iterator<Item = (&InterruptId, &Interrupt)> {
        self.open_interrupts().filter(|(_, interrupt)| self.asks(&interrupt.opened))
    }

    /// Returns the interrupts of the run that people decided or that expired, in the order in which they were resolved.
    pub fn decided(&self) -> Vec<&Interrupt> {
        let by_people = |each: &&Interrupt| {
            let cause = each.resolution.as_ref().map(|resolution| &resolution.cause);
            matches!(cause, Some(Cause::Decision | Cause::Expiry))
        };
        let mut decided: Vec<&Interrupt> = self.interrupts.values().filter(by_people).collect();
        decided.sort_by_key(|each| each.resolution.as_ref().map(|resolution| resolution.seq));
        decided
    }

    /// Returns the open interrupt with which a tool call is offered to clients for execution. `None` if the call is not
    /// offered to clients now.
    pub fn handed_out(&self, call: &str) -> Option<&Interrupt> {
        let CallState::WithClient(id) = &self.calls.get(call)?.state else { return None };
        self.interrupts.get(id).map(|each| &**each).filter(|each| each.is_open())
    }

    /// Returns the last interrupt that asked a person if a tool call is allowed.
    pub fn approval_of(&self, call: &str) -> Option<&Interrupt> {
        let is_about = |each: &&Interrupt| {
            each.opened.kind == Kind::ToolApproval
                && matches!(&each.opened.about, About::Call(of) if of == call)
        };
        let asked = self.interrupts.values().filter(is_about);
        asked.max_by_key(|each| each.opened_seq)
    }

    /// Returns true if the last interrupt that asked about a tool call was approved.
    pub fn is_approved(&self, call: &str) -> bool {
        let resolution = self.approval_of(call).and_then(|asked| asked.resolution.as_ref());
        resolution.is_some_and(|resolution| resolution.outcome == Outcome::Approved)
    }

    /// Returns the limit, or the reply that did not end the step, at which a person ended the step although the agent
    /// wanted to continue.
    pub fn stopped_at(&self, step: &str) -> Option<&About> {
        let stopped = self.interrupts.values().filter(|each| super::phase::stopped_short(each));
        let mut abouts = stopped.map(|each| &each.opened.about);
        abouts.find(|about| match about {
            About::Limit(of) | About::Ending(of) => of == step,
            About::Call(_)
            | About::BeforeStep(_)
            | About::AfterStep(_)
            | About::Phase(_)
            | About::Plan(_)
            | About::Failure(_)
            | About::Printed(_)
            | About::Round(_)
            | About::Interruption
            | About::Hold
            | About::External => false,
        })
    }

    /// Returns the subtask that the step carries out, from the plan that agents are carrying out. `None` for other
    /// steps.
    pub fn part(&self, step: &str) -> Option<Part<'_>> {
        let step = self.steps.get(step)?;
        let id = step.subtask.as_ref()?;
        let planning = &self.phase(&step.phase)?.kind.control()?.plan;
        let plan = self.plans.get(planning)?.settled()?;
        let at = plan.subtasks.iter().position(|subtask| subtask.id == *id)?;
        Some(Part { planning, subtask: &plan.subtasks[at], number: at + 1, of: plan.subtasks.len() })
    }

    /// Returns the maximum number of attempts of a step: the attempts that the agent has, plus the repetitions that
    /// people can request.
    pub fn attempts_allowed(&self, step: &str) -> u32 {
        let limits = self.limits(step);
        limits.attempts.max(1) + limits.redos
    }

    /// Returns an approved plan of the run and the id of its planning phase. Of several approved plans, returns the
    /// plan whose phase comes last. Phases that tool calls began come after the phases of the workflow.
    pub fn plan_at_work(&self) -> Option<(&str, &Arc<Plan>)> {
        let settled = |phase: &Phase| self.plans.get(&phase.id)?.settled();
        self.all_phases().rev().find_map(|phase| Some((phase.id.as_str(), settled(phase)?)))
    }

    /// Returns the open phases of the workflow. If no phase is open, returns the last phase of the workflow that has
    /// ended. Phases that tool calls began are not included.
    pub fn at_phases(&self) -> Vec<&Phase> {
        let is_in = |phase: &&Phase, ended: bool| {
            self.phases.get(&phase.id).is_some_and(|end| end.is_some() == ended)
        };
        let phases = || self.definition.phases.iter();
        let at_work: Vec<&Phase> = phases().filter(|phase| is_in(phase, false)).collect();
        if at_work.is_empty() {
            phases().rfind(|phase| is_in(phase, true)).into_iter().collect()
        } else {
            at_work
        }
    }

    /// Returns the steps of the run that wait for a person. Includes the steps that a person decided to stop or skip
    /// and that have not ended yet.
    pub fn waiting(&self) -> BTreeSet<&str> {
        let mut last: BTreeMap<&str, (u64, bool)> = BTreeMap::new();
        for interrupt in self.interrupts.values() {
            let Some(step) = &interrupt.opened.step else { continue };
            let (seq, waits) = match &interrupt.resolution {
                None => (u64::MAX, true),
                Some(resolution) => {
                    let chosen = resolution.option.as_deref().and_then(|id| interrupt.offers(id));
                    let stays = chosen.is_some_and(|offer| offer.effect == Effect::Skip || offer.stops());
                    (resolution.seq, stays)
                }
            };
            let known = last.entry(step).or_insert((seq, waits));
            *known = (seq, waits).max(*known);
        }
        last.into_iter().filter(|(_, (_, waits))| *waits).map(|(step, _)| step).collect()
    }

    /// Returns the activity of a step. `waiting` is the result of [`Run::waiting`].
    pub fn activity(&self, id: &str, step: &Step, waiting: &BTreeSet<&str>) -> StepActivity {
        match step.end {
            Some(end) => StepActivity::Ended(end),
            None if self.ended.is_some() && step.trouble == Trouble::Stuck => StepActivity::Failed,
            None if self.ended.is_some() => StepActivity::Cancelled,
            None if self.interrupted.is_some() || waiting.contains(id) => StepActivity::Waiting,
            None if self.is_paused() => StepActivity::Paused,
            None => StepActivity::Running,
        }
    }
}
