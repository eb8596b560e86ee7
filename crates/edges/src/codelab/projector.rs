//! Converts events to frames, for sockets and for streams. A frame depends only on the events of its run. A client that
//! reconnects therefore receives the same frames in the same order.

use std::collections::BTreeMap;

use holdshort_core::event::{self, Event};
use holdshort_core::interrupt::{About, Interrupt, Kind, Outcome};
use holdshort_core::plan::{Plan, Subtask};
use holdshort_core::projection::Status;
use holdshort_core::reply::Flaw;
use holdshort_core::run::{Fact, Part, Progress, Run, StepEnd, StepRole};
use holdshort_web::view::variant_name;
use serde_json::{Value, json};

use super::frame::{Facts, Frame, PlanOutcome, SubtaskEnd, SubtaskResult, SubtaskStart};
use super::{ids, names, open_requests, plan};
use crate::assignment;
use crate::limits::CODELAB_SUBTASK_RESULT_CHARS;

pub(super) struct Projector {
    pub(super) run: Run,
    /// Agent of the run that is working now. After the end of the agent's step, the agent that receives the next
    /// message.
    pub(super) agent: String,
    /// For each step of the run, the last text of its agent, if this text is not sent yet. A later event shows whether
    /// the text is the last one of the step.
    unsaid: BTreeMap<String, String>,
}

impl Projector {
    /// Returns a projector that has not read any event of `run`. `agent` is the agent that worked before the run.
    pub(super) fn at_start(run: &Run, agent: String) -> Self {
        Self { run: Run::new(run.id.clone(), run.definition.clone()), agent, unsaid: BTreeMap::new() }
    }

    pub(super) fn project(&mut self, event: &Event) -> Vec<Frame> {
        self.run.apply(event);
        let event::Fact::Run(fact) = &event.fact else { return Vec::new() };
        let text = event.content.as_text();
        match fact {
            Fact::RunPaused | Fact::RunSuspended => vec![Frame::status("paused", "The session is paused.")],
            Fact::RunResumed | Fact::RunUnsuspended => vec![Frame::status("running", "The session goes on.")],
            Fact::ModelStarted { step, turn, attempt, .. } => {
                // The step continues, for example because a message arrived, so the agent's last text was not its final
                // answer.
                let mut frames: Vec<Frame> = self.take_unsent_text(step).into_iter().collect();
                frames.extend(self.project_turn_start(step, *turn == 0 && *attempt == 1));
                frames
            }
            Fact::ModelReplied { step, calls, .. } => self.replied(step, calls.is_empty(), text),
            // A question that an agent asks in plain text is sent later, when its interrupt opens.
            Fact::EndRefused { step, flaw: Flaw::Asks, .. } => {
                self.unsaid.remove(step);
                Vec::new()
            }
            Fact::ModelFailed { retry_at: Some(_), .. } => {
                vec![Frame::status("retrying", text)]
            }
            Fact::HandedOver { from, to, call, .. } => {
                self.agent.clone_from(to);
                let said = self.run.calls.get(call);
                let reason = said.and_then(|call| call.argument("reason").or(call.argument("message")));
                vec![switched(from, to, reason.unwrap_or("the work was handed over"))]
            }
            // Text that an agent had written when a person interrupted it.
            Fact::ModelStopped { step, .. } => self.replied(step, false, text),
            Fact::StepEnded { step, end } => {
                let last = self.take_unsent_text(step).filter(|_| *end != StepEnd::Completed);
                let mut frames: Vec<Frame> = last.into_iter().collect();
                frames.extend(self.step_ended(step, *end, text));
                frames
            }
            Fact::InterruptOpened(opened) => {
                // A question in an agent's plain text is sent as a question frame. If the text was not accepted as the
                // end of the step for another reason, it is sent as a message.
                let said = match &opened.about {
                    About::Printed(step) => {
                        self.unsaid.remove(step);
                        None
                    }
                    About::Ending(step) => self.take_unsent_text(step),
                    _ => None,
                };
                let asked = self.run.interrupts.get(&opened.interrupt);
                let asked =
                    asked.map(|interrupt| open_requests::frames(&self.run, interrupt)).unwrap_or_default();
                said.into_iter().chain(asked).collect()
            }
            Fact::DecisionMade { .. }
            | Fact::VoteWithdrawn { .. }
            | Fact::InterruptReassigned { .. }
            | Fact::InterruptDelegated { .. }
            | Fact::InterruptEscalated { .. } => {
                let changed = assignment::find_changed_interrupt(&self.run, fact);
                changed
                    .and_then(|interrupt| open_requests::changed(&self.run, interrupt))
                    .into_iter()
                    .collect()
            }
            Fact::InterruptResolved { interrupt, outcome, .. } => match self.run.interrupts.get(interrupt) {
                Some(interrupt) => self.resolved(interrupt, *outcome),
                None => Vec::new(),
            },
            Fact::RunCompleted { .. } | Fact::RunFailed { .. } | Fact::RunCancelled { .. } => {
                // After the run, the front agent receives the next message.
                self.run.agent_in_front().unwrap_or_default().clone_into(&mut self.agent);
                let left = std::mem::take(&mut self.unsaid);
                let mut frames: Vec<Frame> = left.iter().map(|(step, text)| self.says(step, text)).collect();
                frames.extend(self.ended(text));
                frames
            }

            _ => Vec::new(),
        }
    }

