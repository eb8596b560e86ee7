//! Events as clients see them, and the previews beside them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Something that happened. Never changes once it is there; its texts may be erased.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "stream": "run_01k6f0000000000000000000aa", "seq": 3, "run": "run_01k6f0000000000000000000aa",
    "at": "2026-01-31T09:30:00.000Z", "actor": {"id": "operator", "role": "operator", "via": "cli"},
    "type": "message_added", "data": {"content": {"text": "use ISO dates"}}
}))]
pub struct Event {
    /// The stream that it belongs to: a run's id, a session's, or `sys`.
    pub stream: String,
    /// Its place in the stream, from 1 without a gap.
    pub seq: u64,
    /// Its place among the events of all streams, where these are read: opaque.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// RFC 3339, UTC.
    #[schema(format = DateTime)]
    pub at: String,
    pub actor: Actor,
    #[serde(rename = "type")]
    pub kind: String,
    /// The facts of its type; texts, arguments and results are below `content` as `{text?, data?}`.
    #[schema(value_type = Object)]
    pub data: Value,
}

impl Event {
    /// Whether its run has ended with it.
    pub fn ends_run(&self) -> bool {
        matches!(self.kind.as_str(), "run_completed" | "run_failed" | "run_cancelled")
    }
}

/// An event as the journal has it, with what proves it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditRecord {
    pub stream: String,
    pub seq: u64,
    /// The stored bytes: type, time, actor, facts, and the digest of the content. Its hash is that of these.
    pub head: String,
    /// Texts, arguments, results, as stored; not there where the event has none, or where it was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// SHA-256 of `previous` and `head`, as 64 hexadecimal digits.
    pub hash: String,
    /// The hash of the event before it in its stream; zeros for the first.
    pub previous: String,
}

/// Who did it, as authenticated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Actor {
    pub id: String,
    pub role: Role,
    /// The channel it came through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// Whoever made the link that they signed in with, where that is somebody else.
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
    /// Holdshort itself: a deadline, a rule, the run going on.
    Engine,
}

/// Text that arrives while a model answers or a command runs. Never stored: an event will say what came of
/// it. In a stream it has the event name `preview` and no id.
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
    /// Of a model.
    Text,
    /// Of a command.
    Output,
}
