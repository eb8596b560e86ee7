//! Requests to models and their replies, independent of the format of any provider.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reply::{self, Flaw};

/// Request to a model. The request is computed from the journal. Every tool call in the request is followed by its
/// result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Name of the agent in the workflow.
    pub agent: String,
    /// Name of a configured model. `None`: the default model of the installation.
    pub model: Option<String>,
    pub messages: Vec<Message>,
    pub tools: Vec<Declaration>,
    /// JSON Schema of the reply. `None`: the reply is free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<Value>,
}

/// Declaration of a tool for a model.
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
        /// Agent that wrote the message. Earlier turns of a step may come from a different agent.
        agent: String,
        text: String,
        calls: Vec<Call>,
    },
    /// Result of the call with this id. The result directly follows the assistant message that made the call.
    Tool {
        call: String,
        name: String,
        text: String,
    },
}

/// Call in the history of a request. Holdshort creates the id, which is unique in the run; the provider's id is not
/// used.
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
    /// Returns true if the reply has neither calls nor words. In a reply that stopped early, any character except white
    /// space is a word.
    pub fn says_nothing(&self) -> bool {
        let says = if self.stop == Stop::Whole {
            reply::says_something(&self.text)
        } else {
            !self.text.trim().is_empty()
        };
        self.calls.is_empty() && !says
    }
}

/// Completeness of a reply, as the provider reported it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    #[default]
    Whole,
    /// The reply was cut off at a length limit.
    Cut,
    /// A content filter withheld a part of the reply.
    Filtered,
    /// The reply stopped for a reason that does not show whether it is complete.
    Unclear,
}

impl Stop {
    /// Returns the reason why the reply may not end a step. Returns `None` if the reply may end it.
    pub fn flaw(self) -> Option<Flaw> {
        match self {
            Self::Whole => None,
            Self::Cut => Some(Flaw::Cut),
            Self::Filtered => Some(Flaw::Filtered),
            Self::Unclear => Some(Flaw::Unclear),
        }
    }
}

/// Call that a model requested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestedCall {
    pub tool: String,
    pub arguments: Arguments,
}

/// Arguments as the model sent them: JSON, or malformed text.
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

/// Failure of a model call. Only the run decides whether to retry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    /// Delay before a retry that the provider requested (`Retry-After`), in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// Message for a person. The message never contains an API key.
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// HTTP status 429.
    RateLimited,
    /// HTTP status 5xx, or connection refused or reset.
    Unavailable,
    /// The stream ended before the reply was complete.
    Cut,
    TimedOut,
    /// The response has neither text nor a call, or is malformed.
    Unusable,
    /// The request exceeds the context window.
    TooLong,
    /// Any other HTTP status 4xx: the request or the API key is wrong.
    Rejected,
    /// The rehearsal script has no matching reply, or an `expect` of the script does not hold.
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
