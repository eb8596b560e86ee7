//! The steps of a run, the graph of its plan, and how often each was tried, as this wire tells them (contracts A28, A29).

use std::collections::BTreeMap;

use holdshort_core::run::{StepEnd, StepRole};
use serde_json::{Value, json};

use super::approval;
use super::ledger::Ledger;
use super::projector::Said;

#[derive(Default)]
pub(super) struct Steps {
    by_id: BTreeMap<String, Step>,
    /// The plan that is carried out.
    plan: Option<Value>,
    nodes: BTreeMap<String, &'static str>,
}

struct Step {
    agent: String,
    /// The subtask that it carries out.
    node: Option<String>,
    number: Option<usize>,
    ended: bool,
    /// A person sent it back after a failure: whether that helped is told at its end.
    retried: bool,
    /// It failed, or is at its limit, and a person is asked.
    stuck: bool,
    /// Requests in a row that the provider failed.
    failures: u32,
}

impl Steps {
    pub(super) fn started(&mut self, step: &str, phase: &str, agent: &str, role: StepRole) -> Vec<Said> {
        let node = (role == StepRole::Subtask)
            .then(|| step.strip_prefix(phase)?.strip_prefix('/').map(str::to_owned))
            .flatten();
        let (number, description) = node.as_deref().map(|node| self.subtask(node)).unwrap_or_default();
        let told = json!({
            "step_id": step, "phase": phase, "agent": agent, "role": role,
            "step_number": number, "step_description": description,
        });
        let started = Step {
            agent: agent.to_owned(),
            node: node.clone(),
            number,
            ended: false,
            retried: false,
            stuck: false,
            failures: 0,
        };
        self.by_id.insert(step.to_owned(), started);
        let mut said = vec![("step_started", told)];
        said.extend(node.and_then(|node| self.node(&node, "running")));
        said
    }

    /// The place of a subtask in its plan, and what it says.
    fn subtask(&self, node: &str) -> (Option<usize>, Option<String>) {
        let subtasks = self.plan.as_ref().and_then(|plan| plan.get("subtasks")?.as_array());
        let mut numbered = (1..).zip(subtasks.into_iter().flatten());
        let found = numbered.find(|(_, subtask)| subtask.get("id").and_then(Value::as_str) == Some(node));
        let text = |subtask: &Value| subtask.get("description").and_then(Value::as_str).map(str::to_owned);
        found.map_or((None, None), |(number, subtask)| (Some(number), text(subtask)))
    }

    /// `counted`: `{success, attempts, redos}`.
    pub(super) fn ended(&mut self, step: &str, end: StepEnd, output: &str, counted: &Value) -> Vec<Said> {
        let (event_type, status, key) = match end {
            StepEnd::Completed => ("step_completed", "completed", "output"),
            StepEnd::Failed => ("step_failed", "failed", "error"),
            // This wire has no event of its own for it.
            StepEnd::Skipped => ("step_progress", "skipped", "message"),
        };
        let mut told = self.named(step);
        told["agent"] = self.agent(step).into();
        merge(&mut told, counted);
        told["status"] = status.into();
        told[key] = output.into();
        let mut said = Vec::new();
        let ended = self.by_id.get_mut(step);
        let was_retried = ended.as_ref().is_some_and(|step| step.retried);
        let node = ended.and_then(|step| {
            step.ended = true;
            step.node.clone()
        });
        let attempts = &counted["attempts"];
        match end {
            StepEnd::Completed if was_retried => said.push(self.succeeded(step, attempts)),
            StepEnd::Failed if was_retried => said.push(self.exhausted(step, attempts, output)),
            StepEnd::Completed | StepEnd::Failed | StepEnd::Skipped => {}
        }
        said.push((event_type, told));
        said.extend(node.and_then(|node| self.node(&node, status)));
        said
    }

    /// A person sent it back; after a retry that had helped, where it is to be done anew.
    pub(super) fn again(&mut self, step: &str, why: &str, attempt: u32) -> Vec<Said> {
        let is_retry = why == "retry";
        let helped = self.by_id.get_mut(step).is_some_and(|step| {
            step.failures = 0;
            step.stuck = false;
            std::mem::replace(&mut step.retried, is_retry) && !is_retry
        });
        let helped = helped.then(|| self.succeeded(step, &(attempt - 1).into()));
        helped.into_iter().chain([self.retry(step, why, attempt)]).collect()
    }

    /// Its request goes out once more, by itself. After a crash of this server nothing has failed.
    pub(super) fn requested(&mut self, step: &str) -> Option<Said> {
        let requested = self.by_id.get_mut(step)?;
        requested.stuck = false;
        let failures = requested.failures;
        (failures > 0).then(|| self.retry(step, "model_failed", failures + 1))
    }

    /// A person is asked because it failed, or is at its limit: that it was sent back did not help. `is_last`: it can
    /// not be sent back once more.
    pub(super) fn stuck(&mut self, step: &str, attempts: u32, is_last: bool, why: &str) -> Option<Said> {
        let stuck = self.by_id.get_mut(step)?;
        stuck.stuck = true;
        let was_retried = std::mem::take(&mut stuck.retried);
        (was_retried && is_last).then(|| self.exhausted(step, &attempts.into(), why))
    }

