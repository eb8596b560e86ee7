//! Requests to models, and their replies, in a form that does not depend on the provider.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reply::{self, Flaw};

/// Request to a model, computed from the journal. The result of each tool call comes directly after the call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Name of the agent that sends the request, as in the workflow.
    pub agent: String,
    /// Name of a configured model. If `None`, the default model of the installation is used.
    pub model: Option<String>,
    pub messages: Vec<Message>,
    pub tools: Vec<Declaration>,
    /// JSON Schema of the reply. If `None`, the reply is free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<Value>,
}

/// Description of a tool that is sent to a model, so that the model can call the tool.
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
        /// Agent that wrote the message. In one step, several agents can write messages, because an agent can hand over
        /// its work.
        agent: String,
        text: String,
        calls: Vec<Call>,
    },
    /// Result of the call with this id. The result comes directly after the assistant message that contains the call.
    Tool {
        call: String,
        name: String,
        text: String,
    },
}

/// Tool call in the history of a request. Holdshort creates the id of the call. The id is unique in the run. Ids of the
/// provider are not used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub id: String,
    pub tool: String,
    pub arguments: Value,
}

/// Reply of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub text: String,
    pub calls: Vec<RequestedCall>,
    pub usage: Usage,
    /// Model that replied, under the name that the provider uses.
    pub model: String,
    pub stop: Stop,
}

impl Reply {
    /// Returns true if the reply contains no calls and no words. In a reply that stopped early, every character except
    /// white space is treated as a word.
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
    /// The provider cut off the reply at a length limit.
    Cut,
    /// A content filter removed a part of the reply.
    Filtered,
    /// The reply stopped for an unclear reason, so it may be incomplete.
    Unclear,
}

impl Stop {
    /// Returns the flaw because of which a reply that stopped in this way cannot end a step. `None` if such a reply can
    /// end the step.
    pub fn flaw(self) -> Option<Flaw> {
        match self {
            Self::Whole => None,
            Self::Cut => Some(Flaw::Cut),
            Self::Filtered => Some(Flaw::Filtered),
            Self::Unclear => Some(Flaw::Unclear),
        }
    }
}

/// Tool call that a model requested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestedCall {
    pub tool: String,
    pub arguments: Arguments,
}

/// Arguments of a tool call, as the model sent them: JSON, or text if the JSON is malformed.
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

/// Failure of a model call. The run decides whether to retry the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    /// Delay that the provider requested before a retry (`Retry-After`), in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// Message for a person about the failed model call. The message never contains an API key.
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The response of the model provider had HTTP status 429.
    RateLimited,
    /// The response of the model provider had HTTP status 5xx, or the connection was refused or reset.
    Unavailable,
    /// The stream from the model provider ended before the reply was complete.
    Cut,
    TimedOut,
    /// The response of the model provider is malformed, or it contains neither text nor a tool call.
    Unusable,
    /// The request does not fit into the model's context window.
    TooLong,
    /// The response of the model provider had another HTTP status 4xx: the request or the API key is wrong.
    Rejected,
    /// The reply is played from a rehearsal script, and the script has no matching reply or its `expect` does not
    /// match.
    Script,
}

impl FailureKind {
    /// Returns true if the same request can succeed when it is repeated.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimited | Self::Unavailable | Self::Cut | Self::TimedOut | Self::Unusable => true,
            Self::TooLong | Self::Rejected | Self::Script => false,
        }
    }
}
