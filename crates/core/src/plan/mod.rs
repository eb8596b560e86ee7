//! Plans as data: a list of subtasks with dependencies. An agent's proposal is checked before a person sees it
//! (contracts A8, E12).

mod layout;
mod read;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use layout::NodePosition;
pub use read::{around, candidates, fields_without_plan, read, sent};

use crate::limits;
use crate::schema::{self, Problem};
use crate::strict::Strict;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub subtasks: Vec<Subtask>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subtask {
    pub id: String,
    pub description: String,
    /// Agent that carries out the subtask. If `None`, the default agent of the phase carries out the subtask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// Estimated duration as the planner wrote it, such as `5 min`. The estimate is shown to people, and has no other
    /// use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_time: Option<String>,
}

impl Plan {
    /// Parses and checks a plan. A plan must have from 1 to `limit` subtasks with unique ids and known agents. All
    /// dependencies must exist, and must not form a cycle. The returned problems have JSON pointers that begin with
    /// `base`, the JSON pointer of the plan in the request.
    pub fn check(
        value: &Value,
        known_agents: &BTreeSet<&str>,
        limit: u32,
        base: &str,
    ) -> Result<Self, Vec<Problem>> {
        let plan = Self::deserialize(Strict(value)).map_err(|error| {
            let mut problems = schema::check(&schema(), value, base);
            if problems.is_empty() {
                problems.push(Problem::new(base, format!("is not a plan: {error}")));
            }
            problems
        })?;
        let mut problems = Vec::new();
        if plan.subtasks.is_empty() {
            problems.push(Problem::new(format!("{base}/subtasks"), "contains no subtask"));
        }
        if plan.subtasks.len() > limit as usize {
            problems
                .push(Problem::new(format!("{base}/subtasks"), format!("has more than {limit} subtasks")));
            return Err(problems);
        }
        let mut seen = BTreeSet::new();
        for (i, subtask) in plan.subtasks.iter().enumerate() {
            let at = |field: &str| format!("{base}/subtasks/{i}/{field}");
            if !seen.insert(subtask.id.as_str()) {
                problems.push(Problem::new(at("id"), format!("`{}` appears twice", subtask.id)));
            }
            if !is_id(&subtask.id) {
                let message =
                    format!("must be 1 to {} letters, digits, `_`, `-` or `.`", limits::SUBTASK_ID_BYTES);
                problems.push(Problem::new(at("id"), message));
            }
            if subtask.description.trim().is_empty() {
                problems.push(Problem::new(at("description"), "is empty"));
            }
            if subtask.description.len() > limits::DESCRIPTION_BYTES {
                let message = format!("is longer than {} bytes", limits::DESCRIPTION_BYTES);
                problems.push(Problem::new(at("description"), message));
            }
            if let Some(agent) = subtask.agent.as_deref().filter(|agent| !known_agents.contains(agent)) {
                problems.push(Problem::new(at("agent"), format!("no agent is called `{agent}`")));
            }
            if subtask.estimated_time.as_deref().is_some_and(|time| !is_estimate(time)) {
                let message = format!(
                    "must be 1 to {} bytes in one line, such as `5 min`",
                    limits::ESTIMATED_TIME_BYTES
                );
                problems.push(Problem::new(at("estimated_time"), message));
            }
            for (j, needed) in subtask.depends_on.iter().enumerate() {
                let pointer = at(&format!("depends_on/{j}"));
                if !plan.subtasks.iter().any(|other| other.id == *needed) {
                    problems.push(Problem::new(pointer, format!("there is no subtask `{needed}`")));
                } else if subtask.depends_on[..j].contains(needed) {
                    problems.push(Problem::new(pointer, format!("`{needed}` appears twice")));
                }
            }
            // A longer list of problems would not help the person or the agent that plans.
            if problems.len() >= limits::PLAN_PROBLEMS {
                problems.truncate(limits::PLAN_PROBLEMS);
                return Err(problems);
            }
        }
        if problems.is_empty()
            && let Some(stuck) = plan.cycle()
        {
            let message = format!("the dependencies form a cycle through `{stuck}`");
            problems.push(Problem::new(format!("{base}/subtasks"), message));
        }
        if problems.is_empty() { Ok(plan) } else { Err(problems) }
    }

    pub fn subtask(&self, id: &str) -> Option<&Subtask> {
        self.subtasks.iter().find(|subtask| subtask.id == id)
    }

    /// Returns the number of subtasks as text, such as `3 subtasks`.
    pub(crate) fn subtask_count(&self) -> String {
        match self.subtasks.len() {
            1 => "1 subtask".to_owned(),
            n => format!("{n} subtasks"),
        }
    }

    /// Renders the plan for a person or a model. Each subtask is one line.
    pub fn text(&self) -> String {
        let line = |subtask: &Subtask| {
            let agent = subtask.agent.as_ref().map(|agent| format!(" [{agent}]")).unwrap_or_default();
            let needs = match subtask.depends_on.as_slice() {
                [] => String::new(),
                needs => format!(" (after {})", needs.join(", ")),
            };
            format!("- {}:{agent} {}{needs}", subtask.id, subtask.description)
        };
        self.subtasks.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Returns a subtask that can never start, because it belongs to a cycle of dependencies or depends on a cycle.
    /// `None` if there is no cycle.
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

/// Returns the JSON Schema of a plan, for editors of plans.
pub fn schema() -> Value {
    let text = json!({ "type": "string", "minLength": 1 });
    let subtask = json!({
        "type": "object",
        "required": ["id", "description"],
        "additionalProperties": false,
        "properties": {
            "id": text,
            "description": text,
            "agent": text,
            "depends_on": { "type": "array", "items": text },
            "estimated_time": text,
        },
    });
    json!({
        "type": "object",
        "required": ["subtasks"],
        "additionalProperties": false,
        "properties": { "subtasks": { "type": "array", "minItems": 1, "items": subtask } },
    })
}

/// Returns true if a text is a valid id of a subtask. Ids become part of step ids, paths and labels. Ids are not erased
/// when texts are erased.
fn is_id(id: &str) -> bool {
    (1..=limits::SUBTASK_ID_BYTES).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// Returns true if the text is a valid estimated duration: one line that is not blank.
fn is_estimate(text: &str) -> bool {
    text.len() <= limits::ESTIMATED_TIME_BYTES
        && !text.trim().is_empty()
        && !text.chars().any(char::is_control)
}
