//! `docs/reference/training.md` has every metric, code, caveat, measure and header as it is in the code.

use std::path::Path;

use holdshort_training::metrics::{Caveat, Metric};
use holdshort_training::{Code, Level, Measure, PARTS, Severity, csv_headers};

/// The rows of the table below a heading, each as its cells.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/training.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (_, below) =
        page.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no `{heading}`"));
    let part = below.split("\n## ").next().unwrap();
    let rows = part.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| row.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()).collect()
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

#[test]
fn every_metric_has_its_row() {
    let expected: Vec<_> = Metric::ALL
        .iter()
        .map(|metric| {
            [code(metric.name()), metric.formula().into(), metric.unit().into(), metric.source().into()]
        })
        .collect();
    assert_eq!(rows("Metrics"), expected);
}

/// Names are written in two ways: by `name`, and where something is serialised.
#[test]
fn what_is_serialised_has_the_names_of_the_page() {
    fn name(value: impl serde::Serialize) -> String {
        serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
    }
    assert!(Code::ALL.iter().all(|each| name(each) == each.name()));
    assert!(Caveat::ALL.iter().all(|each| name(each) == each.name()));
    assert!(Metric::ALL.iter().all(|each| name(each) == each.name()));
    assert!(Measure::ALL.iter().all(|each| name(each) == each.name()));
}

#[test]
fn every_code_has_its_row() {
    let severity = |code: &Code| if code.severity() == Severity::Error { "error" } else { "warning" };
    let expected: Vec<_> = Code::ALL
        .iter()
        .map(|each| [code(each.name()), severity(each).into(), each.what_to_do().into()])
        .collect();
    assert_eq!(rows("Codes"), expected);
}

#[test]
fn every_caveat_has_its_row() {
    let expected: Vec<_> = Caveat::ALL.iter().map(|each| [code(each.name()), each.text().into()]).collect();
    assert_eq!(rows("Caveats"), expected);
}

#[test]
fn every_measure_has_its_row_with_the_headers_of_tables() {
    let of = |measure: Measure| {
        let (least, most) = measure.plausible();
        let headers: Vec<String> = csv_headers()
            .into_iter()
            .filter(|(_, of)| *of == Some(measure))
            .map(|(name, _)| code(&name))
            .collect();
        let level = if measure.level() == Level::Day { "day" } else { "activity" };
        let plausible = format!("{least} to {most}");
        [code(measure.name()), level.into(), measure.unit().into(), plausible, headers.join(", ")]
    };
    assert_eq!(rows("Measures"), Measure::ALL.iter().copied().map(of).collect::<Vec<_>>());
}

#[test]
fn every_part_has_its_row() {
    let names: Vec<String> = rows("The ten-part data file").into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(names, PARTS.map(code));
}

/// The tables that the page shows are read as they stand.
#[test]
fn every_example_is_read_without_a_word() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/training.md");
    let page = std::fs::read_to_string(page).unwrap();
    let examples: Vec<&str> =
        page.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 2);
    for example in examples {
        let reading = crate::support::read_utc("example.csv", example);
        assert_eq!(reading.problems, [], "{example}");
        assert_eq!(reading.season.activities.len() + reading.season.days.len(), 1, "{example}");
    }
}
