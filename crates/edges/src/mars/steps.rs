//! Frames for the steps of a run and their retries (contract A28).

use holdshort_core::interrupt::About;
use holdshort_core::run::{Run, Step, StepEnd, StepRole, Trouble};
use serde_json::{Value, json};

use super::projector::FrameBody;

pub(super) fn started(run: &Run, step: &str, phase: &str, agent: &str, role: StepRole) -> FrameBody {
    let part = run.part(step);
    let told = json!({
        "step_id": step, "phase": phase, "agent": agent, "role": role,
        "step_number": part.map(|part| part.number),
        "step_description": part.map(|part| &part.subtask.description),
    });
    ("step_started", told)
}

pub(super) fn ended(run: &Run, id: &str, end: StepEnd, output: &str) -> Vec<FrameBody> {
    let Some(step) = run.steps.get(id) else { return Vec::new() };
    let (event_type, status, key) = match end {
        StepEnd::Completed => ("step_completed", "completed", "output"),
        StepEnd::Failed => ("step_failed", "failed", "error"),
        // The MARS wire format has no event for a skipped step.
        StepEnd::Skipped => ("step_progress", "skipped", "message"),
    };
    let more =
        [json!({ "agent": step.agent }), counted(run, id, step), json!({ "status": status, key: output })];
    let retry = match end {
        _ if step.trouble != Trouble::Retried => None,
        StepEnd::Completed => Some(succeeded(run, id, step.attempts())),
        StepEnd::Failed => Some(exhausted(run, id, step.attempts(), output)),
        StepEnd::Skipped => None,
    };
    retry.into_iter().chain([step_frame(run, id, event_type, &more)]).collect()
}

/// Returns `{success, attempts, redos}` for a step of a run. A step that reached a limit and was then stopped by a
/// person is reported as unsuccessful.
pub(super) fn counted(run: &Run, id: &str, step: &Step) -> Value {
    let is_stopped = matches!(run.stopped_at(id), Some(About::Limit(_)));
    let success = step.end == Some(StepEnd::Completed) && !is_stopped;
    json!({ "success": success, "attempts": step.attempts(), "redos": step.redos })
}

/// Returns the frame which reports that a person sent a step back to its agent.
pub(super) fn again(run: &Run, id: &str, why: &str) -> Option<FrameBody> {
    Some(retry(run, id, why, run.steps.get(id)?.attempts()))
}

/// Returns the frame which reports that a retry of a step has succeeded.
pub(super) fn helped(run: &Run, id: &str, before: &Step) -> Option<FrameBody> {
    (before.trouble == Trouble::Retried).then(|| succeeded(run, id, before.attempts()))
}

/// Returns the frame which reports that a model request of a step is retried automatically. Returns `None` if no
/// attempt has failed, for example if the request is repeated because the server crashed.
pub(super) fn requested(run: &Run, id: &str) -> Option<FrameBody> {
    let failures = run.steps.get(id)?.failures;
    (failures > 0).then(|| retry(run, id, "model_failed", failures + 1))
}

/// Returns the frame which reports that a step has no retry left: it has failed again or has reached a limit, and a
/// person is asked.
pub(super) fn stuck(run: &Run, id: &str, before: &Step, why: &str) -> Option<FrameBody> {
    (before.trouble == Trouble::Retried).then(|| exhausted(run, id, before.attempts(), why))
}

/// Returns the frame which reports that a model provider failed during a step. `wait_ms` is the time until the next
/// attempt, or `None` if no attempt follows.
pub(super) fn failed(run: &Run, id: &str, wait_ms: Option<u64>, error: &str) -> Option<FrameBody> {
    let attempt = run.steps.get(id)?.failures;
    let Some(ms) = wait_ms else {
        return (attempt > 1).then(|| exhausted(run, id, attempt, error));
    };
    let waits = json!({
        "attempt_number": attempt, "backoff_seconds": ms.div_ceil(1_000), "retry_strategy": "backoff",
    });
    Some(step_frame(run, id, "step_retry_backoff", &[waits]))
}

/// Returns the frame which reports that a model provider has replied after failed attempts of a step.
pub(super) fn replied(run: &Run, id: &str, before: &Step) -> Option<FrameBody> {
    (before.failures > 0).then(|| succeeded(run, id, before.failures + 1))
}

/// Returns the frames for those failed steps of a run about which no person had decided when the run ended. Each of
/// these steps is reported as failed.
pub(super) fn cut_off(run: &Run, why: &str) -> Vec<FrameBody> {
    let stuck = run.steps.iter().filter(|(_, step)| step.end.is_none() && step.trouble == Trouble::Stuck);
    let told = stuck.map(|(id, step)| {
        let [agent, failed] = [json!({ "agent": step.agent }), json!({ "status": "failed", "error": why })];
        step_frame(run, id, "step_failed", &[agent, counted(run, id, step), failed])
    });
    told.collect()
}

fn retry(run: &Run, id: &str, why: &str, attempt: u32) -> FrameBody {
    step_frame(run, id, "step_retry_started", &[json!({ "strategy": why, "attempt_number": attempt })])
}

fn succeeded(run: &Run, id: &str, attempts: u32) -> FrameBody {
    let told = json!({ "attempt_number": attempts, "total_attempts": attempts });
    step_frame(run, id, "step_retry_succeeded", &[told])
}

fn exhausted(run: &Run, id: &str, attempts: u32, error: &str) -> FrameBody {
    let told = json!({ "total_attempts": attempts, "final_error": error });
    step_frame(run, id, "step_retry_exhausted", &[told])
}

/// Returns a frame about a step, with the number of this step in the plan.
fn step_frame(run: &Run, id: &str, event_type: &'static str, more: &[Value]) -> FrameBody {
    let mut told = json!({ "step_id": id, "step_number": run.part(id).map(|part| part.number) });
    for more in more {
        merge(&mut told, more);
    }
    (event_type, told)
}

/// Returns the id of the node of a step in the run's graph: the id of the step's subtask, or the id of the step if it
/// has no subtask.
pub(super) fn node_of<'r>(run: &'r Run, id: &'r str) -> &'r str {
    run.steps.get(id).and_then(|step| step.subtask.as_deref()).unwrap_or(id)
}

pub(super) fn agent<'r>(run: &'r Run, id: &str) -> &'r str {
    run.steps.get(id).map(|step| step.agent.as_str()).unwrap_or_default()
}

pub(super) fn merge(told: &mut Value, more: &Value) {
    if let (Some(told), Some(more)) = (told.as_object_mut(), more.as_object()) {
        told.extend(more.clone());
    }
}
