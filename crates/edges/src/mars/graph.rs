//! Graph of a run, with the status of each node (contracts A28, A29). The nodes are the subtasks of the plan that the
//! run executes. If there is no plan, the nodes are the steps that have started. The web UI shows the tabs of a run
//! only if it has received a graph.

use std::collections::BTreeMap;

use holdshort_core::plan::{Plan, Subtask};
use holdshort_core::run::{Run, Step, StepActivity, StepEnd, StepRole, Trouble};
use serde_json::{Value, json};

use super::projector::FrameBody;
use super::{approval, steps};

/// Node of a run's graph whose step has started, with this step.
pub(super) struct Node {
    step: String,
    id: String,
    status: &'static str,
}

/// Returns the nodes of a run's graph whose steps have started. With a plan, these are its subtasks, sorted by the ids
/// of their steps. Without a plan, these are the steps, in the order of their starts.
pub(super) fn nodes(run: &Run) -> Vec<Node> {
    let waiting = run.waiting();
    let node = |id: &str, step: &Step, node: &str| {
        let status = node_status(run.activity(id, step, &waiting));
        Node { step: id.to_owned(), id: node.to_owned(), status }
    };
    if run.plan_at_work().is_none() {
        return started_steps(run).into_iter().map(|(id, step)| node(id, step, id)).collect();
    }
    run.steps.iter().filter_map(|(id, step)| Some(node(id, step, step.subtask.as_deref()?))).collect()
}

/// Returns the steps of a run in the order of their starts. The step that summarizes a conversation is omitted, because
/// it is internal to the run.
fn started_steps(run: &Run) -> Vec<(&str, &Step)> {
    let steps = run.steps.iter().filter(|(_, step)| step.role != StepRole::Summariser);
    let mut steps: Vec<(&str, &Step)> = steps.map(|(id, step)| (id.as_str(), &**step)).collect();
    steps.sort_by_key(|(_, step)| step.since);
    steps
}

fn node_status(activity: StepActivity) -> &'static str {
    match activity {
        StepActivity::Running => "running",
        StepActivity::Paused => "paused",
        StepActivity::Waiting => "waiting_approval",
        StepActivity::Ended(StepEnd::Completed) => "completed",
        StepActivity::Ended(StepEnd::Skipped) => "skipped",
        StepActivity::Ended(StepEnd::Failed) | StepActivity::Failed => "failed",
        StepActivity::Cancelled => "cancelled",
    }
}

const PENDING: &str = "pending";
/// Status of a subtask that had not started when the run ended.
const NEVER: &str = "skipped";

/// Returns a frame for each node of the run's graph whose status has changed.
pub(super) fn moved(before: &[Node], run: &Run) -> Vec<FrameBody> {
    // A subtask is drawn before it starts. A step without a plan is drawn when it starts, with its status.
    let unseen = |node: &Node| if run.plan_at_work().is_some() { PENDING } else { node.status };
    let was = |node: &Node| {
        before.iter().find(|prior| prior.step == node.step).map_or_else(|| unseen(node), |prior| prior.status)
    };
    let change = |id: &str, old: &str, new: &str| {
        let change = json!({ "node_id": id, "old_status": old, "new_status": new });
        (old != new).then_some(("dag_node_status_changed", change))
    };
    let begun = nodes(run);
    let mut said: Vec<FrameBody> =
        begun.iter().filter_map(|node| change(&node.id, was(node), node.status)).collect();
    if let Some((planning, plan)) = run.plan_at_work()
        && run.ended.as_ref().is_some_and(|ended| ended.seq == run.seq)
    {
        let never = plan.subtasks.iter().filter(|each| run.step_of_subtask(planning, &each.id).is_none());
        said.extend(never.filter_map(|each| change(&each.id, PENDING, NEVER)));
    }
    said
}

/// Returns the frame with the graph of a plan that was approved or needs no approval. `is_newer` is true if the run was
/// executing an earlier version of the plan.
pub(super) fn settled(run: &Run, phase: &str, version: usize, is_newer: bool) -> Option<FrameBody> {
    let plan = run.plans.get(phase)?.settled()?;
    let mut told = drawn(run, phase, plan);
    told["version"] = version.into();
    told["plan"] = approval::plan(&json!(plan));
    Some((if is_newer { "dag_updated" } else { "dag_created" }, told))
}

