//! Compares the changes of a call with the criteria of a rule.

use globset::{GlobBuilder, GlobMatcher};

use super::{Changes, Subject};
use crate::changeset::Changeset;
use crate::policy::{ChangeScope, Rule};

/// Returns true if the changes of the call satisfy the criteria `changes` and `deletes` of the rule. A rule without
/// these criteria matches every call.
///
/// A rule with these criteria never matches a call whose changes are unknown. In this case, `vote` asks a person if the
/// rule could have asked a person or forbidden the call.
pub(super) fn matches(rule: &Rule, subject: &Subject<'_>, releases: bool) -> bool {
    if !speaks_of_changes(rule) {
        return true;
    }
    let Some(changes) = subject.changes.changeset() else { return false };
    let layer = subject.changes.in_layer();
    let deleted = changes.deletions().count();
    let limit = rule.deletes.map(|n| n as usize);
    if releases {
        rule.changes.as_ref().is_none_or(|scope| scope_covers(scope, changes, layer, subject))
            && deleted <= limit.unwrap_or(0)
    } else {
        rule.changes.as_ref().is_none_or(|scope| meets(scope, changes, layer))
            && limit.is_none_or(|limit| deleted >= limit)
    }
}

pub(super) fn speaks_of_changes(rule: &Rule) -> bool {
    rule.changes.is_some() || rule.deletes.is_some()
}

/// Returns true if the path names a file from which git reads ignore patterns.
pub(super) fn decides_what_is_ignored(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(".gitignore"))
}

/// Returns true if all changes match the globs. A changed folder must match only if its mode changes.
pub(crate) fn within(globs: &[String], changes: &Changeset) -> bool {
    let globs = Globs::new(globs);
    changes.counted().all(|change| globs.hold(&change.path))
}

/// Returns true if at least one change matches the globs.
pub(super) fn meet_paths(globs: &[String], changes: &Changeset) -> bool {
    let globs = Globs::new(globs);
    changes.counted().any(|change| globs.meet(&change.path))
}

/// Returns true if a rule that allows calls also allows these changes. The criterion `none` allows no change at all.
/// The criteria `ignored` and `paths` apply only to the workspace, so they allow every change in `layer`. `layer`
/// contains the changes to files that git ignores and that only this run sees. For `paths`, a path that git ignores is
/// like any other path.
///
/// The criterion `ignored` allows changes of ignored files only for commands. A build, for example, changes ignored
/// cache files as a side effect. A file tool is different: the agent names the file, and so intends to change it.
fn scope_covers(scope: &ChangeScope, changes: &Changeset, layer: &Changeset, subject: &Subject<'_>) -> bool {
    let is_proposed = matches!(subject.changes, Changes::Proposed(_));
    match scope {
        ChangeScope::None => changes.is_empty() && layer.is_empty(),
        ChangeScope::Ignored => changes.is_empty() && !is_proposed,
        ChangeScope::Paths(globs) => within(globs, changes),
    }
}

/// Returns true if the changes match a rule that asks or forbids. Also examines the changes in `layer`, which are
/// changes to ignored files that only this run sees.
fn meets(scope: &ChangeScope, changes: &Changeset, layer: &Changeset) -> bool {
    match scope {
        ChangeScope::None => changes.is_empty() && layer.is_empty(),
        ChangeScope::Ignored => !layer.is_empty() || changes.counted().any(|change| change.ignored),
        ChangeScope::Paths(globs) => meet_paths(globs, changes) || meet_paths(globs, layer),
    }
}

/// Compiles the glob of a rule. `None` if the glob is malformed. A malformed glob matches every path in rules that ask
/// or forbid, and no path in rules that allow.
pub(super) fn matcher(glob: &str) -> Option<GlobMatcher> {
    GlobBuilder::new(glob).literal_separator(true).build().ok().map(|glob| glob.compile_matcher())
}

/// Compiled globs of a rule. An entry is `None` if the glob is malformed.
#[derive(Clone, Debug)]
pub(super) struct Globs(Vec<Option<GlobMatcher>>);

impl Globs {
    pub(super) fn new(globs: &[String]) -> Self {
        Self(globs.iter().map(|glob| matcher(glob)).collect())
    }

    /// Returns true if a glob matches the path, for a rule that allows. A malformed glob matches no path.
    pub(super) fn hold(&self, path: &str) -> bool {
        self.0.iter().flatten().any(|glob| glob.is_match(path))
    }

    /// Returns true if a glob matches the path, for a rule that asks or forbids. A malformed glob matches every path.
    pub(super) fn meet(&self, path: &str) -> bool {
        self.0.iter().any(|glob| glob.as_ref().is_none_or(|glob| glob.is_match(path)))
    }
}
