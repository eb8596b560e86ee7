//! Facts about steps: roles, ends, subtasks and routes.

use serde::{Deserialize, Serialize};

use crate::json::is_default;
use crate::routing::Route;

/// Outcome of a phase or a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepEnd {
    Completed,
    Skipped,
    /// The phase or step could not be done, and the run continues without it.
    Failed,
}

/// Role of a step in its phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepRole {
    #[default]
    Worker,
    /// Rewords the task.
    Improver,
    /// Drafts the plan and its later versions.
    Planner,
    /// Judges the text of the planner or the maker.
    Judge,
    /// Has ideas.
    Maker,
    /// Carries out one subtask of a plan.
    Subtask,
    /// Judges whether a person must decide about a call.
    Overseer,
    /// Routes the tasks of a copilot.
    Router,
    /// Sums up the old turns of another step.
    Summariser,
}

impl StepRole {
    /// Returns true if a step of this role helps another step and does no work of its phase.
    pub(in crate::run) fn is_aside(self) -> bool {
        match self {
            Self::Overseer | Self::Router | Self::Summariser => true,
            Self::Worker | Self::Improver | Self::Planner | Self::Judge | Self::Maker | Self::Subtask => {
                false
            }
        }
    }
}

/// Subtask without its texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
}

/// Subtask, and its place in the plan when its step started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanPart {
    pub id: String,
    /// Number in the plan, from 1.
    pub number: usize,
    /// Number of subtasks of the plan.
    pub of: usize,
}

/// Route of a copilot's next task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoutedTask {
    pub phase: String,
    pub by: RoutedBy,
    /// Step of the router, if one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    pub route: Route,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complexity: Option<u8>,
    /// Agent that begins, if it is not the phase's own agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// True if no checkpoints of steps apply.
    #[serde(default, skip_serializing_if = "is_default")]
    pub simple: bool,
}

/// Router of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoutedBy {
    /// A router agent.
    Router,
    /// The rules of [`routing`](crate::routing), because no router is configured or its reply was not usable.
    Rules,
}

/// Returns true for the default role, which facts leave out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
pub(super) fn is_worker(role: &StepRole) -> bool {
    *role == StepRole::Worker
}
