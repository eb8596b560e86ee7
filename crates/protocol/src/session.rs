//! Sessions, their conversations, and their grants and refusals.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::run::RunConfig;
use crate::usage::{Cost, Usage};

/// A conversation with a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "ses_01k6f0000000000000000000bb", "name": "Release 1.2", "workflow": "pair", "state": "open",
    "expires_when_idle_ms": 86_400_000, "runs": ["run_01k6f0000000000000000000aa"], "grants": [],
    "usage": {"requests": 2, "input_tokens": 3_120, "output_tokens": 240}, "duration_ms": 7_120,
    "created_at": "2026-01-31T09:30:00.000Z", "updated_at": "2026-01-31T09:30:07.120Z"
}))]
pub struct Session {
    pub id: String,
    /// Name that the session was opened with. Absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Workflow that the session was opened for. Its runs may use other workflows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// Last run that a message of the session started. The run may have ended. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front_run: Option<String>,
    pub state: SessionState,
    /// `completed` if a person closed the session, `expired` if it was idle for too long. Absent until it is
    /// closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<String>,
    /// Idle time in milliseconds after which the session is closed. Absent if it stays open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_when_idle_ms: Option<u64>,
    /// Ids of its newest runs. `GET /v1/runs?session=` lists all.
    pub runs: Vec<String>,
    /// Ids of the active grants.
    pub grants: Vec<String>,
    /// Token usage of all its runs.
    #[serde(default)]
    pub usage: Usage,
    /// Cost of the runs whose workflow names prices, one entry for each currency.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<Cost>,
    /// Milliseconds of all its runs together, each from its start to its end, or to its last event.
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
    /// Its runs are held, and none starts or resumes.
    Suspended,
    /// Closed permanently.
    Closed,
}

/// Request to open a session before its first run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "Release 1.2", "workflow": "pair", "expires_when_idle_ms": 86_400_000}))]
pub struct OpenSession {
    /// 1 to 500 bytes.
    #[serde(default)]
    pub name: Option<String>,
    /// Workflow of the runs that messages of the session start. Runs of other workflows may be started in it too.
    #[serde(default)]
    pub workflow: Option<String>,
    /// Configuration of these runs. It is checked against `workflow`, which must be given.
    #[serde(default)]
    pub config: Option<RunConfig>,
    /// Idle time in milliseconds after which the session is closed, at most one year. Without it the session stays
    /// open.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 31_536_000_000_u64)]
    pub expires_when_idle_ms: Option<u64>,
}

/// Message of a person to a session.
///
/// It answers the question in `to`. Otherwise it goes to the live front run, or starts the next run if there is
/// none. It is never a decision; only a question can be answered with words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"text": "Now add the tests."}))]
pub struct SessionMessage {
    /// 1 byte to 64 kB.
    pub text: String,
    /// Id of the interrupt of kind `question` that the message answers.
    #[serde(default)]
    pub to: Option<String>,
    /// Agent that receives the message and becomes the front agent. If another agent is in front, its run is
    /// cancelled first.
    #[serde(default)]
    pub agent: Option<String>,
}

/// Receipt for a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"session": "ses_01k6f0000000000000000000bb", "run": "run_01k6f0000000000000000000aa"}))]
pub struct Delivered {
    pub session: String,
    /// Run that received the message or was started by it.
    pub run: String,
    /// Id of the answered question. Absent if the message answered none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<String>,
}

/// A message in a session, from a person or an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "seq": 3, "at": "2026-01-31T09:30:00.000Z", "speaker": "person", "by": "operator",
    "text": "Now add the tests.", "run": "run_01k6f0000000000000000000aa"
}))]
pub struct Utterance {
    /// Sequence number in the session's stream.
    pub seq: u64,
    #[schema(format = DateTime)]
    pub at: String,
    pub speaker: Speaker,
    /// Id of the person, or name of the agent.
    pub by: String,
    /// Absent if it was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Run that the message belongs to, or that it started.
    pub run: String,
    /// Interrupt that the message opens, answers or comments on. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    Person,
    Agent,
}

/// A remembered approval. Calls that it covers need no decision in its session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Grant {
    pub id: String,
    pub session: String,
    pub tool: String,
    pub workspace: String,
    /// Description of the covered calls.
    pub words: String,
    /// Category that the grant covers, for all tools: `file_write`, `bash`, `code_exec`, `install` or `web`. Absent
    /// if it covers a single tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Covered programs, for a grant about commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<GrantCommand>,
    /// Id of the person who gave the grant.
    pub owner: String,
    /// Run in which the grant was given.
    pub run: String,
    pub interrupt: String,
    #[schema(format = DateTime)]
    pub added_at: String,
    /// Time from which the grant is invalid. Absent if it lasts as long as the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub revoked_at: Option<String>,
}

/// A remembered refusal: the call asks again in its session, whatever grant or rule allows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "interrupt": "int_01k6f0000000000000000000cc", "session": "ses_01k6f0000000000000000000bb",
    "run": "run_01k6f0000000000000000000aa", "tool": "run_command", "words": "`touch /work/shop/A`", "by": "operator",
    "refused_at": "2026-01-31T09:30:00.000Z"
}))]
pub struct Refusal {
    /// Interrupt that the person decided on. It identifies the refusal.
    pub interrupt: String,
    pub session: String,
    pub run: String,
    pub tool: String,
    /// The refused call on one line.
    pub words: String,
    /// Id of the person who refused.
    pub by: String,
    #[schema(format = DateTime)]
    pub refused_at: String,
    /// Time from which the refusal has no effect. Absent until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub revoked_at: Option<String>,
}

/// Filter for grants. An expired grant has neither status.
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
    /// True if the grant covers the command when it writes.
    pub writes: bool,
    /// Full paths of the files that the command may be redirected to and from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Options of the command with the values that change its effect. Without them the grant covers no writing
    /// command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<String>>,
    /// Folder that the command runs in. Without it the grant covers no writing command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}
