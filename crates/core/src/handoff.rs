//! Tools with which an agent ends its work, or hands the work over to another agent or to a person (contracts A5, A7).
//! The module `run/handoff.rs` performs the hand-off.

use std::collections::BTreeSet;

use serde_json::json;

use crate::definition::Definition;
use crate::tool::{Receiver, Runs, Spec};

/// Receiver of a hand-off that ends the work instead of continuing it. No agent may have this name.
pub const TERMINATOR: &str = "terminator";
/// Receiver of a hand-off to a person. No agent may have this name.
pub const ADMIN: &str = "admin";

/// Maximum length of a tool name that all providers accept, in characters.
pub const TOOL_NAME_CHARS: usize = 64;

/// Returns the name of the tool that hands work over to the receiver `to`.
pub fn tool_name(to: &str) -> String {
    format!("handoff_to_{to}")
}

/// Returns the definition of the tool that hands work over to `to`: an agent, [`TERMINATOR`] or [`ADMIN`].
pub fn tool(to: &str) -> Spec {
    let (receiver, description, message) = match to {
        TERMINATOR => (
            Receiver::Terminator,
            "Say that the work is finished.".to_owned(),
            "the result; if omitted, the text of your reply is the result",
        ),
        ADMIN => (
            Receiver::Admin,
            "Stop and ask a person to look. The person lets you continue, tells you what to do, or aborts \
            the run."
                .to_owned(),
            "what the person needs to know",
        ),
        agent => (
            Receiver::Agent(agent.to_owned()),
            format!(
                "Hand the work over to `{agent}`, who reads this conversation and continues in your place."
            ),
            "what to do next",
        ),
    };
    let text = |description: &str| json!({ "type": "string", "description": description });
    Spec {
        name: tool_name(to),
        description,
        parameters: json!({
            "type": "object",
            "properties": { "message": text(message), "reason": text("why") },
            "additionalProperties": false,
        }),
        runs: Runs::HandsOver(receiver),
    }
}

/// Name of the tool that ends the step of an agent with `ends: finish`. Only this tool ends such a step.
pub const FINISH: &str = "finish";

pub fn finish() -> Spec {
    Spec {
        name: FINISH.to_owned(),
        description: "End your work. Say what you did and what you left undone. Only this call ends your \
            work."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "summary": { "type": "string", "minLength": 1, "description": "what you did, and the result" },
                "undone": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "the requested items that are not done, each with the reason; empty or \
                    omitted if nothing is left",
                },
            },
            "required": ["summary"],
            "additionalProperties": false,
        }),
        runs: Runs::HandsOver(Receiver::Terminator),
    }
}

impl Spec {
    /// Returns the receiver to which this tool hands work over. `None` for other tools.
    pub fn receiver(&self) -> Option<&Receiver> {
        match &self.runs {
            Runs::HandsOver(receiver) => Some(receiver),
            Runs::Here { .. } | Runs::Client { .. } | Runs::Opens(_) | Runs::Begins(_) | Runs::Records => {
                None
            }
        }
    }
}

impl Definition {
    /// Returns these agents, and all agents that can get their work through one or more hand-offs.
    pub fn reached_by<'a>(&self, agents: impl IntoIterator<Item = &'a str>) -> BTreeSet<&str> {
        let known = |name: &str| self.agents.get_key_value(name);
        let mut reached = BTreeSet::new();
        let mut next: Vec<_> = agents.into_iter().filter_map(known).collect();
        while let Some((name, agent)) = next.pop() {
            if !reached.insert(name.as_str()) {
                continue;
            }
            next.extend(agent.tools.iter().filter_map(|tool| match self.tools.get(tool)?.receiver()? {
                Receiver::Agent(to) => known(to),
                Receiver::Terminator | Receiver::Admin => None,
            }));
        }
        reached
    }
}
