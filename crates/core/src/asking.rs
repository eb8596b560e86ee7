//! How agents ask people, and what they say where nobody answers (contract C1–C8).
//!
//! The tools that ask open a `question`; [`RECORD`] opens nothing. An agent that goes on without an answer writes down
//! with it what it assumes, so that a person can find every assumption beside the result that rests on it.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::json::is_default;
use crate::tool::{Runs, Spec};

/// What a workflow says of questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asking {
    /// Off: no tool asks, nothing is turned into a question, a limit ends the run with its reason.
    pub enabled: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub form: Form,
    #[serde(default, skip_serializing_if = "is_default")]
    pub deliver: Deliver,
    /// After so long a question counts as not answered, where no gate says when it expires. `None`: it waits.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timeout_ms: Option<u64>,
    /// An answer of the same subject to the same question that is not older than this counts without asking anybody.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reuse_ms: Option<u64>,
    /// While a question is open no other agent of the run begins anything (contract E28).
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

/// How an agent that has a tool to ask does it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// It calls the tool.
    #[default]
    Tool,
    /// Its whole reply is either questions or content (contract C8), and the tool is not shown to it. Each question
    /// becomes a call of that tool.
    Reply,
}

/// When people see the questions of agents that work side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deliver {
    /// Each as it is asked.
    #[default]
    AtOnce,
    /// Together, once no agent can go on without an answer (contract C8).
    PerStage,
}

/// What kind of question an agent may say that it is: shown to the person, and nothing else follows from it.
pub const KINDS: [&str; 4] = ["question", "observation", "suggestion", "clarification"];

/// The tool that writes an assumption down. An agent that asks has it as soon as a question of its own has no answer;
/// where asking is off every agent has it.
pub const RECORD: &str = "record_assumption";

pub fn record() -> Spec {
    Spec {
        name: RECORD.to_owned(),
        description: "Writes down something that you assume because nobody has told you. A person reads it beside your \
                      result. Record each assumption that your result rests on."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "assumption": { "type": "string", "minLength": 1, "description": "What you assume, in one sentence." },
                "question": { "type": "string", "description": "The question that it stands in for." },
                "why": { "type": "string", "description": "What makes it likely." },
            },
            "required": ["assumption"],
            "additionalProperties": false,
        }),
        runs: Runs::Records,
    }
}
