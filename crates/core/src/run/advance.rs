//! What follows by itself: after every input, until nothing more follows.
//!
//! Phases whose needs are met start, tools that ask open their interrupt, a step that has its answer ends,
//! a limit asks, a run without anything left completes. All of it is events in the same append.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::draft::{Draft, Opening};
use super::plan::Plan;
use super::{Call, CallEnd, CallState, Entry, Fact, ModelCall, Origin, Run, Step, StepEnd};
use crate::definition::{Limits, PhaseKind, PlanGate, StepGates};
use crate::event::Content;
use crate::gate::Verdict;
use crate::interrupt::{About, Cause, Kind, Level, Outcome};
use crate::json;
use crate::limits;
use crate::tool::{Opens, Runs};

impl Draft<'_> {
    /// Runs to the fixed point. Every round emits at least one event, and each kind of event can follow only
    /// finitely often, so this ends.
    pub(super) fn advance(&mut self) {
        if self.run.seq >= limits::EVENTS {
            let text = format!("the run has {} events, the most that one may have", self.run.seq);
            self.fail_run("limit_events", text);
        }
        while !self.is_over() && !self.run.paused && self.advance_once() {}
    }

    fn advance_once(&mut self) -> bool {
        if self.run.started.as_ref().is_none_or(|started| started.origin != Origin::Native) {
            return false;
        }
        self.open_asking_calls() || self.advance_steps() || self.advance_phases()
    }

    /// Calls to tools that open an interrupt themselves need no look: they go to a person at once.
    fn open_asking_calls(&mut self) -> bool {
        let next = self.run.calls.iter().find_map(|(id, call)| {
            let open = call.state == CallState::Proposed;
            match self.run.spec(&call.tool).map(|spec| &spec.runs) {
                Some(Runs::Opens(opens)) if open => Some((id.clone(), (**call).clone(), *opens)),
                Some(Runs::Opens(_) | Runs::Here { .. }) | None => None,
            }
        });
        let Some((id, call, opens)) = next else { return false };
        if let Verdict::Forbid(reason) = self.run.vote(&call, &self.session, self.cx.system) {
            let text = format!("refused by policy: {}", reason.text);
            self.finish_call(&id, CallEnd::Refused, Some("forbidden"), text);
            return true;
        }
        match opens {
            Opens::Question => self.open_question(&id, &call),
            Opens::Plan => self.open_plan(&id, &call),
            Opens::Review => self.open_review(&id, &call),
        }
        true
    }

    fn open_question(&mut self, id: &str, call: &Call) {
        let question = call.argument("question").unwrap_or_default();
        let mut opening = Opening::new(Kind::Question, About::Call(id.to_owned()), question);
        opening.step = Some(call.step.clone());
        call.argument("context").unwrap_or_default().clone_into(&mut opening.message);
        let asker = self.run.steps.get(&call.step).map(|step| step.agent.clone());
        let mut payload = json!({ "question": question, "asker": asker, "call_id": id });
        for key in ["context", "choices"] {
            if let Some(value) = call.arguments.get(key) {
                payload[key] = value.clone();
            }
        }
        opening.payload = payload;
        self.open(opening);
    }

    fn open_plan(&mut self, id: &str, call: &Call) {
        let limit = self.run.limits(&call.step).plan_steps;
        let agents = known_agents(&self.run);
        let agents: BTreeSet<&str> = agents.iter().map(String::as_str).collect();
        let plan = match Plan::check(&call.arguments, &agents, limit, "") {
            Ok(plan) => plan,
            Err(problems) => {
                self.finish_call(id, CallEnd::Failed, Some("invalid_plan"), super::model::tell(&problems));
                return;
            }
        };
        let iteration = self.run.steps.get(&call.step).map_or(1, |step| step.plans + 1);
        self.emit(
            Fact::PlanProposed {
                call: id.to_owned(),
                step: call.step.clone(),
                iteration,
                subtasks: plan.subtasks.len(),
            },
            Content::data(json!(plan)),
        );
        let asks = self.run.config().is_some_and(|config| config.gates.plan)
            || self.run.definition.gates.plan == PlanGate::Ask;
        if !asks {
            self.finish_call(id, CallEnd::Done, None, "The plan is noted. Go on with it.");
            return;
        }
        let title = format!("Plan of {} subtasks", plan.subtasks.len());
        let mut opening = Opening::new(Kind::PlanApproval, About::Call(id.to_owned()), title);
        opening.step = Some(call.step.clone());
        opening.message = super::draft::clip(&self.said_with(call), 2_000);
        opening.risk = Level::Low;
        opening.payload = json!({ "plan": plan, "iteration": iteration, "call_id": id });
        opening.response_schema = self.run.spec(&call.tool).map(|spec| spec.parameters.clone());
        opening.supersedes.clone_from(&call.interrupt);
        self.open(opening);
    }

    fn open_review(&mut self, id: &str, call: &Call) {
        let title = call.argument("title").unwrap_or_default();
        let mut opening = Opening::new(Kind::Review, About::Call(id.to_owned()), format!("Release: {title}"));
        opening.step = Some(call.step.clone());
        opening.risk = match call.argument("risk_level") {
            Some("critical") => Level::Critical,
            Some("high") => Level::High,
            Some("low") => Level::Low,
            Some(_) | None => Level::Medium,
        };
        let mut payload = call.arguments.clone();
        payload["call_id"] = Value::String(id.to_owned());
        opening.payload = payload;
        opening.response_schema = Some(json!({ "type": "string", "minLength": 1 }));
        self.open(opening);
    }

    fn advance_steps(&mut self) -> bool {
        let open: Vec<String> = self
            .run
            .steps
            .iter()
            .filter(|(_, step)| step.end.is_none() && step.blocked.is_none())
            .map(|(id, _)| id.clone())
            .collect();
        open.iter().any(|id| self.advance_step(id))
    }

    fn advance_step(&mut self, id: &str) -> bool {
        let Some(step) = self.run.steps.get(id).cloned() else { return false };
        if let Some(end) = step.closing {
            return self.advance_closing(id, &step, end);
        }
        if step.crashes >= limits::CRASHES {
            self.step_failed(id);
            return true;
        }
        if let Some(text) = final_text(&step) {
            self.step_answered(id, &step, &text);
            return true;
        }
        if self.run.wants_model(id)
            && let Some((limit, value)) = self.run.limit_reached(id, &step)
        {
            self.limit(id, limit, value);
            return true;
        }
        false
    }

    /// What comes back to a step that is closing is not started again.
    fn advance_closing(&mut self, id: &str, step: &Step, end: StepEnd) -> bool {
        let before = self.written();
        if self.settle(id) {
            self.end_step(id, end, step.output.as_deref().unwrap_or_default());
        }
        self.written() > before
    }

    /// The agent has said its last word: it is a question after all, or goes to the gate, or ends the step.
    fn step_answered(&mut self, id: &str, step: &Step, text: &str) {
        if self.run.definition.asking.enabled && is_question(text) {
            let mut opening =
                Opening::new(Kind::Question, About::Printed(id.to_owned()), last_line(text).to_owned());
            opening.step = Some(id.to_owned());
            opening.message = String::from("The agent printed this question instead of asking it.");
            opening.payload = json!({ "question": text, "asker": step.agent });
            self.open(opening);
        } else if self.run.gates(id).after_step {
            let may_redo = step.redos < self.run.limits(id).redos;
            let title = format!("Step `{id}` is done");
            let mut opening = Opening::new(Kind::Checkpoint, About::AfterStep(id.to_owned()), title);
            opening.step = Some(id.to_owned());
            opening.only = if may_redo { &["continue", "redo", "abort"] } else { &["continue", "abort"] };
            opening.payload = json!({ "position": "after_step", "output": text, "redos": step.redos });
            self.open(opening);
        } else {
            self.close_step(id, StepEnd::Completed, text);
        }
    }

    /// Nothing of the step starts any more. It ends at once, or when what is under way has come back: a call
    /// that may have taken effect is not forgotten.
    pub(super) fn close_step(&mut self, id: &str, end: StepEnd, text: &str) {
        if self.settle(id) {
            self.end_step(id, end, text);
        } else {
            self.emit(Fact::StepClosed { step: id.to_owned(), end }, Content::text(text));
        }
    }

    /// Skips every call of the step that has not started, and withdraws what is asked about it. Whether
    /// nothing is left under way.
    fn settle(&mut self, id: &str) -> bool {
        let calls: Vec<(String, CallState)> = self
            .run
            .calls
            .iter()
            .filter(|(_, call)| call.step == id)
            .map(|(id, call)| (id.clone(), call.state.clone()))
            .collect();
        let mut settled = true;
        for (call, state) in calls {
            match state {
                CallState::Gated(interrupt) => {
                    self.resolve(&interrupt, Outcome::Superseded, None, Cause::Superseded);
                    self.skip_rest(&call);
                }
                CallState::Proposed | CallState::Authorised => self.skip_rest(&call),
                CallState::Started { .. } | CallState::Doubted(_) => settled = false,
                CallState::Ended(_) => {}
            }
        }
        if let Some(blocker) = self.run.steps.get(id).and_then(|step| step.blocked.clone()) {
            self.resolve(&blocker, Outcome::Superseded, None, Cause::Superseded);
        }
        settled
    }

    fn skip_rest(&mut self, call: &str) {
        self.finish_call(call, CallEnd::Skipped, Some("step_ended"), "not run: the step has ended");
    }

    fn end_step(&mut self, id: &str, end: StepEnd, text: &str) {
        let phase = self.run.steps.get(id).map(|step| step.phase.clone());
        self.emit(Fact::StepEnded { step: id.to_owned(), end }, Content::text(text));
        if let Some(phase) = phase {
            self.emit(Fact::PhaseEnded { phase, end }, Content::none());
        }
    }

    /// A limit asks for a fresh budget, or ends the run with its name where nobody may be asked.
    fn limit(&mut self, id: &str, limit: &str, value: u64) {
        self.emit(
            Fact::LimitReached { step: id.to_owned(), limit: limit.to_owned(), value },
            Content::none(),
        );
        if !self.run.definition.asking.enabled {
            self.fail_run(&format!("limit_{limit}"), format!("the limit `{limit}` of {value} is reached"));
            return;
        }
        let title = format!("Step `{id}` has reached its limit of {value} {}", limit.replace('_', " "));
        let mut opening = Opening::new(Kind::Continuation, About::Limit(id.to_owned()), title);
        opening.step = Some(id.to_owned());
        opening.payload = json!({ "limit": limit, "value": value });
        self.open(opening);
    }

    /// The model can not be reached, or the process died again and again: a person, or the end.
    pub(super) fn step_failed(&mut self, id: &str) {
        let Some(step) = self.run.steps.get(id).cloned() else { return };
        let (reason, text) = match &step.last_failure {
            Some((_, text)) if step.failures > 0 => ("model_failed", text.to_string()),
            Some(_) | None => ("crashes", format!("the process stopped {} times in this step", step.crashes)),
        };
        if !self.run.gates(id).on_error {
            self.fail_run(reason, text);
            return;
        }
        let title = format!("Step `{id}` failed");
        let mut opening = Opening::new(Kind::Error, About::Failure(id.to_owned()), title);
        opening.step = Some(id.to_owned());
        opening.message.clone_from(&text);
        opening.risk = Level::Medium;
        opening.payload = json!({
            "reason": reason,
            "error": text,
            "kind": step.last_failure.as_ref().map(|(kind, _)| kind),
            "attempts": step.failures,
        });
        self.open(opening);
    }

    fn advance_phases(&mut self) -> bool {
        let parallel = self.run.definition.limits.parallel as usize;
        let at_work = self.run.phases.values().filter(|end| end.is_none()).count();
        let next = self
            .run
            .definition
            .phases
            .iter()
            .filter(|_| at_work < parallel)
            .find(|phase| {
                !self.run.phases.contains_key(&phase.id)
                    && phase.needs.iter().all(|need| matches!(self.run.phases.get(need), Some(Some(_))))
            })
            .cloned();
        if let Some(phase) = next {
            self.emit(Fact::PhaseStarted { phase: phase.id.clone() }, Content::none());
            match phase.kind {
                PhaseKind::Checkpoint { message } => {
                    let mut opening =
                        Opening::new(Kind::Checkpoint, About::Phase(phase.id.clone()), message.clone());
                    opening.only = &["approve", "reject"];
                    opening.payload =
                        json!({ "position": "phase", "phase": phase.id, "results": self.run.results() });
                    self.open(opening);
                }
                PhaseKind::OneShot { agent } => self.start_step(&phase.id, &agent),
            }
            return true;
        }
        let done = self.run.phases.len() == self.run.definition.phases.len()
            && self.run.phases.values().all(Option::is_some);
        if done {
            let result = self.run.result();
            self.emit(Fact::RunCompleted { reason: "done".to_owned() }, Content::data(result));
        } else if at_work == 0 {
            // A need that nothing meets, or no room for any step: a run that waits for nobody fails.
            self.fail_run("no_phase_can_start", "no phase is at work, and none can start");
            return true;
        }
        done
    }

    fn start_step(&mut self, phase: &str, agent: &str) {
        let step = phase.to_owned();
        self.emit(
            Fact::StepStarted { step: step.clone(), phase: phase.to_owned(), agent: agent.to_owned() },
            Content::none(),
        );
        if self.run.gates(&step).before_step {
            let title = format!("About to start step `{step}` with agent `{agent}`");
            let mut opening = Opening::new(Kind::Checkpoint, About::BeforeStep(step.clone()), title);
            opening.payload =
                json!({ "position": "before_step", "agent": agent, "input": self.run.task_of(&step) });
            opening.step = Some(step);
            opening.only = &["approve", "edit", "skip", "reject"];
            opening.response_schema = Some(json!({ "type": "string", "minLength": 1 }));
            self.open(opening);
        }
    }
}

