//! Sessions and what people allowed in them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A conversation with a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "ses_01k6f0000000000000000000bb", "name": "Release 1.2", "workflow": "pair", "state": "open",
    "expires_when_idle_ms": 86_400_000, "runs": ["run_01k6f0000000000000000000aa"], "grants": [],
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
    /// Its runs are paused, and none starts or resumes.
    Suspended,
    /// Over for good.
    Closed,
}

/// What makes a session before its first run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "Release 1.2", "workflow": "pair", "expires_when_idle_ms": 86_400_000}))]
pub struct OpenSession {
    /// 1 to 500 bytes.
    #[serde(default)]
    pub name: Option<String>,
    /// The workflow that its runs are meant to be of. It keeps no other out.
    #[serde(default)]
    pub workflow: Option<String>,
    /// How long nothing may happen in it before it is closed; a year at most. Without it, it stays open.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 31_536_000_000_u64)]
    pub expires_when_idle_ms: Option<u64>,
}

/// A remembered decision: calls that it covers are not asked about again in its session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Grant {
    pub id: String,
    pub session: String,
    pub tool: String,
    pub workspace: String,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub revoked_at: Option<String>,
}

/// Whether a grant holds.
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
