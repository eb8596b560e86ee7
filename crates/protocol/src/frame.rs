//! Frames of the WebSocket `/v1/ws`: one JSON object per text message, told apart by `type`.
//!
//! `id` is always the client's own: of a subscription for as long as that lasts, of any other frame to find its
//! answer. Frames of a client refuse fields that they do not know; frames of the server may grow fields.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{Decision, Event, Interrupt, Preview, Problem, Role, Run};

/// From the client to the server. The first one is `hello`.
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

/// Says who it is. Neither field is needed where the request that opened the socket had an `Authorization`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// For clients that can not set headers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Of a browser's login; its cookie came with the request that opened the socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// Asks for events, answered with `subscribed`. Without a place to start from they start now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Subscribe {
    pub id: String,
    pub topic: Topic,
    /// Of the topic `run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Of the topic `run`: the `seq` of the last event that is known already; 0 for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Of the other topics: the `position` of the last event that is known already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// Whether text is sent while it arrives: `true` without it. There is none in the topic `inbox`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previews: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// What opens, decides and resolves interrupts, and who is asked: `interrupt_opened`, `decision_made`,
    /// `vote_withdrawn`, `interrupt_reassigned`, `interrupt_delegated`, `interrupt_reminded`, `interrupt_escalated`,
    /// `interrupt_snoozed`, `interrupt_resolved`. And for who may read everything what holds it up: `frozen`,
    /// `unfrozen`, `part_frozen`, `part_unfrozen`.
    Inbox,
    /// The events of one run, to its end.
    Run,
    /// Everything that the client may see.
    All,
}

/// Ends a subscription, answered with `ended`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Unsubscribe {
    pub id: String,
}

/// Decides on an interrupt, answered with `decided`. The same decision again has the same answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Decide {
    pub id: String,
    pub interrupt: String,
    /// The id of one of the interrupt's options.
    pub option: String,
    /// An answer, a reason, feedback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Replaces the whole arguments, plan or output; the answer to a question whose `response_schema` is not of texts.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Value>)]
    pub edit: Value,
    /// The version of the interrupt that was decided on; another one is refused as `stale`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Of an answer that was taken from history: the question that it answered first (`suggestions_from_history`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// How long its card was visible to you, in milliseconds, as a client that shows cards has counted. It is recorded with
    /// your decision, as what your client says; more than a day counts as a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewed_ms: Option<u64>,
    /// Open interrupts of the same run to release with the grant: ids out of `also_covers` that you saw and kept. Without
    /// them `approve_session` releases its own interrupt alone. One that is not open, not covered or not yours to decide
    /// is refused, and then nothing is released.
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

/// Tells a run something, answered with `told`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Tell {
    pub id: String,
    pub run: String,
    pub text: String,
}

/// Asks for a sign of life, answered with `pong`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Ping {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// From the server to the client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerFrame {
    /// Answers `hello`: the client is in.
    Welcome {
        person: String,
        role: Role,
        /// Of the server.
        version: String,
        /// How often the server asks whether the client is still there. A client that stays silent for four
        /// times as long is given up.
        ping_ms: u64,
        /// The end of the journal now. What is listed from here on and followed from this position has no gap.
        position: String,
    },
    /// Answers `subscribe`: events that follow this place will come.
    Subscribed {
        id: String,
        /// Of the topics `inbox` and `all`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position: Option<String>,
        /// Of the topic `run`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seq: Option<u64>,
    },
    /// Something happened.
    Event { id: String, event: Event },
    /// Text that arrives. A client that reads slowly loses some of it, and nothing else.
    Preview { id: String, preview: Preview },
    /// The subscription is over: the run has ended and its last event has been sent, or the client wished so,
    /// or the `error` before this frame says why.
    Ended { id: String },
    /// Answers `decide`: the interrupt with its resolution.
    Decided { id: String, interrupt: Box<Interrupt> },
    /// Answers `message`: the run as it is now.
    Told { id: String, run: Box<Run> },
    /// Answers `ping`.
    Pong {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// A frame was not carried out, or a subscription has something that can not be read.
    Error {
        /// Of the frame or the subscription.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        problem: Box<Problem>,
    },
    /// The server will close the connection. Nothing is lost: a client that comes back goes on from the last
    /// event that it has seen.
    Closing { reason: Reason },
}

/// Why the server closes a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ClosingReason)]
pub enum Reason {
    /// The server stops.
    Stopping,
    /// The client reads too slowly.
    Behind,
    /// Nothing was heard from the client.
    Silent,
}
