//! Phases as tools: a call begins a new phase in the same run, and the result of the phase becomes the result of the
//! call (contract A25). The model receives the result only after the phase has ended.
//!
//! The workflow determines the agents of the new phase. They are the workflow's agents with the usual names, or else
//! the agent that makes the call.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::draft::{Draft, Opening};
use super::super::{Call, CallEnd, CallState, Fact, Run, StartedPhase, StepEnd};
use crate::definition::{
    CheckpointPhase, Control, Copilot, Definition, IdeaGeneration, Phase, PhaseKind, Planning, StepGates,
};
use crate::envelope::Content;
use crate::gate::{Reason, Source, Verdict};
use crate::id::InterruptId;
use crate::interrupt::{About, Cause, Interrupt, Kind, Outcome};
use crate::level::Level;
use crate::limits;
use crate::text::{clip, readable};
use crate::tool::{PhaseTool, Runs};

/// Text in the input of a phase that is replaced by the result of the previous phase of the chain that a tool call
/// began.
const PREVIOUS: &str = "$previous";

/// Returns the id of a phase that a tool call begins. The id contains a colon, so that it differs from the ids of the
/// workflow's phases.
fn id_of(call: &str, nth: usize) -> String {
    if nth == 0 { format!("of:{call}") } else { format!("of:{call}.{}", nth + 1) }
}

