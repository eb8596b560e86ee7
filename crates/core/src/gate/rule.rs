//! Rules: compares calls with lists of rules that allow, ask or forbid.

mod path_globs;

pub(super) use path_globs::{full, plain, ways};

use crate::gate::{Subject, changes};
use crate::policy::Rule;
use crate::policy::RuleAction;
use crate::tool::Category;
use crate::web::{Pattern, Target};
use holdshort_command::{Command, Part};

pub(super) fn first_match<'a>(
    rules: &'a [Rule],
    subject: &Subject<'_>,
    command: Option<&Command>,
) -> Option<(usize, &'a Rule)> {
    rules.iter().enumerate().find(|(_, rule)| matches(rule, subject, command))
}

/// Returns true if the rule's lists of tools and agents match the call. Ignores the arguments of the call.
pub(super) fn may_concern(rule: &Rule, subject: &Subject<'_>) -> bool {
    matches_name(&rule.tools, subject.tool) && matches_name(&rule.agents, subject.agent)
}

/// Returns true if every criterion of the rule matches the call. A rule that allows must match *all* parts of a
/// compound command. A rule that asks or forbids need match only *one* part.
pub(super) fn matches(rule: &Rule, subject: &Subject<'_>, command: Option<&Command>) -> bool {
    let releases = rule.action == RuleAction::Allow;
    matches_name(&rule.tools, subject.tool)
        && matches_name(&rule.agents, subject.agent)
        && (rule.categories.is_empty() || categories(&rule.categories, subject, command, releases))
        && (rule.commands.is_empty() || commands(&rule.commands, command, releases))
        && changes::matches(rule, subject, releases)
        && (rule.paths.is_empty() || paths(&rule.paths, subject, command, releases))
        && (rule.urls.is_empty() || urls(&rule.urls, subject, releases))
}

/// Compares the categories that a rule names with the categories of a call. A rule that allows is compared with the
/// most severe category of the call. A rule that asks or forbids is compared with every category that a part of the
/// call may have.
fn categories(named: &[Category], subject: &Subject<'_>, command: Option<&Command>, releases: bool) -> bool {
    let of_its_parts = || command.into_iter().flat_map(Command::classes).map(Category::from);
    named.contains(&subject.category) || (!releases && of_its_parts().any(|each| named.contains(&each)))
}

/// Compares the URL patterns of a rule with the URL of a call. For a rule that allows, only web tools are compared. For
/// other tools, a URL does not determine the effect of the call.
fn urls(patterns: &[String], subject: &Subject<'_>, releases: bool) -> bool {
    let Some(url) = subject.url else { return false };
    // A malformed URL matches every rule that asks or forbids, and no rule that allows.
    let Ok(target) = Target::parse(url) else { return !releases };
    let mut patterns = patterns.iter().map(|pattern| Pattern::parse(pattern));
    if releases {
        subject.category == Category::Web && patterns.any(|it| it.is_ok_and(|it| it.covers(&target)))
    } else {
        patterns.any(|it| it.map_or(true, |it| it.may_cover(&target)))
    }
}

/// Compares the paths in the call's arguments with the globs of a rule. If the rule asks or forbids, also compares the
/// changes of a trial.
fn paths(globs: &[String], subject: &Subject<'_>, command: Option<&Command>, releases: bool) -> bool {
    let did = || {
        let of_workspace = subject.changes.changeset().is_some_and(|did| changes::meet_paths(globs, did));
        of_workspace || changes::meet_paths(globs, subject.changes.in_layer())
    };
    path_globs::matches(globs, subject, command, releases) || (!releases && did())
}

/// Compares complete names: `read_file` does not match `read_file_and_delete`.
fn matches_name(names: &[String], name: &str) -> bool {
    names.is_empty() || names.iter().any(|each| each == "*" || each == name)
}

fn commands(patterns: &[String], command: Option<&Command>, releases: bool) -> bool {
    let Some(command) = command else { return false };
    if releases {
        let covered = |part: &Part| patterns.iter().any(|pattern| part.covered_by(pattern));
        command.opaque.is_none() && command.parts.iter().all(|part| covered(part) && !part.redirected)
    } else {
        let covered = |part: &Part| patterns.iter().any(|pattern| part.may_match(pattern));
        command.parts.iter().chain(&command.guesses).any(covered)
    }
}
