//! `docs/guide.md` lists every rule, every pause rule and every problem code exactly as in the code.

use std::path::Path;

use holdshort_compliance::casework::Code;

use crate::casework::support::rules;

/// Returns the text of the guide below a heading, up to the next heading.
fn section(heading: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (_, below) = page.split_once(&format!("# {heading}\n")).unwrap_or_else(|| panic!("no `{heading}`"));
    below.split("\n##").next().unwrap().to_owned()
}

fn rows(heading: &str) -> Vec<Vec<String>> {
    let part = section(heading);
    let rows = part.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| row.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()).collect()
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

#[test]
fn every_rule_has_its_row() {
    let expected: Vec<Vec<String>> = rules()
        .rules
        .iter()
        .map(|rule| vec![code(rule.id.name()), rule.description.clone(), rule.source.clone()])
        .collect();
    assert_eq!(rows("Rules"), expected);
}

#[test]
fn every_pause_rule_has_its_row() {
    let expected: Vec<Vec<String>> =
        rules().pause.iter().map(|pause| vec![code(&pause.id), pause.description.clone()]).collect();
    assert_eq!(rows("Pause rules"), expected);
}

#[test]
fn every_code_is_listed() {
    let part = section("Error codes");
    let lists = part.lines().filter(|line| line.starts_with('`'));
    let listed: Vec<String> = lists.flat_map(|list| list.split(", ")).map(str::to_owned).collect();
    let expected: Vec<String> = Code::ALL.iter().map(|each| code(each.name())).collect();
    assert_eq!(listed, expected);
}
