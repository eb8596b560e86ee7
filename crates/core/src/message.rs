//! What goes to a model and what comes back, in no provider's format.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reply::{self, Flaw};

/// One request to a model: a projection of the journal with every call paired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The agent's name in the workflow.
    pub agent: String,
    /// The name of a configured model; `None` for the installation's default.
    pub model: Option<String>,
    pub messages: Vec<Message>,
    pub tools: Vec<Declaration>,
    /// JSON Schema of the answer, where it is no free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<Value>,
}

/// A tool as a model sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Declaration {
    pub name: String,
    pub description: String,
    pub parameters: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    System {
        text: String,
    },
    User {
        text: String,
    },
    Assistant {
        /// Whose words: a step may have been another agent's before.
        agent: String,
        text: String,
        calls: Vec<Call>,
    },
    /// The result of the call with this id, directly after the assistant message that made it.
    Tool {
        call: String,
        name: String,
        text: String,
    },
}

/// A call in the history. The id is ours, unique in the run, never the provider's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub id: String,
    pub tool: String,
    pub arguments: Value,
}

/// A model's reply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub text: String,
    pub calls: Vec<RequestedCall>,
    pub usage: Usage,
    /// The model that answered, as the provider names it.
    pub model: String,
    pub stop: Stop,
}

impl Reply {
    /// Neither a call nor words. One that stopped before its end is none of these: it is told why.
    pub fn says_nothing(&self) -> bool {
        let says = if self.stop == Stop::Whole {
            reply::says_something(&self.text)
        } else {
            !self.text.trim().is_empty()
        };
        self.calls.is_empty() && !says
    }
}

/// Whether a reply is whole, as far as its provider says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    #[default]
    Whole,
    /// At a length.
    Cut,
    /// A part of it is held back.
    Filtered,
    /// For a reason that does not say that it is whole.
    Unclear,
}

impl Stop {
    /// What keeps the reply from being an end.
    pub fn flaw(self) -> Option<Flaw> {
        match self {
            Self::Whole => None,
            Self::Cut => Some(Flaw::Cut),
            Self::Filtered => Some(Flaw::Filtered),
            Self::Unclear => Some(Flaw::Unclear),
        }
    }
}

/// A call as the model asked for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestedCall {
    pub tool: String,
    pub arguments: Arguments,
}

/// Arguments as they came: JSON, or a text that is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    Json(Value),
    Malformed(String),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
}

/// Why a model call brought no reply. The run decides what follows; nobody retries behind its back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    /// What the provider asked for (`Retry-After`), in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// For a person; never holds a key.
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// 429.
    RateLimited,
    /// 5xx, connection refused or reset.
    Unavailable,
    /// The stream ended before the reply did.
    Cut,
    TimedOut,
    /// Neither text nor a call, or bytes that are no reply.
    Unusable,
    /// The request holds more than the model takes at once.
    TooLong,
    /// Any other 4xx: the request itself is wrong, or the key.
    Rejected,
    /// A rehearsal script that has no such reply, or whose `expect` does not hold.
    Script,
}

impl FailureKind {
    /// Whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimited | Self::Unavailable | Self::Cut | Self::TimedOut | Self::Unusable => true,
            Self::TooLong | Self::Rejected | Self::Script => false,
        }
    }
}
