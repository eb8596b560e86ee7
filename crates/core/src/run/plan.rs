//! Plans as data: what an agent proposes, checked before a person sees it (contract E12).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema::Problem;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub subtasks: Vec<Subtask>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subtask {
    pub id: String,
    pub description: String,
    /// The agent that would do it; the proposing one where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
}

impl Plan {
    /// Reads and checks a plan: at least one subtask, unique ids, known agents, no dead reference, no cycle,
    /// at most `limit` subtasks. `base` is the pointer of the plan in what was sent.
    pub fn check(
        value: &Value,
        known_agents: &BTreeSet<&str>,
        limit: u32,
        base: &str,
    ) -> Result<Self, Vec<Problem>> {
        let plan: Self = serde_json::from_value(value.clone())
            .map_err(|error| vec![Problem::new(base, format!("is not a plan: {error}"))])?;
        let mut problems = Vec::new();
        if plan.subtasks.is_empty() {
            problems.push(Problem::new(format!("{base}/subtasks"), "holds no subtask"));
        }
        if plan.subtasks.len() > limit as usize {
            problems
                .push(Problem::new(format!("{base}/subtasks"), format!("holds more than {limit} subtasks")));
            return Err(problems);
        }
        let mut seen = BTreeSet::new();
        for (i, subtask) in plan.subtasks.iter().enumerate() {
            let at = |field: &str| format!("{base}/subtasks/{i}/{field}");
            if !seen.insert(subtask.id.as_str()) {
                problems.push(Problem::new(at("id"), format!("`{}` is there twice", subtask.id)));
            }
            if subtask.id.trim().is_empty() {
                problems.push(Problem::new(at("id"), "is empty"));
            }
            if subtask.description.trim().is_empty() {
                problems.push(Problem::new(at("description"), "is empty"));
            }
            if let Some(agent) = subtask.agent.as_deref().filter(|agent| !known_agents.contains(agent)) {
                problems.push(Problem::new(at("agent"), format!("no agent is called `{agent}`")));
            }
            for (j, needed) in subtask.depends_on.iter().enumerate() {
                if !plan.subtasks.iter().any(|other| other.id == *needed) {
                    let pointer = at(&format!("depends_on/{j}"));
                    problems.push(Problem::new(pointer, format!("there is no subtask `{needed}`")));
                }
            }
        }
        if problems.is_empty()
            && let Some(stuck) = plan.cycle()
        {
            let message = format!("a cycle of dependencies goes through `{stuck}`");
            problems.push(Problem::new(format!("{base}/subtasks"), message));
        }
        if problems.is_empty() { Ok(plan) } else { Err(problems) }
    }

    /// A subtask that can never start, if there is one.
    fn cycle(&self) -> Option<&str> {
        let mut waiting: BTreeMap<&str, &[String]> = self
            .subtasks
            .iter()
            .map(|subtask| (subtask.id.as_str(), subtask.depends_on.as_slice()))
            .collect();
        loop {
            let ready: Vec<&str> = waiting
                .iter()
                .filter(|(_, needs)| needs.iter().all(|need| !waiting.contains_key(need.as_str())))
                .map(|(id, _)| *id)
                .collect();
            if ready.is_empty() {
                return waiting.keys().next().copied();
            }
            for id in ready {
                waiting.remove(id);
            }
        }
    }
}