impl Run {
    /// Limits of the phase that the step belongs to.
    pub(super) fn limits(&self, step: &str) -> Limits {
        self.steps
            .get(step)
            .and_then(|step| self.phase(&step.phase))
            .map_or(self.definition.limits, |phase| phase.limits)
    }

    /// Gates around the step, with those that the run adds.
    pub(super) fn gates(&self, step: &str) -> StepGates {
        let own = self
            .steps
            .get(step)
            .and_then(|step| self.phase(&step.phase))
            .map(|phase| phase.gates)
            .unwrap_or_default();
        let added = self.config().map(|config| config.gates.clone()).unwrap_or_default();
        StepGates {
            before_step: own.before_step || added.before_step,
            after_step: own.after_step || added.after_step,
            on_error: own.on_error || added.on_error,
        }
    }

    /// Whether the step's next move is a model call.
    pub(super) fn wants_model(&self, id: &str) -> bool {
        if self.paused || self.ended.is_some() {
            return false;
        }
        let Some(step) = self.steps.get(id) else { return false };
        step.end.is_none()
            && step.closing.is_none()
            && step.blocked.is_none()
            && step.model == ModelCall::Idle
            && self.last_turn(step).is_none_or(|(_, calls)| calls.iter().all(|call| call.is_ended()))
            && final_text(step).is_none()
    }

