//! Rules and mandatory checkpoints, in the form of the native API. The functions that begin with `read_` convert them
//! back to the types of the journal.

use holdshort_core::policy::{ChangeScope, Checkpoint, Rule, RuleAction};
use holdshort_core::tool::Category;
use holdshort_protocol as wire;

pub(super) fn checkpoint(checkpoint: Checkpoint) -> wire::Checkpoint {
    match checkpoint {
        Checkpoint::AfterPlanning => wire::Checkpoint::AfterPlanning,
        Checkpoint::BeforeFileEdit => wire::Checkpoint::BeforeFileEdit,
        Checkpoint::BeforeExecution => wire::Checkpoint::BeforeExecution,
        Checkpoint::BeforeDeploy => wire::Checkpoint::BeforeDeploy,
    }
}

pub(super) fn rule(rule: &Rule) -> wire::Rule {
    wire::Rule {
        tools: rule.tools.clone(),
        commands: rule.commands.clone(),
        paths: rule.paths.clone(),
        urls: rule.urls.clone(),
        categories: rule.categories.iter().map(|category| self::category(*category)).collect(),
        agents: rule.agents.clone(),
        changes: rule.changes.as_ref().map(|scope| match scope {
            ChangeScope::None => wire::ChangeScope::Word(wire::ChangeWord::None),
            ChangeScope::Ignored => wire::ChangeScope::Word(wire::ChangeWord::Ignored),
            ChangeScope::Paths(globs) => wire::ChangeScope::Paths(globs.clone()),
        }),
        deletes: rule.deletes,
        action: match rule.action {
            RuleAction::Allow => wire::RuleAction::Allow,
            RuleAction::Ask => wire::RuleAction::Ask,
            RuleAction::Forbid => wire::RuleAction::Forbid,
        },
        reason: rule.reason.clone(),
    }
}

fn category(category: Category) -> wire::Category {
    match category {
        Category::ReadOnly => wire::Category::ReadOnly,
        Category::FileWrite => wire::Category::FileWrite,
        Category::Bash => wire::Category::Bash,
        Category::CodeExec => wire::Category::CodeExec,
        Category::Install => wire::Category::Install,
        Category::Web => wire::Category::Web,
    }
}

pub fn read_checkpoint(checkpoint: wire::Checkpoint) -> Checkpoint {
    match checkpoint {
        wire::Checkpoint::AfterPlanning => Checkpoint::AfterPlanning,
        wire::Checkpoint::BeforeFileEdit => Checkpoint::BeforeFileEdit,
        wire::Checkpoint::BeforeExecution => Checkpoint::BeforeExecution,
        wire::Checkpoint::BeforeDeploy => Checkpoint::BeforeDeploy,
    }
}

pub fn read_rule(rule: wire::Rule) -> Rule {
    Rule {
        tools: rule.tools,
        commands: rule.commands,
        paths: rule.paths,
        urls: rule.urls,
        categories: rule.categories.into_iter().map(read_category).collect(),
        agents: rule.agents,
        changes: rule.changes.map(|scope| match scope {
            wire::ChangeScope::Word(wire::ChangeWord::None) => ChangeScope::None,
            wire::ChangeScope::Word(wire::ChangeWord::Ignored) => ChangeScope::Ignored,
            wire::ChangeScope::Paths(globs) => ChangeScope::Paths(globs),
        }),
        deletes: rule.deletes,
        action: match rule.action {
            wire::RuleAction::Allow => RuleAction::Allow,
            wire::RuleAction::Ask => RuleAction::Ask,
            wire::RuleAction::Forbid => RuleAction::Forbid,
        },
        reason: rule.reason,
    }
}

fn read_category(category: wire::Category) -> Category {
    match category {
        wire::Category::ReadOnly => Category::ReadOnly,
        wire::Category::FileWrite => Category::FileWrite,
        wire::Category::Bash => Category::Bash,
        wire::Category::CodeExec => Category::CodeExec,
        wire::Category::Install => Category::Install,
        wire::Category::Web => Category::Web,
    }
}
