//! Rehearsal scripts: the replies and calls of each agent, turn by turn, for use without a configured model.
//!
//! Parses and validates scripts, including templates. Never renders a template or plays a step (`models` does).
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
//! `again: true` on the last reply of an agent repeats it for every further request. Without it such a request fails.
//!
//! Every text, and every string inside `arguments`, is a minijinja template. Its variables are `task` (the run's task),
//! `results.LABEL`, `last` (the newest result) and `messages` (messages of people since the previous reply).
//! `results.LABEL` is the text result of an earlier call with `as: LABEL`. `expect` must hold for the request that the
//! step answers. `contains` lists texts that its new part contains, `tools` lists tools that it offers.

use std::collections::BTreeMap;

use holdshort_core::message::FailureKind;
use serde_json::Value;

mod read;
mod template;

pub use read::parse;
pub(crate) use read::parse_for;

/// Replies of every agent, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    pub agents: BTreeMap<String, Vec<Step>>,
}

/// One reply of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub expect: Option<Expect>,
    pub play: Play,
    pub name: Option<String>,
    pub pause_ms: Option<u64>,
    /// True if this is the last reply and it repeats for every further request.
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
    /// Label for `results.LABEL` in later templates.
    pub name: Option<String>,
    pub tool: String,
    /// Arguments. Strings in them are templates.
    pub arguments: Value,
}

/// Conditions for the request that a step answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// Texts that some message since the previous reply contains.
    pub contains: Vec<String>,
    /// Tools that the request offers.
    pub tools: Vec<String>,
}