impl Draft<'_> {
    /// Begins the phase that a tool call requests, or ends a call whose phase has ended. Returns true if events were
    /// emitted.
    pub(in super::super) fn advance_called(&mut self) -> bool {
        let ended = self.run.called.values().find_map(|called| {
            let end = (*self.run.phases.get(&called.phase.id)?)?;
            let is_last = self.run.last_called(&called.call).is_some_and(|last| last.nth == called.nth);
            let call = self.run.calls.get(&called.call).filter(|call| is_last && !call.is_ended())?;
            Some((called.clone(), (**call).clone(), end))
        });
        if let Some((called, call, end)) = ended {
            self.called_ended(&called, &call, end);
            return true;
        }
        let due = self.run.open_calls().into_iter().find_map(|(id, call)| {
            let is_due = call.state == CallState::Proposed && self.run.last_called(id).is_none();
            let tool = self.run.phase_tool(&call.tool).filter(|_| is_due)?;
            Some((id.clone(), call.clone(), tool))
        });
        let Some((id, call, tool)) = due else { return false };
        match self.run.vote(&call, &self.session, self.cx.system, self.now()) {
            Verdict::Forbid(reason) => {
                let text = format!("refused by policy: {}", reason.text);
                self.finish_call(&id, CallEnd::Refused, Some("forbidden"), text);
            }
            // A call that no rule names is allowed, because the gates still apply to the work within the phase.
            Verdict::Ask { reasons, .. } if reasons.iter().any(|reason| reason.source != Source::Default) => {
                self.ask_before_phase(&id, &call, reasons);
            }
            Verdict::Ask { .. } | Verdict::Allow(_) => self.begin_called(&id, &call, tool),
        }
        true
    }

    /// Begins a phase after a person approved the tool call that requested the phase. Refuses the call if a rule now
    /// forbids the call.
    pub(in super::super) fn release_called(&mut self, id: &str, call: &Call) {
        if let Verdict::Forbid(reason) = self.run.vote(call, &self.session, self.cx.system, self.now()) {
            let text = format!("refused by policy: {}", reason.text);
            self.finish_call(id, CallEnd::Refused, Some("forbidden"), text);
        } else if let Some(tool) = self.run.phase_tool(&call.tool) {
            self.begin_called(id, call, tool);
        }
    }

    fn ask_before_phase(&mut self, id: &str, call: &Call, reasons: Vec<Reason>) {
        let title = format!("The agent `{}` starts a phase: `{}`", call.agent, call.tool);
        let mut opening = Opening::new(Kind::Escalation, About::Call(id.to_owned()), title);
        opening.step = Some(call.step.clone());
        opening.message = clip(&self.said_with(call), 2_000);
        opening.risk = Level::Medium;
        opening.payload = json!({ "call_id": id, "tool": call.tool, "arguments": call.arguments });
        opening.reasons = reasons;
        self.open(opening);
    }

    fn begin_called(&mut self, id: &str, call: &Call, tool: PhaseTool) {
        if self.run.depth(&call.step) >= limits::PHASE_DEPTH {
            let text = format!("not started: phases may be nested at most {} deep", limits::PHASE_DEPTH);
            return self.finish_call(id, CallEnd::Failed, Some("limit_phase_depth"), text);
        }
        let arguments = if tool == PhaseTool::Chain {
            call.arguments.pointer("/phases/0").cloned().unwrap_or_default()
        } else {
            call.arguments.clone()
        };
        if tool == PhaseTool::Chain && holds_previous(&arguments) {
            let text = "the first phase of a chain has no previous phase: `$previous` cannot be used there";
            return self.finish_call(id, CallEnd::Failed, Some("invalid_arguments"), text);
        }
        self.begin_nth(id, call, 0, tool, &arguments, None);
    }

    fn begin_nth(
        &mut self,
        id: &str,
        call: &Call,
        nth: usize,
        tool: PhaseTool,
        arguments: &Value,
        before: Option<String>,
    ) {
        if self.run.called.size() >= limits::CALLED_PHASES {
            let text = format!(
                "phase not started: calls of one run may start at most {} \
                    phases",
                limits::CALLED_PHASES
            );
            return self.finish_call(id, CallEnd::Failed, Some("limit_called_phases"), text);
        }
        let named = arguments.get("phase").and_then(Value::as_str).and_then(PhaseTool::parse);
        let tool = if tool == PhaseTool::Chain { named.unwrap_or(PhaseTool::OneShot) } else { tool };
        let made = match self.run.called_phase(id, call, nth, tool, arguments) {
            Ok(made) => made,
            Err(why) => return self.finish_call(id, CallEnd::Failed, Some("phase_not_begun"), why),
        };
        let RequestedPhase { mut phase, text } = made;
        let text = match before {
            Some(before) => format!("{text}\n\nResult of the previous phase:\n{before}"),
            None => text,
        };
        // Texts are content of the event. The fact contains the phase without its texts.
        phase.input = None;
        if let PhaseKind::Checkpoint(look) = &mut phase.kind {
            look.message.clear();
        }
        let fact = Fact::PhaseCalled { call: id.to_owned(), nth, phase: Box::new(phase.clone()) };
        self.emit(fact, Content::text(text));
        if let Some(called) = self.run.called.get(&phase.id).cloned() {
            self.start_phase(&called.phase);
        }
    }

    /// Begins the next phase of the chain that a tool call requested. After the last phase, or after a phase that did
    /// not complete, the result of this phase becomes the result of the call.
    fn called_ended(&mut self, called: &StartedPhase, call: &Call, end: StepEnd) {
        let output = self.run.phase_result_text(&called.phase).unwrap_or_default();
        let went_well = end == StepEnd::Completed;
        let chained = call.arguments.get("phases").and_then(Value::as_array);
        let next = chained.and_then(|phases| phases.get(called.nth + 1)).filter(|_| went_well);
        if let Some(next) = next {
            let arguments = filled(next, &output);
            let passes = call.arguments.get("pass_context").and_then(Value::as_bool) != Some(false);
            let before = (passes && !holds_previous(next)).then_some(output).filter(|text| !text.is_empty());
            self.begin_nth(&called.call, call, called.nth + 1, PhaseTool::Chain, &arguments, before);
            return;
        }
        let result = json!({
            "status": if went_well { "success" } else { "failed" },
            "phase": called.phase.kind.name(),
            "output": output,
            "error": if went_well { None } else { Some(called.why.as_deref().unwrap_or("it was skipped")) },
        });
        let (end, code) =
            if went_well { (CallEnd::Done, None) } else { (CallEnd::Failed, Some("phase_failed")) };
        self.finish_call(&called.call, end, code, readable(&result));
    }

    /// Fails a phase and its run. If a tool call began the phase, only the phase fails, and the model that made the
    /// call gets the error.
    pub(in super::super) fn fail_phase(&mut self, phase: &str, reason: &str, text: impl Into<String>) {
        if self.is_over() || !self.run.called.contains_key(phase) {
            return self.fail_run(reason, text);
        }
        let open: Vec<String> = self.run.open_steps_of(phase);
        for step in open {
            self.close_step(&step, StepEnd::Skipped, "");
        }
        // Interrupts about the phase itself belong to no step, so they are closed here.
        let asked: Vec<InterruptId> = self.run.asked_by(phase);
        for interrupt in asked {
            self.resolve(&interrupt, Outcome::Superseded, None, Cause::Superseded);
        }
        if self.run.phases.get(phase) == Some(&None) {
            let fact = Fact::PhaseEnded { phase: phase.to_owned(), end: StepEnd::Failed };
            self.emit(fact, Content::text(text));
        }
    }

    /// Ends the phases of tool calls that have already ended. Returns true if events were emitted.
    pub(in super::super) fn end_called_phases(&mut self) -> bool {
        let orphan = self.run.called.values().find(|called| {
            self.run.phases.get(&called.phase.id) == Some(&None)
                && self.run.calls.get(&called.call).is_none_or(|call| call.is_ended())
        });
        let Some(phase) = orphan.map(|called| called.phase.id.clone()) else { return false };
        self.fail_phase(&phase, "step_ended", "the call that began the phase has ended");
        true
    }
}

