//! Current work of a run, for people who watch the run: the agents that work, and the agents and phases that wait.
//!
//! The current work depends only on the state of the run. Steps that only help another step (overseer, router and
//! summariser) are not listed. The entry of the other step includes their work.

use super::{CallState, ModelCall, Run, Step};
use crate::definition::{Phase, PhaseKind};
use crate::id::InterruptId;
use crate::interrupt::Kind;
use crate::time::Timestamp;

/// Step of a run that works or waits, or phase that has not begun.
#[derive(Clone, Debug, PartialEq)]
pub struct Work<'r> {
    pub phase: &'r str,
    /// Id of the step that works or waits. `None` if the phase currently has no step.
    pub step: Option<&'r str>,
    pub agent: Option<&'r str>,
    pub doing: Doing<'r>,
    /// Time since which the step or phase does what `doing` says. `None` if the phase has not begun.
    pub since: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doing<'r> {
    /// A model request of the step is in progress.
    Thinks,
    /// Calls of the listed tools are running in the step.
    Acts(Vec<&'r str>),
    /// The step continues without a person, either at once or when its failed model call is retried.
    Begins,
    /// The step waits until a person decides on the listed interrupts.
    Asks(Vec<&'r InterruptId>),
    /// The questions that the step's agent asked are held back. People see the questions when the listed agents wait
    /// for an answer, too.
    Gathers(Vec<&'r str>),
    /// The listed agents have open questions. The step starts no work until the questions are answered.
    Held(Vec<&'r str>),
    /// The phase waits until the listed phases have ended.
    Needs(Vec<&'r str>),
    /// The step starts no work, because a person paused or interrupted the run, because its session is suspended, or
    /// because a review stops the run.
    Rests,
}

impl Run {
    /// Returns the current work of the run in the order of the phases. Within a phase, steps are in the order in which
    /// they started. Empty if the run has ended.
    pub fn work(&self) -> Vec<Work<'_>> {
        if self.ended.is_some() || self.started.is_none() {
            return Vec::new();
        }
        let phases = self.all_phases().filter(|phase| !matches!(self.phases.get(&phase.id), Some(Some(_))));
        phases.flat_map(|phase| self.work_in(phase)).collect()
    }

    fn work_in<'r>(&'r self, phase: &'r Phase) -> Vec<Work<'r>> {
        let at = |step, agent, doing, since| Work { phase: &phase.id, step, agent, doing, since };
        if !self.phases.contains_key(&phase.id) {
            let is_over = |need: &&String| matches!(self.phases.get(*need), Some(Some(_)));
            let needs = phase.needs.iter().filter(|need| !is_over(need)).map(String::as_str).collect();
            return vec![at(None, agent(phase), Doing::Needs(needs), None)];
        }
        let is_at_work = |step: &Step| step.phase == phase.id && !step.role.is_aside();
        let mut steps: Vec<_> = self.steps.open().filter(|(_, step)| is_at_work(step)).collect();
        steps.sort_by_key(|(_, step)| step.since);
        let mut work: Vec<Work<'r>> = steps
            .into_iter()
            .map(|(id, step)| {
                let (doing, since) = self.doing(id, step);
                at(Some(id.as_str()), Some(step.agent.as_str()), doing, Some(since))
            })
            .collect();
        if work.is_empty() {
            let asks: Vec<_> = self
                .asked_interrupts()
                .filter(|(_, each)| {
                    each.opened.step.is_none() && each.opened.about.phase() == Some(&phase.id)
                })
                .collect();
            if let Some(since) = asks.iter().map(|(_, each)| each.opened_at).min() {
                let asks = asks.into_iter().map(|(id, _)| id).collect();
                work.push(at(None, None, Doing::Asks(asks), Some(since)));
            }
        }
        work
    }

    fn doing<'r>(&'r self, id: &str, step: &'r Step) -> (Doing<'r>, Timestamp) {
        let calls = || self.calls.open().map(|(_, call)| call).filter(|call| call.step == id);
        let running = calls().filter(|call| matches!(call.state, CallState::Started { .. }));
        let running: Vec<_> = running.collect();
        if let Some(since) = running.iter().filter_map(|call| call.started_at).min() {
            return (Doing::Acts(running.iter().map(|call| call.tool.as_str()).collect()), since);
        }
        if step.model != ModelCall::Idle {
            return (Doing::Thinks, step.model_at);
        }
        let of_step = |opened: &crate::interrupt::Opened| opened.step.as_deref() == Some(id);
        let asked: Vec<_> = self.asked_interrupts().filter(|(_, each)| of_step(&each.opened)).collect();
        if let Some(since) = asked.iter().map(|(_, each)| each.opened_at).min() {
            return (Doing::Asks(asked.into_iter().map(|(id, _)| id).collect()), since);
        }
        if self.is_paused() || self.interrupted.is_some() {
            return (Doing::Rests, step.model_at);
        }
        if calls().any(|call| call.state == CallState::Proposed && self.is_question_tool(&call.tool)) {
            return (Doing::Gathers(self.who_goes_on(id)), step.model_at);
        }
        if self.is_held_by_a_question(id) {
            let open = self.open_interrupts().map(|(_, each)| each);
            let open = open.filter(|each| each.opened.kind == Kind::Question && !of_step(&each.opened));
            let open: Vec<_> = open.collect();
            let since = open.iter().map(|each| each.opened_at).min();
            let mut agents: Vec<&str> = open.iter().filter_map(|each| each.opened.agent.as_deref()).collect();
            agents.dedup();
            return (Doing::Held(agents), since.map_or(step.model_at, |since| since.max(step.model_at)));
        }
        (Doing::Begins, step.model_at)
    }

    /// Returns the agents of steps other than `but` that still work. Questions are held back until these agents wait
    /// for an answer, too.
    fn who_goes_on(&self, but: &str) -> Vec<&str> {
        let open = self.steps.open().filter(|(id, _)| *id != but);
        let going = open.filter(|(id, step)| {
            let works = |call: &super::Call| matches!(call.state, CallState::Started { .. });
            let calls = || self.calls.open().map(|(_, call)| call).filter(|call| call.step == **id);
            step.model != ModelCall::Idle || self.wants_model(id) || calls().any(works)
        });
        let mut agents: Vec<&str> = going.map(|(_, step)| step.agent.as_str()).collect();
        agents.dedup();
        agents
    }
}

/// Returns the agent that begins the phase. `None` if the phase has no first agent, or several.
fn agent(phase: &Phase) -> Option<&str> {
    match &phase.kind {
        PhaseKind::OneShot { agent } => Some(agent),
        PhaseKind::Copilot(copilot) => Some(&copilot.agent),
        PhaseKind::Checkpoint(_)
        | PhaseKind::Planning(_)
        | PhaseKind::Control(_)
        | PhaseKind::IdeaGeneration(_)
        | PhaseKind::Call { .. } => None,
    }
}
