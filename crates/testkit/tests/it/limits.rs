//! `docs/reference/limits.md` lists every limit with its value and its doc comment. The tables of the page are
//! generated from the constants in the source files. Each table follows a line such as `<!-- constants:
//! core/src/limits/keys.rs -->`.
//!
//! `UPDATE_DOCS=1` rewrites the page.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use holdshort_core::definition;

const PAGE: &str = "../docs/reference/limits.md";

/// Beginning of the line in `limits.md` that names the source files of the next table.
const MARK: &str = "<!-- constants: ";

/// Section of `limits.md` whose table lists the default values of a type.
const WORKFLOW_DEFAULTS: &str = "Runs of a workflow";

/// Source files with limits that have another name than `limits`.
const OTHER_FILES: [&str; 9] = [
    "workflow/src/bounds.rs",
    "models/src/provider.rs",
    "models/src/source.rs",
    "models/src/frames.rs",
    "http/src/guard.rs",
    "store/src/outbox.rs",
    "store/src/log.rs",
    "store/src/sqlite/writer.rs",
    "protocol/src/system.rs",
];

const HEAD: &str = "| limit | value | meaning |\n|---|---|---|\n";

/// Numeric constant in a source file with limits.
struct Constant {
    name: String,
    /// Value of the constant, in milliseconds for durations, or a plain number.
    value: u128,
    unit: Unit,
    /// Doc comment of the constant, as one line.
    meaning: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Time,
    Bytes,
    Count,
}

fn path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn read(file: &str) -> String {
    fs::read_to_string(path(file)).expect(file)
}

/// Returns the numeric constants of a source file with limits, in the order of the file.
fn constants(file: &str) -> Vec<Constant> {
    let text = read(file);
    let mut found: Vec<Constant> = Vec::new();
    let mut comment = Vec::new();
    for line in text.lines() {
        if let Some(part) = line.strip_prefix("///") {
            comment.push(part.trim());
            continue;
        }
        let meaning = std::mem::take(&mut comment).join(" ").replace("[`", "`").replace("`]", "`");
        let visible = ["pub(crate) ", "pub(super) ", "pub "];
        let line = visible.iter().find_map(|visible| line.strip_prefix(visible)).unwrap_or(line);
        let Some((name, rest)) = line.strip_prefix("const ").and_then(|rest| rest.split_once(": ")) else {
            continue;
        };
        let Some((kind, value)) = rest.trim_end_matches(';').split_once(" = ") else { continue };
        if ["u8", "u16", "u32", "u64", "usize", "Duration"].contains(&kind) {
            let value = evaluated(value, &found);
            let name = name.to_lowercase();
            let (value, unit) = match name.rsplit('_').next() {
                _ if kind == "Duration" => (value, Unit::Time),
                Some("ms") => (value, Unit::Time),
                Some("seconds") => (value * 1000, Unit::Time),
                Some("bytes") => (value, Unit::Bytes),
                _ => (value, Unit::Count),
            };
            assert!(meaning.ends_with('.'), "{file}: {name} has no doc comment that ends with a full stop");
            found.push(Constant { name, value, unit, meaning });
        }
    }
    assert!(!found.is_empty(), "{file} has no constants");
    found
}

/// Evaluates the value of a constant: a product of numbers and previously defined constants, or a duration.
fn evaluated(text: &str, earlier: &[Constant]) -> u128 {
    let calls = [
        ("Duration::from_millis(", 1),
        ("Duration::from_secs(", 1000),
        ("Duration::from_mins(", 60_000),
        ("Duration::from_hours(", 3_600_000),
    ];
    for (call, ms) in calls {
        if let Some(inner) = text.strip_prefix(call).and_then(|rest| rest.strip_suffix(')')) {
            return evaluated(inner, earlier) * ms;
        }
    }
    let factor = |text: &str| {
        let text = text.trim();
        let number = text.replace('_', "").parse().ok();
        number.or_else(|| earlier.iter().find(|each| each.name == text.to_lowercase()).map(|each| each.value))
    };
    text.split('*').map(|each| factor(each).unwrap_or_else(|| panic!("{text} is no product"))).product()
}

