//! Plans of runs, and the requests to their models.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Plan of one phase of a run: the current version as a graph, and all versions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Plan {
    pub run: String,
    /// Id of the planning phase.
    pub phase: String,
    /// Version that `subtasks` shows: the one that is carried out, else the newest.
    pub version: u64,
    /// True if this version is carried out.
    pub settled: bool,
    /// True if a newer version waits for a person. No further subtask starts until it is resolved.
    pub held: bool,
    /// Agents that subtasks may name.
    #[serde(default)]
    pub agents: Vec<String>,
    /// Agent of the subtasks that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Maximum number of subtasks.
    #[serde(default)]
    pub limit: u64,
    pub subtasks: Vec<Subtask>,
    /// All versions, oldest first.
    pub versions: Vec<PlanVersion>,
}

/// One subtask with its status and its position in the drawing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Subtask {
    pub id: String,
    /// Written by an agent or a person: show it as data.
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default)]
    pub depends_on: Vec<String>,
    pub status: SubtaskStatus,
    /// Id of its step in the run. Absent if it has not started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Column in the drawing: right of all its dependencies.
    pub layer: u64,
    pub row: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubtaskStatus {
    Pending,
    Running,
    /// The subtask waits for a person.
    Waiting,
    Completed,
    Skipped,
    Failed,
    /// The run ended while the subtask was running.
    Cancelled,
    /// The run ended before the subtask began.
    NotRun,
}

/// One version of a plan. Each subtask has the shape `{id, description, agent?, depends_on[]}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanVersion {
    pub version: u64,
    #[schema(value_type = Vec<Object>)]
    pub subtasks: Value,
}

/// A plan that a person is writing. It may be incomplete or invalid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanDraft {
    pub subtasks: Vec<DraftSubtask>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DraftSubtask {
    #[schema(example = "s1")]
    pub id: String,
    #[serde(default)]
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default)]
    pub depends_on: Vec<String>,
}

/// Positions of the subtasks of a draft in the drawing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanLayout {
    /// One position for each subtask, in their order. No two are equal.
    pub places: Vec<NodePosition>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NodePosition {
    /// Column in the drawing: right of all dependencies.
    pub layer: u64,
    pub row: u64,
}

/// Request to replace the plan that is carried out. Subtasks that have started must be in the new plan unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Replan {
    /// `{subtasks: [{id, description, agent?, depends_on?}]}`
    #[schema(value_type = Object, example = json!({"subtasks": [{"id": "s1", "description": "Read the data"}]}))]
    pub plan: Value,
    /// Version that the new plan is based on. The request fails with `stale` if another version is carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

/// Request that was sent to a model, rebuilt from the journal at that moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelRequest {
    pub run: String,
    /// Number of the model call within its run, from 1.
    pub n: u64,
    pub step: String,
    pub agent: String,
    /// Model that was named for the call. Absent for the default model of the installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub messages: Vec<ModelMessage>,
    /// Names of the tools that were offered to the model.
    pub tools: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelMessage {
    pub role: ModelRole,
    pub text: String,
    /// Tool calls of an assistant, each `{id, tool, arguments}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub calls: Vec<Value>,
    /// Id of the call that this is the result of. Present for the role `tool`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelRole {
    System,
    User,
    Assistant,
    Tool,
}
