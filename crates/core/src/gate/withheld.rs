//! Paths that a search or a listing leaves out of its result, because a rule asks about these paths or forbids them.
//! The call does not name these paths, but a folder above them.
//!
//! Rules that match the call itself were already counted in the vote on the call. All other rules are applied to each
//! path that the tool visits.

use super::changes::Globs;
use super::{Subject, rule};
use crate::policy::{Rule, RuleAction};

/// Rules with `paths`, prepared for the comparison with many paths. As in a vote, the first rule in a list that covers
/// a path decides about the path.
#[derive(Clone, Debug, Default)]
pub struct WithheldPaths(Vec<Vec<Entry>>);

#[derive(Clone, Debug)]
struct Entry {
    /// Paths of the rule. `None` if the rule has no `paths` and therefore covers every path.
    globs: Option<Globs>,
    action: RuleAction,
    /// True if the rule matches the call itself. The vote on the call has then already counted the rule.
    is_voted: bool,
}

impl WithheldPaths {
    /// Prepares the lists of rules for a call. `reads` names a second tool. The rules for that tool also apply to the
    /// content that the call returns.
    pub fn for_call(subject: &Subject<'_>, lists: [&[Rule]; 3], reads: Option<&str>) -> Self {
        let tools = std::iter::once(subject.tool).chain(reads);
        let all = tools.flat_map(|tool| lists.map(|list| entries(list, tool, subject)));
        Self(all.filter(|entries| entries.iter().any(Entry::withholds)).collect())
    }

    /// Returns true if the path is left out of the result. The path must be relative to the workspace and contain no
    /// links.
    pub fn withholds(&self, path: &str) -> bool {
        let first = |entries: &Vec<Entry>| {
            entries.iter().find(|entry| entry.covers(path)).is_some_and(Entry::withholds)
        };
        self.0.iter().any(first)
    }
}

/// Returns the rules of a list that may cover paths that the call visits.
fn entries(list: &[Rule], tool: &str, call: &Subject<'_>) -> Vec<Entry> {
    let subject = Subject { tool, ..*call };
    let speaks = |rule: &&Rule| {
        let of_any_path = Rule { paths: Vec::new(), ..(*rule).clone() };
        rule::matches(&of_any_path, &subject, None)
    };
    let entry = |rule: &Rule| Entry {
        globs: (!rule.paths.is_empty()).then(|| Globs::new(&rule.paths)),
        action: rule.action,
        is_voted: rule::matches(rule, call, None),
    };
    list.iter().filter(speaks).map(entry).collect()
}

impl Entry {
    fn withholds(&self) -> bool {
        self.action != RuleAction::Allow && self.globs.is_some() && !self.is_voted
    }

    fn covers(&self, path: &str) -> bool {
        let releases = self.action == RuleAction::Allow;
        self.globs.as_ref().is_none_or(|globs| if releases { globs.hold(path) } else { globs.meet(path) })
    }
}
