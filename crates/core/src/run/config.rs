//! What one run sets for itself: where it works, which model plays, which gates it adds.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::asking::Asking;
use crate::definition::{Definition, Smart};
use crate::json::is_default;
use crate::policy::{Checkpoint, Rule};

/// Fixed at the start of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The canonical path of the folder that file tools and commands stay beneath.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The name of a configured model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Nobody is there to answer: what its workflow lets through then, passes. All else waits.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unattended: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub gates: Gates,
    /// Agents ask nobody, whatever the workflow says. Gates do.
    #[serde(default, skip_serializing_if = "is_default")]
    pub asks_nobody: bool,
    /// Reviews are let through as soon as they are opened, and say so (contract E20).
    #[serde(default, skip_serializing_if = "is_default")]
    pub unreviewed: bool,
    /// Tools that no agent of the run has, whatever the workflow says.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub without_tools: BTreeSet<String>,
}

impl Config {
    /// The workflow as a run with this config has it. It takes tools away, and adds none but that for assumptions.
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

/// Gates that the run adds. They tighten; an `allow` frees only what no rule of the workflow speaks of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "four independent gates, named as the workflow names them")]
pub struct Gates {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// Where a person must speak, beside the workflow's own checkpoints.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub mandatory: BTreeSet<Checkpoint>,
    /// Beside the workflow's own: its keywords, and its judge where the workflow has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smart: Option<Smart>,
    /// Each of these asks where the workflow does not.
    #[serde(skip_serializing_if = "is_default")]
    pub plan: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub before_step: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub after_step: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub on_error: bool,
}

/// Whose agent works on the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// We run the agents of its workflow.
    Native,
    /// An agent of another framework asks; `finish` ends the run.
    External,
    /// An agent of another framework asks once; the resolution ends the run.
    ExternalOnce,
}