/// Returns the frame with the run's graph after a started step was added. `None` if the run executes a plan, because
/// the graph of a plan already contains the step.
pub(super) fn grown(run: &Run) -> Option<FrameBody> {
    let graph = run.plan_at_work().is_none().then(|| drawn_steps(run))?;
    let is_first = graph["levels"] == 1;
    Some((if is_first { "dag_created" } else { "dag_updated" }, graph))
}

/// Returns the graph of a run. The graph is empty if the run has no plan and no step has started.
pub(super) fn for_run(run: &Run) -> Value {
    let plan = run.plan_at_work().map(|(planning, plan)| drawn(run, planning, plan));
    plan.unwrap_or_else(|| drawn_steps(run))
}

/// Returns the graph of the run's steps that have started, each connected to the step before it.
fn drawn_steps(run: &Run) -> Value {
    let begun = nodes(run);
    let steps = started_steps(run);
    let node = |(number, ((id, step), node)): (usize, (&(&str, &Step), &Node))| {
        // A step of an undo has no agent.
        let name = if step.agent.is_empty() { id } else { step.agent.as_str() };
        let mut node = json!({
            "run_id": run.id.as_str(),
            "type": "agent",
            "status": node.status,
            "step_number": number,
            "label": name,
            "name": name,
            "agent": step.agent,
            "id": id,
            "description": format!("step {id}"),
            "task": name,
            "bullet_points": [],
        });
        steps::merge(&mut node, &tried(run, id, step));
        node
    };
    let edge = |pair: &[Node]| json!({ "source": pair[0].id, "target": pair[1].id });
    json!({
        "run_id": run.id.as_str(),
        "nodes": (1..).zip(steps.iter().zip(&begun)).map(node).collect::<Vec<_>>(),
        "edges": begun.windows(2).map(edge).collect::<Vec<_>>(),
        "levels": begun.len(),
    })
}

fn untried() -> Value {
    json!({ "started_at": null, "completed_at": null, "error": null, "retry_info": null })
}

/// Returns the timestamps, the error and the number of retries of a step, for its node in the graph.
fn tried(run: &Run, id: &str, step: &Step) -> Value {
    let failed = step.end == Some(StepEnd::Failed) || step.trouble == Trouble::Stuck;
    let said = step.output.as_deref().filter(|_| step.end == Some(StepEnd::Failed));
    let error = said.or_else(|| step.last_failure.as_ref().map(|(_, text)| &**text)).filter(|_| failed);
    let again = json!({ "attemptNumber": step.attempts(), "maxAttempts": run.attempts_allowed(id) });
    json!({
        "started_at": step.since_at.to_string(),
        "completed_at": step.until_at.map(|at| at.to_string()),
        "error": error,
        "retry_info": (step.attempts() > 1).then_some(again),
    })
}

/// Returns the nodes and edges of the graph of a plan, with the status of each node.
fn drawn(run: &Run, planning: &str, plan: &Plan) -> Value {
    let begun = nodes(run);
    let statuses: BTreeMap<&str, &str> = begun.iter().map(|node| (node.step.as_str(), node.status)).collect();
    let unbegun = if run.ended.is_some() { NEVER } else { PENDING };
    let node = |(number, subtask): (usize, &Subtask)| {
        let step = run.step_of_subtask(planning, &subtask.id);
        let (task, bullets) = approval::parts(&subtask.description);
        let mut node = json!({
            "run_id": run.id.as_str(),
            "type": "agent",
            "status": step.and_then(|(step, _)| statuses.get(step)).copied().unwrap_or(unbegun),
            "step_number": number,
            "label": task,
            "name": task,
            "agent": subtask.agent.as_deref().unwrap_or_default(),
            "id": subtask.id,
            "description": subtask.description,
            "task": task,
            "bullet_points": bullets,
        });
        steps::merge(&mut node, &step.map_or_else(untried, |(id, step)| tried(run, id, step)));
        node
    };
    let edges = |subtask: &Subtask| {
        let to = subtask.id.clone();
        let edge = move |from: &String| json!({ "source": from, "target": to });
        subtask.depends_on.iter().map(edge).collect::<Vec<_>>()
    };
    json!({
        "run_id": run.id.as_str(),
        "nodes": (1..).zip(&plan.subtasks).map(node).collect::<Vec<_>>(),
        "edges": plan.subtasks.iter().flat_map(edges).collect::<Vec<_>>(),
        "levels": plan.layout().iter().map(|place| place.layer + 1).max().unwrap_or_default(),
    })
}
