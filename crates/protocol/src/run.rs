//! Runs: what starts one, what steers it, how it looks.

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
    /// Why it ended: `done`, `partial`, `resolved`, `cancelled`, `rejected`, `expired` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<String>,
    /// What went wrong, or why somebody cancelled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_message: Option<String>,
    /// What it was asked to do: the `task` of its input, cut to 300 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The folder that it works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    #[schema(value_type = Object)]
    pub input: Value,
    pub config: RunConfig,
    /// Once it has completed.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Value>)]
    pub result: Value,
    /// Events so far.
    pub seq: u64,
    /// Ids of interrupts that wait for a person.
    pub open_interrupts: Vec<String>,
    /// Not there of a run that an older version wrote last, until `holdshort rebuild` counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Where the workflow names prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Nothing of what it said is kept; absent while that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased: Option<ErasedContent>,
    /// From its start to its end, or to its last event until then; the time in which it waited for people included.
    #[serde(default)]
    pub duration_ms: u64,
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When it ended, or its last event until then.
    #[schema(format = DateTime)]
    pub updated_at: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Queued,
    Running,
    /// Nothing can run until an interrupt is resolved.
    Waiting,
    /// A person stopped it. Deadlines of interrupts go on.
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

/// How a run ended.
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

/// Starts a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "workflow": "pair", "input": {"task": "make the tests pass"},
    "config": {"workspace": "/home/me/project"}
}))]
pub struct StartRun {
    pub workflow: String,
    /// As the workflow's input schema says; mostly `{task}`.
    #[serde(default = "empty")]
    #[schema(value_type = Object)]
    pub input: Value,
    /// The conversation that it belongs to; without it one is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<RunConfig>,
}

fn empty() -> Value {
    Value::Object(serde_json::Map::new())
}

/// What one run sets for itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// The folder that its tools stay beneath: an absolute path on the server's machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The name of a configured model, never a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Nobody is there to answer: a checkpoint whose workflow says `when_no_channel: auto` is let through, and
    /// written down as approved by nobody. All else waits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unattended: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gates: Option<GateConfig>,
    /// What the run changes of its workflow's `asking`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asking: Option<AskingConfig>,
    /// Tools of the workflow that no agent of this run has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_tools: Vec<String>,
}

/// Whether agents of a run may ask people. A run can switch it off, and not on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AskingConfig {
    pub enabled: bool,
}

/// Gates that a run adds to its workflow's. They tighten; an `allow` frees only what no rule of the workflow
/// speaks of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GateConfig {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// Where a person must speak whatever rules and grants allow, beside the workflow's own checkpoints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mandatory: Vec<Checkpoint>,
    /// Smart approval, beside the workflow's own.
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

/// Words and a model hold back what gates would let through.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SmartConfig {
    /// Words and phrases that speak of risk; those that are usual where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keywords: Option<Vec<String>>,
    /// `run`: the run's model, also where nothing is said; `off`; or the name of a configured model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
}

/// A mandatory checkpoint. What each covers stands in the documentation of workflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Checkpoint {
    AfterPlanning,
    BeforeFileEdit,
    BeforeExecution,
    BeforeDeploy,
}

/// A gate that is set for one run: it can be closed, never opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    Ask,
}

/// Which calls it speaks of, and what holds for them. Every list that is given must match; the first rule that
/// matches counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Full names; `*` for every tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Patterns over the words of a command: `git push *`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Globs over paths relative to the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Patterns over host and path of a URL: `docs.rs/**`, `https://example.org/api/**`, `*.example.org`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<Category>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// What the call changes, as its trial shows it. A rule that allows covers changes that all lie in it; one that
    /// holds back meets any that does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangeScope>,
    /// A rule that holds back: the call deletes at least so many files. One that allows: at most so many, and none where
    /// it says `changes` alone. What git ignores does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletes: Option<u32>,
    #[serde(rename = "do")]
    pub action: RuleAction,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Which changes a rule speaks of: a word, or globs over paths relative to the workspace.
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
    /// It changes nothing in the workspace; ignored files that it writes are kept for the run.
    Ignored,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleAction {
    Allow,
    Ask,
    Forbid,
}

/// Kinds of call.
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

/// Tells a run something: every step at work hears it with its next model request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"text": "use ISO dates"}))]
pub struct Message {
    pub text: String,
}

/// Why a run is cancelled, or a command stopped; may be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Note {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What is taken back of a run's changes; without a body, all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"to": 17}))]
pub struct UndoChanges {
    /// The number of an event: what the run committed after it is taken back.
    #[serde(default)]
    pub to: u64,
}

/// Files and folders that are merged; without a body, all that the run's layer holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"paths": ["dist"]}))]
pub struct MergeChanges {
    /// Paths relative to the workspace; empty for all of the layer.
    #[serde(default)]
    pub paths: BTreeSet<String>,
}

/// Ignored files that only a run has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"files": 2}))]
pub struct RunLayer {
    /// Number of files and links that the workspace does not have, or has with another size or an earlier time of
    /// modification.
    pub files: usize,
}

/// Ends a run of another framework's agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"result": {"summary": "done"}}))]
pub struct Finish {
    #[schema(value_type = Value)]
    pub result: Value,
}
