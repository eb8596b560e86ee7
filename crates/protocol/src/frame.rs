//! Frames of the WebSocket `/v1/ws`: one JSON object for each text message, distinguished by `type`.
//!
//! The client chooses each `id`. The id of a subscription is used as long as the subscription lasts, the id of any
//! other frame only in its reply. A client frame with an unknown field is rejected. Server frames may get new
//! fields.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{Decision, Event, Interrupt, Preview, Problem, Role, Run};

/// Frame from the client to the server. The first one is `hello`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ClientFrame {
    Hello(Hello),
    Subscribe(Subscribe),
    Unsubscribe(Unsubscribe),
    Decide(Decide),
    Message(Tell),
    Ping(Ping),
}

/// Authenticates the client. Neither field is needed if the request that opened the socket had `Authorization`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// Bearer token, for clients that cannot set headers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Secret of a browser's login. The login's cookie came with the request that opened the socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// Subscribes to events; the reply is `subscribed`. Without a start position, the events begin now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Subscribe {
    pub id: String,
    pub topic: Topic,
    /// Id of the run. Only for the topic `run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// `seq` of the last event that the client has; 0 for all events. Only for the topic `run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// `position` of the last event that the client has. Only for the topics `inbox` and `all`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// True to receive text while it arrives; the default. The topic `inbox` has no previews.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previews: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// Events that open, decide, resolve or reassign interrupts: `interrupt_opened`, `decision_made`,
    /// `vote_withdrawn`, `interrupt_reassigned`, `interrupt_delegated`, `interrupt_reminded`,
    /// `interrupt_escalated`, `interrupt_snoozed`, `interrupt_resolved`. Clients that may read all runs also get
    /// freezes: `frozen`, `unfrozen`, `part_frozen`, `part_unfrozen`.
    Inbox,
    /// All events of one run, to its end.
    Run,
    /// All events that the client may read.
    All,
}

/// Ends a subscription; the reply is `ended`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Unsubscribe {
    pub id: String,
}

/// Decides on an interrupt; the reply is `decided`. A repeated decision gets the same reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Decide {
    pub id: String,
    pub interrupt: String,
    /// Id of one of the interrupt's options.
    pub option: String,
    /// An answer, a reason, or feedback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Replaces the whole arguments, plan or output, or answers a question whose `response_schema` is not of texts.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Value>)]
    pub edit: Value,
    /// Version of the interrupt that the decision is about. Another version is rejected as `stale`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Id of the question that first got this answer, if it was taken from `suggestions_from_history`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Milliseconds for which your client showed the card. The value is recorded with your decision and is not
    /// verified. More than a day is recorded as a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewed_ms: Option<u64>,
    /// Open interrupts of the same run to release with the grant: ids from `also_covers` that you saw and kept.
    /// Without them `approve_session` releases only its own interrupt. If one is not open, not covered or not yours
    /// to decide, the decision is rejected and nothing is released.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100)]
    pub also: Vec<String>,
    /// Ids that your client listed before you decided, kept or not. They are recorded with your decision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100)]
    pub also_shown: Vec<String>,
}

impl Decide {
    pub fn decision(self) -> Decision {
        let Self { id: _, interrupt: _, option, text, edit, version, from, viewed_ms, also, also_shown } =
            self;
        Decision { option, text, edit, version, from, viewed_ms, also, also_shown }
    }
}

/// Sends a message to a run; the reply is `told`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Tell {
    pub id: String,
    pub run: String,
    pub text: String,
}

/// Checks the connection; the reply is `pong`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Ping {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// Frame from the server to the client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerFrame {
    /// Reply to `hello`: the client is authenticated.
    Welcome {
        person: String,
        role: Role,
        /// Version of the server.
        version: String,
        /// Interval of the server's pings, in milliseconds. The server closes the connection of a client that is
        /// silent for four intervals.
        ping_ms: u64,
        /// Current end of the journal. A list read after this frame and a subscription from this position leave no
        /// gap.
        position: String,
    },
    /// Reply to `subscribe`. Events after this position follow.
    Subscribed {
        id: String,
        /// Only for the topics `inbox` and `all`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position: Option<String>,
        /// Only for the topic `run`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seq: Option<u64>,
    },
    /// An event of a subscription.
    Event { id: String, event: Event },
    /// Text that arrives. A client that reads slowly misses previews, but no events.
    Preview { id: String, preview: Preview },
    /// The subscription has ended. The run has ended and its last event was sent, or the client unsubscribed, or
    /// the preceding `error` names the reason.
    Ended { id: String },
    /// Reply to `decide`: the interrupt with its resolution.
    Decided { id: String, interrupt: Box<Interrupt> },
    /// Reply to `message`: the current run.
    Told { id: String, run: Box<Run> },
    /// Reply to `ping`.
    Pong {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// A frame was rejected, or an event of a subscription cannot be read.
    Error {
        /// Id of the frame or the subscription.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        problem: Box<Problem>,
    },
    /// The server will close the connection. No event is lost: a client that reconnects continues after the last
    /// event that it received.
    Closing { reason: Reason },
}

/// Reason why the server closes a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ClosingReason)]
pub enum Reason {
    /// The server stops.
    Stopping,
    /// The client reads too slowly.
    Behind,
    /// The client was silent for too long.
    Silent,
}
