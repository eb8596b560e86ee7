//! Every limit is in `docs/reference/limits.md` with its value: a new one without a row fails here.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use holdshort_core::definition::Limits;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect(path)
}

/// Name and value of each constant, `64 * 1024` worked out.
fn constants() -> BTreeMap<String, String> {
    let source = read("src/limits.rs");
    let value = |text: &str| -> u64 {
        let factors = text.split('*').map(|factor| factor.trim().replace('_', ""));
        factors.map(|factor| factor.parse::<u64>().expect("a product of numbers")).product()
    };
    let found = source.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("pub const ")?.split_once(':')?;
        let (_, text) = rest.trim_end_matches(';').split_once('=')?;
        Some((name.to_lowercase(), value(text).to_string()))
    });
    found.collect()
}

#[test]
fn every_limit_has_a_row_with_its_value() {
    let mut limits = constants();
    assert!(limits.len() > 20, "the constants are read");
    let of_workflows = serde_json::to_value(Limits::default()).expect("it is JSON");
    for (name, value) in of_workflows.as_object().expect("an object") {
        limits.insert(name.clone(), if value.is_null() { "none".to_owned() } else { value.to_string() });
    }
    let page = read("../../docs/reference/limits.md");
    let rows: BTreeMap<String, String> = page
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split(" | ");
            Some((cells.next()?.trim_end_matches('`').to_owned(), cells.next()?.to_owned()))
        })
        .collect();
    assert_eq!(rows, limits);
}
