//! Questions of agents to people, and assumptions that replace missing answers (contract C1–C8).
//!
//! A tool that asks opens a `question` interrupt. The tool [`RECORD`] opens no interrupt, because it asks nobody. An
//! agent that continues without an answer calls this tool to record its assumption. People see every assumption
//! together with the result.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::json::is_default;
use crate::tool::{Runs, Spec};

/// Settings that control how the agents of a workflow ask people questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asking {
    /// True if agents may ask people. If false, the agents have no tools that ask people, and their outputs are never
    /// treated as questions. A run that reaches a limit ends.
    pub enabled: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub form: Form,
    #[serde(default, skip_serializing_if = "is_default")]
    pub deliver: Deliver,
    /// Time in milliseconds after which an unanswered question expires, if no gate sets an expiry. If `None`, the
    /// question waits without limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timeout_ms: Option<u64>,
    /// Maximum age in milliseconds of an earlier answer that is reused. An answer is reused only for the same question
    /// about the same subject.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reuse_ms: Option<u64>,
    /// True if the other agents of the run start no new work while a question is open (contract E28).
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

/// Way in which agents ask people questions. Applies to agents that have a tool that asks people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The agent asks by calling a tool.
    #[default]
    Tool,
    /// A reply of the agent contains either only questions, or only content (contract C8). The agent does not see the
    /// tool that asks people. Each question in a reply becomes a call of that tool.
    Reply,
}

/// Time at which people see the questions of agents that work in parallel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deliver {
    /// People see each question as soon as an agent asks it.
    #[default]
    AtOnce,
    /// People see all questions together, at the moment when every agent waits for an answer (contract C8).
    PerStage,
}

/// Kinds of questions. The agent chooses the kind when it asks. The kind is shown to the person, and has no other
/// effect.
pub const KINDS: [&str; 4] = ["question", "observation", "suggestion", "clarification"];

/// Name of the tool that records an assumption. An agent that may ask people gets the tool after its first unanswered
/// question. If agents may not ask people, every agent has the tool.
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
