//! Checks on the tree itself, as tests: first lines, sizes, links of the documents.

use std::path::{Path, PathBuf};

use crate::run::root;

/// Beyond this a file is usually two.
const MAX_LINES: usize = 600;

fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    const SKIPPED: [&str; 5] = ["target", ".git", "node_modules", "sample", "__pycache__"];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !SKIPPED.contains(&name.as_str()) {
            files(&path, ending, found);
        } else if path.is_file() && name.ends_with(ending) {
            found.push(path);
        }
    }
}

fn all(ending: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    files(&root(), ending, &mut found);
    found.sort();
    found
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect()
}

#[test]
fn every_source_file_says_what_it_is_for() {
    let silent: Vec<String> =
        all(".rs").into_iter().filter(|(_, text)| !text.starts_with("//! ")).map(|(name, _)| name).collect();
    assert!(silent.is_empty(), "no `//!` in the first line of: {silent:#?}");
}

#[test]
fn no_source_file_is_two() {
    let long: Vec<String> = all(".rs")
        .into_iter()
        // A table test is as long as its table.
        .filter(|(name, text)| !name.contains("/tests/") && text.lines().count() > MAX_LINES)
        .map(|(name, text)| format!("{name}: {} lines", text.lines().count()))
        .collect();
    assert!(long.is_empty(), "longer than {MAX_LINES} lines: {long:#?}");
}

#[test]
fn links_of_the_documents_lead_somewhere() {
    let mut dead = Vec::new();
    for (name, text) in all(".md") {
        let folder = root().join(&name).parent().unwrap().to_path_buf();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !folder.join(target).exists() {
                dead.push(format!("{name}: {link}"));
            }
        }
    }
    assert!(dead.is_empty(), "dead links: {dead:#?}");
}

/// The map and the invariants name files: a renamed one must not leave the map behind.
#[test]
fn the_map_names_files_that_exist() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
        + &std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let mut missing = Vec::new();
    for quoted in text.split('`').skip(1).step_by(2) {
        let looks_like_a_path = quoted.starts_with("crates/") || quoted.starts_with("docs/");
        if looks_like_a_path && !quoted.contains([' ', '*']) && !root().join(quoted).exists() {
            missing.push(quoted.to_owned());
        }
    }
    assert!(missing.is_empty(), "named and not there: {missing:#?}");
}

/// Each invariant names its tests: a renamed one must not leave an invariant without.
#[test]
fn the_invariants_name_tests_that_exist() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let sources: String =
        all(".rs").into_iter().filter(|(name, _)| name.contains("/tests/")).map(|(_, t)| t).collect();
    let missing: Vec<&str> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter_map(|quoted| quoted.split_once("::").filter(|_| !quoted.contains([' ', '(', '/'])))
        .filter(|(module, _)| module.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .map(|(_, test)| test)
        .filter(|test| !sources.contains(&format!("fn {test}(")))
        .collect();
    assert!(missing.is_empty(), "named and not there: {missing:#?}");
}
