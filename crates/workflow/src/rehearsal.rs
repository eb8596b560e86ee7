//! Rehearsal scripts: scripted replies and calls of each agent, for runs without a configured model.
//!
//! Parses and validates scripts with their templates. The crate `models` renders the templates and plays the steps.
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
//! With `again: true`, the last reply of an agent answers every further request too. Without it, a further request
//! fails.
//!
//! Every text, and every string inside `arguments`, is a minijinja template. Its variables are `task` (the run's task),
//! `results.LABEL`, `last` (the newest result) and `messages` (messages of people since the previous reply).
//! `results.LABEL` is the text result of an earlier call with `as: LABEL`. `expect` has conditions for the model
//! request that the step answers: `contains` lists texts that the new messages of the request must contain, and `tools`
//! lists tools that the request must offer.

use std::collections::BTreeMap;

use holdshort_core::message::FailureKind;
use serde_json::Value;

mod read;
mod template;

pub use read::parse;
pub(crate) use read::parse_for;

/// Scripted replies of every agent, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    pub agents: BTreeMap<String, Vec<Step>>,
}

/// One scripted reply, or one scripted error.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub expect: Option<Expect>,
    pub play: Play,
    pub name: Option<String>,
    pub pause_ms: Option<u64>,
    /// True for the last reply of an agent if it answers every further request too.
    pub again: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Play {
    Reply {
        /// Template of the text.
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
    /// Label of the result for `results.LABEL` in later templates.
    pub name: Option<String>,
    pub tool: String,
    /// Arguments of the call. Strings in the arguments are templates.
    pub arguments: Value,
}

/// Conditions for the model request that a step answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// Texts, each of which must be in a message since the previous reply.
    pub contains: Vec<String>,
    /// Names of tools that the request must offer.
    pub tools: Vec<String>,
}
