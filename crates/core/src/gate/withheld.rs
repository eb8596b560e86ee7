//! Paths that are left out of the result of a search or a listing, because a rule forbids them or asks a person about
//! them. A call of a search or listing names only a folder, and the tool then visits the paths in the folder.
//!
//! Rules that match the call itself have already voted on the call. The other rules are applied to each path that the
//! tool visits.

use super::changes::Globs;
use super::{Subject, rule};
use crate::policy::{Rule, RuleAction};

/// Rules with `paths`, prepared so that many paths can be compared with them. In each list, the first rule that matches
/// a path decides about the path.
#[derive(Clone, Debug, Default)]
pub struct WithheldPaths(Vec<Vec<Entry>>);

#[derive(Clone, Debug)]
struct Entry {
    /// `paths` of the rule. `None` if the rule has no `paths`, and so matches every path.
    globs: Option<Globs>,
    action: RuleAction,
    /// True if the rule matches the call itself. The rule has then already voted on the call.
    is_voted: bool,
}

impl WithheldPaths {
    /// Prepares the lists of rules for a call of a search or a listing. If the call returns contents of files, `reads`
    /// is the tool that reads a file. Rules for this tool then apply, too.
    pub fn for_call(subject: &Subject<'_>, lists: [&[Rule]; 3], reads: Option<&str>) -> Self {
        let tools = std::iter::once(subject.tool).chain(reads);
        let all = tools.flat_map(|tool| lists.map(|list| entries(list, tool, subject)));
        Self(all.filter(|entries| entries.iter().any(Entry::withholds)).collect())
    }

    /// Returns true if the path is left out of the result of the search or listing. The path must be relative to the
    /// workspace and contain no links.
    pub fn withholds(&self, path: &str) -> bool {
        let first = |entries: &Vec<Entry>| {
            entries.iter().find(|entry| entry.covers(path)).is_some_and(Entry::withholds)
        };
        self.0.iter().any(first)
    }
}

/// Returns the rules of a list that may match a path which the search or listing visits.
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
