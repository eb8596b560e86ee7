//! Sessions and what people allowed in them.

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
    /// That it was opened with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// That it was opened for; its runs may be of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The last run that was begun by what was said in it. It may have ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front_run: Option<String>,
    pub state: SessionState,
    /// Why it was closed: `completed` by a person, `expired` because nothing happened in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<String>,
    /// How long nothing may happen in it before it is closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_when_idle_ms: Option<u64>,
    /// Its newest runs; the others by `GET /v1/runs?session=`.
    pub runs: Vec<String>,
    /// Grants that hold now.
    pub grants: Vec<String>,
    /// Of all its runs.
    #[serde(default)]
    pub usage: Usage,
    /// Of those whose workflow names prices, one for each currency.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<Cost>,
    /// Of all its runs together, each from its start to its end, or to its last event until then.
    #[serde(default)]
    pub duration_ms: u64,
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When the session, or one of the runs named here, last changed.
    #[schema(format = DateTime)]
    pub updated_at: String,
}

/// Whether runs start in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    Open,
    /// Its runs rest, and none starts or resumes.
    Suspended,
    /// Over for good.
    Closed,
}

/// What makes a session before its first run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "Release 1.2", "workflow": "pair", "expires_when_idle_ms": 86_400_000}))]
pub struct OpenSession {
    /// 1 to 500 bytes.
    #[serde(default)]
    pub name: Option<String>,
    /// The workflow of the runs that are begun by what is said in it. Runs of others may be started in it too.
    #[serde(default)]
    pub workflow: Option<String>,
    /// What these runs begin with. It is checked against the workflow, which has to be named.
    #[serde(default)]
    pub config: Option<RunConfig>,
    /// How long nothing may happen in it before it is closed; a year at most. Without it, it stays open.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 31_536_000_000_u64)]
    pub expires_when_idle_ms: Option<u64>,
}

/// Something that is said in a session.
///
/// It answers the question that `to` names; or it reaches the front run; or, where none lives, it begins the next one.
/// It decides nothing: only the answer to a question is words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"text": "And now the tests."}))]
pub struct SessionMessage {
    /// 1 byte to 64 kB.
    pub text: String,
    /// The interrupt, of kind `question`, that it answers.
    #[serde(default)]
    pub to: Option<String>,
    /// The agent that is to hear it, and that is in front from here on. Where another one is at work its run is
    /// cancelled first.
    #[serde(default)]
    pub agent: Option<String>,
}

/// Where it went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"session": "ses_01k6f0000000000000000000bb", "run": "run_01k6f0000000000000000000aa"}))]
pub struct Delivered {
    pub session: String,
    /// The run that hears it, or that it has begun.
    pub run: String,
    /// The question that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<String>,
}

/// Something that was said in a session, by a person or an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "seq": 3, "at": "2026-01-31T09:30:00.000Z", "speaker": "person", "by": "operator",
    "text": "And now the tests.", "run": "run_01k6f0000000000000000000aa"
}))]
pub struct Utterance {
    /// In the session's stream.
    pub seq: u64,
    #[schema(format = DateTime)]
    pub at: String,
    pub speaker: Speaker,
    /// The person, or the agent's name.
    pub by: String,
    /// Absent where it was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The run that it was said in, or that it began.
    pub run: String,
    /// What it asks, answers or comments on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    Person,
    Agent,
}

/// A remembered decision: calls that it covers are not asked about again in its session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Grant {
    pub id: String,
    pub session: String,
    pub tool: String,
    pub workspace: String,
    /// What it covers, in words.
    pub words: String,
    /// Where it covers a whole category, whichever tool makes the call: `file_write`, `bash`, `code_exec`, `install` or
    /// `web`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Of commands: the programs that it covers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<GrantCommand>,
    /// Who gave it.
    pub owner: String,
    /// Where it was given.
    pub run: String,
    pub interrupt: String,
    #[schema(format = DateTime)]
    pub added_at: String,
    /// From then on it holds no longer. Absent: as long as the session.
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
    /// Interrupt that the person decided on. Names the refusal.
    pub interrupt: String,
    pub session: String,
    pub run: String,
    pub tool: String,
    /// The refused call on one line.
    pub words: String,
    /// Person who refused.
    pub by: String,
    #[schema(format = DateTime)]
    pub refused_at: String,
    /// From then on it holds no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub revoked_at: Option<String>,
}

/// Whether a grant holds. One that has expired is neither.
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
    /// Whether it covers the command when it writes.
    pub writes: bool,
    /// The files that it may be redirected to and from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The options of the line, with the values that say what it does. Without them nothing that writes is covered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<String>>,
    /// The folder that it runs in. Without it nothing that writes is covered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}