/// Renders the value of a limit in the largest unit that gives a whole number.
fn rendered(value: u128, unit: Unit) -> String {
    let units: &[(&str, u128)] = match unit {
        Unit::Time => &[("days", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1)],
        Unit::Bytes => &[("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("bytes", 1)],
        Unit::Count => &[],
    };
    match units.iter().find(|(_, size)| value >= *size && value.is_multiple_of(*size)) {
        Some(("days", size)) if value == *size => "1 day".to_owned(),
        Some((name, size)) => format!("{} {name}", value / size),
        None => value.to_string(),
    }
}

/// Returns the page `limits.md` with newly generated tables.
fn generated(page: &str) -> String {
    let mut text = String::new();
    let mut is_table = false;
    for line in page.lines() {
        if is_table && (line.is_empty() || line.starts_with('|')) {
            continue;
        }
        if is_table {
            text.push('\n');
        }
        is_table = false;
        writeln!(text, "{line}").expect("it is a string");
        let Some(files) = line.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(" -->")) else {
            continue;
        };
        is_table = true;
        text.push('\n');
        text.push_str(HEAD);
        for Constant { name, value, unit, meaning } in files.split(", ").flat_map(constants) {
            let meaning = meaning.replace('|', "\\|");
            writeln!(text, "| `{name}` | {} | {meaning} |", rendered(value, unit)).expect("it is a string");
        }
    }
    text
}

/// Returns true for source files with constants that are limits.
fn is_of_limits(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str());
    let folder = file.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    (name == Some("limits.rs") || folder == Some("limits"))
        && fs::read_to_string(file).is_ok_and(|text| text.contains("const "))
}

fn files_of_limits(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            files_of_limits(&entry, found);
        } else if is_of_limits(&entry) {
            found.push(entry);
        }
    }
}

#[test]
fn the_page_has_a_row_for_each_constant() {
    let page = read(PAGE);
    let current = generated(&page);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path(PAGE), &current).expect(PAGE);
    } else {
        assert!(page == current, "run this test with UPDATE_DOCS=1");
    }
    let mut files: Vec<PathBuf> = OTHER_FILES.into_iter().map(path).collect();
    for member in ["crates", "packs"] {
        for crate_ in fs::read_dir(path("..").join(member)).expect(member) {
            files_of_limits(&crate_.expect("an entry").path().join("src"), &mut files);
        }
    }
    for file in files {
        let file = file.canonicalize().expect("a path");
        let is_listed = |marked: &str| path(marked).canonicalize().is_ok_and(|path| path == file);
        let mut marked = current.lines().filter_map(|line| line.strip_prefix(MARK)?.strip_suffix(" -->"));
        assert!(marked.any(|files| files.split(", ").any(is_listed)), "{}", file.display());
    }
}

#[test]
fn the_page_has_the_defaults_of_workflows() {
    let defaults = serde_json::to_value(definition::Limits::default()).expect("it is JSON");
    let defaults = defaults.as_object().expect("an object");
    let stated_default = |value: &serde_json::Value| match value {
        serde_json::Value::Null => "none".to_owned(),
        value => value.to_string(),
    };
    let mut defaults: BTreeMap<String, String> =
        defaults.iter().map(|(name, value)| (name.clone(), stated_default(value))).collect();
    // Some unset defaults are missing from the serialized value.
    defaults.entry("budget_money".to_owned()).or_insert("none".to_owned());
    defaults.entry("continues".to_owned()).or_insert("0".to_owned());

    let page = read(PAGE);
    let (_, part) = page.split_once(&format!("\n## {WORKFLOW_DEFAULTS}\n")).expect(WORKFLOW_DEFAULTS);
    let part = part.split("\n## ").next().unwrap_or(part);
    let stated = part.lines().filter_map(|line| line.strip_prefix("| `")).map(|row| {
        let (name, rest) = row.split_once("` | ").expect(row);
        let (value, _) = rest.split_once(" |").expect(row);
        (name.to_owned(), value.to_owned())
    });
    assert_eq!(stated.collect::<BTreeMap<_, _>>(), defaults);
}
