//! Tests that `deny.toml` allows the licence of every package in `Cargo.lock`. Works without an installed `cargo deny`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::run::{cargo, root};

/// Returns the licences that `deny.toml` allows.
fn allowed() -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let (_, list) = text.split_once("\nallow = [\n").unwrap();
    let (list, _) = list.split_once("\n]").unwrap();
    let lines = list.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    lines.map(|line| line.trim_matches([',', '"']).to_owned()).collect()
}

/// Returns true if the allowed licences satisfy an SPDX expression. Older packages write `/` instead of `OR`.
fn is_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words: Vec<&str> = spaced.split_whitespace().collect();
    words.reverse();
    either(&mut words, allowed) && words.is_empty()
}

/// Evaluates `OR` in an SPDX expression, which has a lower precedence than `AND`. Always consumes all words, even if
/// the first ones decide the result.
fn either(words: &mut Vec<&str>, allowed: &BTreeSet<String>) -> bool {
    let mut met = both(words, allowed);
    while words.pop_if(|word| *word == "OR").is_some() {
        met |= both(words, allowed);
    }
    met
}

fn both(words: &mut Vec<&str>, allowed: &BTreeSet<String>) -> bool {
    let mut met = one(words, allowed);
    while words.pop_if(|word| *word == "AND").is_some() {
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut Vec<&str>, allowed: &BTreeSet<String>) -> bool {
    match words.pop() {
        Some("(") => {
            let met = either(words, allowed);
            words.pop() == Some(")") && met
        }
        Some(licence) if words.pop_if(|word| *word == "WITH").is_some() => {
            words.pop().is_some_and(|exception| allowed.contains(&format!("{licence} WITH {exception}")))
        }
        Some(licence) => allowed.contains(licence),
        None => false,
    }
}

#[test]
fn expressions_are_read_as_spdx_has_them() {
    let allowed: BTreeSet<String> =
        ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned).into_iter().collect();
    for (expression, met) in [
        ("MIT", true),
        ("GPL-3.0-only", false),
        ("GPL-3.0-only OR MIT", true),
        ("MIT/Apache-2.0", true),
        ("Apache-2.0 / MIT", true),
        ("MIT AND GPL-3.0-only", false),
        ("GPL-3.0-only OR MIT AND ISC", true),
        ("(GPL-3.0-only OR MIT) AND BSD-3-Clause", false),
        ("(GPL-3.0-only OR MIT) AND ISC", true),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
        ("MIT)", false),
        ("", false),
    ] {
        assert_eq!(is_met(expression, &allowed), met, "{expression}");
    }
}

#[test]
fn every_package_has_a_licence_that_is_allowed() {
    let output = cargo().args(["metadata", "--format-version", "1", "--locked"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let allowed = allowed();
    assert!(allowed.contains("MIT") && allowed.len() >= 10, "{allowed:?}");
    let packages = metadata["packages"].as_array().unwrap();
    // A package without a registry belongs to the workspace.
    let foreign = packages.iter().filter(|package| !package["source"].is_null());
    let refused: Vec<String> = foreign
        .filter(|package| !package["license"].as_str().is_some_and(|licence| is_met(licence, &allowed)))
        .map(|package| format!("{} {}: {}", package["name"], package["version"], package["license"]))
        .collect();
    assert!(refused.is_empty(), "not allowed by deny.toml: {refused:#?}");
}