struct RequestedPhase {
    phase: Phase,
    text: String,
}

impl Run {
    fn phase_tool(&self, tool: &str) -> Option<PhaseTool> {
        match self.spec(tool)?.runs {
            Runs::Begins(tool) => Some(tool),
            Runs::Here { .. } | Runs::Client { .. } | Runs::Opens(_) | Runs::HandsOver(_) | Runs::Records => {
                None
            }
        }
    }

    pub(in super::super) fn begins_phase(&self, tool: &str) -> bool {
        self.phase_tool(tool).is_some()
    }

    /// Returns true if the tool call `call` began a phase. The result remains true after the phase has ended.
    pub(in super::super) fn begins_open_phase(&self, call: &str) -> bool {
        self.last_called(call).is_some()
    }

    fn last_called(&self, call: &str) -> Option<&StartedPhase> {
        let of_call = self.called.values().map(|called| &**called).filter(|called| called.call == call);
        of_call.max_by_key(|called| called.nth)
    }

    /// Returns the nesting depth of a step: the number of tool calls between a phase of the workflow and the phase of
    /// the step.
    fn depth(&self, step: &str) -> usize {
        let mut depth = 0;
        let mut phase = self.steps.get(step).map(|step| step.phase.as_str());
        while let Some(called) = phase.and_then(|phase| self.called.get(phase)) {
            depth += 1;
            let step = self.calls.get(&called.call).and_then(|call| self.steps.get(&call.step));
            phase = step.map(|step| step.phase.as_str());
        }
        depth
    }

    fn asked_by(&self, phase: &str) -> Vec<InterruptId> {
        let is_own = |open: &Interrupt| open.opened.about.phase() == Some(phase);
        self.open_interrupts().filter(|(_, open)| is_own(open)).map(|(id, _)| id.clone()).collect()
    }

    fn open_steps_of(&self, phase: &str) -> Vec<String> {
        let open = self.steps.open().filter(|(_, step)| step.phase == phase);
        open.filter(|(_, step)| step.closing.is_none()).map(|(id, _)| id.clone()).collect()
    }

    /// Returns all phases of the run: first the phases of the workflow, then the phases that tool calls began. The
    /// phases that calls began are in no particular order.
    pub(in super::super) fn all_phases(&self) -> impl DoubleEndedIterator<Item = &Phase> {
        self.definition.phases.iter().chain(self.called.values().map(|called| &called.phase))
    }

