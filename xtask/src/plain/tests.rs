//! Examples of each rule, and the limits for the whole repository.

use super::{Checker, Group, measure, per_thousand, rules};

/// Maximum number of findings per 1,000 lines of prose, by group of texts.
const LIMITS: [(Group, usize); 4] =
    [(Group::Comments, 1), (Group::Documents, 3), (Group::App, 2), (Group::Strings, 8)];

/// Lines of prose, each with the phrase that a rule finds in the line.
const LINES: [(&str, Option<&str>); 12] = [
    ("Whether a person may decide.", Some("Whether")),
    ("Returns true if a person may decide.", None),
    ("Of each key; never a secret.", Some("Of each")),
    ("Reads the file. What it holds is content.", Some("What")),
    ("Names the field: what it holds.", None),
    ("Authenticated, not yet authorized.", None),
    ("The channel is told of it.", Some("is told")),
    ("A plan that is made anew.", Some("anew")),
    ("It can not be read.", Some("can not")),
    ("It cannot be read.", None),
    ("Sends it to Sandwhichever.", None),
    ("What can go wrong", None),
];

#[test]
fn each_line_is_found_by_its_rule() {
    let checker = Checker::new().unwrap();
    for (line, found) in LINES {
        assert_eq!(checker.find(line, true), found, "{line}");
    }
}

#[test]
fn each_rule_is_a_regular_expression() {
    for rule in rules::OPENINGS.iter().chain(&rules::PHRASES) {
        assert!(regex::Regex::new(rule).is_ok(), "{rule}");
    }
}

/// Tests the number of findings in the prose of the repository. `cargo xtask plain GROUP` lists the findings of a
/// group.
#[test]
fn few_sentences_have_to_be_solved() {
    let measured = measure().unwrap();
    for (group, limit) in LIMITS {
        let (found, lines) = &measured[&group];
        let here = per_thousand(found.len(), *lines);
        assert!(here <= limit, "{}: {here} of 1,000 lines; at most {limit}", group.name());
    }
}
