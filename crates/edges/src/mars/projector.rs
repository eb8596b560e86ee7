//! Converts the events of a run to frames, in order (contracts A27 to A29). A frame depends only on its event and on
//! the state of the run before and after this event. A client that reconnects therefore receives the same frames again.

use std::sync::Arc;

use holdshort_core::event::{self, Event};
use holdshort_core::interrupt::{About, Opened};
use holdshort_core::projection::Status;
use holdshort_core::run::{Fact, Listed, Run, Step, StepRole, undo};
use holdshort_protocol::plain;
use holdshort_web::view::variant_name;
use serde::Serialize;
use serde_json::{Value, json};

use super::frame::{Frame, FrameId};
use super::{approval, calls, config, cost, graph, steps, summary};
use crate::assignment;

/// State of a run in the MARS wire format (contract A29).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
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
    fn from_run(run: &Run) -> Self {
        let at = run.at_phases();
        match &run.ended {
            Some(ended) => ended.status.into(),
            None if run.is_paused() => Self::Paused,
            None if run.asked_interrupts().next().is_some() => Self::WaitingApproval,
            None if at.is_empty() => Self::Draft,
            None if at.iter().all(|phase| phase.kind.planning().is_some()) => Self::Planning,
            None => Self::Executing,
        }
    }
}

/// Converts the status of a run from its database row. The row does not show whether a running run is planning, so
/// every running run becomes `Executing`.
impl From<Status> for State {
    fn from(status: Status) -> Self {
        match status {
            Status::Queued => Self::Draft,
            Status::Running => Self::Executing,
            Status::Waiting => Self::WaitingApproval,
            Status::Paused => Self::Paused,
            Status::Completed => Self::Completed,
            Status::Failed => Self::Failed,
            Status::Cancelled => Self::Cancelled,
        }
    }
}

