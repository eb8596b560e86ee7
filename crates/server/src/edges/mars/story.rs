//! A run as this wire tells it: from each event of the journal, in order, the frames that it means (contracts A27
//! to A29). A function of the events and of nothing else, so whoever comes back is told the same again.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::event::{self, Event};
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{Cause, Opened, Outcome};
use holdshort_core::run::{CallEnd, Fact, Listed, Role, StepEnd};
use serde_json::{Value, json};

use super::approval::{self, Decided, Display};
use super::config;
use super::frame::{Frame, Place};
use super::ledger::Ledger;

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
type Said = (&'static str, Value);

/// What has happened so far, as far as later frames speak of it.
pub(super) struct Story {
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
    steps: BTreeMap<String, Step>,
    /// Tool and step by call.
    calls: BTreeMap<String, (String, String)>,
    open: BTreeMap<InterruptId, Opened>,
    /// What a person has just said, until its resolution.
    said: Option<(InterruptId, Option<String>, Value)>,
    /// The versions of each phase's plan.
    plans: BTreeMap<String, Vec<Value>>,
    /// The plan that is carried out.
    settled: Option<Value>,
    nodes: BTreeMap<String, &'static str>,
    ledger: Ledger,
}

struct Step {
    agent: String,
    /// The subtask that it carries out.
    node: Option<String>,
    ended: bool,
}

impl Story {
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
            steps: BTreeMap::new(),
            calls: BTreeMap::new(),
            open: BTreeMap::new(),
            said: None,
            plans: BTreeMap::new(),
            settled: None,
            nodes: BTreeMap::new(),
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
            "dag": self.settled.as_ref().map(|plan| approval::graph(plan, &self.nodes)),
        })
    }

    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// The frames of the next event.
    pub(super) fn tell(&mut self, seq: u64, event: &Event) -> Vec<Frame> {
        let event::Fact::Run(fact) = &event.fact else { return Vec::new() };
        let mut said = self.take(fact, event);
        let state = self.state_now();
        if state != self.state {
            let change = json!({ "old_state": self.state.as_str(), "new_state": state.as_str() });
            said.insert(0, ("workflow_state_changed", change));
            self.state = state;
        }
        let frame = |(part, (event_type, data)): (u32, Said)| Frame {
            event_type,
            timestamp: event.at.to_string(),
            run_id: Some(self.run.clone()),
            session_id: self.session.clone(),
            id: Some(Place { seq, part }),
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
                vec![("workflow_paused", json!({ "by": event.actor.id }))]
            }
            Fact::RunResumed => {
                self.paused = false;
                vec![("workflow_resumed", json!({ "by": event.actor.id }))]
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
                Vec::new()
            }
            Fact::PhaseEnded { phase, .. } => {
                self.phases.remove(phase);
                Vec::new()
            }
            Fact::StepStarted { step, phase, agent, role } => self.step_started(step, phase, agent, *role),
            Fact::StepEnded { step, end } => self.step_ended(step, *end, content.as_text()),
            Fact::StepRedone { step } => self.again(step, "redo"),
            Fact::StepRetried { step } => self.again(step, "retry"),
            Fact::ModelReplied { step, model, usage, calls, .. } => {
                let mut said = self.replied(step, calls, content);
                let spent = json!({
                    "step_id": step, "model": model,
                    "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
                });
                said.push(("cost_update", spent));
                said
            }
            Fact::ModelFailed { step, attempt, kind, retry_at, .. } => {
                let failed = json!({
                    "error_type": kind, "message": content.as_text(), "step_id": step, "attempt": attempt,
                    "retry_at": retry_at.map(|at| at.to_string()),
                });
                vec![("error_occurred", failed)]
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
                let (agent, tool) =
                    (self.agent(by).to_owned(), self.calls.get(call).map(|(tool, _)| tool.clone()));
                vec![(
                    "agent_message",
                    json!({
                        "agent": agent, "role": "judge", "message": judgement, "call_id": call, "tool_name": tool,
                        "reasons": content.data.get("reasons"), "step_id": by,
                    }),
                )]
            }
            Fact::HandedOver { step, from, to, .. } => {
                if let Some(step) = self.steps.get_mut(step) {
                    step.agent.clone_from(to);
                }
                let message = format!("hands over to {to}");
                vec![(
                    "agent_message",
                    json!({ "agent": from, "role": "handoff", "message": message, "step_id": step }),
                )]
            }
            Fact::ToolStarted { call, attempt, .. } => {
                self.tool(call, "started", json!({ "attempt": attempt }))
            }
            Fact::ToolFinished { call, end, code } => {
                self.tool(call, call_end(*end), json!({ "result": content.as_text(), "code": code }))
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
        let told = json!({ "task": self.task, "mode": self.mode, "workflow": workflow, "config": config });
        vec![("workflow_started", told)]
    }

    fn over(&mut self, state: State, event_type: &'static str, told: Value) -> Vec<Said> {
        self.ended = Some(state);
        let left: Vec<String> =
            self.steps.values().filter(|step| !step.ended).filter_map(|step| step.node.clone()).collect();
        let mut said: Vec<Said> = left.iter().filter_map(|node| self.node(node, "cancelled")).collect();
        said.push((event_type, told));
        said
    }

    fn step_started(&mut self, step: &str, phase: &str, agent: &str, role: Role) -> Vec<Said> {
        let node = (role == Role::Subtask)
            .then(|| step.strip_prefix(phase)?.strip_prefix('/').map(str::to_owned))
            .flatten();
        let (number, description) = node.as_deref().map(|node| self.subtask(node)).unwrap_or_default();
        let told = json!({
            "step_id": step, "phase": phase, "agent": agent, "role": role,
            "step_number": number, "description": description,
        });
        self.steps
            .insert(step.to_owned(), Step { agent: agent.to_owned(), node: node.clone(), ended: false });
        self.ledger.step_started(step, role);
        let mut said = vec![("step_started", told)];
        said.extend(node.and_then(|node| self.node(&node, "running")));
        said
    }

    fn subtask(&self, node: &str) -> (Option<usize>, Option<String>) {
        let subtasks = self.settled.as_ref().and_then(|plan| plan.get("subtasks")?.as_array());
        let mut numbered = (1..).zip(subtasks.into_iter().flatten());
        let found = numbered.find(|(_, subtask)| subtask.get("id").and_then(Value::as_str) == Some(node));
        let text = |subtask: &Value| subtask.get("description").and_then(Value::as_str).map(str::to_owned);
        found.map_or((None, None), |(number, subtask)| (Some(number), text(subtask)))
    }

    fn step_ended(&mut self, step: &str, end: StepEnd, output: &str) -> Vec<Said> {
        let agent = self.agent(step).to_owned();
        let node = self.steps.get_mut(step).and_then(|step| {
            step.ended = true;
            step.node.clone()
        });
        let counted = self.ledger.step_ended(step, end);
        let mut told = json!({ "step_id": step, "agent": agent });
        if let (Some(told), Some(counted)) = (told.as_object_mut(), counted.as_object()) {
            told.extend(counted.clone());
        }
        let (event_type, status, key) = match end {
            StepEnd::Completed => ("step_completed", "completed", "output"),
            StepEnd::Failed => ("step_failed", "failed", "error"),
            // This wire has no event of its own for it.
            StepEnd::Skipped => ("step_progress", "skipped", "message"),
        };
        told["status"] = status.into();
        told[key] = output.into();
        let mut said = vec![(event_type, told)];
        said.extend(node.and_then(|node| self.node(&node, status)));
        said
    }

    fn again(&mut self, step: &str, why: &str) -> Vec<Said> {
        let attempt = self.ledger.again(step, why == "redo");
        vec![("step_retry_started", json!({ "step_id": step, "why": why, "attempt": attempt }))]
    }

    /// The node's new status, where it is one.
    fn node(&mut self, node: &str, status: &'static str) -> Option<Said> {
        let old = self.nodes.insert(node.to_owned(), status).unwrap_or("pending");
        let change = json!({ "node_id": node, "old_status": old, "new_status": status });
        (old != status).then_some(("dag_node_status_changed", change))
    }

    fn agent(&self, step: &str) -> &str {
        self.steps.get(step).map(|step| step.agent.as_str()).unwrap_or_default()
    }

    fn replied(&mut self, step: &str, calls: &[Listed], content: &event::Content) -> Vec<Said> {
        let mut said = Vec::new();
        let agent = self.agent(step).to_owned();
        let text = content.as_text();
        if !text.trim().is_empty() {
            let told = json!({ "agent": agent, "role": "assistant", "message": text, "step_id": step });
            said.push(("agent_message", told));
        }
        let arguments = content.data.get("arguments").and_then(Value::as_array);
        for (i, call) in calls.iter().enumerate() {
            self.calls.insert(call.call.clone(), (call.tool.clone(), step.to_owned()));
            let told = json!({
                "agent": agent, "tool_name": call.tool, "call_id": call.call, "step_id": step,
                "arguments": arguments.and_then(|all| all.get(i)), "status": "proposed",
            });
            said.push(("agent_tool_call", told));
        }
        said
    }

    fn tool(&mut self, call: &str, status: &str, more: Value) -> Vec<Said> {
        let Some((tool, step)) = self.calls.get(call) else { return Vec::new() };
        let mut told = json!({
            "agent": self.agent(step), "tool_name": tool, "call_id": call, "step_id": step, "status": status,
        });
        if let (Some(told), Value::Object(more)) = (told.as_object_mut(), more) {
            told.extend(more);
        }
        vec![("agent_tool_call", told)]
    }

    fn plan_settled(&mut self, phase: &str, version: usize) -> Vec<Said> {
        let plan = version.checked_sub(1).and_then(|at| self.plans.get(phase)?.get(at).cloned());
        let Some(plan) = plan else { return Vec::new() };
        let mut told = approval::graph(&plan, &self.nodes);
        told["version"] = version.into();
        told["plan"] = approval::plan(&plan);
        self.ledger.plan = told["plan"].clone();
        let event_type = if self.settled.is_some() { "dag_updated" } else { "dag_created" };
        self.settled = Some(plan);
        vec![(event_type, told)]
    }

    fn opened(&mut self, opened: &Opened, content: &Value) -> Vec<Said> {
        self.open.insert(opened.interrupt.clone(), opened.clone());
        let mut said = Vec::new();
        if let Some(node) = self.node_of(opened) {
            said.extend(self.node(&node, "waiting_approval"));
        }
        said.push((
            "approval_requested",
            approval::requested(opened, content, &self.ledger.plan_feedback, self.display),
        ));
        said
    }

    fn node_of(&self, opened: &Opened) -> Option<String> {
        opened.step.as_ref().and_then(|step| self.steps.get(step)).filter(|step| !step.ended)?.node.clone()
    }

    fn resolved(
        &mut self,
        id: &InterruptId,
        outcome: Outcome,
        option: Option<&str>,
        cause: &Cause,
        by: &str,
    ) -> Vec<Said> {
        let Some(opened) = self.open.remove(id) else { return Vec::new() };
        let (text, edit) = match self.said.take() {
            Some((of, text, edit)) if of == *id => (text, edit),
            Some(_) | None => (None, Value::Null),
        };
        let decided = Decided { outcome, option, text: text.as_deref(), edit: &edit, by, cause };
        let received = approval::received(&opened, &decided);
        let draft = self.plans.values().last().and_then(|versions| versions.last());
        self.ledger.decided(&opened, &received, draft);
        let mut said = vec![("approval_received", received)];
        if let Some(node) = self.node_of(&opened) {
            let still = self.open.values().any(|other| other.step == opened.step);
            said.extend(if still { None } else { self.node(&node, "running") });
        }
        said
    }
}

fn call_end(end: CallEnd) -> &'static str {
    match end {
        CallEnd::Done => "completed",
        CallEnd::Failed => "failed",
        CallEnd::Refused => "refused",
        CallEnd::Answered => "answered",
        CallEnd::Skipped => "skipped",
        CallEnd::Cancelled => "cancelled",
        CallEnd::Unknown => "unknown",
    }
}
