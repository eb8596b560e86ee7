//! Frames of the WebSocket `/v1/ws`. Each text message is one JSON object; its member `type` names the kind of frame.
//!
//! The client chooses each `id`. The id of a subscription is in use until the subscription ends. The id of any other
//! frame is only repeated in the reply. A client frame with an unknown field is rejected. Later versions may add fields
//! to server frames.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{Decision, Event, Interrupt, Preview, Problem, Role, Run};

/// Frame from the client to the server. The first frame must be `hello`.
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

/// Authenticates the client. Both fields are optional if the request that opened the socket had an `Authorization`
/// header.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// Bearer token, for clients that cannot set headers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Secret of a browser's login. The request that opened the socket must contain the session cookie of this login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// Subscribes to events. The reply is `subscribed`. Without a start position, only new events are sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Subscribe {
    pub id: String,
    pub topic: Topic,
    /// Id of the run. Only for the topic `run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// `seq` of the last event that the client has received. 0 requests all events. Only for the topic `run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// `position` of the last event that the client has received. Only for the topics `inbox` and `all`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// True to receive previews: unfinished text of models and unfinished output of commands. Defaults to true. The
    /// topic `inbox` has no previews.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previews: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// Events about interrupts, such as their opening, decision, reassignment and resolution: `interrupt_opened`,
    /// `decision_made`, `vote_withdrawn`, `interrupt_reassigned`, `interrupt_delegated`, `interrupt_reminded`,
    /// `interrupt_escalated`, `interrupt_snoozed`, `interrupt_resolved`. Clients that may read all runs also receive
    /// events about freezes: `frozen`, `unfrozen`, `part_frozen`, `part_unfrozen`.
    Inbox,
    /// All events of one run until the run ends.
    Run,
    /// All events that the client may read.
    All,
}

/// Ends a subscription. The reply is `ended`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Unsubscribe {
    pub id: String,
}

/// Decides on an interrupt. The reply is `decided`. A repeated decision gets the same reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Decide {
    pub id: String,
    pub interrupt: String,
    /// Id of an option of the interrupt.
    pub option: String,
    /// An answer, a reason, or feedback, depending on the option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Replacement for the arguments, the plan or the output as a whole. For a question whose `response_schema` accepts
    /// other values than text, this is the answer.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Value>)]
    pub edit: Value,
    /// Version of the interrupt that the person saw. If the interrupt has another version now, the decision is rejected
    /// with `stale`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Id of the earlier question if the answer was taken from `suggestions_from_history`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Milliseconds for which your client showed the card. The value is recorded with your decision and not verified.
    /// The maximum is one day; a higher value is recorded as one day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewed_ms: Option<u64>,
    /// Ids from `also_covers` that the person saw and left selected. The grant of the decision also approves these
    /// interrupts. With an empty list, `approve_session` approves only the interrupt of this decision. The whole
    /// decision is rejected if an interrupt in the list is not open, is not covered by the grant, or may not be decided
    /// by you.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100)]
    pub also: Vec<String>,
    /// Ids from `also_covers` that your client showed to the person before the decision, selected or deselected. The
    /// server records these ids with your decision.
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

/// Sends a message to a run. The reply is `told`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Tell {
    pub id: String,
    pub run: String,
    pub text: String,
}

/// Checks the connection. The reply is `pong`.
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
        /// Interval between the server's pings, in milliseconds. A client that is silent for four intervals is
        /// disconnected.
        ping_ms: u64,
        /// Position of the newest event in the journal. To miss no event, read lists after this frame, and subscribe
        /// with this position.
        position: String,
    },
    /// Response to `subscribe`: the subscription has started. The server sends the events after its start position.
    Subscribed {
        id: String,
        /// Position after which events are sent. Only for the topics `inbox` and `all`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position: Option<String>,
        /// Sequence number after which events are sent. Only for the topic `run`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seq: Option<u64>,
    },
    /// Event of a subscription. `id` is the id of the subscription.
    Event { id: String, event: Event },
    /// Unfinished text of a model or a command. A slow client may miss previews, but never events.
    Preview { id: String, preview: Preview },
    /// Notice that the subscription has ended, because the run ended or the client unsubscribed. After any other cause,
    /// an `error` frame was sent before this frame.
    Ended { id: String },
    /// Response to `decide`: the interrupt with its new state.
    Decided { id: String, interrupt: Box<Interrupt> },
    /// Response to `message`: the run with its current state.
    Told { id: String, run: Box<Run> },
    /// Reply to `ping`.
    Pong {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// The server rejected a client frame, or cannot read an event of a subscription.
    Error {
        /// Id of the rejected frame or of the subscription.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        problem: Box<Problem>,
    },
    /// The server is about to close the connection. To lose no event, reconnect and subscribe after the last event that
    /// you received.
    Closing { reason: Reason },
}

/// Reason why the server closes a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ClosingReason)]
pub enum Reason {
    /// The server is shutting down.
    Stopping,
    /// The client does not read frames fast enough.
    Behind,
    /// The client sent nothing for too long.
    Silent,
}
