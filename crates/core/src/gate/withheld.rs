//! Paths that a search or a listing leaves out of its result: those that a rule forbids or asks about, where the call
//! names a wider folder.
//!
//! A rule that covers the call itself has voted on it. The others hold for each path that the tool meets.

use super::changes::Globs;
use super::{Subject, rule};
use crate::policy::{Rule, RuleAction};

/// Rules with `paths`, prepared for many paths. The first rule of a list that covers a path decides, as in a vote.
#[derive(Clone, Debug, Default)]
pub struct WithheldPaths(Vec<Vec<Entry>>);

#[derive(Clone, Debug)]
struct Entry {
    /// `None`: a rule without `paths`, which covers all of them.
    globs: Option<Globs>,
    action: RuleAction,
    /// The rule covers the call itself, so that its vote was counted.
    is_voted: bool,
}

impl WithheldPaths {
    /// Reads the lists of rules for a call. `reads`: a further tool whose rules hold for what the call returns.
    pub fn of(subject: &Subject<'_>, lists: [&[Rule]; 3], reads: Option<&str>) -> Self {
        let tools = std::iter::once(subject.tool).chain(reads);
        let all = tools.flat_map(|tool| lists.map(|list| entries(list, tool, subject)));
        Self(all.filter(|entries| entries.iter().any(Entry::withholds)).collect())
    }

    /// Returns true if a path, from the workspace and without links, is left out.
    pub fn withholds(&self, path: &str) -> bool {
        let first = |entries: &Vec<Entry>| {
            entries.iter().find(|entry| entry.covers(path)).is_some_and(Entry::withholds)
        };
        self.0.iter().any(first)
    }
}

/// The rules of a list for a tool that may cover paths which the call meets.
fn entries(list: &[Rule], tool: &str, call: &Subject<'_>) -> Vec<Entry> {
    let subject = Subject { tool, ..*call };
    let speaks = |rule: &&Rule| {
        let of_any_path = Rule { paths: Vec::new(), ..(*rule).clone() };
        rule::matches(&of_any_path, &subject, None)
    };
    let entry = |rule: &Rule| Entry {
        globs: (!rule.paths.is_empty()).then(|| Globs::of(&rule.paths)),
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
