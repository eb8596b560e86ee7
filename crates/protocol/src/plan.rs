//! Plans of runs, and requests of runs to models.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Plan of one planning phase of a run: one version as a graph, and a list of all versions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Plan {
    pub run: String,
    /// Id of the planning phase.
    pub phase: String,
    /// Version whose subtasks are in `subtasks`: the version that is being carried out or, if there is none, the
    /// newest.
    pub version: u64,
    /// True if the version in `version` is being carried out.
    pub settled: bool,
    /// True if a newer version waits for approval. No further subtask starts until a person has decided on the newer
    /// version.
    pub held: bool,
    /// Agents to which a subtask can be assigned.
    #[serde(default)]
    pub agents: Vec<String>,
    /// Agent for subtasks that name no agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Maximum number of subtasks in the plan.
    #[serde(default)]
    pub limit: u64,
    pub subtasks: Vec<Subtask>,
    /// All versions of the plan, oldest first.
    pub versions: Vec<PlanVersion>,
}

/// One subtask with its status and its place in the drawing of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Subtask {
    pub id: String,
    /// Description written by an agent or a person: show it as plain data, never as markup.
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// Estimated duration in the words of the planner, such as `5 min`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_time: Option<String>,
    pub status: SubtaskStatus,
    /// Id of the step that carries out the subtask. Absent if the subtask has not started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Column in the drawing. A subtask is to the right of all subtasks on which it depends.
    pub layer: u64,
    pub row: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubtaskStatus {
    Pending,
    Running,
    /// The subtask waits for a decision or an answer of a person.
    Waiting,
    Completed,
    Skipped,
    Failed,
    /// The run ended while the subtask was running.
    Cancelled,
    /// The run ended before the subtask began.
    NotRun,
}

/// One version of a plan. Each subtask has the shape `{id, description, agent?, depends_on[], estimated_time?}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanVersion {
    pub version: u64,
    #[schema(value_type = Vec<Object>)]
    pub subtasks: Value,
}

/// Plan that a person is editing. It may be incomplete or invalid.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_time: Option<String>,
}

/// Places in the drawing for the subtasks of a draft plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanLayout {
    /// One place per subtask, in the order of the subtasks. No two subtasks have the same place.
    pub places: Vec<NodePosition>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NodePosition {
    /// Column in the drawing. A subtask is to the right of all subtasks on which it depends.
    pub layer: u64,
    pub row: u64,
}

/// Request to replace the plan that the run carries out. The new plan must contain all subtasks that have already
/// started, without changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Replan {
    /// New plan: `{subtasks: [{id, description, agent?, depends_on?, estimated_time?}]}`.
    #[schema(value_type = Object, example = json!({"subtasks": [{"id": "s1", "description": "Read the data"}]}))]
    pub plan: Value,
    /// Version on which the new plan is based. If the run now carries out another version, the request fails with
    /// `stale`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

/// Request that was sent to a model. It is not stored: the server rebuilds it from the journal for each reader.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelRequest {
    pub run: String,
    /// Number of the model call within its run, from 1.
    pub n: u64,
    pub step: String,
    pub agent: String,
    /// Name of the requested model. Absent if the run used the default model of the installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub messages: Vec<ModelMessage>,
    /// Names of the tools that the model was allowed to call.
    pub tools: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelMessage {
    pub role: ModelRole,
    pub text: String,
    /// Tool calls of the assistant, each `{id, tool, arguments}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub calls: Vec<Value>,
    /// Id of the tool call whose result the message contains. Present for the role `tool`.
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
