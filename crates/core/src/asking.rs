//! How agents ask people, and what they say where nobody answers (contract C1–C8).
//!
//! The tools that ask open a `question`; [`RECORD`] opens nothing. An agent that goes on without an answer writes down
//! with it what it assumes, so that a person can find every assumption beside the result that rests on it.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::definition::{Agent, Definition, is_default};
use crate::tool::{Opens, Receiver, Runs, Spec};

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

impl Definition {
    /// Gives agents the tools that belong to its `asking`: where nobody is asked no tool asks; where somebody may not
    /// answer there is one to record assumptions, which no agent names and the run lends.
    pub fn settle_asking(&mut self) {
        if !self.asking.enabled {
            self.take_away(asks_people);
        }
        let asks = self.tools.values().any(|spec| spec.runs == Runs::Opens(Opens::Question));
        if asks || !self.asking.enabled {
            self.tools.insert(RECORD.to_owned(), record());
        }
    }

    /// Whether this agent has a tool to ask people with: a run may have taken it away.
    pub fn may_ask(&self, agent: &Agent) -> bool {
        let asks = |tool: &String| self.tools.get(tool).is_some_and(asks_people);
        self.asking.enabled && agent.tools.iter().any(asks)
    }

    /// Takes tools from every agent. Rules keep the names: a rule that matches one tool must not begin to match all.
    pub(crate) fn take_away(&mut self, is_gone: impl Fn(&Spec) -> bool) {
        self.tools.retain(|_, spec| !is_gone(spec));
        for agent in self.agents.values_mut() {
            agent.tools.retain(|tool| self.tools.contains_key(tool));
        }
    }
}

/// Whether a tool asks people, or hands over to one.
fn asks_people(spec: &Spec) -> bool {
    matches!(spec.runs, Runs::HandsOver(Receiver::Admin) | Runs::Opens(Opens::Question))
}
