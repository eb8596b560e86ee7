//! Sessions, their conversations, and their grants and refusals.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::run::RunConfig;
use crate::usage::{Cost, Usage};

/// Conversation between a person and agents, which consists of runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "ses_01k6f0000000000000000000bb", "name": "Release 1.2", "workflow": "pair", "state": "open",
    "expires_when_idle_ms": 86_400_000, "runs": ["run_01k6f0000000000000000000aa"], "grants": [],
    "usage": {"requests": 2, "input_tokens": 3_120, "output_tokens": 240}, "duration_ms": 7_120,
    "created_at": "2026-01-31T09:30:00.000Z", "updated_at": "2026-01-31T09:30:07.120Z"
}))]
pub struct Session {
    pub id: String,
    /// Name of the session. Absent if the session was opened without a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Workflow of the runs that messages in the session start. The session can also contain runs of other workflows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// Latest run that a message in the session started, even if it has ended. Absent if no message has started a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front_run: Option<String>,
    pub state: SessionState,
    /// Reason of the end: `completed` if a person closed the session, `expired` if the session was idle for too long.
    /// Absent until the session is closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<String>,
    /// Idle time in milliseconds after which the session is closed. Absent if the session never expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_when_idle_ms: Option<u64>,
    /// Ids of the newest runs of the session. `GET /v1/runs?session=` lists all runs of the session.
    pub runs: Vec<String>,
    /// Ids of the grants that are active in the session.
    pub grants: Vec<String>,
    /// Token usage of all runs of the session.
    #[serde(default)]
    pub usage: Usage,
    /// Total cost per currency, for the runs whose workflow defines prices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<Cost>,
    /// Sum of the durations of all runs, in milliseconds. A run that has not ended is counted up to its last event.
    #[serde(default)]
    pub duration_ms: u64,
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time of the last change of the session or of a run in `runs`.
    #[schema(format = DateTime)]
    pub updated_at: String,
}

/// State of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    Open,
    /// All runs of the session are paused. No run can start or resume.
    Suspended,
    /// Closed permanently.
    Closed,
}

/// Request to open a session before its first run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "Release 1.2", "workflow": "pair", "expires_when_idle_ms": 86_400_000}))]
pub struct OpenSession {
    /// Name of the session, 1 to 500 bytes.
    #[serde(default)]
    pub name: Option<String>,
    /// Workflow of the runs that messages in the session start. Runs of other workflows can also be started in the
    /// session.
    #[serde(default)]
    pub workflow: Option<String>,
    /// Configuration for the runs that messages in the session start. `workflow` is then required, because the
    /// configuration is checked against the workflow.
    #[serde(default)]
    pub config: Option<RunConfig>,
    /// Idle time in milliseconds after which the session is closed, at most one year. If absent, the session never
    /// expires.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 31_536_000_000_u64)]
    pub expires_when_idle_ms: Option<u64>,
}

/// Message of a person to a session.
///
/// If `to` names a question, the message answers it. Otherwise the message goes to the front run. If there is no live
/// front run, the message starts the next run. A message can answer only interrupts of the kind `question`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"text": "Now add the tests."}))]
pub struct SessionMessage {
    /// Text of the message, 1 byte to 64 kB.
    pub text: String,
    /// Id of the interrupt of kind `question` that the message answers.
    #[serde(default)]
    pub to: Option<String>,
    /// Name of the agent that receives the message and becomes the front agent. The run of a previous front agent is
    /// cancelled.
    #[serde(default)]
    pub agent: Option<String>,
}

/// Confirmation that a message was delivered to a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"session": "ses_01k6f0000000000000000000bb", "run": "run_01k6f0000000000000000000aa"}))]
pub struct Delivered {
    pub session: String,
    /// Id of the run that received the message or was started by it.
    pub run: String,
    /// Id of the question that the message answered. Absent if the message answered no question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<String>,
}

/// Message in a session, from a person or an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "seq": 3, "at": "2026-01-31T09:30:00.000Z", "speaker": "person", "by": "operator",
    "text": "Now add the tests.", "run": "run_01k6f0000000000000000000aa"
}))]
pub struct Utterance {
    /// Sequence number of the message's event in the session's stream.
    pub seq: u64,
    #[schema(format = DateTime)]
    pub at: String,
    pub speaker: Speaker,
    /// Id of the person or name of the agent that sent the message.
    pub by: String,
    /// Text of the message. Absent if the text was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Id of the run to which the message belongs, or which the message started.
    pub run: String,
    /// Id of the interrupt that the message opens, answers or comments on. Absent if the message concerns no interrupt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    Person,
    Agent,
}

/// Remembered approval. Calls in the session that match the grant need no further decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Grant {
    pub id: String,
    pub session: String,
    pub tool: String,
    pub workspace: String,
    /// Description of the allowed calls, for people.
    pub words: String,
    /// Category of tools, if the grant allows all tools of a category: `file_write`, `bash`, `code_exec`, `install` or
    /// `web`. Absent if the grant is about a single tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Programs that the grant allows, if it is about commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<GrantCommand>,
    /// Id of the person who gave the grant.
    pub owner: String,
    /// Run in which the grant was given.
    pub run: String,
    pub interrupt: String,
    #[schema(format = DateTime)]
    pub added_at: String,
    /// Time at which the grant expires. Absent if the grant lasts as long as the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub revoked_at: Option<String>,
}

/// Remembered refusal of a call. If the call is repeated in the session, a person must decide again, even if a grant or
/// a rule allows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "interrupt": "int_01k6f0000000000000000000cc", "session": "ses_01k6f0000000000000000000bb",
    "run": "run_01k6f0000000000000000000aa", "tool": "run_command", "words": "`touch /work/shop/A`", "by": "operator",
    "refused_at": "2026-01-31T09:30:00.000Z"
}))]
pub struct Refusal {
    /// Id of the interrupt at which the person refused, which also identifies the refusal.
    pub interrupt: String,
    pub session: String,
    pub run: String,
    pub tool: String,
    /// The refused call as one line of text.
    pub words: String,
    /// Id of the person who refused.
    pub by: String,
    #[schema(format = DateTime)]
    pub refused_at: String,
    /// Time at which the refusal was revoked. Absent if the refusal is in effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub revoked_at: Option<String>,
}

/// Status by which a list of grants is filtered. An expired grant has neither of these statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrantStatus {
    Active,
    Revoked,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GrantCommand {
    pub program: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subcommand: Option<String>,
    /// True if the grant also allows the command when it writes files.
    pub writes: bool,
    /// Absolute paths of the files that redirections of the command may read or write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Options that the command may have. An option includes its value if the value changes what the command does. If
    /// the list is absent, the command may not write files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<String>>,
    /// Directory in which the command must run. If it is absent, the command may not write files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}
