//! Deliveries: notifications that channels send, and their states.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Notification about one event through one channel. The notification contains no content of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "dlv_01k6f0000000000000000000dd", "channel": "legal-slack", "event": "opened",
    "interrupt": "int_01k6f0000000000000000000cc", "run": "run_01k6f0000000000000000000aa", "seq": 12,
    "state": "waiting", "attempts": 1, "status": 503, "error": "answered 503 Service Unavailable",
    "created_at": "2026-01-01T12:00:00Z", "next_at": "2026-01-01T12:00:05.4Z"
}))]
pub struct Delivery {
    /// Id of the delivery. All attempts send the same id as `webhook-id`.
    pub id: String,
    pub channel: String,
    pub event: Occasion,
    /// Id of the interrupt. `interrupt` and `run` are absent if the notification is about a checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Sequence number of the event in the run's stream or, for a checkpoint, in the stream `sys`.
    pub seq: u64,
    pub state: DeliveryState,
    pub attempts: u64,
    /// HTTP or SMTP status of the last attempt. Absent if there was no response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u64>,
    /// Reason why the last attempt failed, or why there are no more attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub created_at: String,
    /// Time of the next attempt. Absent if no further attempt is planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// True while a node is sending the notification.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sending: bool,
    /// All attempts to send the notification. Present if the delivery is requested by its id, and in the receipt of an
    /// interrupt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Attempt>,
}

/// One attempt to deliver a notification, and the receiver's response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Attempt {
    /// Number of the attempt, from 1.
    pub number: u64,
    pub at: String,
    pub took_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// SHA-256 of the request body that was sent, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Beginning of the receiver's response. Deleted after 30 days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// Kind of event about which a notification is sent.
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
    /// The notification waits for its first or next attempt.
    Waiting,
    /// The receiver accepted the notification.
    Delivered,
    /// All attempts failed. The notification is not sent again.
    Failed,
    /// The notification was not sent, because it became obsolete. For example, the interrupt was resolved first.
    Dropped,
}

/// A channel in the configuration of this server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Channel {
    pub name: String,
    /// Type of the channel, as in the channels file, such as `slack`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Time of the first failed attempt since the last successful attempt. Absent if the last attempt succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<String>,
    /// Time at which the channel was disabled. Absent while the channel is enabled. To enable the channel again, retry
    /// one of its deliveries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}
