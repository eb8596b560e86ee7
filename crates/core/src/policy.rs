//! Policy as data: rules, mandatory checkpoints, the reach of grants. `gate/` applies it to calls.

use serde::{Deserialize, Serialize};

use crate::tool::Category;

/// Rule of a policy. Every list that is not empty must match. The first rule that matches applies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Full tool names.
    pub tools: Vec<String>,
    /// Command patterns, matched on parsed words: `git push *`.
    pub commands: Vec<String>,
    /// Globs over paths relative to the workspace.
    pub paths: Vec<String>,
    /// [Patterns](crate::web::Pattern) over host and path of a URL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    pub categories: Vec<Category>,
    pub agents: Vec<String>,
    /// Required changes of the call, as its trial shows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangeScope>,
    /// Number of deleted files. An asking or forbidding rule matches from this number on. An allowing rule matches up
    /// to this number; with `changes` alone, it matches no deletion. Files that git ignores do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletes: Option<u32>,
    pub action: RuleAction,
    pub reason: Option<String>,
}

impl Rule {
    /// Returns true if the rule covers every call, of one agent or of all.
    pub fn covers_every_call(&self) -> bool {
        let Self {
            tools,
            commands,
            paths,
            urls,
            categories,
            agents: _,
            changes,
            deletes,
            action: _,
            reason: _,
        } = self;
        (tools.is_empty() || tools.iter().any(|tool| tool == "*"))
            && [commands, paths, urls].into_iter().all(Vec::is_empty)
            && categories.is_empty()
            && changes.is_none()
            && deletes.is_none()
    }
}

/// Changes that a rule covers. An allowing rule covers calls whose changes all lie in the scope. An asking or
/// forbidding rule covers calls with at least one change in the scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ChangeScope {
    /// The call changes nothing.
    None,
    /// The call changes nothing in the workspace. Ignored files that it writes are kept for the run.
    Ignored,
    /// Globs over paths relative to the workspace.
    Paths(Vec<String>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleAction {
    Allow,
    #[default]
    Ask,
    Forbid,
}

/// Mandatory checkpoint (contract A3). `gate/checkpoint.rs` finds the calls that each covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checkpoint {
    AfterPlanning,
    BeforeFileEdit,
    BeforeExecution,
    BeforeDeploy,
}

impl Checkpoint {
    pub const ALL: [Self; 4] =
        [Self::AfterPlanning, Self::BeforeFileEdit, Self::BeforeExecution, Self::BeforeDeploy];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AfterPlanning => "after_planning",
            Self::BeforeFileEdit => "before_file_edit",
            Self::BeforeExecution => "before_execution",
            Self::BeforeDeploy => "before_deploy",
        }
    }
}

/// Further calls that a grant covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantCovers {
    /// Calls like the one that was allowed.
    #[default]
    Call,
    /// All calls of its category (contract A24).
    Category,
}