    /// Returns a frame with the text of a model's reply if the reply contains calls. If the reply contains no calls,
    /// its text is stored instead, because only a later event shows whether the text ends the step, is a question, or
    /// is followed by another turn.
    fn replied(&mut self, step: &str, is_all: bool, text: &str) -> Vec<Frame> {
        let is_heard = self.run.steps.get(step).is_some_and(|step| match step.role {
            StepRole::Worker | StepRole::Planner | StepRole::Subtask => true,
            StepRole::Improver
            | StepRole::Judge
            | StepRole::Maker
            | StepRole::Overseer
            | StepRole::Router
            | StepRole::Summariser => false,
        });
        if text.trim().is_empty() || !is_heard {
            return Vec::new();
        }
        if !is_all {
            return vec![self.says(step, text)];
        }
        self.unsaid.insert(step.to_owned(), text.to_owned());
        Vec::new()
    }

    fn take_unsent_text(&mut self, step: &str) -> Option<Frame> {
        let text = self.unsaid.remove(step)?;
        Some(self.says(step, &text))
    }

    fn says(&self, step: &str, text: &str) -> Frame {
        let agent = self.run.steps.get(step).map_or(self.agent.as_str(), |step| &step.agent);
        Frame::says(text, Some(json!({ "agent": names::agent(agent) })), false)
    }

    /// Returns the frames for the start of an agent's turn. `begins` is true for the first turn of the step.
    fn project_turn_start(&mut self, step: &str, begins: bool) -> Vec<Frame> {
        let Some(found) = self.run.steps.get(step) else { return Vec::new() };
        let part = self.run.part(step);
        let mut frames = Vec::new();
        if found.agent != self.agent {
            let from = std::mem::replace(&mut self.agent, found.agent.clone());
            if !from.is_empty() {
                // The reason is given if a person chose the first agent of the run.
                let chosen = Some(&self.run).filter(|run| run.steps.len() == 1).and_then(reason);
                let reason = chosen.unwrap_or(if part.is_some() {
                    "the plan assigns the agent its next subtask"
                } else {
                    "the agent was chosen to continue"
                });
                frames.push(switched(&from, &found.agent, reason));
            }
        }
        if begins && let Some(part) = part {
            let plan_id = plan::id(&self.run, part.planning);
            let agent = names::agent(&found.agent).to_owned();
            let content = format!("{agent} begins subtask {} of {}.", part.number, part.of);
            let started = SubtaskStart {
                plan_id: plan_id.clone(),
                subtask_id: part.subtask.id.clone(),
                description: part.subtask.description.clone(),
                agent,
                status: "in_progress",
                index: part.number,
                total: part.of,
            };
            frames.push(Frame::SubtaskStarted(Facts::new(content, started)));
            frames.extend(progress(&part, plan_id, "in_progress", None));
        }
        frames
    }

