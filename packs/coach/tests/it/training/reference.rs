//! `docs/training.md` and `docs/tools.md` list every metric, code, caveat, measure, header and tool exactly as in the
//! code.

use std::path::Path;

use holdshort_coach::training::metrics::{Caveat, Metric};
use holdshort_coach::training::tools::Parameter;
use holdshort_coach::training::{
    Analyst, Code, Level, Measure, PARTS, RefusalCode, Severity, catalogue, compute, csv_headers,
};

/// Returns the text of `docs/training.md` and `docs/tools.md`, one after the other.
fn page() -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    ["training.md", "tools.md"].map(|name| std::fs::read_to_string(docs.join(name)).unwrap()).concat()
}

/// Returns the text of the documents below a heading, up to the next heading.
fn section(heading: &str) -> String {
    let page = page();
    let (_, below) = page.split_once(&format!("# {heading}\n")).unwrap_or_else(|| panic!("no `{heading}`"));
    below.split("\n##").next().unwrap().to_owned()
}

fn listed_names(heading: &str) -> Vec<String> {
    let part = section(heading);
    let lists = part.lines().filter(|line| line.starts_with('`') && !line.starts_with("```"));
    lists.flat_map(|list| list.split(", ")).map(str::to_owned).collect()
}

/// Returns the table rows of the documents below a heading, up to the next heading, each as its cells.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let part = section(heading);
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

/// Tests that the method `name` of each type returns the serialized name.
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
fn every_code_is_listed() {
    for (heading, severity) in [("Errors", Severity::Error), ("Warnings", Severity::Warning)] {
        let listed = Code::ALL.iter().filter(|each| each.severity() == severity);
        let expected: Vec<_> = listed.map(|each| code(each.name())).collect();
        assert_eq!(listed_names(heading), expected);
    }
}

#[test]
fn every_caveat_is_listed() {
    let expected: Vec<_> = Caveat::ALL.iter().map(|each| code(each.name())).collect();
    assert_eq!(listed_names("Caveats"), expected);
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

#[test]
fn every_tool_and_parameter_has_its_row() {
    let names = |entry: &holdshort_coach::training::tools::Entry| {
        let properties = entry.parameters["properties"].as_object().unwrap();
        let named = Parameter::ALL.iter().filter(|parameter| properties.contains_key(parameter.name()));
        let (day, others): (Vec<&Parameter>, Vec<&Parameter>) =
            named.partition(|parameter| **parameter == Parameter::AsOf);
        let listed: Vec<String> = others.into_iter().chain(day).map(|each| code(each.name())).collect();
        [code(entry.name), entry.description.into(), listed.join(", ")]
    };
    assert_eq!(rows("Tools"), catalogue().iter().map(names).collect::<Vec<_>>());
    let expected: Vec<_> =
        Parameter::ALL.iter().map(|each| [code(each.name()), each.description().into()]).collect();
    assert_eq!(rows("Parameters"), expected);
    let expected: Vec<_> = RefusalCode::ALL.iter().map(|each| code(each.name())).collect();
    assert_eq!(listed_names("Answers"), expected);
}

#[test]
fn every_analyst_has_its_parts() {
    let parts: Vec<String> = rows("Data of each analyst").into_iter().map(|row| row[3].clone()).collect();
    let joined =
        |analyst: &Analyst| analyst.parts().iter().map(|part| code(part)).collect::<Vec<_>>().join(", ");
    assert_eq!(parts, Analyst::ALL.iter().map(joined).collect::<Vec<_>>());
}

/// Tests that the example response in the document is the response for the sample.
#[test]
fn the_answer_of_the_page_is_that_of_the_tool() {
    let page = page();
    let shown = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let shown: serde_json::Value = serde_json::from_str(shown).unwrap();
    let season = crate::training::support::read_all(&crate::training::sample::read_committed_files()).season;
    let parameters = serde_json::json!({"scale": "session_rpe"});
    let found = compute("acute_load", &season, &crate::training::tools::settings(), &parameters).unwrap();
    let found = serde_json::to_value(found).unwrap();
    assert_eq!(crate::training::computed::difference(&found, &shown, ""), None);
}

/// Tests that the example tables in the document are read without problems.
#[test]
fn every_example_is_read_without_a_word() {
    let page = page();
    let examples: Vec<&str> =
        page.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 2);
    for example in examples {
        let reading = crate::training::support::read_utc("example.csv", example);
        assert_eq!(reading.problems, [], "{example}");
        assert_eq!(reading.season.activities.len() + reading.season.days.len(), 1, "{example}");
    }
}