    fn retry(&self, step: &str, why: &str, attempt: u32) -> Said {
        let mut told = self.named(step);
        told["strategy"] = why.into();
        told["attempt_number"] = attempt.into();
        ("step_retry_started", told)
    }

    /// The provider failed. `wait_ms`: until it is asked again; `None`: it is not.
    pub(super) fn failed(&mut self, step: &str, wait_ms: Option<u64>, error: &str) -> Option<Said> {
        let failing = self.by_id.get_mut(step)?;
        failing.failures += 1;
        let attempt = failing.failures;
        let Some(ms) = wait_ms else {
            failing.failures = 0;
            return (attempt > 1).then(|| self.exhausted(step, &attempt.into(), error));
        };
        let mut told = self.named(step);
        told["attempt_number"] = attempt.into();
        told["backoff_seconds"] = json!(ms.div_ceil(1_000));
        told["retry_strategy"] = "backoff".into();
        Some(("step_retry_backoff", told))
    }

    /// The provider answered.
    pub(super) fn replied(&mut self, step: &str) -> Option<Said> {
        let failures = std::mem::take(&mut self.by_id.get_mut(step)?.failures);
        (failures > 0).then(|| self.succeeded(step, &(failures + 1).into()))
    }

    fn succeeded(&self, step: &str, attempts: &Value) -> Said {
        let mut told = self.named(step);
        told["attempt_number"] = attempts.clone();
        told["total_attempts"] = attempts.clone();
        ("step_retry_succeeded", told)
    }

    fn exhausted(&self, step: &str, attempts: &Value, error: &str) -> Said {
        let mut told = self.named(step);
        told["total_attempts"] = attempts.clone();
        told["final_error"] = error.into();
        ("step_retry_exhausted", told)
    }

    fn named(&self, step: &str) -> Value {
        json!({ "step_id": step, "step_number": self.by_id.get(step).and_then(|step| step.number) })
    }

    pub(super) fn agent(&self, step: &str) -> &str {
        self.by_id.get(step).map(|step| step.agent.as_str()).unwrap_or_default()
    }

    pub(super) fn handed_over(&mut self, step: &str, to: &str) {
        if let Some(step) = self.by_id.get_mut(step) {
            to.clone_into(&mut step.agent);
        }
    }

    /// This is the plan to carry out.
    pub(super) fn settled(&mut self, plan: Value, version: usize, ledger: &mut Ledger) -> Said {
        let mut told = approval::graph(&plan, &self.nodes);
        told["version"] = version.into();
        told["plan"] = approval::plan(&plan);
        ledger.plan = told["plan"].clone();
        let event_type = if self.plan.replace(plan).is_some() { "dag_updated" } else { "dag_created" };
        (event_type, told)
    }

    /// The graph as it stands.
    pub(super) fn graph(&self) -> Option<Value> {
        self.plan.as_ref().map(|plan| approval::graph(plan, &self.nodes))
    }

    /// What the step's node is now.
    pub(super) fn marked(&mut self, step: Option<&String>, status: &'static str) -> Option<Said> {
        let node = step.and_then(|step| self.by_id.get(step)).filter(|step| !step.ended)?.node.clone()?;
        self.node(&node, status)
    }

    /// The run is paused, or goes on: what is at work with it.
    pub(super) fn all(&mut self, from: &str, to: &'static str) -> Vec<Said> {
        let nodes: Vec<String> =
            self.nodes.iter().filter(|(_, status)| **status == from).map(|(node, _)| node.clone()).collect();
        nodes.iter().filter_map(|node| self.node(node, to)).collect()
    }

    /// The run is over: what was at work is no longer, and what had not begun never will. What a person was asked about
    /// as failed has failed.
    pub(super) fn cut_off(&mut self, why: &str, ledger: &Ledger) -> Vec<Said> {
        let mut said = Vec::new();
        let mut left = Vec::new();
        for (id, step) in self.by_id.iter().filter(|(_, step)| !step.ended) {
            let status = if step.stuck { "failed" } else { "cancelled" };
            if step.stuck {
                let mut told = self.named(id);
                told["agent"] = step.agent.as_str().into();
                merge(&mut told, &ledger.failed(id));
                merge(&mut told, &json!({ "status": status, "error": why }));
                said.push(("step_failed", told));
            }
            left.extend(step.node.clone().map(|node| (node, status)));
        }
        let planned = self.plan.as_ref().and_then(|plan| plan.get("subtasks")?.as_array());
        let ids = planned.into_iter().flatten().filter_map(|subtask| subtask.get("id")?.as_str());
        left.extend(ids.filter(|id| !self.nodes.contains_key(*id)).map(|id| (id.to_owned(), "skipped")));
        said.extend(left.into_iter().filter_map(|(node, status)| self.node(&node, status)));
        said
    }

    /// The node's new status, where it is one.
    fn node(&mut self, node: &str, status: &'static str) -> Option<Said> {
        let old = self.nodes.insert(node.to_owned(), status).unwrap_or("pending");
        let change = json!({ "node_id": node, "old_status": old, "new_status": status });
        (old != status).then_some(("dag_node_status_changed", change))
    }
}

/// The fields of `more`, beside those of `told`.
pub(super) fn merge(told: &mut Value, more: &Value) {
    if let (Some(told), Some(more)) = (told.as_object_mut(), more.as_object()) {
        told.extend(more.clone());
    }
}
