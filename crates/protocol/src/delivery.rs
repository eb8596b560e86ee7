//! Deliveries: what channels were told, and how that stands.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What one channel is told of one event. It holds no content of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "dlv_01k6f0000000000000000000dd", "channel": "legal-slack", "event": "opened",
    "interrupt": "int_01k6f0000000000000000000cc", "run": "run_01k6f0000000000000000000aa", "seq": 12,
    "state": "waiting", "attempts": 1, "status": 503, "error": "answered 503 Service Unavailable",
    "created_at": "2026-01-01T12:00:00Z", "next_at": "2026-01-01T12:00:05.4Z"
}))]
pub struct Delivery {
    /// The same for each attempt: `webhook-id`.
    pub id: String,
    pub channel: String,
    pub event: Occasion,
    /// Not there where it tells of a checkpoint; nor is `run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Of the event in the stream of the run; of a checkpoint in that of the installation.
    pub seq: u64,
    pub state: DeliveryState,
    pub attempts: u64,
    /// What the last attempt was answered with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u64>,
    /// Why the last attempt failed, or why it is not sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub created_at: String,
    /// When it is tried next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// A node is sending it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sending: bool,
    /// Where one delivery is asked for, and in the record of an interrupt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Attempt>,
}

/// One attempt to send it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Attempt {
    /// From 1.
    pub number: u64,
    pub at: String,
    pub took_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// SHA-256 of the body that was sent, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The beginning of what was answered, for 30 days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// Why somebody is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Occasion {
    Opened,
    Asked,
    Reminded,
    Escalated,
    Resolved,
    Expired,
    Checkpoint,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// It is to be sent, for the first time or again.
    Waiting,
    /// The receiver has said that it has it.
    Delivered,
    /// It is not tried any more.
    Failed,
    /// It was not worth sending any more.
    Dropped,
}

/// A channel, as this server is configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Channel {
    pub name: String,
    /// `webhook`, `slack`, `teams`, `ntfy`, `email`, `crew`, `push`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The first failure since a delivery came through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<String>,
    /// Nothing is sent to it until a delivery of it is retried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}
