//! Rules over effects: whether what a call changes is what a rule speaks of.

use globset::{GlobBuilder, GlobMatcher};

use super::{Changes, Subject};
use crate::changeset::Changeset;
use crate::policy::{ChangeScope, Rule};

/// Returns true if the criteria `changes` and `deletes` of a rule hold. A rule without them covers every call.
///
/// No such rule matches a call with unknown changes. If the rule would ask or forbid, `vote` makes the call ask.
pub(super) fn matches(rule: &Rule, subject: &Subject<'_>, releases: bool) -> bool {
    if !speaks_of_changes(rule) {
        return true;
    }
    let Some(changes) = subject.changes.known() else { return false };
    let layer = subject.changes.in_layer();
    let deleted = changes.deletions().count();
    let limit = rule.deletes.map(|n| n as usize);
    if releases {
        rule.changes.as_ref().is_none_or(|scope| holds(scope, changes, layer, subject))
            && deleted <= limit.unwrap_or(0)
    } else {
        rule.changes.as_ref().is_none_or(|scope| meets(scope, changes, layer))
            && limit.is_none_or(|limit| deleted >= limit)
    }
}

pub(super) fn speaks_of_changes(rule: &Rule) -> bool {
    rule.changes.is_some() || rule.deletes.is_some()
}

/// Returns true if git reads in this file which paths it ignores.
pub(super) fn decides_what_is_ignored(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(".gitignore"))
}

/// Whether all changes lie below these paths. A folder counts by what is in it, but for its mode.
pub(crate) fn within(globs: &[String], changes: &Changeset) -> bool {
    let globs = Globs::of(globs);
    changes.counted().all(|change| globs.hold(&change.path))
}

/// Whether a change lies below these paths.
pub(super) fn meet_paths(globs: &[String], changes: &Changeset) -> bool {
    let globs = Globs::of(globs);
    changes.counted().any(|change| globs.meet(&change.path))
}

/// Returns true if a rule that allows covers the changes. The layer needs no release: `ignored` and paths speak of the
/// workspace, where a change of an ignored path is a change like any other.
///
/// `ignored` allows commands only: a build that a command runs makes caches, and an agent that names a file means that
/// file.
fn holds(scope: &ChangeScope, changes: &Changeset, layer: &Changeset, subject: &Subject<'_>) -> bool {
    let is_proposed = matches!(subject.changes, Changes::Proposed(_));
    match scope {
        ChangeScope::None => changes.is_empty() && layer.is_empty(),
        ChangeScope::Ignored => changes.is_empty() && !is_proposed,
        ChangeScope::Paths(globs) => within(globs, changes),
    }
}

/// Returns true if a rule that holds back meets the changes, those of the layer included.
fn meets(scope: &ChangeScope, changes: &Changeset, layer: &Changeset) -> bool {
    match scope {
        ChangeScope::None => changes.is_empty() && layer.is_empty(),
        ChangeScope::Ignored => !layer.is_empty() || changes.counted().any(|change| change.ignored),
        ChangeScope::Paths(globs) => meet_paths(globs, changes) || meet_paths(globs, layer),
    }
}

/// A path of a rule; `None` where it can not be read: then it holds back, and never releases.
pub(super) fn matcher(glob: &str) -> Option<GlobMatcher> {
    GlobBuilder::new(glob).literal_separator(true).build().ok().map(|glob| glob.compile_matcher())
}

/// Paths of a rule. `None` stands for one that can not be read.
#[derive(Clone, Debug)]
pub(super) struct Globs(Vec<Option<GlobMatcher>>);

impl Globs {
    pub(super) fn of(globs: &[String]) -> Self {
        Self(globs.iter().map(|glob| matcher(glob)).collect())
    }

    /// Returns true if a rule that allows covers the path.
    pub(super) fn hold(&self, path: &str) -> bool {
        self.0.iter().flatten().any(|glob| glob.is_match(path))
    }

    /// Returns true if a rule that asks or forbids covers the path.
    pub(super) fn meet(&self, path: &str) -> bool {
        self.0.iter().any(|glob| glob.as_ref().is_none_or(|glob| glob.is_match(path)))
    }
}
