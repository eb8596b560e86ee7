//! Policy as data: rules, mandatory checkpoints, and the setting that determines which later calls a grant allows.
//! `gate/` applies the policy to calls.

use serde::{Deserialize, Serialize};

use crate::tool::Category;

/// Rule of a policy. A rule matches a call if the call matches each list of the rule that is not empty. The first
/// matching rule applies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Complete names of the tools whose calls the rule matches. If the list is empty, the rule matches calls of every
    /// tool.
    pub tools: Vec<String>,
    /// Patterns for the commands that the rule matches, such as `git push *`. The patterns are compared with the words
    /// of a command after parsing.
    pub commands: Vec<String>,
    /// Globs for the paths that the rule matches, relative to the workspace.
    pub paths: Vec<String>,
    /// [Patterns](crate::web::Pattern) for the URLs that the rule matches. The patterns are compared with the host and
    /// path of a URL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    pub categories: Vec<Category>,
    pub agents: Vec<String>,
    /// Changes that the call must make so that the rule matches. The trial of the call or its tool shows the changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangeScope>,
    /// Number of files that the call deletes. A rule that asks or forbids matches calls that delete at least this
    /// number of files. A rule that allows matches calls that delete at most this number of files. A rule that allows
    /// and has `changes` but no `deletes` matches only calls that delete no files. Deleted files that git ignores are
    /// not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletes: Option<u32>,
    pub action: RuleAction,
    pub reason: Option<String>,
}

impl Rule {
    /// Problem of a rule without criteria, for users of the API and of YAML files.
    pub const MISSING_CRITERION: &str = "needs a criterion: `tools`, `commands`, `paths`, `urls`, `categories`, \
        `agents`, `changes` or `deletes`; `tools: [\"*\"]` matches every call";

    /// Returns true if the rule restricts the calls that it matches.
    pub fn has_criterion(&self) -> bool {
        !self.tools.is_empty() || !self.agents.is_empty() || self.examines_calls()
    }

    /// Returns true if the rule matches every call of the agents that it names. If the rule names no agents, returns
    /// true if it matches every call.
    pub fn covers_every_call(&self) -> bool {
        (self.tools.is_empty() || self.tools.iter().any(|tool| tool == "*")) && !self.examines_calls()
    }

    /// Returns true if the rule has a criterion other than `tools` and `agents`.
    fn examines_calls(&self) -> bool {
        let Self {
            tools: _,
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
        [commands, paths, urls].into_iter().any(|list| !list.is_empty())
            || !categories.is_empty()
            || changes.is_some()
            || deletes.is_some()
    }
}

/// Changes that a rule matches. A rule that allows matches a call if all changes of the call are of this type. A rule
/// that asks or forbids matches a call if at least one of its changes is of this type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ChangeScope {
    /// The rule matches calls that change nothing.
    None,
    /// The rule is about changes of files that git ignores. These changes are stored separately, and only this run sees
    /// them. A rule that allows matches commands that change nothing else in the workspace.
    Ignored,
    /// The rule matches changes at paths that match these globs. The paths are relative to the workspace.
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

/// Mandatory checkpoint (contract A3). `gate/checkpoint.rs` decides which calls each checkpoint stops.
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

/// Setting that determines which later calls a grant allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantCovers {
    /// A grant allows calls that are similar to the granted call.
    #[default]
    Call,
    /// A grant allows all calls that have the same category as the granted call (contract A24).
    Category,
}
