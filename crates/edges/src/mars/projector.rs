//! Projects the events of a run to the frames of this wire, in order (contracts A27 to A29). The frames depend on the
//! events alone, so a client that reconnects is sent the same frames again.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::event::{self, Event};
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{About, Cause, Effect, Opened, Outcome};
use holdshort_core::message::Usage;
use holdshort_core::run::{Fact, Listed};
use serde_json::{Value, json};

use super::approval::{self, Decided, Display};
use super::calls::Calls;
use super::config;
use super::frame::{Frame, FrameId};
use super::ledger::Ledger;
use super::steps::Steps;

/// The states of a run (contract A29).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Draft,
    Planning,
    Executing,
    Paused,
    WaitingApproval,
    Completed,
    Failed,
    Cancelled,
}

impl State {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Planning => "planning",
            Self::Executing => "executing",
            Self::Paused => "paused",
            Self::WaitingApproval => "waiting_approval",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A frame without its envelope.
pub(super) type Said = (&'static str, Value);

/// What has happened so far, as far as later frames speak of it.
pub(super) struct Projector {
    run: String,
    session: Option<String>,
    task: String,
    mode: String,
    display: Display,
    state: State,
    paused: bool,
    ended: Option<State>,
    /// Phases at work.
    phases: BTreeSet<String>,
    steps: Steps,
    calls: Calls,
    open: BTreeMap<InterruptId, Opened>,
    /// Let through where it was opened: the next event says so.
    unasked: Option<Opened>,
    /// What a person has just said, until its resolution.
    said: Option<(InterruptId, Option<String>, Value)>,
    /// The versions of each phase's plan.
    plans: BTreeMap<String, Vec<Value>>,
    ledger: Ledger,
}

impl Projector {
    pub(super) fn new(run: &str) -> Self {
        Self {
            run: run.to_owned(),
            session: None,
            task: String::new(),
            mode: String::new(),
            display: Display { plan: true, results: true, step: true },
            state: State::Draft,
            paused: false,
            ended: None,
            phases: BTreeSet::new(),
            steps: Steps::default(),
            calls: Calls::default(),
            open: BTreeMap::new(),
            unasked: None,
            said: None,
            plans: BTreeMap::new(),
            ledger: Ledger::default(),
        }
    }

    /// What stands now, for `status`.
    pub(super) fn status(&self, seq: u64) -> Value {
        let open: Vec<String> = self.open.keys().map(ToString::to_string).collect();
        json!({
            "status": self.state.as_str(),
            "task": self.task,
            "mode": self.mode,
            "seq": seq,
            "open_approvals": open,
            "dag": self.steps.graph(),
        })
    }

    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// The frames of the next event. `follows` is the one after a request, if that is there already.
    pub(super) fn tell(&mut self, seq: u64, event: &Event, follows: Option<&Event>) -> Vec<Frame> {
        let event::Fact::Run(fact) = &event.fact else { return Vec::new() };
        let mut said = match fact {
            // Nobody is shown what nobody can answer.
            Fact::InterruptOpened(opened) if lets_through(&opened.interrupt, follows) => {
                self.unasked = Some((**opened).clone());
                Vec::new()
            }
            _ => self.take(fact, event),
        };
        let state = self.state_now();
        if state != self.state {
            let change = json!({ "status": state.as_str(), "old_state": self.state.as_str() });
            said.insert(0, ("workflow_state_changed", change));
            self.state = state;
        }
        let frame = |(part, (event_type, data)): (u32, Said)| Frame {
            event_type,
            timestamp: event.at.to_string(),
            run_id: Some(self.run.clone()),
            session_id: self.session.clone(),
            id: Some(FrameId { seq, part }),
            data,
        };
        (1..).zip(said).map(frame).collect()
    }

    fn state_now(&self) -> State {
        let is_planning = |phase: &String| config::is_planning(phase);
        match self.ended {
            Some(ended) => ended,
            None if self.paused => State::Paused,
            None if !self.open.is_empty() => State::WaitingApproval,
            None if self.phases.is_empty() && self.state == State::WaitingApproval => State::Executing,
            None if self.phases.is_empty() => self.state,
            None if self.phases.iter().all(is_planning) => State::Planning,
            None => State::Executing,
        }
    }

    fn take(&mut self, fact: &Fact, event: &Event) -> Vec<Said> {
        let content = &event.content;
        match fact {
            Fact::RunStarted { session, workflow, .. } => {
                self.started(session.as_str(), workflow, &content.data)
            }
            Fact::RunPaused => {
                self.paused = true;
                let mut said = vec![("workflow_paused", json!({ "by": event.actor.id }))];
                said.extend(self.steps.all("running", "paused"));
                said
            }
            Fact::RunResumed => {
                self.paused = false;
                let mut said = vec![("workflow_resumed", json!({ "by": event.actor.id }))];
                said.extend(self.steps.all("paused", "running"));
                said
            }
            Fact::RunCompleted { reason } => {
                let told = self.ledger.told(&content.data, reason);
                self.over(State::Completed, "workflow_completed", told)
            }
            Fact::RunFailed { reason } => {
                let told = json!({ "reason": reason, "error": content.as_text() });
                self.over(State::Failed, "workflow_failed", told)
            }
            Fact::RunCancelled { reason } => {
                let told = json!({ "reason": reason, "message": content.as_text(), "by": event.actor.id });
                self.over(State::Cancelled, "workflow_cancelled", told)
            }
            Fact::PhaseStarted { phase } => {
                self.phases.insert(phase.clone());
                vec![("phase_change", json!({ "phase": phase, "status": "started" }))]
            }
            Fact::PhaseEnded { phase, end } => {
                self.phases.remove(phase);
                vec![("phase_change", json!({ "phase": phase, "status": end }))]
            }
            Fact::StepStarted { step, phase, agent, role } => {
                self.ledger.step_started(step, *role);
                self.steps.started(step, phase, agent, *role)
            }
            Fact::StepEnded { step, end } => {
                let counted = self.ledger.step_ended(step, *end);
                self.steps.ended(step, *end, content.as_text(), &counted)
            }
            Fact::StepRedone { step } => {
                let attempt = self.ledger.again(step, true);
                self.steps.again(step, "redo", attempt)
            }
            Fact::StepRetried { step } => {
                let attempt = self.ledger.again(step, false);
                self.steps.again(step, "retry", attempt)
            }
            Fact::ModelStarted { step, .. } => {
                self.ledger.begun(step);
                self.steps.requested(step).into_iter().collect()
            }
            Fact::ModelReplied { step, model, usage, calls, .. } => {
                let mut said: Vec<Said> = self.steps.replied(step).into_iter().collect();
                said.extend(self.replied(step, calls, content));
                said.push(("cost_update", self.spent(step, model, usage)));
                said
            }
            Fact::ModelFailed { step, attempt, kind, retry_at, .. } => {
                let failed = json!({
                    "error_type": kind, "message": content.as_text(), "step_id": step, "attempt": attempt,
                    "retry_at": retry_at.map(|at| at.to_string()),
                });
                let wait_ms = retry_at.map(|at| at.ms_since(event.at));
                let retry = self.steps.failed(step, wait_ms, content.as_text());
                std::iter::once(("error_occurred", failed)).chain(retry).collect()
            }
            Fact::PlanUnusable { step, .. } => {
                let failed =
                    json!({ "error_type": "plan_unusable", "message": content.as_text(), "step_id": step });
                vec![("error_occurred", failed)]
            }
            Fact::LimitReached { step, limit, value } => {
                let message = format!("the limit `{limit}` of {value} is reached");
                let reached = json!({ "error_type": "limit_reached", "message": message, "step_id": step });
                vec![("error_occurred", reached)]
            }
            Fact::CallJudged { call, by, judgement } => {
                let told = json!({
                    "agent": self.steps.agent(by), "role": "judge", "message": judgement, "call_id": call,
                    "tool_name": self.calls.tool(call), "reasons": content.data.get("reasons"), "step_id": by,
                });
                vec![("agent_message", told)]
            }
            Fact::HandedOver { step, from, to, .. } => {
                self.steps.handed_over(step, to);
                let message = format!("hands over to {to}");
                vec![(
                    "agent_message",
                    json!({ "agent": from, "role": "handoff", "message": message, "step_id": step }),
                )]
            }
            Fact::ToolInspected { call, look } => {
                self.calls.inspected(call, &look.preconditions);
                Vec::new()
            }
            Fact::ToolStarted { call, attempt, .. } => self.calls.started(call, *attempt, &self.steps),
            Fact::ToolFinished { call, end, code } => {
                self.calls.finished(call, *end, code.as_deref(), content.as_text(), &self.steps)
            }
            Fact::PlanDrafted { phase, .. } => {
                self.plans.entry(phase.clone()).or_default().push(content.data.clone());
                Vec::new()
            }
            Fact::PlanSettled { phase, version } => self.plan_settled(phase, *version),
            Fact::OutputReleased { .. } => vec![("output", json!({ "released": content.data }))],
            Fact::InterruptOpened(opened) => self.opened(opened, &content.data),
            Fact::DecisionMade { interrupt, .. } => {
                self.said = Some((interrupt.clone(), content.text.clone(), content.data.clone()));
                Vec::new()
            }
            Fact::InterruptResolved { interrupt, outcome, option, cause, .. } => {
                self.resolved(interrupt, *outcome, option.as_deref(), cause, &event.actor.id)
            }
            Fact::MessageAdded => {
                let told = json!({ "agent": event.actor.id, "role": "user", "message": content.as_text() });
                vec![("agent_message", told)]
            }
            Fact::NoteAdded { step, .. } => {
                let told = json!({
                    "agent": event.actor.id, "role": "user", "message": content.as_text(), "step_id": step,
                });
                vec![("agent_message", told)]
            }
            // What is between these: nothing that this wire has a word for.
            _ => Vec::new(),
        }
    }

    fn started(&mut self, session: &str, workflow: &str, input: &Value) -> Vec<Said> {
        self.session = Some(session.to_owned());
        input.get("task").and_then(Value::as_str).unwrap_or_default().clone_into(&mut self.task);
        let config = input.get("config").cloned().unwrap_or_else(|| json!({}));
        self.mode = config::mode_of(&config);
        self.display = config::display_of(&config);
        let told = json!({
            "run_id": self.run, "task": self.task, "task_description": self.task, "mode": self.mode,
            "workflow": workflow, "work_dir": config::said(&config, "work_dir"),
            "model": config::said(&config, "model"), "config": config,
        });
        vec![("workflow_started", told)]
    }

    fn over(&mut self, state: State, event_type: &'static str, told: Value) -> Vec<Said> {
        self.ended = Some(state);
        let why = told.get("error").and_then(Value::as_str).unwrap_or_default();
        let mut said = self.steps.cut_off(why, &self.ledger);
        said.push((event_type, told));
        said
    }

    fn replied(&mut self, step: &str, calls: &[Listed], content: &event::Content) -> Vec<Said> {
        let mut said = Vec::new();
        let text = content.as_text();
        if !text.trim().is_empty() {
            let agent = self.steps.agent(step);
            let told = json!({ "agent": agent, "role": "assistant", "message": text, "step_id": step });
            said.push(("agent_message", told));
        }
        let arguments = content.data.get("arguments").and_then(Value::as_array);
        said.extend(self.calls.proposed(step, calls, arguments, &self.steps));
        said
    }

    /// What a request took. Prices are not known here.
    fn spent(&self, step: &str, model: &str, usage: &Usage) -> Value {
        let (input, output) = (usage.input_tokens, usage.output_tokens);
        json!({
            "step_id": step, "agent": self.steps.agent(step), "model": model,
            "tokens": input + output, "input_tokens": input, "output_tokens": output,
            "cost_usd": null, "total_cost_usd": null,
        })
    }

    fn plan_settled(&mut self, phase: &str, version: usize) -> Vec<Said> {
        let plan = version.checked_sub(1).and_then(|at| self.plans.get(phase)?.get(at).cloned());
        plan.map(|plan| self.steps.settled(plan, version, &mut self.ledger)).into_iter().collect()
    }

    fn opened(&mut self, opened: &Opened, content: &Value) -> Vec<Said> {
        self.open.insert(opened.interrupt.clone(), opened.clone());
        let asked = approval::requested(opened, content, &self.ledger.plan_feedback, self.display);
        let mut said: Vec<Said> =
            self.steps.marked(opened.step.as_ref(), "waiting_approval").into_iter().collect();
        if let About::Failure(step) | About::Limit(step) | About::Ending(step) = &opened.about {
            let why = content.get("message").and_then(Value::as_str).unwrap_or_default();
            let is_last = !opened.options.iter().any(|choice| choice.id == "retry");
            said.extend(self.steps.stuck(step, self.ledger.attempts(step), is_last, why));
        }
        said.push(("approval_requested", asked));
        said
    }

    fn resolved(
        &mut self,
        id: &InterruptId,
        outcome: Outcome,
        option: Option<&str>,
        cause: &Cause,
        by: &str,
    ) -> Vec<Said> {
        let Some(opened) = self.open.remove(id).or_else(|| self.unasked.take()) else { return Vec::new() };
        let (text, edit) = match self.said.take() {
            Some((of, text, edit)) if of == *id => (text, edit),
            Some(_) | None => (None, Value::Null),
        };
        let decided = Decided { outcome, option, text: text.as_deref(), edit: &edit, by, cause };
        let received = approval::received(&opened, &decided);
        let draft = self.plans.values().last().and_then(|versions| versions.last());
        self.ledger.decided(&opened, &received, draft);
        let mut said = vec![("approval_received", received)];
        let chosen = option.and_then(|id| opened.options.iter().find(|choice| choice.id == id));
        let goes_on = chosen.is_none_or(|choice| choice.effect != Effect::Skip && !choice.stops());
        if goes_on && !self.open.values().any(|other| other.step == opened.step) {
            let status = if self.paused { "paused" } else { "running" };
            said.extend(self.steps.marked(opened.step.as_ref(), status));
        }
        said
    }
}

/// Whether a request is resolved by this event with nobody asked.
fn lets_through(id: &InterruptId, event: Option<&Event>) -> bool {
    let fact = event.map(|event| &event.fact);
    matches!(fact, Some(event::Fact::Run(Fact::InterruptResolved { interrupt, cause: Cause::Unasked, .. }))
        if interrupt == id)
}
