//! Plans of runs, and what their models were sent.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The plan of one phase of a run: the version that counts, as a graph, and every version before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Plan {
    pub run: String,
    /// The planning phase.
    pub phase: String,
    /// The version that `subtasks` shows: the one that is carried out, or else the last one.
    pub version: u64,
    /// Whether it is the one to carry out.
    pub settled: bool,
    /// A newer version waits for a person: nothing more starts meanwhile.
    pub held: bool,
    /// The agents that subtasks may name.
    #[serde(default)]
    pub agents: Vec<String>,
    /// Who does a subtask that names nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The most subtasks that it may have.
    #[serde(default)]
    pub limit: u64,
    pub subtasks: Vec<Subtask>,
    /// In order, the first one first.
    pub versions: Vec<PlanVersion>,
}

/// One subtask, where it stands, and where it is drawn.
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
    /// Its step in the run, once it has started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Its column: right of everything that it depends on.
    pub layer: u64,
    pub row: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubtaskStatus {
    Pending,
    Running,
    /// A person must speak before it goes on.
    Waiting,
    Completed,
    Skipped,
    Failed,
    /// The run ended while it was at work.
    Cancelled,
    /// The run ended, and it never began.
    NotRun,
}

/// What was planned at some time: `{id, description, agent?, depends_on[]}` each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanVersion {
    pub version: u64,
    #[schema(value_type = Vec<Object>)]
    pub subtasks: Value,
}

/// A plan that somebody writes: it need not be one that can be carried out.
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

/// Where the subtasks of a draft are drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanLayout {
    /// One per subtask, in their order, no two the same.
    pub places: Vec<NodePosition>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NodePosition {
    /// Its column: right of everything that it depends on.
    pub layer: u64,
    pub row: u64,
}

/// Another plan instead of the one that is carried out. What has started must be in it as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Replan {
    /// `{subtasks: [{id, description, agent?, depends_on?}]}`
    #[schema(value_type = Object, example = json!({"subtasks": [{"id": "s1", "description": "Read the data"}]}))]
    pub plan: Value,
    /// The version that it was made from; refused as `stale` where another one is carried out by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

/// What a model was sent, rebuilt from the journal as it was at that moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelRequest {
    pub run: String,
    /// The how-manieth model call of the run, counted from 1.
    pub n: u64,
    pub step: String,
    pub agent: String,
    /// `None`: the model of the installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub messages: Vec<ModelMessage>,
    /// Names of the tools that it was offered.
    pub tools: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelMessage {
    pub role: ModelRole,
    pub text: String,
    /// Of an assistant: `{id, tool, arguments}` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub calls: Vec<Value>,
    /// Of a tool: the call that this is the result of.
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
