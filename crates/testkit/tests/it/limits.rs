//! `docs/reference/limits.md` lists every limit with its value: a constant without a row fails here, and so does a row
//! without a constant.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use holdshort_core::definition;

/// Parts of the page, with the files whose constants are their rows.
const PARTS: &[(&str, &[&str])] = &[
    ("All runs", &["core/src/limits.rs"]),
    ("Requests and content", &["core/src/limits.rs"]),
    ("API keys", &["core/src/limits.rs"]),
    ("People", &["core/src/limits.rs"]),
    ("Workflow files", &["workflow/src/bounds.rs"]),
    (
        "Models",
        &["models/src/provider.rs", "models/src/source.rs", "models/src/frames.rs", "models/src/limits.rs"],
    ),
    ("Tools", &["tools/src/limits.rs", "http/src/guard.rs"]),
    ("Command lines", &["command/src/limits.rs"]),
    ("Server", &["web/src/limits.rs", "edges/src/limits.rs"]),
    ("Tokens of issuers", &["web/src/identity/limits.rs"]),
    ("Channels", &["notify/src/limits.rs", "engine/src/outbox/limits.rs", "store/src/outbox.rs"]),
    ("Journal", &["store/src/log.rs", "store/src/sqlite/writer.rs", "protocol/src/system.rs"]),
    ("Terminal", &["cli/src/limits.rs"]),
    ("Training data", &["../packs/coach/src/training/limits.rs"]),
    (
        "Compliance cases",
        &["../packs/compliance/src/casework/limits.rs", "../packs/compliance/src/limits.rs"],
    ),
    ("Reports", &["presentation/src/limits.rs", "../packs/coach/src/report/limits.rs"]),
    ("Coach", &["../packs/coach/src/limits.rs"]),
    ("Traces", &["engine/src/traces/limits.rs"]),
];
/// Part whose rows are the defaults of a type.
const OF_WORKFLOWS: &str = "Runs of a workflow";

/// Name and value of each row or constant: a time in milliseconds, or a plain count.
type Limits = BTreeMap<String, Option<u128>>;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).expect(path)
}

/// Returns the numeric constants of a file.
fn constants(path: &str) -> Limits {
    let text = read(path);
    let mut found = Limits::new();
    for line in text.lines() {
        let visible = ["pub(crate) ", "pub(super) ", "pub "];
        let line = visible.iter().find_map(|visible| line.strip_prefix(visible)).unwrap_or(line);
        let Some((name, rest)) = line.strip_prefix("const ").and_then(|rest| rest.split_once(": ")) else {
            continue;
        };
        let Some((kind, value)) = rest.trim_end_matches(';').split_once(" = ") else { continue };
        if ["u8", "u16", "u32", "u64", "usize", "Duration"].contains(&kind) {
            let name = name.to_lowercase();
            let value = evaluated(value, &found);
            let unit = if name.ends_with("_seconds") { 1000 } else { 1 };
            found.insert(name, Some(value * unit));
        }
    }
    assert!(!found.is_empty(), "{path} has no constants");
    found
}

/// Evaluates a product of numbers and earlier constants, or a duration.
fn evaluated(text: &str, known: &Limits) -> u128 {
    let calls = [
        ("Duration::from_millis(", 1),
        ("Duration::from_secs(", 1000),
        ("Duration::from_mins(", 60_000),
        ("Duration::from_hours(", 3_600_000),
    ];
    for (call, ms) in calls {
        if let Some(inner) = text.strip_prefix(call).and_then(|rest| rest.strip_suffix(')')) {
            return evaluated(inner, known) * ms;
        }
    }
    let factor = |text: &str| {
        let text = text.trim().replace('_', "");
        text.parse().ok().or_else(|| {
            let (_, value) = known.iter().find(|(name, _)| name.replace('_', "") == text.to_lowercase())?;
            *value
        })
    };
    text.split('*').map(|each| factor(each).unwrap_or_else(|| panic!("{text} is no product"))).product()
}

/// Parses a cell: a number and an optional unit, or `none`.
fn stated(cell: &str) -> Option<u128> {
    let (number, unit) = cell.split_once(' ').unwrap_or((cell, ""));
    let unit = match unit {
        "" | "ms" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "s" => 1000,
        "min" => 60 * 1000,
        "h" => 60 * 60 * 1000,
        "days" => 24 * 60 * 60 * 1000,
        other => panic!("`{other}` is no unit"),
    };
    (number != "none")
        .then(|| number.parse::<u128>().unwrap_or_else(|_| panic!("`{cell}` is no number")) * unit)
}

/// Returns the rows of a part of the page. Each row names what it bounds and what happens at the limit.
fn rows(page: &str, part: &str) -> Limits {
    let heading = format!("\n## {part}\n");
    let (_, text) = page.split_once(&heading).unwrap_or_else(|| panic!("no part `{part}`"));
    let text = text.split("\n## ").next().unwrap_or(text);
    let mut found = Limits::new();
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [name, value, bounds, hit] = cells[..] else { panic!("{line}") };
        assert!(!bounds.is_empty() && !hit.is_empty(), "{line}");
        assert!(found.insert(name.trim_matches('`').to_owned(), stated(value)).is_none(), "{line}: twice");
    }
    found
}

#[test]
fn every_limit_has_a_row_with_its_value() {
    let page = read("../docs/reference/limits.md");
    let mut parts: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    parts.retain(|part| *part != OF_WORKFLOWS);
    assert_eq!(parts, PARTS.iter().map(|(part, _)| *part).collect::<Vec<_>>());

    let defaults = serde_json::to_value(definition::Limits::default()).expect("it is JSON");
    let defaults = defaults.as_object().expect("an object");
    let mut defaults: Limits =
        defaults.iter().map(|(name, value)| (name.clone(), value.as_u64().map(u128::from))).collect();
    // Unset defaults are not serialised.
    defaults.entry("budget_money".to_owned()).or_insert(None);
    defaults.entry("continues".to_owned()).or_insert(Some(0));
    assert_eq!(rows(&page, OF_WORKFLOWS), defaults);

    // Two parts may share a file, so the rows of all its parts are compared with all its constants.
    let mut stated: BTreeMap<&[&str], Limits> = BTreeMap::new();
    for (part, files) in PARTS {
        for (name, value) in rows(&page, part) {
            assert!(stated.entry(files).or_default().insert(name.clone(), value).is_none(), "{name}: twice");
        }
    }
    for (files, stated) in stated {
        let kept: Limits = files.iter().flat_map(|file| constants(file)).collect();
        assert_eq!(stated, kept, "{files:?}");
    }
}
