//! What a run's end tells of the way there (contracts A12 to A14): attempts and redos of each step, what people said
//! and decided, the plan that was carried out.

use std::collections::BTreeMap;

use holdshort_core::interrupt::Opened;
use holdshort_core::run::{StepEnd, StepRole};
use serde_json::{Value, json};

#[derive(Default)]
pub(super) struct Ledger {
    pub(super) plan: Value,
    /// `{iteration, plan, feedback}` of each decision on a plan.
    pub(super) plan_feedback: Vec<Value>,
    steps: BTreeMap<String, Counted>,
    /// In the order of their ends.
    results: Vec<Value>,
    interventions: Vec<Value>,
    step_feedback: Vec<Value>,
}

#[derive(Default)]
struct Counted {
    is_work: bool,
    attempts: u32,
    redos: u32,
    /// A person stopped it at its limit: it had more to do.
    is_stopped: bool,
}

impl Ledger {
    pub(super) fn step_started(&mut self, step: &str, role: StepRole) {
        let is_work = matches!(role, StepRole::Worker | StepRole::Subtask);
        self.steps.insert(step.to_owned(), Counted { is_work, ..Counted::default() });
    }

    /// Its agent is asked: what is skipped before was never tried.
    pub(super) fn begun(&mut self, step: &str) {
        let counted = self.steps.entry(step.to_owned()).or_default();
        counted.attempts = counted.attempts.max(1);
    }

    pub(super) fn attempts(&self, step: &str) -> u32 {
        self.steps.get(step).map_or(0, |counted| counted.attempts)
    }

    /// Of a step that never came to its end.
    pub(super) fn failed(&self, step: &str) -> Value {
        let (attempts, redos) =
            self.steps.get(step).map_or((0, 0), |counted| (counted.attempts, counted.redos));
        json!({ "success": false, "attempts": attempts, "redos": redos })
    }

    /// Which attempt it is now.
    pub(super) fn again(&mut self, step: &str, is_redo: bool) -> u32 {
        let counted = self.steps.entry(step.to_owned()).or_default();
        counted.attempts = counted.attempts.max(1) + 1;
        counted.redos += u32::from(is_redo);
        counted.attempts
    }

    /// `{success, attempts, redos}`.
    pub(super) fn step_ended(&mut self, step: &str, end: StepEnd) -> Value {
        let counted = self.steps.entry(step.to_owned()).or_default();
        let told = json!({
            "success": end == StepEnd::Completed && !counted.is_stopped,
            "attempts": counted.attempts, "redos": counted.redos,
        });
        if counted.is_work {
            let mut result = told.clone();
            result["step"] = step.into();
            result["skipped"] = (end == StepEnd::Skipped).into();
            self.results.push(result);
        }
        told
    }

    /// A decision, as `approval_received` has it.
    pub(super) fn decided(&mut self, opened: &Opened, received: &Value, draft: Option<&Value>) {
        let [position, resolution, feedback] =
            ["checkpoint_type", "resolution", "feedback"].map(|key| received[key].clone());
        if received["cause"] != "decision" && received["cause"] != "expiry" {
            return;
        }
        let stops = position == "max_rounds" && resolution == "finish";
        if let Some(step) = opened.step.as_ref().filter(|_| stops) {
            self.steps.entry(step.clone()).or_default().is_stopped = true;
        }
        let said = feedback.as_str().is_some_and(|feedback| !feedback.is_empty());
        if position == "after_planning" && opened.step.is_some() {
            let iteration = self.plan_feedback.len() + 1;
            let plan = draft.map(super::approval::plan);
            self.plan_feedback.push(json!({ "iteration": iteration, "plan": plan, "feedback": feedback }));
        } else if said && let Some(step) = &opened.step {
            let timing = match (resolution.as_str(), position.as_str()) {
                (Some("redo"), _) => "redo",
                (_, Some("after_step")) => "after",
                (_, Some("before_step")) => "before",
                _ => "during",
            };
            self.step_feedback.push(json!({ "step": step, "timing": timing, "feedback": feedback }));
        }
        self.interventions.push(json!({
            "step": opened.step, "checkpoint_type": position, "resolution": resolution,
            "feedback": feedback, "by": received["by"],
        }));
    }

    /// The end of a run that completed.
    pub(super) fn told(&self, result: &Value, reason: &str) -> Value {
        let skipped: Vec<&Value> = self
            .results
            .iter()
            .filter(|result| result["skipped"] == true)
            .map(|result| &result["step"])
            .collect();
        json!({
            "reason": reason,
            "result": result,
            "final_plan": self.plan,
            "iterations": self.plan_feedback.len(),
            "human_feedback": self.plan_feedback,
            "step_results": self.results,
            "skipped_steps": skipped,
            "step_feedback": self.step_feedback,
            "human_interventions": self.interventions,
        })
    }
}
