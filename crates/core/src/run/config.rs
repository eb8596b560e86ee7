//! Settings of one run: its workspace, its model, the gates that it adds.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::asking::Asking;
use crate::definition::{Definition, Smart};
use crate::json::is_default;
use crate::policy::{Checkpoint, Rule};

/// Settings of a run, fixed at its start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Canonical path of the directory that file tools and commands stay beneath.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Name of a configured model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// True if the run is unattended. It passes what its workflow allows in that case; everything else waits.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unattended: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub gates: Gates,
    /// True if agents ask no person, whatever the workflow says. Gates still ask.
    #[serde(default, skip_serializing_if = "is_default")]
    pub asks_nobody: bool,
    /// True if reviews are approved as soon as they open, with a record of that (contract E20).
    #[serde(default, skip_serializing_if = "is_default")]
    pub unreviewed: bool,
    /// Tools that no agent of the run has, whatever the workflow says.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub without_tools: BTreeSet<String>,
}

impl Config {
    /// Returns the workflow of a run with this config. It removes tools, and adds none except the one for assumptions.
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

/// Gates that the run adds. They tighten; an `allow` affects only calls that no rule of the workflow covers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "four independent gates, named as the workflow names them")]
pub struct Gates {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// Mandatory checkpoints, in addition to the workflow's.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub mandatory: BTreeSet<Checkpoint>,
    /// Smart approval, in addition to the workflow's: more keywords, and a judge if the workflow has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smart: Option<Smart>,
    /// Each of these gates asks even if the workflow's does not.
    #[serde(skip_serializing_if = "is_default")]
    pub plan: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub before_step: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub after_step: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub on_error: bool,
}

/// Origin of the agents that work on the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Holdshort runs the agents of the workflow.
    Native,
    /// An agent of another framework asks; `finish` ends the run.
    External,
    /// An agent of another framework asks once; the resolution ends the run.
    ExternalOnce,
}
