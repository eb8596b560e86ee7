//! Policy as data: rules, mandatory checkpoints, and the setting that determines which calls a grant covers. `gate/`
//! applies the policy to calls.

use serde::{Deserialize, Serialize};

use crate::tool::Category;

/// Rule of a policy. A rule matches a call if each of its lists that is not empty matches the call. The first rule that
/// matches applies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Full tool names.
    pub tools: Vec<String>,
    /// Command patterns, such as `git push *`, which are compared with the parsed words of a command.
    pub commands: Vec<String>,
    /// Globs for paths relative to the workspace.
    pub paths: Vec<String>,
    /// [Patterns](crate::web::Pattern) that are compared with the host and path of a URL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    pub categories: Vec<Category>,
    pub agents: Vec<String>,
    /// Changes that the call must have made in its trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangeScope>,
    /// Number of files that the call deletes. A rule that asks or forbids matches if the call deletes at least this
    /// number. A rule that allows matches if the call deletes at most this number. If a rule that allows has `changes`
    /// but no `deletes`, it matches no call that deletes a file. Files that git ignores do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletes: Option<u32>,
    pub action: RuleAction,
    pub reason: Option<String>,
}

impl Rule {
    /// Returns true if the rule covers every call that all agents, or the named agents, make.
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

/// Changes that a rule matches. A rule that allows matches a call if all its changes are in this scope. A rule that
/// asks or forbids matches a call if at least one of its changes is in this scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ChangeScope {
    /// The call changes nothing.
    None,
    /// The call changes nothing in the workspace except files that git ignores. The run keeps the ignored files.
    Ignored,
    /// Globs for paths relative to the workspace.
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

/// Mandatory checkpoint (contract A3). `gate/checkpoint.rs` determines the calls that each checkpoint covers.
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

/// Kind of later calls that a grant covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantCovers {
    /// Calls that are similar to the granted call.
    #[default]
    Call,
    /// All calls of the same category as the granted call (contract A24).
    Category,
}