    fn step_ended(&self, step: &str, end: StepEnd, text: &str) -> Vec<Frame> {
        if let Some(part) = self.run.part(step) {
            let plan_id = plan::id(&self.run, part.planning);
            let status = plan::ended(end);
            let text = Some(cut(text)).filter(|text| !text.is_empty());
            let content = match &text {
                Some(text) => format!("Subtask {} of {} {status}: {text}", part.number, part.of),
                None => format!("Subtask {} of {} {status}.", part.number, part.of),
            };
            let (result, error) = match end {
                StepEnd::Completed => (text.map(|content| SubtaskResult { content }), None),
                StepEnd::Failed | StepEnd::Skipped => (None, text),
            };
            let progress = progress(&part, plan_id.clone(), status, error.clone());
            let completed = SubtaskEnd {
                plan_id,
                subtask_id: part.subtask.id.clone(),
                status,
                completion_reason: match end {
                    _ if self.run.stopped_at(step).is_some() => "limit",
                    StepEnd::Completed => "final_answer",
                    StepEnd::Failed => "error",
                    StepEnd::Skipped => "skipped",
                },
                result,
                error,
            };
            let completed = Frame::SubtaskCompleted(Facts::new(content, completed));
            return std::iter::once(completed).chain(progress).collect();
        }
        let Some(found) = self.run.steps.get(step) else { return Vec::new() };
        let planned = self.run.plans.get(&found.phase).is_some_and(|plan| plan.settled.is_some());
        let answers = matches!(found.role, StepRole::Worker | StepRole::Planner) && !planned;
        if answers && end == StepEnd::Completed && !text.is_empty() {
            let metadata = Some(json!({ "agent": names::agent(&found.agent) }));
            return vec![Frame::says(text, metadata, true)];
        }
        Vec::new()
    }

    fn resolved(&self, interrupt: &Interrupt, outcome: Outcome) -> Vec<Frame> {
        let opened = &interrupt.opened;
        let said = interrupt.settled_by().and_then(|made| made.text.as_deref()).unwrap_or_default();
        let option = interrupt.resolution.as_ref().and_then(|resolution| resolution.option.clone());
        let mut metadata =
            json!({ "request_id": opened.interrupt.as_str(), "outcome": variant_name(&outcome) });
        if let Some(option) = option {
            metadata["decision"] = json!(option);
        }
        let mut about = interrupt.content_text("title").to_owned();
        if let About::Call(call) = &opened.about
            && opened.kind != Kind::PlanApproval
        {
            metadata["call_id"] = json!(ids::call(&self.run.id, call));
            if let Some(call) = self.run.calls.get(call) {
                names::tool(&call.tool).clone_into(&mut about);
            }
        }
        let status = |status, metadata, about: &str| {
            let content = format!("{about}: {}.", variant_name(&outcome));
            vec![Frame::Status { status, content, metadata: Some(metadata) }]
        };
        if opened.kind != Kind::PlanApproval {
            return status("request_resolved", metadata, &about);
        }
        metadata["plan_id"] = json!(ids::plan(&opened.interrupt));
        // If the request was about a new version of an approved plan, the approved version continues.
        let goes_on = self.run.replaces_a_plan(interrupt);
        let (content, is_final) = match outcome {
            Outcome::Rejected if goes_on => (with("The plan continues unchanged.", said), false),
            Outcome::Expired if goes_on => {
                ("The new plan expired without a decision: the plan continues unchanged.".to_owned(), false)
            }
            Outcome::Approved => return status("plan_approved", metadata, "The plan"),
            Outcome::Rejected => (with("The plan is cancelled.", said), true),
            Outcome::Expired => ("The plan expired without a decision and is dropped.".to_owned(), true),
            Outcome::Answered => {
                let count = |field: &str| interrupt.content.get("payload")?.get(field)?.as_u64();
                let is_last = count("iteration").zip(count("iterations")).is_some_and(|(n, all)| n >= all);
                let sentence = if is_last {
                    "No other plan is made: the limit of new plans is reached."
                } else {
                    "Another plan is being made."
                };
                (with(sentence, said), false)
            }
            Outcome::Cancelled | Outcome::Superseded => {
                return status("request_resolved", metadata, "The plan");
            }
        };
        vec![Frame::says(content, Some(metadata), is_final)]
    }

