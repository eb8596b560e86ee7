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
    /// Rewords the task.
    Improver,
    /// Drafts the plan and its new versions.
    Planner,
    /// Judges the text of a planner or a maker.
    Judge,
    /// Proposes ideas.
    Maker,
    /// Carries out one subtask of a plan.
    Subtask,
    /// Judges whether a person must decide on a call.
    Overseer,
    /// Selects the routes for the tasks of a copilot.
    Router,
    /// Summarises the old turns of another step.
    Summariser,
}

impl StepRole {
    /// Returns true if a step of this role only helps another step, as an overseer, a router or a summariser does.
    pub(in crate::run) fn is_aside(self) -> bool {
        match self {
            Self::Overseer | Self::Router | Self::Summariser => true,
            Self::Worker | Self::Improver | Self::Planner | Self::Judge | Self::Maker | Self::Subtask => {
                false
            }
        }
    }
}

/// Subtask of a plan, without its descriptions.
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
    /// Position in the plan, from 1.
    pub number: usize,
    /// Total number of subtasks in the plan.
    pub of: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoutedTask {
    pub phase: String,
    pub by: RoutedBy,
    /// Step of the router agent, if a router agent was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    pub route: Route,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complexity: Option<u8>,
    /// Agent that begins the work on the task, if it differs from the agent of the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// True if the gates before and after steps ask nobody about this task.
    #[serde(default, skip_serializing_if = "is_default")]
    pub simple: bool,
}

/// Decider of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoutedBy {
    /// A router agent selected the route.
    Router,
    /// The rules of [`routing`](crate::routing) selected the route, because the workflow has no router agent or the
    /// router's reply was unusable.
    Rules,
}

/// Returns true if the role is the default role, which facts leave out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
pub(super) fn is_worker(role: &StepRole) -> bool {
    *role == StepRole::Worker
}
