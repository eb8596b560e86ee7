//! Rules over effects: matches the changes of a call with the criteria of a rule.

use globset::{GlobBuilder, GlobMatcher};

use super::{Changes, Subject};
use crate::changeset::Changeset;
use crate::policy::{ChangeScope, Rule};

/// Returns true if the criteria `changes` and `deletes` of a rule hold. A rule without them covers every call.
///
/// A rule with them never matches a call with unknown changes. If the rule would ask or forbid, `vote` makes the call
/// ask.
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

/// Returns true if git reads ignore patterns from this file.
pub(super) fn decides_what_is_ignored(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(".gitignore"))
}

/// Returns true if all changes match the globs. Changes of folders count only if they alter the mode.
pub(crate) fn within(globs: &[String], changes: &Changeset) -> bool {
    let globs = Globs::new(globs);
    changes.counted().all(|change| globs.hold(&change.path))
}

/// Returns true if a change matches the globs.
pub(super) fn meet_paths(globs: &[String], changes: &Changeset) -> bool {
    let globs = Globs::new(globs);
    changes.counted().any(|change| globs.meet(&change.path))
}

/// Returns true if an allowing rule covers the changes. The layer needs no release: `ignored` and `paths` concern the
/// workspace, where an ignored path is treated like any other.
///
/// `ignored` allows commands only. A build writes caches as a side effect, but an agent that names a file wants to
/// change that file.
fn scope_covers(scope: &ChangeScope, changes: &Changeset, layer: &Changeset, subject: &Subject<'_>) -> bool {
    let is_proposed = matches!(subject.changes, Changes::Proposed(_));
    match scope {
        ChangeScope::None => changes.is_empty() && layer.is_empty(),
        ChangeScope::Ignored => changes.is_empty() && !is_proposed,
        ChangeScope::Paths(globs) => within(globs, changes),
    }
}

/// Returns true if an asking or forbidding rule matches the changes, including those of the layer.
fn meets(scope: &ChangeScope, changes: &Changeset, layer: &Changeset) -> bool {
    match scope {
        ChangeScope::None => changes.is_empty() && layer.is_empty(),
        ChangeScope::Ignored => !layer.is_empty() || changes.counted().any(|change| change.ignored),
        ChangeScope::Paths(globs) => meet_paths(globs, changes) || meet_paths(globs, layer),
    }
}

/// Compiles a path of a rule. Returns `None` if it is malformed: then it matches asking and forbidding rules only.
pub(super) fn matcher(glob: &str) -> Option<GlobMatcher> {
    GlobBuilder::new(glob).literal_separator(true).build().ok().map(|glob| glob.compile_matcher())
}

/// Paths of a rule. `None` for a malformed one.
#[derive(Clone, Debug)]
pub(super) struct Globs(Vec<Option<GlobMatcher>>);

impl Globs {
    pub(super) fn new(globs: &[String]) -> Self {
        Self(globs.iter().map(|glob| matcher(glob)).collect())
    }

    /// Returns true if an allowing rule covers the path.
    pub(super) fn hold(&self, path: &str) -> bool {
        self.0.iter().flatten().any(|glob| glob.is_match(path))
    }

    /// Returns true if an asking or forbidding rule covers the path.
    pub(super) fn meet(&self, path: &str) -> bool {
        self.0.iter().any(|glob| glob.as_ref().is_none_or(|glob| glob.is_match(path)))
    }
}
