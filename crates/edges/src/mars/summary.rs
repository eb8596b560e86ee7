//! Summary at the end of a run (contracts A12 to A14): how often each step was tried and repeated, the feedback and
//! decisions of people, and the final plan.

use holdshort_core::interrupt::Interrupt;
use holdshort_core::run::{Run, Step, StepEnd, StepRole};
use serde_json::{Value, json};

use super::{approval, steps};

/// Returns the summary that the MARS client shows of a completed run.
pub(super) fn for_run(run: &Run, result: &Value, reason: &str) -> Value {
    let mut worked: Vec<(&String, &Step)> = run.steps.iter().map(|(id, step)| (id, &**step)).collect();
    worked.retain(|(_, step)| matches!(step.role, StepRole::Worker | StepRole::Subtask));
    worked.retain(|(_, step)| step.end.is_some());
    worked.sort_by_key(|(_, step)| step.until);
    let is_skipped = |step: &Step| step.end == Some(StepEnd::Skipped);
    let results = worked.iter().map(|(id, step)| {
        let mut result = steps::counted(run, id, step);
        result["step"] = id.as_str().into();
        result["skipped"] = is_skipped(step).into();
        result
    });
    let skipped = worked.iter().filter(|(_, step)| is_skipped(step)).map(|(id, _)| id);
    let plans = plan_feedback(run);
    json!({
        "reason": reason,
        "result": result,
        "final_plan": run.plan_at_work().map(|(_, plan)| approval::plan(&json!(plan))),
        "iterations": plans.len(),
        "human_feedback": plans,
        "step_results": results.collect::<Vec<_>>(),
        "skipped_steps": skipped.collect::<Vec<_>>(),
        "step_feedback": decided(run).filter_map(|(each, received)| step_feedback(each, &received)).collect::<Vec<_>>(),
        "human_interventions": decided(run).map(|(each, received)| intervention(each, &received)).collect::<Vec<_>>(),
    })
}

/// Returns `{iteration, plan, feedback}` for each decision that was made on a plan of the run.
pub(super) fn plan_feedback(run: &Run) -> Vec<Value> {
    let on_plans = decided(run).filter(|(each, received)| is_on_a_plan(each, received));
    let told = |(iteration, (each, received)): (usize, (&Interrupt, Value))| {
        let plan = each.content.pointer("/payload/plan").map(approval::plan);
        json!({ "iteration": iteration, "plan": plan, "feedback": received["feedback"] })
    };
    (1..).zip(on_plans).map(told).collect()
}

/// Returns the interrupts that people decided or that expired, each with the data of its `approval_received` frame.
fn decided(run: &Run) -> impl Iterator<Item = (&Interrupt, Value)> {
    run.decided().into_iter().map(|each| (each, approval::received(run, each)))
}

fn is_on_a_plan(each: &Interrupt, received: &Value) -> bool {
    received["position"] == "after_planning" && each.opened.step.is_some()
}

fn step_feedback(each: &Interrupt, received: &Value) -> Option<Value> {
    let step = each.opened.step.as_ref().filter(|_| !is_on_a_plan(each, received))?;
    let feedback = received["feedback"].as_str().filter(|feedback| !feedback.is_empty())?;
    let timing = match (received["resolution"].as_str(), received["position"].as_str()) {
        (Some("redo"), _) => "redo",
        (_, Some("after_step")) => "after",
        (_, Some("before_step")) => "before",
        _ => "during",
    };
    Some(json!({ "step": step, "timing": timing, "feedback": feedback }))
}

fn intervention(each: &Interrupt, received: &Value) -> Value {
    json!({
        "step": each.opened.step, "checkpoint_type": received["checkpoint_type"], "position": received["position"],
        "resolution": received["resolution"], "feedback": received["feedback"], "by": received["by"],
    })
}