    fn limit_reached(&self, id: &str, step: &Step) -> Option<(&'static str, u64)> {
        let limits = self.limits(id);
        if step.used.rounds >= limits.rounds {
            return Some(("rounds", limits.rounds.into()));
        }
        if step.used.calls >= limits.tool_calls {
            return Some(("tool_calls", limits.tool_calls.into()));
        }
        if let Some(budget) = limits.budget_tokens.filter(|budget| step.used.tokens >= *budget) {
            return Some(("budget_tokens", budget.min(json::MAX_INTEGER)));
        }
        (step.used.identical >= limits::IDENTICAL_CALLS)
            .then_some(("identical_calls", limits::IDENTICAL_CALLS.into()))
    }

    /// What ended steps brought, by phase.
    fn results(&self) -> Value {
        self.steps
            .values()
            .filter_map(|step| step.output.as_ref().map(|output| (step.phase.clone(), json!(output))))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }

    /// `{text, phases, released}`: the last phase's output, every phase's, and what reviews let out.
    fn result(&self) -> Value {
        let last = self.definition.phases.iter().rev().find_map(|phase| {
            self.steps.values().find(|step| step.phase == phase.id).and_then(|step| step.output.clone())
        });
        json!({ "text": last, "phases": self.results(), "released": self.released })
    }
}

/// The last word of the agent: a reply without calls, and nothing said after it.
fn final_text(step: &Step) -> Option<String> {
    match step.entries.last() {
        Some(Entry::Turn { text, calls }) if calls.is_empty() && step.model == ModelCall::Idle => {
            Some(text.to_string())
        }
        Some(Entry::Turn { .. } | Entry::Note { .. }) | None => None,
    }
}

pub(super) fn known_agents(run: &Run) -> Vec<String> {
    run.definition.agents.keys().cloned().collect()
}

fn last_line(text: &str) -> &str {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// Whether a final text asks for something instead of answering (LESSONS 34). Polite closings do not.
fn is_question(text: &str) -> bool {
    let line = last_line(text).trim_end_matches(['*', '_', '"', ')']);
    let lower = line.to_lowercase();
    let closing = ["anything else", "let me know", "would you like me to", "happy to help", "need anything"];
    if closing.iter().any(|phrase| lower.contains(phrase)) {
        return false;
    }
    let asks = [
        "please specify",
        "please clarify",
        "please provide",
        "please confirm",
        "please tell",
        "please choose",
    ];
    line.ends_with('?') || asks.iter().any(|phrase| lower.starts_with(phrase))
}
