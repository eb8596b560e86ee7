//! Events and previews in the form that clients receive.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// One event of the journal. A stored event never changes, except that its content may be erased.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "stream": "run_01k6f0000000000000000000aa", "seq": 3, "run": "run_01k6f0000000000000000000aa",
    "at": "2026-01-31T09:30:00.000Z", "actor": {"id": "operator", "role": "operator", "via": "cli"},
    "type": "message_added", "data": {"content": {"text": "use ISO dates"}}
}))]
pub struct Event {
    /// Id of the event's stream: a run id, a session id, or `sys`.
    pub stream: String,
    /// Sequence number in the stream, from 1 without gaps.
    pub seq: u64,
    /// Opaque position of the event among the events of all streams. Present if the client reads all streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Time of the event (RFC 3339, UTC).
    #[schema(format = DateTime)]
    pub at: String,
    pub actor: Actor,
    #[serde(rename = "type")]
    pub kind: String,
    /// Facts of the event. The member `content` of this object has the form `{text?, data?}`: texts, arguments and
    /// results.
    #[schema(value_type = Object)]
    pub data: Value,
}

impl Event {
    /// Returns true if the event ends its run.
    pub fn ends_run(&self) -> bool {
        matches!(self.kind.as_str(), "run_completed" | "run_failed" | "run_cancelled")
    }
}

/// An event as it is stored, with its hash and the hash of the event before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditRecord {
    pub stream: String,
    pub seq: u64,
    /// The part of the stored event that `hash` covers, as text: type, time, actor, facts, and the digest of the
    /// content. `hash` is computed over these bytes.
    pub head: String,
    /// Stored texts, arguments and results. Absent if the event has no content or if the content was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// SHA-256 of `previous` and `head`, as 64 hexadecimal digits.
    pub hash: String,
    /// Hash of the previous event of the same stream. All zeros for the first event.
    pub previous: String,
}

/// Authenticated author of an event: a person, an agent, a service, or Holdshort itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Actor {
    pub id: String,
    pub role: Role,
    /// Type of client that sent the request. Absent if Holdshort itself is the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// Id of the person who created the login link with which the actor signed in. Absent if no other person created
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub let_in_by: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Admin,
    Operator,
    Reviewer,
    Agent,
    Auditor,
    /// Holdshort itself, for example when a deadline passes, a rule applies, or a run resumes.
    Engine,
}

/// Text that arrives while a model replies or a command runs. Previews are never stored: an event with the complete
/// result follows. In a stream of server-sent events, a preview has the event name `preview` and no id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Preview {
    pub run: String,
    pub step: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    pub kind: PreviewKind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PreviewKind {
    /// Text of a model's reply.
    Text,
    /// Output of a command.
    Output,
}
