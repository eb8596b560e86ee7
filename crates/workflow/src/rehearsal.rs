//! Rehearsal scripts: what each agent says and calls, turn by turn, when no model is configured.
//!
//! Parses and validates them, templates included; never renders one, never plays a step (`models` does).
//!
//! ```yaml
//! agents:
//!   pair:
//!     - text: "I look around first."          # template; may be left out when there are calls
//!       name: look                             # optional label of the step, for messages about it
//!       pause_ms: 400                          # optional: how long the reply takes
//!       calls:
//!         - {as: tree, tool: list_directory, arguments: {}}
//!     - text: "{% if 'FAILED' in results.tests %}They fail.{% endif %}"
//!       expect: {contains: ["exit code"], tools: [run_command]}
//!     - error: {kind: unavailable, message: "the provider is down"}
//! ```
//!
//! `again: true` on the last reply of an agent plays it whenever more is asked for. Without it that is a failure.
//!
//! Every text, and every string inside `arguments`, is a minijinja template over `task` (the run's task),
//! `results.LABEL` (the text result of an earlier call labelled `as: LABEL`), `last` (the newest result) and
//! `messages` (what people said since the previous reply). `expect` must hold for the request that the step
//! answers: `contains` are texts found in what is new in it, `tools` are tools that it offers.

use std::collections::BTreeMap;

use holdshort_core::message::FailureKind;
use serde_json::Value;

mod read;
mod template;

pub use read::parse;
pub(crate) use read::parse_for;

/// What every agent plays, in order.
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
    /// The last one, which is played as often as more is asked for.
    pub again: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Play {
    Reply {
        /// A template.
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
    /// The label for `results.LABEL` in later templates.
    pub name: Option<String>,
    pub tool: String,
    /// The strings inside are templates.
    pub arguments: Value,
}

/// What must hold for the request that a step answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// Texts that some message since the previous reply contains.
    pub contains: Vec<String>,
    /// Tools that the request offers.
    pub tools: Vec<String>,
}
