//! Runs: their state, and the requests that start and steer them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::keeping::ErasedContent;
use crate::usage::{Cost, Usage};

/// One execution of a workflow, recorded in the journal.
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
    /// Error message of a failed run, or reason of a cancellation. Otherwise absent.
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
    /// Result of the run. Absent unless the run has completed.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Value>)]
    pub result: Value,
    /// Number of events in the run's stream.
    pub seq: u64,
    /// Ids of the interrupts that wait for a decision.
    pub open_interrupts: Vec<String>,
    /// Token usage. Absent if the run's last event was written by an old version of Holdshort that did not record
    /// usage. To compute the missing usage, run `holdshort rebuild`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Cost. Absent if the workflow defines no prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Record of the erasure of the run's content. Absent if the content was not erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased: Option<ErasedContent>,
    /// Milliseconds from the start of the run to its end. For a run that has not ended, milliseconds to its last event.
    /// Includes the time for which the run waited for people.
    #[serde(default)]
    pub duration_ms: u64,
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time at which the run ended. For a run that has not ended, time of its last event.
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
    /// A person paused the run. The deadlines of its interrupts continue to count.
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

/// Outcome of a run, and its result.
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
    /// Id of the session of the run. If absent, a session is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<RunConfig>,
}

fn empty() -> Value {
    Value::Object(serde_json::Map::new())
}

/// Configuration of one run, in addition to its workflow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Working directory that the run's tools cannot leave: an absolute path on the server's machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Name of a configured model. A URL is not accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// True if nobody is available to decide for the run. Checkpoints with `when_no_channel: auto` in the workflow are
    /// then approved automatically, and the journal records that no person approved them. All other interrupts still
    /// wait for a person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unattended: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gates: Option<GateConfig>,
    /// Changes to the section `asking` of the workflow, for this run only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asking: Option<AskingConfig>,
    /// Tools of the workflow that are not offered to the agents of this run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_tools: Vec<String>,
}

/// Permission of the run's agents to ask people. A run can withdraw the permission of its workflow, but cannot add it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AskingConfig {
    pub enabled: bool,
}

/// Gates of a run in addition to the gates of its workflow. A run cannot weaken its workflow's rules: an `allow`
/// applies only to calls that no rule of the workflow matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GateConfig {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// Checkpoints at which a person must decide, even if rules and grants allow the call. They are added to the
    /// workflow's mandatory checkpoints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mandatory: Vec<Checkpoint>,
    /// Settings of smart approval, in addition to those of the workflow.
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

/// Settings of smart approval, which looks for risky calls among those that the gates would allow. It uses keywords and
/// a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SmartConfig {
    /// Words and phrases that indicate risk. Defaults to a built-in list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keywords: Option<Vec<String>>,
    /// Model that judges calls: `run` for the run's model (the default), `off`, or the name of a configured model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
}

/// A mandatory checkpoint: a point of a run at which a person must decide. The workflow documentation describes each
/// checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Checkpoint {
    AfterPlanning,
    BeforeFileEdit,
    BeforeExecution,
    BeforeDeploy,
}

/// Value of a gate in a run's configuration. The only value is `ask`, because a run can turn a gate on but not off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    Ask,
}

/// A policy rule: its criteria and its action. A rule matches if all given criteria match. The first matching rule
/// applies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Full names of tools, or `*` for every tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Patterns for the words of a command, such as `git push *`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Globs for paths relative to the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Patterns for the host and path of a URL: `docs.rs/**`, `https://example.org/api/**`, `*.example.org`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<Category>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// Scope for the file changes that a trial of the call found. A rule with the action `allow` matches if all changes
    /// are in this scope. A rule with the action `ask` or `forbid` matches if at least one change is in this scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangeScope>,
    /// Limit for the number of files that the call deletes. A rule with the action `ask` or `forbid` matches from this
    /// number on. A rule with the action `allow` matches up to this number. An `allow` rule with `changes` but without
    /// `deletes` matches only calls that delete no files. Files that Git ignores are not counted.
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
    /// The call changes no file at all.
    None,
    /// The call changes only files in the workspace that Git ignores. These changes are stored outside the workspace,
    /// for this run only.
    Ignored,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleAction {
    Allow,
    Ask,
    Forbid,
}

/// Category of a tool call.
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

/// Message of a person to a run. Each active step of the run receives it with its next model request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"text": "use ISO dates"}))]
pub struct Message {
    pub text: String,
}

/// Optional reason for cancelling a run or stopping a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Note {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Request to undo changes of a run. A request without a body undoes all changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"to": 17}))]
pub struct UndoChanges {
    /// Sequence number of an event. All changes that the run committed after this event are undone.
    #[serde(default)]
    pub to: u64,
}

/// Request to merge files and directories from the layer of a run into the workspace. A request without a body merges
/// all files of the layer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"paths": ["dist"]}))]
pub struct MergeChanges {
    /// Paths relative to the workspace. If the list is empty, all files of the layer are merged.
    #[serde(default)]
    pub paths: BTreeSet<String>,
}

/// Layer of a run: files that its commands wrote and that Git ignores. They are stored outside the workspace, and only
/// this run sees them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"files": 2}))]
pub struct RunLayer {
    /// Number of files and links that a merge would write into the workspace. Such a file does not exist in the
    /// workspace, or exists there with another size or an earlier modification time.
    pub files: usize,
}

/// Request to end a run that an external agent carries out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"result": {"summary": "done"}}))]
pub struct Finish {
    #[schema(value_type = Value)]
    pub result: Value,
}