    fn called_phase(
        &self,
        id: &str,
        call: &Call,
        nth: usize,
        tool: PhaseTool,
        arguments: &Value,
    ) -> Result<RequestedPhase, String> {
        let text = |key: &str| {
            arguments.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
        };
        let count =
            |key: &str| arguments.get(key).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
        let definition = &*self.definition;
        let around = self.steps.get(&call.step).and_then(|step| self.phase(&step.phase));
        let mut phase = Phase {
            id: id_of(id, nth),
            kind: PhaseKind::OneShot { agent: String::new() },
            needs: Vec::new(),
            input: None,
            gates: around.map(gates_of_called).unwrap_or_default(),
            kinds: BTreeMap::new(),
            limits: around.map_or(definition.limits, |around| around.limits),
        };
        let named = |names: &[&str]| first_known_agent(definition, names, &call.agent);
        let worker = match text("agent") {
            Some(name) if definition.agents.contains_key(name) => name.to_owned(),
            Some(name) => return Err(format!("there is no agent `{name}`")),
            None => named(&["engineer"]),
        };
        let task = text("task").or_else(|| text("topic")).or_else(|| text("message")).unwrap_or_default();
        phase.kind = match tool {
            PhaseTool::Planning | PhaseTool::HumanPlanning => {
                if let Some(steps) = count("max_steps") {
                    phase.limits.plan_steps = steps.min(phase.limits.plan_steps);
                }
                let planner = named(&["planner"]);
                let reviewer =
                    definition.agents.contains_key("plan_reviewer").then(|| "plan_reviewer".to_owned());
                let plans = ["planner", "plan_reviewer", "copilot_control"];
                let workers = definition.agents.keys().filter(|name| !plans.contains(&name.as_str()));
                PhaseKind::Planning(Planning {
                    planner,
                    improver: None,
                    reviews: u32::from(reviewer.is_some()),
                    reviewer,
                    iterations: count("max_iterations").unwrap_or(3).clamp(1, 10),
                    settles: false,
                    agents: workers.cloned().collect(),
                    optional: false,
                    always_asks: tool == PhaseTool::HumanPlanning,
                })
            }
            PhaseTool::Control | PhaseTool::HumanControl => {
                let plan = self.last_plan().ok_or("there is no plan to carry out: create one first")?;
                phase.gates.before_step |= tool == PhaseTool::HumanControl;
                PhaseKind::Control(Control { plan: plan.to_owned(), agent: worker, only: None })
            }
            PhaseTool::IdeaGeneration => PhaseKind::IdeaGeneration(IdeaGeneration {
                maker: named(&["idea_maker"]),
                critic: named(&["idea_hater", "critic"]),
                ideas: count("n_ideas").unwrap_or(3).clamp(1, 20),
                reviews: 1,
            }),
            PhaseTool::Checkpoint => PhaseKind::Checkpoint(CheckpointPhase {
                position: text("checkpoint_type").map(str::to_owned),
                ..CheckpointPhase::default()
            }),
            PhaseTool::Copilot => {
                PhaseKind::Copilot(Copilot { agent: call.agent.clone(), ..Copilot::default() })
            }
            PhaseTool::OneShot | PhaseTool::Chain => PhaseKind::OneShot { agent: worker },
        };
        let usual = if tool == PhaseTool::Checkpoint { "Please approve" } else { "" };
        let text = if task.is_empty() { usual } else { task };
        Ok(RequestedPhase { phase, text: text.to_owned() })
    }

    /// Returns the planning phase with the newest approved plan. The newest plan is the plan of the phase whose last
    /// step ended last.
    fn last_plan(&self) -> Option<&str> {
        let ended = |phase: &&Phase| {
            phase.kind.planning().is_some()
                && self.plans.get(&phase.id).is_some_and(|plan| plan.settled.is_some())
        };
        let at = |phase: &&Phase| {
            let steps = self.steps.values().filter(|step| step.phase == phase.id);
            steps.filter_map(|step| step.until).max()
        };
        self.all_phases().filter(ended).max_by_key(at).map(|phase| phase.id.as_str())
    }
}

/// Returns the gates of a phase that was begun by a tool call: the gates before and after the steps of the caller's
/// phase. If the caller is in a copilot phase, the gates belong to the rounds of that phase and are left out. The gate
/// for errors is always left out, because the calling model gets the failure.
fn gates_of_called(around: &Phase) -> StepGates {
    if around.kind.copilot().is_some() {
        return StepGates::default();
    }
    StepGates { on_error: false, ..around.gates }
}

/// Returns the first of the names `names` that belongs to an agent of the workflow. If no agent has one of the names,
/// returns the calling agent.
fn first_known_agent(definition: &Definition, names: &[&str], caller: &str) -> String {
    let known = names.iter().find(|name| definition.agents.contains_key(**name));
    known.map_or_else(|| caller.to_owned(), |name| (*name).to_owned())
}

fn holds_previous(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(PREVIOUS),
        Value::Array(items) => items.iter().any(holds_previous),
        Value::Object(map) => map.values().any(holds_previous),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Replaces the text [`PREVIOUS`] in the input of a phase by the result of the previous phase of the chain.
fn filled(value: &Value, previous: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace(PREVIOUS, previous)),
        Value::Array(items) => items.iter().map(|item| filled(item, previous)).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), filled(value, previous))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
