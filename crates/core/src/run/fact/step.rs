//! Facts about steps: their roles and ends, subtasks of plans, and routes of tasks.

use serde::{Deserialize, Serialize};

use crate::json::is_default;
use crate::routing::Route;

/// Outcome of a phase or a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepEnd {
    Completed,
    Skipped,
    /// The phase or step could not complete. The run continues without its result.
    Failed,
}

/// Role of a step in its phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepRole {
    #[default]
    Worker,
    /// The step's agent rewords the task.
    Improver,
    /// The step's agent drafts the plan and its new versions.
    Planner,
    /// The step's agent judges the text of a planner or a maker.
    Judge,
    /// The step's agent proposes ideas.
    Maker,
    /// The step's agent carries out one subtask of a plan.
    Subtask,
    /// The step's agent judges whether a person must decide on a tool call.
    Overseer,
    /// The step's agent selects the routes for the tasks of a copilot.
    Router,
    /// The step's agent summarises the old turns of another step.
    Summariser,
}

impl StepRole {
    /// Returns true if a step of the role only helps another step, as an overseer, a router or a summariser does.
    pub(in crate::run) fn is_aside(self) -> bool {
        match self {
            Self::Overseer | Self::Router | Self::Summariser => true,
            Self::Worker | Self::Improver | Self::Planner | Self::Judge | Self::Maker | Self::Subtask => {
                false
            }
        }
    }
}

/// Subtask of a plan, without its descriptions. The descriptions are content of the event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
}

/// Subtask of a plan, with its position in the plan at the time when its step started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanPart {
    pub id: String,
    /// Position of the subtask in the plan, from 1.
    pub number: usize,
    /// Total number of subtasks in the plan.
    pub of: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoutedTask {
    pub phase: String,
    pub by: RoutedBy,
    /// Step of the router agent that selected the route. `None` if no router agent was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    pub route: Route,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complexity: Option<u8>,
    /// Agent that begins the work on the copilot's task, if it differs from the agent of the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// True if the gates before and after steps ask nobody about the copilot's task.
    #[serde(default, skip_serializing_if = "is_default")]
    pub simple: bool,
}

/// Router agent or rules that selected the route for a copilot's task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoutedBy {
    /// A router agent selected the route for the task.
    Router,
    /// The rules of [`routing`](crate::routing) selected the route for the task, because the workflow has no router
    /// agent or the router's reply was unusable.
    Rules,
}

/// Returns true if the role of a step is the default role, which facts leave out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
pub(super) fn is_worker(role: &StepRole) -> bool {
    *role == StepRole::Worker
}
