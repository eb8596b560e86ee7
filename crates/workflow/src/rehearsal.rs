//! Rehearsal scripts: prepared replies and calls for each agent, which are used in runs if no model is configured.
//!
//! Parses and validates the scripts, including the templates in them. The crate `models` fills in the templates and
//! plays the steps.
//!
//! ```yaml
//! agents:
//!   pair:
//!     - text: "I look around first."          # template; optional if there are calls
//!       name: look                             # optional label of the step, for messages about it
//!       pause_ms: 400                          # optional: duration of the reply
//!       calls:
//!         - {as: tree, tool: list_directory, arguments: {}}
//!     - text: "{% if 'FAILED' in results.tests %}They fail.{% endif %}"
//!       expect: {contains: ["exit code"], tools: [run_command]}
//!     - error: {kind: unavailable, message: "the provider is down"}
//! ```
//!
//! With `again: true`, the last reply of an agent is repeated for all further requests. Without it, a further request
//! is an error.
//!
//! Every text, and every string inside `arguments`, is a minijinja template. A template can use these variables: `task`
//! (the run's task), `results.LABEL`, `last` (the newest result) and `messages` (messages of people since the previous
//! reply). `results.LABEL` is the result, as text, of an earlier call with `as: LABEL`. `expect` states conditions for
//! the model request to which the step replies: `contains` lists texts that must be in its new messages, and `tools`
//! lists tools that it must offer.

use std::collections::BTreeMap;

use holdshort_core::message::FailureKind;
use serde_json::Value;

mod read;
mod template;

pub use read::parse;
pub(crate) use read::parse_for;

/// Prepared replies of every agent in a rehearsal, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    pub agents: BTreeMap<String, Vec<Step>>,
}

/// One prepared reply of an agent, or one simulated error of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub expect: Option<Expect>,
    pub play: Play,
    pub name: Option<String>,
    pub pause_ms: Option<u64>,
    /// True if the agent's last reply is repeated for all further requests.
    pub again: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Play {
    Reply {
        /// Template of the text in the prepared reply.
        text: String,
        calls: Vec<ScriptedCall>,
    },
    Error {
        kind: FailureKind,
        message: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct ScriptedCall {
    /// Label of the tool call, by which later templates of the rehearsal refer to its result as `results.LABEL`.
    pub name: Option<String>,
    pub tool: String,
    /// Arguments of the prepared tool call, in which strings are templates.
    pub arguments: Value,
}

/// Conditions for the model request to which a step of a rehearsal replies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// Texts, each of which must be in one of the request's messages since the previous reply.
    pub contains: Vec<String>,
    /// Names of tools that the model request must offer.
    pub tools: Vec<String>,
}
