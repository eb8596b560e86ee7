//! Phases: how they start, the work of each kind of phase, and the result of the run.

mod control;
mod copilot;
mod ideas;
mod phase_tools;
mod planning;
mod replan;
mod rounds;

pub(super) use planning::improver;

use std::sync::Arc;

use serde_json::{Value, json};

use super::draft::{Draft, Opening};
use super::{CallEnd, CallState, Fact, Run, StepEnd, StepRole, interruption};
use crate::definition::{CheckpointPhase, NoChannel, Phase, PhaseKind};
use crate::envelope::Content;
use crate::id::InterruptId;
use crate::interrupt::{About, Cause, Interrupt, Kind, Outcome};

/// Returns the id of the step in which an agent gives the `n`th judgement in a phase, counted from 1.
fn review(phase: &str, n: u32) -> String {
    format!("{phase}/review_{n}")
}

impl Draft<'_> {
    pub(super) fn advance_phases(&mut self) -> bool {
        let definition = Arc::clone(&self.run.definition);
        let mut open = definition.phases.iter().filter(|phase| self.run.is_open(phase));
        let open: Vec<&Phase> = open.by_ref().collect();
        let called: Vec<Phase> = self.run.called.values().map(|called| called.phase.clone()).collect();
        let mut begun = called.iter().filter(|phase| self.run.is_open(phase)).collect::<Vec<_>>();
        begun.extend(&open);
        if begun.into_iter().any(|phase| self.advance_phase(phase)) {
            return true;
        }
        let may_start = open.len() < definition.limits.parallel as usize;
        if let Some(phase) = definition.phases.iter().find(|phase| may_start && self.run.may_open(phase)) {
            self.start_phase(phase);
            return true;
        }
        // A closing step has a call that is running or whose outcome is unknown. The run must not end before the call
        // ends.
        if self.run.steps.open().any(|(_, step)| step.closing.is_some()) {
            return false;
        }
        let has_ended = |phase: &Phase| matches!(self.run.phases.get(&phase.id), Some(Some(_)));
        let done = definition.phases.iter().all(has_ended);
        if done {
            let reason = self.run.completion().to_owned();
            let result = self.run.result();
            self.emit(Fact::RunCompleted { reason }, Content::data(result));
        } else if open.is_empty() {
            // A phase waits for a phase that never ends, or no step can start. The run fails, because the run could
            // never continue.
            self.fail_run("no_phase_can_start", "no phase is running, and none can start");
            return true;
        }
        done
    }

    pub(super) fn start_phase(&mut self, phase: &Phase) {
        self.emit(Fact::PhaseStarted { phase: phase.id.clone() }, Content::none());
        match &phase.kind {
            PhaseKind::Checkpoint(look) => {
                let about = About::Phase(phase.id.clone());
                let mut opening = Opening::new(Kind::Checkpoint, about, look.message.clone());
                opening.only = look.options();
                opening.payload =
                    json!({ "position": "phase", "phase": phase.id, "results": self.run.results() });
                let interrupt = self.open(opening);
                if self.run.asks_nobody(look) {
                    self.approve_unasked(&interrupt);
                    self.end_phase(&phase.id, StepEnd::Completed);
                }
            }
            PhaseKind::Call { tool, agent } => self.start_call(phase, tool, agent.as_deref()),
            PhaseKind::OneShot { agent } => self.start_step(&phase.id, &phase.id, agent, StepRole::Worker),
            PhaseKind::Planning(_)
            | PhaseKind::Control(_)
            | PhaseKind::IdeaGeneration(_)
            | PhaseKind::Copilot(_) => {
                self.advance_phase(phase);
            }
        }
    }

    /// Starts a step without an agent, and makes the only tool call of the step at once. The step is named after the
    /// agent that would do the work, or after the workflow.
    fn start_call(&mut self, phase: &Phase, tool: &str, agent: Option<&str>) {
        let agent = agent.unwrap_or(&self.run.definition.name).to_owned();
        self.start_step(&phase.id, &phase.id, &agent, StepRole::Worker);
        let call = format!("call_{}", self.run.proposed + 1);
        let fact = Fact::CallMade { step: phase.id.clone(), call, tool: tool.to_owned() };
        let mut arguments =
            self.run.started.as_ref().map(|started| started.input.clone()).unwrap_or_default();
        let takes = self.run.spec(tool).map(|spec| spec.parameters["properties"].clone());
        if let Value::Object(given) = &mut arguments {
            given.retain(|name, _| takes.as_ref().is_some_and(|takes| takes.get(name).is_some()));
        }
        self.emit(fact, Content::data(arguments));
    }

    /// Ends a step that consists of a single tool call, after the call has ended. If the call failed, handles the
    /// failure of the step. Returns true if events were emitted.
    pub(super) fn advance_call(&mut self, id: &str) -> bool {
        let made = self.run.calls.values().find(|call| call.step == id);
        let Some((call, CallState::Ended(end))) = made.map(|call| (call, &call.state)) else { return false };
        let (end, text) = (*end, call.result.as_deref().unwrap_or_default().to_owned());
        let phase = self.run.steps.get(id).and_then(|step| self.run.phase(&step.phase));
        let must_be_done =
            phase.is_some_and(|phase| matches!(&phase.kind, PhaseKind::Call { agent: Some(_), .. }));
        if must_be_done && end != CallEnd::Done {
            let phase = self.run.phase_of_step(id);
            self.fail_phase(&phase, "call_failed", text);
            return true;
        }
        match end {
            CallEnd::Done | CallEnd::Answered => self.close_step(id, StepEnd::Completed, &text),
            CallEnd::Refused | CallEnd::Skipped | CallEnd::Cancelled | CallEnd::Unknown => {
                self.close_step(id, StepEnd::Skipped, &text);
            }
            CallEnd::Failed => self.failed_for(id, "call_failed", text, 0),
        }
        true
    }

    /// Continues the work of a phase. Returns true if events were emitted. A phase with a single step ends together
    /// with its step. A checkpoint phase ends when a person decides on the checkpoint.
    fn advance_phase(&mut self, phase: &Phase) -> bool {
        match &phase.kind {
            PhaseKind::OneShot { .. } | PhaseKind::Checkpoint(_) | PhaseKind::Call { .. } => false,
            PhaseKind::Planning(planning) => self.advance_planning(&phase.id, planning),
            PhaseKind::Control(control) => self.advance_control(phase, control),
            PhaseKind::IdeaGeneration(ideas) => self.advance_ideas(&phase.id, ideas),
            PhaseKind::Copilot(copilot) => self.advance_copilot(phase, copilot),
        }
    }

    /// Approves a checkpoint phase without asking a person. The journal records the approval (contract E8).
    fn approve_unasked(&mut self, interrupt: &InterruptId) {
        let Some(opened) = self.run.interrupts.get(interrupt).map(|each| (**each).clone()) else { return };
        let approve = opened.offers("approve");
        self.resolve(interrupt, Outcome::Approved, approve, Cause::Unasked);
    }

    pub(super) fn end_phase(&mut self, phase: &str, end: StepEnd) {
        self.emit(Fact::PhaseEnded { phase: phase.to_owned(), end }, Content::none());
    }

    /// Starts a step in which `agent` judges the output of `step`. Returns true if events were emitted, and false while
    /// the judging agent works. `None` if no further judgement follows, for example because `step` has already been
    /// judged `times` times.
    fn judged(&mut self, step: &str, agent: &str, times: u32) -> Option<bool> {
        let found = self.run.steps.get(step)?;
        if found.judged >= times {
            return None;
        }
        let phase = found.phase.clone();
        let judge = review(&phase, found.judged + 1);
        let Some(judgement) = self.run.steps.get(&judge) else {
            self.start_step(&phase, &judge, agent, StepRole::Judge);
            return Some(true);
        };
        match judgement.end {
            None => return Some(false),
            // A person skipped this judgement, so no further judgement follows.
            Some(StepEnd::Skipped) => return None,
            Some(StepEnd::Completed | StepEnd::Failed) => {}
        }
        // The text of a judge that was stopped at its limit is not usable.
        let said = judgement.output.as_deref().filter(|said| !said.is_empty())?;
        let text = format!(
            "`{agent}` judged your answer:\n{said}\n\nConsider the judgement and answer again, in full."
        );
        self.emit(Fact::StepJudged { step: step.to_owned(), by: judge }, Content::text(text));
        Some(true)
    }
}

