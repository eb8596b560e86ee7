//! Settings of one run: its workspace, its model, and further gates.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::asking::Asking;
use crate::definition::{Definition, Smart};
use crate::json::is_default;
use crate::policy::{Checkpoint, Rule};

/// Settings of a run that are chosen at its start and never change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Canonical path of the workspace directory of the run. File tools and commands cannot leave this directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Name of the configured model that the run uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// True if nobody attends the run. Checkpoints are then skipped if the workflow allows this. All other interrupts
    /// still wait for a person.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unattended: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub gates: Gates,
    /// True if the run's agents are not allowed to ask people questions, even if the workflow allows questions. Gates
    /// can still ask people.
    #[serde(default, skip_serializing_if = "is_default")]
    pub asks_nobody: bool,
    /// True if reviews in the run are approved at once, without a person. The journal records these approvals (contract
    /// E20).
    #[serde(default, skip_serializing_if = "is_default")]
    pub unreviewed: bool,
    /// Names of the tools that are removed from all agents of the run.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub without_tools: BTreeSet<String>,
}

impl Config {
    /// Returns the workflow, adapted to the configuration of a run. The tools that the configuration excludes are
    /// removed. The only tool that can be added is the tool that records assumptions.
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

/// Gates that decide on the tool calls and steps of one run, in addition to the workflow's gates. These gates can only
/// make the run stricter. An `allow` rule of the run applies only to calls that no rule of the workflow matches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "four independent gates, named as the workflow names them")]
pub struct Gates {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// Mandatory checkpoints of one run, in addition to those of the workflow.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub mandatory: BTreeSet<Checkpoint>,
    /// Smart approval of one run, in addition to that of the workflow: further keywords, and a model that judges tool
    /// calls if the workflow has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smart: Option<Smart>,
    /// True if a person must approve plans in the run, even if the workflow does not require this approval. In the same
    /// way, the fields `before_step`, `after_step` and `on_error` require a decision before a step, after a step, or
    /// after a failed step.
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
    /// Holdshort itself runs the agents of the workflow.
    Native,
    /// An external agent asks people through Holdshort. The run ends when the agent reports `finish`.
    External,
    /// An external agent asks one question. The run ends when the question is resolved.
    ExternalOnce,
}
