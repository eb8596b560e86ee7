//! Tests that sources and documents cite exactly the ids (such as `A27`) that `docs/contract/` defines.

use std::collections::BTreeSet;

use crate::tree::all;

const PAGES: &str = "docs/contract/";

/// Words after which a number is the id of an item: `lesson 16`, `lessons 1 to 3, 17`, `cases 24 and 25`.
const NUMBERED: [&str; 2] = ["lesson", "case"];

/// Returns the ids of the contract that a text cites: `A27`, `A12 to A14`, and numbers after the words in [`NUMBERED`].
fn cited(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    // State between two words. It has the word to which a number alone belongs, and the previous id. The flag is true
    // inside a range such as `1 to`.
    let mut numbered = None;
    let mut last: Option<(String, u32)> = None;
    let mut range = false;
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty()) {
        let singular = word.to_lowercase();
        let singular = singular.strip_suffix('s').unwrap_or(&singular);
        if let Some(name) = NUMBERED.iter().find(|name| **name == singular) {
            (numbered, last, range) = (Some(*name), None, false);
            continue;
        }
        let id = lettered(word).or_else(|| Some((format!("{} ", numbered?), number(word)?)));
        let Some((name, to)) = id else {
            range = word == "to" && last.is_some();
            if !range && word != "and" {
                (numbered, last) = (None, None);
            }
            continue;
        };
        let from = last.filter(|(before, _)| range && *before == name).map_or(to, |(_, from)| from);
        found.extend((from..=to).map(|each| format_id(&name, each)));
        (last, range) = (Some((name, to)), false);
    }
    found
}

/// Parses an id of the contract such as `A27`: the letter of a page, and at most two digits.
fn lettered(word: &str) -> Option<(String, u32)> {
    let letter = word.chars().next().filter(|letter| ('A'..='E').contains(letter))?;
    Some((letter.to_string(), number(&word[1..])?))
}

fn number(word: &str) -> Option<u32> {
    let is_number = (1..=2).contains(&word.len()) && word.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| word.parse().ok())?
}

fn format_id(name: &str, number: u32) -> String {
    if name == "case " { format!("{name}{number:02}") } else { format!("{name}{number}") }
}

/// Returns the ids of the contract that documents and comments cite, each with the file that cites the id.
fn citations() -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let commented = all(".rs").into_iter().map(|(name, text)| (name, comments(&text)));
    for (name, text) in all(".md").into_iter().chain(commented) {
        // Left out are the pages that define the ids, this file with its examples, and the changelog, which is about
        // the past.
        if name.starts_with(PAGES) || name == file!() || name == "CHANGELOG.md" {
            continue;
        }
        found.extend(cited(&text).into_iter().map(|id| (id, name.clone())));
    }
    found
}

/// Joins the comments of a source file into one text, because a range or a list may continue on the next line.
fn comments(text: &str) -> String {
    let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix("//"));
    lines.map(|line| line.trim_start_matches(['/', '!'])).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_is_cited_stands_in_the_contract_and_nothing_else_does() {
    let mut there = BTreeSet::new();
    for (name, text) in all(".md").into_iter().filter(|(name, _)| name.starts_with(PAGES)) {
        for id in text.lines().filter_map(|line| line.strip_prefix("### ")) {
            assert!(there.insert(id.to_owned()), "{name}: {id} occurs twice");
        }
    }
    let cited = citations();
    let dangling: Vec<_> = cited.iter().filter(|(id, _)| !there.contains(id)).collect();
    assert!(dangling.is_empty(), "these ids are cited, but {PAGES} does not define them: {dangling:#?}");
    let idle: Vec<_> = there.iter().filter(|id| !cited.iter().any(|(each, _)| each == *id)).collect();
    assert!(idle.is_empty(), "{PAGES} defines these ids, but nothing cites them: {idle:#?}");
}

#[test]
fn every_form_of_a_citation_is_read() {
    for (text, ids) in [
        ("as it was (contract A4, E32)", vec!["A4", "E32"]),
        ("(contracts A9, A12 to A14)", vec!["A12", "A13", "A14", "A9"]),
        ("lessons 1 to 3, 17 and 21", vec!["lesson 1", "lesson 17", "lesson 2", "lesson 21", "lesson 3"]),
        ("Case 04: three of 5; cases 10 and 11", vec!["case 04", "case 10", "case 11"]),
        ("`git apply -C1`, a case of 7, A100, P7, in case 5x", vec![]),
    ] {
        assert_eq!(cited(text).into_iter().collect::<Vec<_>>(), ids, "{text}");
    }
}