impl Run {
    /// Returns true if a checkpoint of the workflow is approved without asking a person.
    pub(super) fn asks_nobody(&self, look: &CheckpointPhase) -> bool {
        let is_unattended = self.config().is_some_and(|config| config.unattended);
        look.unasked || is_unattended && look.when_no_channel == NoChannel::Auto
    }

    fn is_open(&self, phase: &Phase) -> bool {
        self.phases.get(&phase.id).is_some_and(Option::is_none)
    }

    fn may_open(&self, phase: &Phase) -> bool {
        !self.phases.contains_key(&phase.id)
            && phase.needs.iter().all(|need| matches!(self.phases.get(need), Some(Some(_))))
    }

    /// Returns the end reason of a completed run: `done` or `partial`. `partial` means that a step failed or was
    /// stopped at a limit, or that an agent reported an item as not done.
    fn completion(&self) -> &'static str {
        // A run continues without a failed helper step, so only failures of other steps count.
        let failed =
            self.steps.values().any(|step| step.end == Some(StepEnd::Failed) && !step.role.is_aside());
        let stopped = self.interrupts.values().any(stopped_short);
        if failed || stopped || !self.undone().is_empty() { "partial" } else { "done" }
    }

    fn results(&self) -> Value {
        let brought = |phase: &Phase| Some((phase.id.clone(), self.brought(phase)?));
        self.definition.phases.iter().filter_map(brought).collect::<serde_json::Map<_, _>>().into()
    }

    /// Returns the result of a phase: a text, a plan, the outcomes of the subtasks, or ideas with their judgements. The
    /// kind of the phase determines the form of the result.
    fn brought(&self, phase: &Phase) -> Option<Value> {
        // The text of a skipped step is the person's reason for the skip, not a result.
        let output = |step: &str| {
            let step = self.steps.get(step).filter(|step| step.end != Some(StepEnd::Skipped));
            step.and_then(|step| step.output.clone())
        };
        match &phase.kind {
            PhaseKind::Checkpoint(_) => None,
            PhaseKind::Copilot(_) => self.last_round(&phase.id).map(|text| json!(text)),
            PhaseKind::OneShot { .. } | PhaseKind::Call { .. } => output(&phase.id).map(|text| json!(text)),
            PhaseKind::Planning(_) => match self.plans.get(&phase.id).and_then(|plan| plan.settled()) {
                Some(plan) => Some(json!(plan)),
                None => self.answer(&phase.id).map(|text| json!(text)),
            },
            PhaseKind::IdeaGeneration(_) => self.ideas(&phase.id),
            PhaseKind::Control(control) => Some(self.carried_out(phase, control)),
        }
    }

    pub(super) fn phase_result_text(&self, phase: &Phase) -> Option<String> {
        match &phase.kind {
            PhaseKind::Planning(_) => match self.plans.get(&phase.id).and_then(|plan| plan.settled()) {
                Some(plan) => Some(plan.text()),
                None => self.answer(&phase.id),
            },
            PhaseKind::Control(control) => Some(self.results_text(phase, control, None)),
            PhaseKind::IdeaGeneration(_) => {
                self.steps.get(&ideas::maker(&phase.id))?.output.as_deref().map(str::to_owned)
            }
            PhaseKind::Checkpoint(_)
            | PhaseKind::OneShot { .. }
            | PhaseKind::Call { .. }
            | PhaseKind::Copilot(_) => self.brought(phase)?.as_str().map(str::to_owned),
        }
    }

    /// Returns the result of the run. `text` is the output of the workflow's result phase, or else of the last phase
    /// that was not skipped. The other fields are the results of all phases, the outputs that reviews approved, and the
    /// items that agents reported as not done. Questions and assumptions of agents are added, too.
    fn result(&self) -> Value {
        let brings = |phase: &&Phase| {
            !matches!(phase.kind, PhaseKind::Checkpoint(_))
                && self.phases.get(&phase.id) != Some(&Some(StepEnd::Skipped))
        };
        let named = self.definition.result.as_deref();
        let named = named.and_then(|id| self.definition.phases.iter().find(|phase| phase.id == id));
        let named = named.and_then(|phase| self.phase_result_text(phase)).filter(|text| !text.is_empty());
        let last = self.definition.phases.iter().rfind(brings).and_then(|phase| match &phase.kind {
            PhaseKind::Control(control) => self.last_word(phase, control),
            PhaseKind::Checkpoint(_)
            | PhaseKind::OneShot { .. }
            | PhaseKind::Planning(_)
            | PhaseKind::IdeaGeneration(_)
            | PhaseKind::Call { .. }
            | PhaseKind::Copilot(_) => self.phase_result_text(phase),
        });
        let released: Vec<&Value> = self.released.iter().collect();
        let mut result = json!({ "text": named.or(last), "phases": self.results(), "released": released });
        let undone = self.undone().into_iter().map(Value::from).collect();
        let told = [("undone", undone), ("questions", self.questions()), ("assumptions", self.assumptions())];
        for (key, told) in told.into_iter().filter(|(_, told)| !told.is_empty()) {
            result[key] = Value::Array(told);
        }
        result
    }
}

/// Returns true if a person ended a step although the agent wanted to continue. A person can end such a step at a
/// limit, after a reply that did not end the step, or after an interruption.
pub(super) fn stopped_short(interrupt: &Interrupt) -> bool {
    if interruption::ended_by_person(interrupt) {
        return true;
    }
    let chosen = interrupt.resolution.as_ref().and_then(|resolution| resolution.option.as_deref());
    matches!(interrupt.opened.about, About::Limit(_) | About::Ending(_)) && chosen == Some("finish")
}
