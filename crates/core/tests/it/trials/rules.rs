//! Rules about changes: those that an allowing rule covers, and those that a forbidding or asking rule matches.

use holdshort_core::changeset::{Change, Changeset, EMPTY, Entry};
use holdshort_core::digest::Digest;
use holdshort_core::gate::{self, Changes, Checkpoints, RefusedBefore, Subject, Verdict, VoteInputs};
use holdshort_core::policy::{ChangeScope, GrantCovers, Rule, RuleAction};
use holdshort_core::tool::Category;

use crate::world::WORKSPACE;

fn file(path: &str, does: &str) -> Change {
    let entry = |text: &str| Entry::File { digest: Digest::of_bytes(text.as_bytes()), bytes: 1, mode: 0o644 };
    let (before, after) = match does {
        "makes" => (None, Some(entry("new"))),
        "edits" => (Some(entry("old")), Some(entry("new"))),
        _ => (Some(entry("old")), None),
    };
    Change { path: path.to_owned(), before, after, ignored: path.starts_with("target") }
}

fn set(changes: &[(&str, &str)]) -> Changeset {
    Changeset::new(changes.iter().map(|(path, does)| file(path, does)).collect()).expect("a set")
}

/// Returns the verdict of a single rule on a command with these changes: `allow`, `ask`, `forbid`, or `–` if the rule
/// does not apply.
fn says(rule: &Rule, changes: Changes<'_>) -> &'static str {
    let subject = Subject {
        agent: "pair",
        tool: "run_command",
        category: Category::Bash,
        path: None,
        url: None,
        command: Some("make x"),
        workspace: WORKSPACE,
        cwd: WORKSPACE,
        ask_because: &[],
        places: &[],
        preconditions: &[],
        changes,
        untried: None,
        elsewhere: false,
    };
    let at = std::collections::BTreeSet::new();
    let checkpoints = Checkpoints { at: &at, deploy: &[] };
    let rules = std::slice::from_ref(rule);
    let rules = VoteInputs {
        system: &[],
        run: &[],
        workflow: rules,
        checkpoints,
        smart: &[],
        grants: Some(&[]),
        covers: GrantCovers::Call,
        refused: &RefusedBefore::default(),
    };
    match gate::vote(&subject, rules) {
        Verdict::Forbid(_) => "forbid",
        Verdict::Allow(_) => "allow",
        Verdict::Ask { reasons, .. } => match reasons[0].code.as_str() {
            "default" => "–",
            "changes_unknown" => "unknown",
            _ => "ask",
        },
    }
}

/// A test case: name, the rule's `changes`, `deletes` and `do`, and the verdict for each set of changes.
type Row = (&'static str, Option<ChangeScope>, Option<u32>, RuleAction, [&'static str; 8]);

