//! Runs: how to start and steer them, and their state.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::keeping::ErasedContent;
use crate::usage::{Cost, Usage};

/// One journalled execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "run_01k6f0000000000000000000aa", "workflow": "pair", "session": "ses_01k6f0000000000000000000bb",
    "status": "waiting", "task": "make the tests pass", "workspace": "/home/me/project",
    "input": {"task": "make the tests pass"},
    "config": {"workspace": "/home/me/project"}, "seq": 14,
    "open_interrupts": ["int_01k6f0000000000000000000cc"],
    "usage": {"requests": 2, "input_tokens": 3_120, "output_tokens": 240}, "duration_ms": 7_120,
    "created_at": "2026-01-31T09:30:00.000Z", "updated_at": "2026-01-31T09:30:07.120Z"
}))]
pub struct Run {
    pub id: String,
    pub workflow: String,
    pub session: String,
    pub status: Status,
    /// Reason of the end: `done`, `partial`, `resolved`, `cancelled`, `rejected`, `expired` … Absent until the run
    /// ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<String>,
    /// The failure, or the reason of a cancellation. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_message: Option<String>,
    /// Task of the run: the `task` of its input, cut to 300 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Working directory of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    #[schema(value_type = Object)]
    pub input: Value,
    pub config: RunConfig,
    /// Result. Absent unless the run has completed.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Value>)]
    pub result: Value,
    /// Number of events in the run's stream.
    pub seq: u64,
    /// Ids of interrupts that wait for a person.
    pub open_interrupts: Vec<String>,
    /// Token usage. Absent for a run last written by an older version, until `holdshort rebuild` counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Cost. Absent if the workflow names no prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Record of the erasure of all content. Absent if the content is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased: Option<ErasedContent>,
    /// Milliseconds from the start to the end, or to the last event. Includes the time in which the run waited for
    /// people.
    #[serde(default)]
    pub duration_ms: u64,
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time of the end, or of the last event if the run has not ended.
    #[schema(format = DateTime)]
    pub updated_at: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Queued,
    Running,
    /// No step can run until an interrupt is resolved.
    Waiting,
    /// A person stopped the run. Deadlines of interrupts continue.
    Paused,
    Completed,
    Failed,
    Cancelled,
}

impl Status {
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Cancelled => true,
            Self::Queued | Self::Running | Self::Waiting | Self::Paused => false,
        }
    }
}

/// Outcome of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunResult {
    pub run: String,
    /// `completed`, `failed` or `cancelled`.
    pub status: Status,
    pub end_reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_message: Option<String>,
    #[serde(default)]
    #[schema(value_type = Option<Value>)]
    pub result: Value,
}

/// Request to start a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "workflow": "pair", "input": {"task": "make the tests pass"},
    "config": {"workspace": "/home/me/project"}
}))]
pub struct StartRun {
    pub workflow: String,
    /// Input that matches the workflow's input schema; often `{task}`. Defaults to `{}`.
    #[serde(default = "empty")]
    #[schema(value_type = Object)]
    pub input: Value,
    /// Id of the session. A session is created if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<RunConfig>,
}

fn empty() -> Value {
    Value::Object(serde_json::Map::new())
}

/// Configuration of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Working directory that the run's tools stay in: an absolute path on the server's machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Name of a configured model, never a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// True if no person can answer. Then checkpoints with `when_no_channel: auto` in the workflow are approved
    /// automatically, and the journal records that no person approved them. Everything else waits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unattended: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gates: Option<GateConfig>,
    /// Change to the `asking` of the workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asking: Option<AskingConfig>,
    /// Tools of the workflow that the agents of this run do not get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_tools: Vec<String>,
}

/// Right of the agents of a run to ask people. A run can switch it off, but not on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AskingConfig {
    pub enabled: bool,
}

/// Gates of a run in addition to those of its workflow. They are only stricter: an `allow` has effect only where no
/// rule of the workflow matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GateConfig {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// Checkpoints at which a person must decide, whatever rules and grants allow. They add to those of the
    /// workflow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mandatory: Vec<Checkpoint>,
    /// Smart approval, in addition to that of the workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smart: Option<SmartConfig>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Gate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_step: Option<Gate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_step: Option<Gate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_error: Option<Gate>,
}

/// Smart approval: keywords and a model find risky calls that the gates would allow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SmartConfig {
    /// Words and phrases that mean risk. Defaults to a built-in list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keywords: Option<Vec<String>>,
    /// `run` for the run's model (the default), `off`, or the name of a configured model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
}

/// A mandatory checkpoint. The documentation of workflows describes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Checkpoint {
    AfterPlanning,
    BeforeFileEdit,
    BeforeExecution,
    BeforeDeploy,
}

/// A gate of one run. A run can close a gate, never open it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    Ask,
}

/// A policy rule: its criteria and its action. All given criteria must match; the first matching rule applies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Full names of tools, or `*` for every tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Patterns for the words of a command: `git push *`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Globs for paths relative to the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Patterns for host and path of a URL: `docs.rs/**`, `https://example.org/api/**`, `*.example.org`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<Category>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// Changes of the call, as found by its trial. `allow` matches if all changes are in this scope, `ask` and
    /// `forbid` if any change is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangeScope>,
    /// Number of deleted files. `ask` and `forbid` match if the call deletes at least this many, `allow` if at most
    /// this many. `allow` with `changes` and without `deletes` matches only without deletions. Files that git
    /// ignores are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletes: Option<u32>,
    #[serde(rename = "do")]
    pub action: RuleAction,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Scope of changes: a word, or globs for paths relative to the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum ChangeScope {
    Word(ChangeWord),
    Paths(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeWord {
    /// The call changes nothing.
    None,
    /// The call changes nothing in the workspace. Ignored files that it writes are kept for the run.
    Ignored,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleAction {
    Allow,
    Ask,
    Forbid,
}

/// Kinds of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    ReadOnly,
    FileWrite,
    Bash,
    CodeExec,
    Install,
    Web,
}

/// Message to a run. Each active step receives it with its next model request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"text": "use ISO dates"}))]
pub struct Message {
    pub text: String,
}

/// Optional reason to cancel a run or to stop a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Note {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Request to undo changes of a run. Without a body, all changes are undone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"to": 17}))]
pub struct UndoChanges {
    /// Sequence number of an event. The changes that the run committed after it are undone.
    #[serde(default)]
    pub to: u64,
}

/// Request to merge files and folders of a run's layer into the workspace. Without a body, the whole layer is
/// merged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"paths": ["dist"]}))]
pub struct MergeChanges {
    /// Paths relative to the workspace. Empty for the whole layer.
    #[serde(default)]
    pub paths: BTreeSet<String>,
}

/// Ignored files that exist only for a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"files": 2}))]
pub struct RunLayer {
    /// Number of files and links that the workspace does not have, or has with another size or an earlier
    /// modification time.
    pub files: usize,
}

/// Request to end a run of another framework's agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"result": {"summary": "done"}}))]
pub struct Finish {
    #[schema(value_type = Value)]
    pub result: Value,
}
