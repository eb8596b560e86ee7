//! `docs/guide.md` lists every rule, every pause rule and every problem code exactly as in the code.

use std::path::Path;

use holdshort_compliance::casework::Code;

use crate::casework::support::rules;

fn rows(heading: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (_, below) = page.split_once(&format!("# {heading}\n")).unwrap_or_else(|| panic!("no `{heading}`"));
    let part = below.split("\n##").next().unwrap();
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
fn every_code_has_its_row() {
    let expected: Vec<Vec<String>> =
        Code::ALL.iter().map(|each| vec![code(each.name()), each.what_to_do().to_owned()]).collect();
    assert_eq!(rows("Error codes"), expected);
}
