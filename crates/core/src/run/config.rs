//! Settings of one run: its workspace, its model, and gates in addition to the workflow's gates.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::asking::Asking;
use crate::definition::{Definition, Smart};
use crate::json::is_default;
use crate::policy::{Checkpoint, Rule};

/// Settings of a run, which are set at its start and never change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Canonical path of the workspace directory. File tools and commands cannot leave this directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Name of the configured model that the run uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// True if the run is unattended. The run then skips the checkpoints that its workflow allows unattended runs to
    /// skip. All other decisions still wait for a person.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unattended: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub gates: Gates,
    /// True if the agents of the run may not ask people questions, even if the workflow allows questions. Gates still
    /// ask people.
    #[serde(default, skip_serializing_if = "is_default")]
    pub asks_nobody: bool,
    /// True if reviews are approved as soon as they open. The journal records each of these approvals (contract E20).
    #[serde(default, skip_serializing_if = "is_default")]
    pub unreviewed: bool,
    /// Tools that are removed from all agents of the run.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub without_tools: BTreeSet<String>,
}

impl Config {
    /// Returns the workflow of a run with this config. Removes tools from the workflow. Adds no tool except the tool
    /// that records assumptions.
    pub fn adapts(&self, definition: Definition) -> Definition {
        let mut definition = definition;
        definition.take_away(|spec| self.without_tools.contains(&spec.name));
        if self.asks_nobody && definition.asking.enabled {
            definition.asking = Asking { enabled: false, ..Asking::default() };
            definition.settle_asking();
        }
        definition
    }
}

/// Gates of a run in addition to the gates of its workflow. The additional gates can only make the run stricter. An
/// `allow` rule of the run applies only to calls that no rule of the workflow covers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "four independent gates, named as the workflow names them")]
pub struct Gates {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// Mandatory checkpoints of the run, in addition to the mandatory checkpoints of the workflow.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub mandatory: BTreeSet<Checkpoint>,
    /// Smart approval of the run, in addition to the smart approval of the workflow: further keywords, and a judge if
    /// the workflow has no judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smart: Option<Smart>,
    /// True if a person must approve plans, even if the gate of the workflow does not ask. The fields `before_step`,
    /// `after_step` and `on_error` do the same for the gates around a step.
    #[serde(skip_serializing_if = "is_default")]
    pub plan: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub before_step: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub after_step: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub on_error: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Holdshort runs the agents of the workflow.
    Native,
    /// An agent of another framework asks people through Holdshort. The agent's `finish` ends the run.
    External,
    /// An agent of another framework asks one question. The resolution of the question ends the run.
    ExternalOnce,
}
