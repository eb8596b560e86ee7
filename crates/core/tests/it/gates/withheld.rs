//! Paths that the result of a search leaves out because a rule forbids these paths or asks about them.

use holdshort_core::gate::{Changes, Subject, WithheldPaths};
use holdshort_core::policy::Rule;
use holdshort_core::policy::RuleAction::{self, Allow, Ask, Forbid};
use holdshort_core::tool::Category;

use super::file;

fn paths(action: RuleAction, tools: &[&str], paths: &[&str]) -> Rule {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Rule { tools: texts(tools), paths: texts(paths), action, ..Rule::default() }
}

fn search(path: &str) -> Subject<'_> {
    Subject { tool: "search_codebase", category: Category::ReadOnly, changes: Changes::Nothing, ..file(path) }
}

#[test]
fn the_first_rule_of_a_list_that_covers_a_path_decides() {
    let all = || paths(Allow, &["search_codebase", "read_file"], &[]);
    // Title, rules, searched directory, path, and true if the path is left out.
    let table: [(&str, Vec<Rule>, &str, &str, bool); 14] = [
        ("forbidden", vec![paths(Forbid, &[], &["secrets/**"]), all()], ".", "secrets/key", true),
        ("asks", vec![paths(Ask, &[], &["secrets/**"]), all()], ".", "secrets/key", true),
        ("another path", vec![paths(Forbid, &[], &["secrets/**"]), all()], ".", "src/key", false),
        ("of reads", vec![paths(Forbid, &["read_file"], &["secrets/**"])], ".", "secrets/key", true),
        ("of another tool", vec![paths(Forbid, &["write_file"], &["secrets/**"])], ".", "secrets/key", false),
        ("released before", vec![all(), paths(Forbid, &[], &["secrets/**"])], ".", "secrets/key", false),
        (
            "a part is released",
            vec![paths(Allow, &[], &["secrets/open/**"]), paths(Forbid, &[], &["secrets/**"])],
            ".",
            "secrets/open/a",
            false,
        ),
        (
            "the rest is not",
            vec![paths(Allow, &[], &["secrets/open/**"]), paths(Forbid, &[], &["secrets/**"])],
            ".",
            "secrets/a",
            true,
        ),
        // A person was already asked about the search itself.
        ("voted on", vec![paths(Ask, &[], &["secrets/**"])], "secrets", "secrets/key", false),
        (
            "a rule of reads",
            vec![paths(Ask, &["read_file"], &["secrets/**"])],
            "secrets",
            "secrets/key",
            true,
        ),
        (
            "voted on by the search",
            vec![paths(Ask, &["search_codebase"], &["secrets/**"])],
            "secrets",
            "secrets/key",
            false,
        ),
        ("asks about each search", vec![paths(Ask, &["search_codebase"], &[])], ".", "src/a", false),
        // The pattern of the rule is invalid, so the rule covers every call and already forbids this one.
        ("unreadable", vec![paths(Forbid, &[], &["src/["])], ".", "docs/a", false),
        ("further down", vec![paths(Forbid, &[], &["**/*.key"])], "src", "src/a/b.key", true),
    ];
    for (about, rules, folder, path, expected) in table {
        for at in 0..3 {
            let mut lists: [&[Rule]; 3] = [&[], &[], &[]];
            lists[at] = &rules;
            let withheld = WithheldPaths::for_call(&search(folder), lists, Some("read_file"));
            assert_eq!(withheld.withholds(path), expected, "{about}: {path} in `{folder}`");
        }
    }
}
