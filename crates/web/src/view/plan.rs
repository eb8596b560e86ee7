//! Plans, in the form that clients receive: the graph, with the state of each subtask.

use holdshort_core::message::{Message, Request};
use holdshort_core::plan;
use holdshort_core::run::{Planned, Progress, Run};
use holdshort_protocol as wire;
use serde_json::json;

pub fn from_run(run: &Run) -> Vec<wire::Plan> {
    run.plans.iter().filter_map(|(phase, planned)| from_planned(run, phase, planned)).collect()
}

fn from_planned(run: &Run, phase: &str, planned: &Planned) -> Option<wire::Plan> {
    let version = planned.settled.unwrap_or(planned.version());
    let shown = planned.versions.get(version.checked_sub(1)?)?;
    let subtask = |(subtask, place): (&plan::Subtask, plan::NodePosition)| {
        let step = run.step_of_subtask(phase, &subtask.id);
        wire::Subtask {
            id: subtask.id.clone(),
            description: subtask.description.clone(),
            agent: step.map(|(_, step)| step.agent.clone()).or_else(|| subtask.agent.clone()),
            depends_on: subtask.depends_on.clone(),
            estimated_time: subtask.estimated_time.clone(),
            status: status(run.progress(phase, &subtask.id)),
            step: step.map(|(id, _)| id.to_owned()),
            layer: place.layer as u64,
            row: place.row as u64,
        }
    };
    let versions = (1..).zip(&planned.versions);
    let kinds = run.definition.phases.iter();
    let found = kinds.clone().find(|each| each.id == phase);
    let planning = found.and_then(|phase| phase.kind.planning());
    let control = kinds.filter_map(|phase| phase.kind.control()).find(|control| control.plan == phase);
    Some(wire::Plan {
        run: run.id.to_string(),
        phase: phase.to_owned(),
        version: version as u64,
        settled: planned.settled.is_some(),
        held: planned.held,
        agents: planning.map(|planning| planning.agents.clone()).unwrap_or_default(),
        agent: control.map(|control| control.agent.clone()),
        limit: found.map_or(0, |phase| phase.limits.plan_steps.into()),
        subtasks: shown.subtasks.iter().zip(shown.layout()).map(subtask).collect(),
        versions: versions
            .map(|(version, plan)| wire::PlanVersion { version, subtasks: json!(plan.subtasks) })
            .collect(),
    })
}

/// Returns positions for drawing the subtasks of a draft plan as a graph, even if the draft is not a valid plan.
pub fn layout(draft: wire::PlanDraft) -> wire::PlanLayout {
    let subtask = |subtask: wire::DraftSubtask| plan::Subtask {
        id: subtask.id,
        description: subtask.description,
        agent: subtask.agent,
        depends_on: subtask.depends_on,
        estimated_time: subtask.estimated_time,
    };
    let draft = plan::Plan { subtasks: draft.subtasks.into_iter().map(subtask).collect() };
    let place =
        |place: plan::NodePosition| wire::NodePosition { layer: place.layer as u64, row: place.row as u64 };
    wire::PlanLayout { places: draft.layout().into_iter().map(place).collect() }
}

fn status(progress: Progress) -> wire::SubtaskStatus {
    match progress {
        Progress::Pending => wire::SubtaskStatus::Pending,
        Progress::Running => wire::SubtaskStatus::Running,
        Progress::Waiting => wire::SubtaskStatus::Waiting,
        Progress::Completed => wire::SubtaskStatus::Completed,
        Progress::Skipped => wire::SubtaskStatus::Skipped,
        Progress::Failed => wire::SubtaskStatus::Failed,
        Progress::Cancelled => wire::SubtaskStatus::Cancelled,
        Progress::NotRun => wire::SubtaskStatus::NotRun,
    }
}

pub fn model_request(run: &str, n: u64, step: String, request: Request) -> wire::ModelRequest {
    wire::ModelRequest {
        run: run.to_owned(),
        n,
        step,
        agent: request.agent,
        model: request.model,
        messages: request.messages.into_iter().map(message).collect(),
        tools: request.tools.into_iter().map(|tool| tool.name).collect(),
    }
}

fn message(message: Message) -> wire::ModelMessage {
    let plain = |role, text| wire::ModelMessage { role, text, calls: Vec::new(), call: None };
    match message {
        Message::System { text } => plain(wire::ModelRole::System, text),
        Message::User { text } => plain(wire::ModelRole::User, text),
        Message::Assistant { agent: _, text, calls } => wire::ModelMessage {
            calls: calls.iter().map(|call| json!(call)).collect(),
            ..plain(wire::ModelRole::Assistant, text)
        },
        Message::Tool { call, name: _, text } => {
            wire::ModelMessage { call: Some(call), ..plain(wire::ModelRole::Tool, text) }
        }
    }
}
