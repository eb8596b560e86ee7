//! Requests to models and replies from them, independent of any provider's format.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reply::{self, Flaw};

/// One request to a model: a projection of the journal with every call paired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Name of the agent in the workflow.
    pub agent: String,
    /// Name of a configured model. `None` for the installation's default.
    pub model: Option<String>,
    pub messages: Vec<Message>,
    pub tools: Vec<Declaration>,
    /// JSON Schema of the reply. `None` for free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<Value>,
}

/// Declaration of a tool to a model.
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
        /// Author of the message. An earlier turn of a step may come from another agent.
        agent: String,
        text: String,
        calls: Vec<Call>,
    },
    /// Result of the call with this id, directly after the assistant message that made the call.
    Tool {
        call: String,
        name: String,
        text: String,
    },
}

/// Call in the history. Its id is Holdshort's own and unique in the run, never the provider's.
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
    /// Model that replied, as the provider names it.
    pub model: String,
    pub stop: Stop,
}

impl Reply {
    /// Returns true if the reply has neither calls nor words. A reply that stopped early is empty only without any
    /// text.
    pub fn says_nothing(&self) -> bool {
        let says = if self.stop == Stop::Whole {
            reply::says_something(&self.text)
        } else {
            !self.text.trim().is_empty()
        };
        self.calls.is_empty() && !says
    }
}

/// Completeness of a reply, as reported by its provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    #[default]
    Whole,
    /// Cut off at a length limit.
    Cut,
    /// Partly withheld by a content filter.
    Filtered,
    /// Stopped for a reason that does not imply completeness.
    Unclear,
}

impl Stop {
    /// Returns the flaw because of which the reply may not end a step.
    pub fn flaw(self) -> Option<Flaw> {
        match self {
            Self::Whole => None,
            Self::Cut => Some(Flaw::Cut),
            Self::Filtered => Some(Flaw::Filtered),
            Self::Unclear => Some(Flaw::Unclear),
        }
    }
}

/// Call as the model requested it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestedCall {
    pub tool: String,
    pub arguments: Arguments,
}

/// Arguments as received: JSON, or a malformed text.
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

/// Failure of a model call. The run decides what follows; no other layer retries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    /// Delay that the provider requested (`Retry-After`), in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// For a person. Never holds a key.
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// HTTP status 429.
    RateLimited,
    /// 5xx, connection refused or reset.
    Unavailable,
    /// The stream ended before the reply was complete.
    Cut,
    TimedOut,
    /// The response has neither text nor a call, or is not a valid reply.
    Unusable,
    /// The request exceeds the context window.
    TooLong,
    /// Any other 4xx: the request or the key is wrong.
    Rejected,
    /// The rehearsal script has no matching reply, or its `expect` does not hold.
    Script,
}

impl FailureKind {
    /// Returns true if the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimited | Self::Unavailable | Self::Cut | Self::TimedOut | Self::Unusable => true,
            Self::TooLong | Self::Rejected | Self::Script => false,
        }
    }
}