    /// Returns the frames that tell the plan panel which subtasks were unfinished when the run ended.
    fn unfinished(&self, planning: &str, plan: &Plan) -> Vec<Frame> {
        let progress = |subtask: &Subtask| {
            let progress = self.run.progress(planning, &subtask.id);
            matches!(progress, Progress::Cancelled | Progress::NotRun).then(|| Frame::PlanProgress {
                plan_id: plan::id(&self.run, planning),
                step_id: subtask.id.clone(),
                status: plan::status(progress),
                content: format!("{} {}: the run has ended.", subtask.id, plan::status(progress)),
                error: None,
            })
        };
        plan.subtasks.iter().filter_map(progress).collect()
    }

    fn ended(&self, text: &str) -> Vec<Frame> {
        let Some(ended) = &self.run.ended else { return Vec::new() };
        let mut frames = Vec::new();
        for (planning, planned) in &self.run.plans {
            let carried_out = self.run.definition.phases.iter().any(|phase| {
                phase.kind.control().is_some_and(|control| control.plan == *planning)
                    && self.run.phases.contains_key(&phase.id)
            });
            if let Some(plan) = planned.settled().filter(|_| carried_out) {
                let plan_status = match (ended.status, ended.reason.as_str()) {
                    (Status::Completed, "partial") => "partial",
                    (status, _) => status.as_str(),
                };
                let subtasks = plan::subtasks(&self.run, Some(planning), plan);
                let count = |status| subtasks.iter().filter(|each| each.status == status).count();
                let (completed, failed, skipped) = (count("completed"), count("failed"), count("skipped"));
                let total = subtasks.len();
                frames.extend(self.unfinished(planning, plan));
                let content = format!(
                    "The plan is {plan_status}: {completed} of {total} subtasks completed, {failed} failed, \
                     {skipped} skipped."
                );
                let planned = PlanOutcome {
                    plan_id: plan::id(&self.run, planning),
                    plan_status,
                    total_subtasks: total,
                    completed,
                    failed,
                    skipped,
                    is_final: true,
                };
                frames.push(Frame::PlanCompleted(Facts::new(content, planned)));
            }
        }
        match ended.status {
            Status::Failed => {
                let text = if text.is_empty() { ended.reason.clone() } else { text.to_owned() };
                frames.push(Frame::failed(&ended.reason, text));
            }
            Status::Cancelled => frames.push(Frame::says(with("Cancelled.", text), None, true)),
            Status::Completed | Status::Queued | Status::Running | Status::Waiting | Status::Paused => {}
        }
        frames
    }
}

/// Returns the reason that a person gave for choosing the run's first agent.
fn reason(run: &Run) -> Option<&str> {
    run.started.as_ref()?.input.get("reason")?.as_str()
}

fn switched(from: &str, to: &str, reason: &str) -> Frame {
    Frame::switched(names::agent(from), names::agent(to), reason.to_owned())
}

/// Returns the progress of a subtask as a message (contract E11), and as a frame for the plan panel of the IDE. The
/// message has one text when the subtask starts and another when the subtask ends.
fn progress(part: &Part<'_>, plan_id: String, status: &'static str, error: Option<String>) -> [Frame; 2] {
    let metadata: Value =
        json!({ "subtask_id": part.subtask.id, "subtask_status": status, "plan_id": plan_id });
    let ended = if status == "in_progress" { String::new() } else { format!(" {status}") };
    let content = format!("Subtask {}/{}{ended}: {}", part.number, part.of, part.subtask.description);
    [
        Frame::says(content.clone(), Some(metadata), false),
        Frame::PlanProgress { plan_id, step_id: part.subtask.id.clone(), status, content, error },
    ]
}

fn with(sentence: &str, text: &str) -> String {
    if text.trim().is_empty() { sentence.to_owned() } else { format!("{sentence} {}", text.trim()) }
}

fn cut(text: &str) -> String {
    text.chars().take(CODELAB_SUBTASK_RESULT_CHARS).collect()
}