#[test]
fn a_rule_that_allows_covers_all_of_the_changes_and_one_that_holds_back_meets_any() {
    let nothing = set(&[]);
    let source = set(&[("src/a.rs", "edits")]);
    let cache = set(&[("target/x", "makes")]);
    // An ignored file in the workspace, which belongs to the person and not to the run's layer.
    let theirs = set(&[("target/x", "edits")]);
    let gone = set(&[("target/x", "deletes")]);
    let elsewhere = set(&[("src/a.rs", "edits"), ("README.md", "edits")]);
    let deletes = set(&[("src/a.rs", "deletes"), ("src/b.rs", "deletes")]);
    let sets = [
        (&nothing, &nothing),
        (&nothing, &cache),
        (&theirs, &nothing),
        (&gone, &nothing),
        (&source, &nothing),
        (&source, &cache),
        (&elsewhere, &nothing),
        (&deletes, &cache),
    ];

    let none = || Some(ChangeScope::None);
    let ignored = || Some(ChangeScope::Ignored);
    let paths = || Some(ChangeScope::Paths(vec!["src/**".to_owned()]));
    let cached = || Some(ChangeScope::Paths(vec!["target/**".to_owned()]));
    let (allow, ask, forbid) = (RuleAction::Allow, RuleAction::Ask, RuleAction::Forbid);
    let table: &[Row] = &[
        // Order of the verdicts: nothing, layer, theirs, gone, source, source and layer, elsewhere, deletes and layer.
        ("none", none(), None, allow, ["allow", "–", "–", "–", "–", "–", "–", "–"]),
        ("ignored", ignored(), None, allow, ["allow", "allow", "–", "–", "–", "–", "–", "–"]),
        ("src", paths(), None, allow, ["allow", "allow", "–", "–", "allow", "allow", "–", "–"]),
        ("src, 1", paths(), Some(1), allow, ["allow", "allow", "–", "–", "allow", "allow", "–", "–"]),
        ("src, 2", paths(), Some(2), allow, ["allow", "allow", "–", "–", "allow", "allow", "–", "allow"]),
        ("target", cached(), None, allow, ["allow", "allow", "allow", "–", "–", "–", "–", "–"]),
        ("deletes: 5", None, Some(5), allow, ["allow"; 8]),
        ("none", none(), None, ask, ["ask", "–", "–", "–", "–", "–", "–", "–"]),
        ("ignored", ignored(), None, ask, ["–", "ask", "ask", "ask", "–", "ask", "–", "ask"]),
        ("src", paths(), None, ask, ["–", "–", "–", "–", "ask", "ask", "ask", "ask"]),
        ("target", cached(), None, ask, ["–", "ask", "ask", "ask", "–", "ask", "–", "ask"]),
        ("deletes: 1", None, Some(1), ask, ["–", "–", "–", "ask", "–", "–", "–", "ask"]),
        ("deletes: 3", None, Some(3), ask, ["–"; 8]),
        ("src", paths(), None, forbid, ["–", "–", "–", "–", "forbid", "forbid", "forbid", "forbid"]),
        ("deletes: 2", None, Some(2), forbid, ["–", "–", "–", "–", "–", "–", "–", "forbid"]),
    ];
    for (about, changes, deletes, action, expected) in table {
        let rule = Rule { changes: changes.clone(), deletes: *deletes, action: *action, ..Rule::default() };
        let found =
            sets.map(|(changes, layer)| says(&rule, Changes::Tried { changes, layer, ask_because: &[] }));
        assert_eq!(found, *expected, "{about}, do: {action:?}");
    }
}

#[test]
fn where_nobody_knows_the_changes_nothing_is_released_and_whoever_forbids_some_is_asked() {
    for (action, untried) in
        [(RuleAction::Allow, "–"), (RuleAction::Ask, "unknown"), (RuleAction::Forbid, "unknown")]
    {
        for scope in [ChangeScope::None, ChangeScope::Ignored, ChangeScope::Paths(vec!["**".to_owned()])] {
            let rule = Rule { changes: Some(scope), action, ..Rule::default() };
            assert_eq!(says(&rule, Changes::Untried), untried, "{rule:?}");
            assert_eq!(says(&rule, Changes::Erased), "unknown", "{rule:?}");
        }
    }
}

#[test]
fn a_rule_with_paths_that_nobody_can_read_never_releases() {
    let changes = set(&[("src/a.rs", "edits")]);
    for (action, expected) in [(RuleAction::Allow, "–"), (RuleAction::Ask, "ask")] {
        let scope = ChangeScope::Paths(vec!["src/[".to_owned()]);
        let rule = Rule { changes: Some(scope), action, ..Rule::default() };
        assert_eq!(
            says(&rule, Changes::Tried { changes: &changes, layer: &EMPTY, ask_because: &[] }),
            expected
        );
    }
}

