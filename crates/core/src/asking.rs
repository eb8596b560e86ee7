//! Questions of agents to people, and assumptions in place of missing answers (contract C1–C8).
//!
//! The tools that ask open a `question`; [`RECORD`] opens nothing. An agent that continues without an answer records
//! its assumption, so that a person finds every assumption next to the result that depends on it.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::json::is_default;
use crate::tool::{Runs, Spec};

/// Settings of a workflow for questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asking {
    /// If false, agents have no tools to ask, no output becomes a question, and a limit ends the run with its reason.
    pub enabled: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub form: Form,
    #[serde(default, skip_serializing_if = "is_default")]
    pub deliver: Deliver,
    /// Time after which a question expires unanswered, if no gate sets an expiry. `None`: it waits without limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timeout_ms: Option<u64>,
    /// Maximum age of an earlier answer that is reused. The answer must have the same subject and the same question.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reuse_ms: Option<u64>,
    /// If true, no other agent of the run begins anything while a question is open (contract E28).
    #[serde(default, skip_serializing_if = "is_default")]
    pub pause_siblings: bool,
}

impl Default for Asking {
    fn default() -> Self {
        Self {
            enabled: true,
            form: Form::default(),
            deliver: Deliver::default(),
            timeout_ms: None,
            reuse_ms: None,
            pause_siblings: false,
        }
    }
}

/// Form in which an agent with a tool to ask does so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The agent calls the tool.
    #[default]
    Tool,
    /// The agent's whole reply is either questions or content (contract C8), and the tool is not shown to it. Each
    /// question becomes a call of that tool.
    Reply,
}

/// Time at which people see the questions of agents that run in parallel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deliver {
    /// Each question as soon as it is asked.
    #[default]
    AtOnce,
    /// All questions together, once no agent can continue without an answer (contract C8).
    PerStage,
}

/// Kinds that an agent may give its question. The kind is shown to the person and has no other effect.
pub const KINDS: [&str; 4] = ["question", "observation", "suggestion", "clarification"];

/// Tool that records an assumption. An agent that asks has it after its first question without an answer. If asking is
/// disabled, every agent has it.
pub const RECORD: &str = "record_assumption";

pub fn record() -> Spec {
    Spec {
        name: RECORD.to_owned(),
        description:
            "Records an assumption that you make because information is missing. A person reads it together \
                      with your result. Record each assumption that your result depends on."
                .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "assumption": { "type": "string", "minLength": 1, "description": "The assumption, in one sentence." },
                "question": { "type": "string", "description": "The question that the assumption answers." },
                "why": { "type": "string", "description": "The evidence for the assumption." },
            },
            "required": ["assumption"],
            "additionalProperties": false,
        }),
        runs: Runs::Records,
    }
}