/// Type and data of a frame, without the members that all frames have.
pub(super) type FrameBody = (&'static str, Value);

/// Returns the data of a `status` frame with the run's current state.
pub(super) fn status(run: &Run) -> Value {
    let open: Vec<String> = run.asked_interrupts().map(|(id, _)| id.to_string()).collect();
    let state = variant_name(&State::from_run(run));
    let message = match open.len() {
        0 => format!("The task is {state}."),
        open => format!("The task is {state}; open requests: {open}."),
    };
    json!({
        "message": message,
        "status": state,
        "task": task(run),
        "mode": mode(run),
        "seq": run.seq,
        "open_approvals": open,
        "dag": graph::for_run(run),
    })
}

pub(super) fn state(run: &Run) -> Vec<FrameBody> {
    let state = json!({ "status": State::from_run(run), "old_state": null });
    vec![("workflow_state_changed", state), ("dag_updated", graph::for_run(run))]
}

fn task(run: &Run) -> &str {
    let task = run.started.as_ref().and_then(|started| started.input.get("task")?.as_str());
    task.unwrap_or_default()
}

/// Parts of a run's state before an event, for frames that report what the event changed.
struct PriorState {
    state: State,
    nodes: Vec<graph::Node>,
    /// Step that the event is about, in its state before the event.
    step: Option<Arc<Step>>,
    has_plan: bool,
}

impl PriorState {
    fn capture(run: &Run, fact: &Fact) -> Self {
        let step = match fact {
            Fact::ModelReplied { step, .. } | Fact::StepRedone { step } => Some(step),
            Fact::InterruptOpened(opened) => opened.step.as_ref(),
            _ => None,
        };
        Self {
            state: State::from_run(run),
            nodes: graph::nodes(run),
            step: step.and_then(|step| run.steps.get(step)).cloned(),
            has_plan: run.plan_at_work().is_some(),
        }
    }
}

/// Converts events of a run to frames. Contains the state of the run after the last converted event.
pub(super) struct Projector(pub(super) Run);

impl Projector {
    pub(super) fn project(&mut self, seq: u64, event: &Event) -> Vec<Frame> {
        let event::Fact::Run(fact) = &event.fact else { return Vec::new() };
        let before = PriorState::capture(&self.0, fact);
        self.0.apply(event);
        let run = &self.0;
        let mut said = take(run, &before, fact, event);
        let moved = graph::moved(&before.nodes, run);
        let at = match fact {
            Fact::InterruptOpened(_) => 0,
            // New frames are inserted before the last two frames: `result` and the end of the run.
            Fact::RunCompleted { .. } | Fact::RunFailed { .. } | Fact::RunCancelled { .. } => said.len() - 2,
            _ => said.len(),
        };
        said.splice(at..at, moved);
        let state = State::from_run(run);
        if state != before.state {
            let change = json!({ "status": state, "old_state": before.state });
            said.insert(0, ("workflow_state_changed", change));
        }
        let frame = |id: Option<FrameId>, (event_type, data): FrameBody| Frame {
            event_type,
            timestamp: event.at.to_string(),
            run_id: Some(run.id.to_string()),
            session_id: run.session().map(ToString::to_string),
            id,
            data,
        };
        let last = u32::try_from(said.len()).unwrap_or(u32::MAX);
        let id = |part| if part == last { FrameId::all_of(seq) } else { FrameId { seq, part } };
        let told = (1..).zip(said).map(|(part, said)| frame(Some(id(part)), said));
        // The client has one panel for requests and clears it after every decision. The remaining open requests are
        // therefore sent again (contract A32).
        let again = match fact {
            Fact::InterruptResolved { .. } => open(run),
            // If votes or approvers of a request change, the request is sent again and replaces the request in the
            // panel.
            fact => {
                let changed = assignment::find_changed_interrupt(run, fact)
                    .filter(|interrupt| run.asks(&interrupt.opened));
                changed
                    .map(|each| ("approval_requested", approval::asked_again(run, each)))
                    .into_iter()
                    .collect()
            }
        };
        told.chain(again.into_iter().map(|said| frame(None, said))).collect()
    }
}

/// Returns the open interrupts of a run as frames, to send them again.
pub(super) fn open(run: &Run) -> Vec<FrameBody> {
    run.asked_interrupts().map(|(_, each)| ("approval_requested", approval::asked_again(run, each))).collect()
}

fn take(run: &Run, before: &PriorState, fact: &Fact, event: &Event) -> Vec<FrameBody> {
    let content = &event.content;
    match fact {
        Fact::RunStarted { workflow, .. } => vec![started(run, workflow)],
        Fact::RunPaused | Fact::RunSuspended => vec![("workflow_paused", json!({ "by": event.actor.id }))],
        Fact::RunResumed | Fact::RunUnsuspended => {
            vec![("workflow_resumed", json!({ "by": event.actor.id }))]
        }
        Fact::RunCompleted { reason } => {
            over(run, "workflow_completed", summary::for_run(run, &content.data, reason))
        }
        Fact::RunFailed { reason } => {
            let why = said_or(content.as_text(), || format!("the task failed: {reason}"));
            over(run, "workflow_failed", json!({ "reason": reason, "error": why }))
        }
        Fact::RunCancelled { reason } => {
            let why = said_or(content.as_text(), || format!("cancelled by {}", event.actor.id));
            let told = json!({ "reason": reason, "message": why, "by": event.actor.id });
            over(run, "workflow_cancelled", told)
        }
        Fact::PhaseStarted { phase } => {
            vec![("phase_change", json!({ "phase": phase, "status": "started" }))]
        }
        Fact::PhaseEnded { phase, end } => vec![("phase_change", json!({ "phase": phase, "status": end }))],
        // The summary of a conversation is internal to the run. Clients only receive its cost.
        Fact::ModelReplied { step, model, usage, .. } if is_summariser(run, step) => {
            vec![("cost_update", cost::update(run, step, model, *usage))]
        }
        Fact::StepStarted { step, .. }
        | Fact::StepEnded { step, .. }
        | Fact::ModelStarted { step, .. }
        | Fact::ModelFailed { step, .. }
            if is_summariser(run, step) =>
        {
            Vec::new()
        }
        Fact::StepStarted { step, phase, agent, role, .. } => {
            let started = steps::started(run, step, phase, agent, *role);
            std::iter::once(started).chain(graph::grown(run)).collect()
        }
        Fact::StepEnded { step, end } => steps::ended(run, step, *end, content.as_text()),
        Fact::StepRedone { step } => {
            let helped = before.step.as_ref().and_then(|before| steps::helped(run, step, before));
            helped.into_iter().chain(steps::again(run, step, "redo")).collect()
        }
        Fact::StepRetried { step } => steps::again(run, step, "retry").into_iter().collect(),
        Fact::ModelStarted { step, .. } => steps::requested(run, step).into_iter().collect(),
        Fact::ModelReplied { step, model, usage, calls, .. } => {
            let helped = before.step.as_ref().and_then(|before| steps::replied(run, step, before));
            let mut said: Vec<FrameBody> = helped.into_iter().collect();
            said.extend(replied(run, step, calls, content.as_text()));
            said.push(("cost_update", cost::update(run, step, model, *usage)));
            said
        }
        // Text that an agent had written when a person interrupted it.
        Fact::ModelStopped { step, .. } => replied(run, step, &[], content.as_text()),
        Fact::ModelFailed { step, attempt, kind, retry_at, .. } => {
            let mut failed = error(kind, content.as_text(), step);
            let again = json!({ "attempt": attempt, "retry_at": retry_at.map(|at| at.to_string()) });
            steps::merge(&mut failed.1, &again);
            let wait_ms = retry_at.map(|at| at.ms_since(event.at));
            let retry = steps::failed(run, step, wait_ms, content.as_text());
            std::iter::once(failed).chain(retry).collect()
        }
        Fact::PlanUnusable { step, .. } => vec![error("plan_unusable", content.as_text(), step)],
        Fact::LimitReached { step, limit, value } => {
            vec![error("limit_reached", &format!("the limit `{limit}` of {value} is reached"), step)]
        }
        // Only the calls of an undo have this event, because no model reply contains such a call.
        Fact::CallMade { call, .. } => calls::proposed(run, call).into_iter().collect(),
        Fact::CallJudged { call, by, judgement } => {
            let mut told = message(steps::agent(run, by), "judge", judgement, None);
            let about = json!({
                "call_id": call, "tool_name": run.calls.get(call).map(|call| &call.tool),
                "reasons": content.data.get("reasons"), "step_id": by,
            });
            steps::merge(&mut told.1, &about);
            vec![told]
        }
        Fact::HandedOver { step, from, to, .. } => {
            vec![message(from, "handoff", format!("hands over to {to}"), Some(step))]
        }
        Fact::ToolFinished { call, end, code } => {
            calls::finished(run, call, *end, code.as_deref(), content.as_text())
        }
        Fact::PlanSettled { phase, version } => {
            graph::settled(run, phase, *version, before.has_plan).into_iter().collect()
        }
        Fact::OutputReleased { .. } => {
            let title = content.data.get("title").and_then(Value::as_str).unwrap_or_default();
            let line = format!("released: {}", plain::line(title));
            vec![("output", json!({ "data": line, "released": content.data }))]
        }
        Fact::InterruptOpened(opened) => {
            // The run's copy of the interrupt also contains the labels of the options. The event does not, because the
            // labels are erasable content.
            let opened = run.interrupts.get(&opened.interrupt).map_or(&**opened, |each| &each.opened);
            opened_now(run, before, opened, &content.data)
        }
        Fact::InterruptResolved { interrupt, .. } => {
            let resolved = run.interrupts.get(interrupt).into_iter();
            resolved.map(|each| ("approval_received", approval::received(run, each))).collect()
        }
        Fact::MessageAdded => vec![message(&event.actor.id, "user", content.as_text(), None)],
        Fact::NoteAdded { step, .. } => {
            vec![message(&event.actor.id, "user", content.as_text(), Some(step))]
        }
        // The MARS wire format has no frames for the other facts.
        _ => Vec::new(),
    }
}

/// Returns a frame with a message of an agent or a person. `step` is `None` for a message that belongs to no step.
fn message(by: &str, role: &str, text: impl Serialize, step: Option<&str>) -> FrameBody {
    let mut told = json!({ "agent": by, "role": role, "message": text });
    if let Some(step) = step {
        told["step_id"] = step.into();
    }
    ("agent_message", told)
}

fn error(kind: impl Serialize, text: &str, step: &str) -> FrameBody {
    ("error_occurred", json!({ "error_type": kind, "message": text, "step_id": step }))
}

fn started(run: &Run, workflow: &str) -> FrameBody {
    let (task, config) = (task(run), config::from_run(run));
    let told = json!({
        "run_id": run.id.as_str(), "task": task, "task_description": task, "mode": mode(run),
        "workflow": workflow, "work_dir": work_dir(run), "agent": agent_of(run), "model": model_of(run),
        "config": config,
    });
    ("workflow_started", told)
}

/// Returns the mode that the run's config names. A run that undoes changes has no config, and its mode is always the
/// name of the undo workflow.
pub(super) fn mode(run: &Run) -> String {
    let is_undo = run.definition.name == undo::WORKFLOW;
    if is_undo { undo::WORKFLOW.to_owned() } else { config::mode_of(&config::from_run(run)) }
}

/// Returns the name of the run's front agent, or the workflow's name if the workflow has no agents.
pub(super) fn agent_of(run: &Run) -> &str {
    run.definition.front_agent().unwrap_or(&run.definition.name)
}

/// Model name that clients receive for a run without a configured model.
const USUAL_MODEL: &str = "default";

pub(super) fn model_of(run: &Run) -> &str {
    run.config().and_then(|config| config.model.as_deref()).unwrap_or(USUAL_MODEL)
}

/// Returns the working directory of a run, or an empty text if the run has none.
pub(super) fn work_dir(run: &Run) -> &str {
    run.config().and_then(|config| config.workspace.as_deref()).unwrap_or_default()
}

fn said_or(said: &str, other: impl FnOnce() -> String) -> String {
    if said.trim().is_empty() { other() } else { said.to_owned() }
}

/// Returns the frames that report the end of a run. If a step has failed and no decision about the failure was made
/// before the run ended, the step is reported as failed.
fn over(run: &Run, event_type: &'static str, told: Value) -> Vec<FrameBody> {
    let why = told.get("error").and_then(Value::as_str).unwrap_or_default();
    let mut said = steps::cut_off(run, why);
    let ended = run.ended.as_ref();
    let result = json!({
        "session_id": run.session().map(ToString::to_string).unwrap_or_default(),
        "run_id": run.id.as_str(),
        "work_dir": work_dir(run),
        "status": State::from_run(run),
        "reason": ended.map(|ended| &ended.reason),
        "result": ended.map(|ended| &ended.result),
    });
    said.extend([("result", result), (event_type, told)]);
    said
}

fn replied(run: &Run, step: &str, listed: &[Listed], text: &str) -> Vec<FrameBody> {
    let mut said = Vec::new();
    if !text.trim().is_empty() {
        said.push(message(steps::agent(run, step), "assistant", text, Some(step)));
    }
    said.extend(listed.iter().filter_map(|listed| calls::proposed(run, &listed.call)));
    said
}

fn is_summariser(run: &Run, step: &str) -> bool {
    run.steps.get(step).is_some_and(|step| step.role == StepRole::Summariser)
}

/// Returns the frames for an interrupt that opens. Returns no frames if the interrupt needs no decision of a person.
fn opened_now(run: &Run, before: &PriorState, opened: &Opened, content: &Value) -> Vec<FrameBody> {
    if !run.asks(opened) {
        return Vec::new();
    }
    let mut said = Vec::new();
    if let About::Failure(step) | About::Limit(step) | About::Ending(step) = &opened.about {
        let why = content.get("message").and_then(Value::as_str).unwrap_or_default();
        let is_last = !opened.options.iter().any(|choice| choice.id == "retry");
        let before = before.step.as_ref().filter(|_| is_last);
        said.extend(before.and_then(|before| steps::stuck(run, step, before, why)));
    }
    said.push(("approval_requested", approval::requested(run, opened, content)));
    said
}