/// The `paths` of a rule that asks or forbids are also compared with changed paths, because a command such as `make x`
/// names no path.
#[test]
fn a_rule_that_holds_back_meets_a_path_that_was_changed() {
    let changes = set(&[("secrets/key", "makes")]);
    for (path, action, expected) in [
        ("secrets/**", RuleAction::Forbid, "forbid"),
        ("secrets/**", RuleAction::Ask, "ask"),
        ("docs/**", RuleAction::Ask, "–"),
    ] {
        let rule = Rule { paths: vec![path.to_owned()], action, ..Rule::default() };
        assert_eq!(
            says(&rule, Changes::Tried { changes: &changes, layer: &EMPTY, ask_because: &[] }),
            expected,
            "{rule:?}"
        );
    }
}

#[test]
fn the_mode_of_a_folder_counts_and_a_folder_that_is_made_does_not() {
    let folder = |mode| Some(Entry::Folder { mode });
    let mode =
        Change { path: "docs".to_owned(), before: folder(0o755), after: folder(0o777), ignored: false };
    let fresh = Change { before: None, ..mode.clone() };
    for (change, action, expected) in [(&mode, RuleAction::Allow, "–"), (&fresh, RuleAction::Allow, "allow")]
    {
        let changes = Changeset::new(vec![change.clone()]).expect("a set");
        let scope = ChangeScope::Paths(vec!["src/**".to_owned()]);
        let rule = Rule { changes: Some(scope), action, ..Rule::default() };
        assert_eq!(
            says(&rule, Changes::Tried { changes: &changes, layer: &EMPTY, ask_because: &[] }),
            expected,
            "{change:?}"
        );
    }
}

#[test]
fn what_git_ignores_is_not_decided_by_a_command_alone() {
    let changes = set(&[("src/.gitignore", "makes")]);
    let scope = ChangeScope::Paths(vec!["src/**".to_owned()]);
    let rule = Rule { changes: Some(scope), action: RuleAction::Allow, ..Rule::default() };
    assert_eq!(says(&rule, Changes::Tried { changes: &changes, layer: &EMPTY, ask_because: &[] }), "ask");
}

/// Rules and other checks treat the changeset of a file tool like the changeset of a trial.
#[test]
fn a_file_tool_votes_on_the_changeset_that_it_proposes() {
    let paths = |glob: &str| Some(ChangeScope::Paths(vec![glob.to_owned()]));
    let table: &[(&str, Option<ChangeScope>, RuleAction, [&str; 2])] = &[
        // Changed path, `changes`, `do`, and the verdict on a trial and on a proposal.
        ("src/a.rs", paths("src/**"), RuleAction::Allow, ["allow", "allow"]),
        ("a.rs", paths("src/**"), RuleAction::Allow, ["–", "–"]),
        ("ci/deploy.yml", paths("ci/**"), RuleAction::Forbid, ["forbid", "forbid"]),
        ("src/.gitignore", paths("src/**"), RuleAction::Allow, ["ask", "ask"]),
        (".gitignore", None, RuleAction::Allow, ["ask", "ask"]),
        ("sub/.GitIgnore", None, RuleAction::Allow, ["ask", "ask"]),
        ("src/.envrc", None, RuleAction::Allow, ["ask", "ask"]),
        ("sub/.git/config", None, RuleAction::Allow, ["ask", "ask"]),
        ("src/a.rs", None, RuleAction::Allow, ["allow", "allow"]),
        ("src/a.rs", Some(ChangeScope::None), RuleAction::Allow, ["–", "–"]),
        // `ignored` covers no change of the workspace.
        ("target/x", Some(ChangeScope::Ignored), RuleAction::Allow, ["–", "–"]),
        ("target/x", Some(ChangeScope::Ignored), RuleAction::Forbid, ["forbid", "forbid"]),
    ];
    for (path, scope, action, expected) in table {
        let changes = set(&[(path, "makes")]);
        let rule = Rule { changes: scope.clone(), action: *action, ..Rule::default() };
        let found = [
            Changes::Tried { changes: &changes, layer: &EMPTY, ask_because: &[] },
            Changes::Proposed(&changes),
        ]
        .map(|changes| says(&rule, changes));
        assert_eq!(found, *expected, "{path}: {scope:?}, do: {action:?}");
    }
}
