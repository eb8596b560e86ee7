//! The metrics as agents call them: the catalogue, every call on the shipped sample, and the data for each analyst.
//! `UPDATE_SNAPSHOTS=1 cargo test -p holdshort-coach tools` rewrites the expected results in `tests/golden/`.

use std::collections::BTreeSet;
use std::path::Path;

use holdshort_coach::training::metrics::Metric;
use holdshort_coach::training::{
    Analyst, Athlete, Measure, PARTS, RefusalCode, Season, Settings, catalogue, compute, limits, summary,
};
use jiff::civil::date;
use serde_json::{Value, json};

use crate::training::computed::difference;
use crate::training::support::{read_all, read_utc};

pub(crate) fn settings() -> Settings {
    let athlete = Athlete { max_heart_rate: Some(186.0), threshold_power: Some(236.0), ..Athlete::default() };
    // Last day of the sample.
    Settings { athlete, as_of: date(2026, 3, 15), activities_days: 7, metrics_days: 14 }
}

fn sample() -> Season {
    read_all(&crate::training::sample::read_committed_files()).season
}

/// Compares a value with a golden file. Numbers may differ by a billionth, because the last bits of powers and
/// logarithms depend on the platform.
fn is_golden(name: &str, found: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, serde_json::to_string_pretty(found).unwrap() + "\n").unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let kept: Value = serde_json::from_str(&kept).unwrap_or_default();
    let difference = difference(found, &kept, "");
    assert_eq!(difference, None, "{name}: UPDATE_SNAPSHOTS=1 cargo test -p holdshort-coach tools");
}

/// Returns parameters for each way to call a metric.
pub(crate) fn calls(metric: Metric, activity: &str) -> Vec<Value> {
    let entry = catalogue().into_iter().find(|entry| entry.name == metric.name()).unwrap();
    let has = |name: &str| entry.parameters["properties"].get(name).is_some();
    let mut calls = vec![json!({})];
    if has("scale") {
        calls = ["trimp", "tss", "session_rpe"].map(|scale| json!({"scale": scale})).to_vec();
    }
    if has("activity") {
        calls.push(json!({"activity": activity}));
    }
    if has("distance_m") {
        calls.push(json!({"distance_m": 15_000}));
    }
    if has("weeks") {
        calls.push(json!({"weeks": 3, "as_of": "2026-03-01"}));
    }
    calls
}

/// Id of a run of the sample with heart rates for every second.
const RUN: &str = "2026-03-10T11:30:00Z running";

#[test]
fn the_catalogue_is_the_one_that_is_kept() {
    is_golden("catalogue.json", &json!(catalogue()));
    let names: Vec<&str> = catalogue().iter().map(|entry| entry.name).collect();
    assert_eq!(names, Metric::ALL.iter().map(|metric| metric.name()).collect::<Vec<_>>());
}

#[test]
fn every_metric_of_the_catalogue_is_computed_over_the_sample() {
    let season = sample();
    let mut all = serde_json::Map::new();
    for metric in Metric::ALL {
        // In the sample only rides have power.
        let is_power = metric.name().contains("power") || *metric == Metric::IntensityFactor;
        let activity = if is_power { "2026-03-14T11:30:00Z cycling" } else { RUN };
        let answer = |parameters: Value| {
            let answer = compute(metric.name(), &season, &settings(), &parameters);
            json!(answer.unwrap_or_else(|refusal| panic!("{} {parameters}: {refusal:?}", metric.name())))
        };
        let answers: Vec<Value> = calls(*metric, activity).into_iter().map(answer).collect();
        all.insert(metric.name().to_owned(), json!(answers));
    }
    is_golden("computed.json", &Value::Object(all));
}

/// Tests that each number has a unit, and that all its inputs are in the season and in a file.
#[test]
fn every_number_can_be_traced_to_files() {
    let season = sample();
    let files: BTreeSet<String> =
        crate::training::sample::read_committed_files().into_iter().map(|(name, _)| name).collect();
    let mut numbers = 0;
    for metric in Metric::ALL {
        for parameters in calls(*metric, RUN) {
            // A call without a result returns a reason instead.
            let Ok(answer) = compute(metric.name(), &season, &settings(), &parameters) else { continue };
            for piece in &answer.results {
                let what = format!("{} {parameters} {:?}", metric.name(), piece.of);
                assert!(!piece.values.is_empty(), "{what}");
                assert!(piece.values.iter().all(|number| !number.unit.is_empty()), "{what}");
                assert!(!piece.inputs.files.is_empty(), "{what}");
                assert!(piece.inputs.files.iter().all(|file| files.contains(&**file)), "{what}");
                let known = |id: &String| season.activities.iter().any(|activity| activity.id == *id);
                assert!(piece.inputs.activities.iter().all(known), "{what}");
                assert!(piece.inputs.days.iter().all(|day| season.days.contains_key(day)), "{what}");
                assert!(!piece.inputs.activities.is_empty() || !piece.inputs.days.is_empty(), "{what}");
                numbers += piece.values.len();
            }
        }
    }
    assert!(numbers > 300, "{numbers}");
}

#[test]
fn each_analyst_is_given_its_parts_and_no_more() {
    let season = sample();
    let given =
        |analyst: &Analyst| (analyst.name().to_owned(), json!(summary(&season, &settings(), *analyst)));
    let all: serde_json::Map<String, Value> = Analyst::ALL.iter().map(given).collect();
    is_golden("summaries.json", &Value::Object(all.clone()));
    let has = |analyst: &str, key: &str| all[analyst].get(key).is_some();
    for (analyst, key) in [("metrics", "weeks"), ("activities", "activities"), ("physiology", "days")] {
        for other in ["weeks", "activities", "days"] {
            assert_eq!(has(analyst, other), other == key, "{analyst} {other}");
        }
    }
    // Every metric belongs to at least one analyst. All listed parts are parts of a data file.
    let metrics: BTreeSet<Metric> = Analyst::ALL.iter().flat_map(|analyst| analyst.metrics()).collect();
    assert_eq!(metrics.len(), Metric::ALL.len());
    let mut parts: Vec<&str> = Analyst::ALL.iter().flat_map(|analyst| analyst.parts()).copied().collect();
    assert!(parts.iter().all(|part| PARTS.contains(part)));
    let count = parts.len();
    parts.sort_unstable();
    parts.dedup();
    assert_eq!(parts.len(), count, "no part is given to two");
}

#[test]
fn a_summary_of_nothing_is_empty() {
    for analyst in Analyst::ALL {
        let found = summary(&Season::default(), &settings(), *analyst);
        assert!(found.weeks.is_empty() && found.activities.is_empty() && found.days.is_empty());
        // Values from the configuration have no file.
        let read: Vec<_> = found.athlete.iter().filter(|given| given.source.is_some()).collect();
        assert!(read.is_empty(), "{read:?}");
    }
}

#[test]
fn a_bad_call_is_refused_by_its_code_and_field() {
    let season = sample();
    let refused = |metric: &str, parameters: Value| {
        let refusal = compute(metric, &season, &settings(), &parameters).unwrap_err();
        assert!(!refusal.message.is_empty() && !refusal.what_to_do.is_empty());
        (refusal.code, refusal.field.unwrap_or_default())
    };
    let bad = RefusalCode::BadParameter;
    for (metric, parameters, code, field) in [
        ("vo2max", json!({}), RefusalCode::UnknownMetric, ""),
        ("TRIMP", json!({}), RefusalCode::UnknownMetric, ""),
        ("trimp", json!([]), bad, ""),
        ("trimp", json!({"sport": "run"}), bad, ""),
        ("trimp", json!({"scale": "tss"}), bad, ""),
        ("trimp", json!({"days": 0}), bad, "/days"),
        ("trimp", json!({"days": limits::TOOL_DAYS + 1}), bad, "/days"),
        ("trimp", json!({"days": "7"}), bad, "/days"),
        ("trimp", json!({"days": 1.5}), bad, "/days"),
        ("trimp", json!({"activity": 7}), bad, "/activity"),
        ("trimp", json!({"activity": RUN, "days": 7}), bad, "/days"),
        ("trimp", json!({"activity": "\u{1b}[31m"}), RefusalCode::UnknownActivity, "/activity"),
        ("trimp", json!({"activity": RUN, "as_of": "2026-03-09"}), RefusalCode::UnknownActivity, "/activity"),
        ("acute_load", json!({}), bad, "/scale"),
        ("acute_load", json!({"scale": "TSS"}), bad, "/scale"),
        ("hrv_trend", json!({"as_of": "2026-03-16"}), bad, "/as_of"),
        ("hrv_trend", json!({"as_of": "yesterday"}), bad, "/as_of"),
        ("hrv_trend", json!({"as_of": "2026-02-29"}), bad, "/as_of"),
        ("riegel", json!({"distance_m": 100}), bad, "/distance_m"),
        ("riegel", json!({"distance_m": "10 km"}), bad, "/distance_m"),
        ("weekly_volume", json!({"weeks": limits::TOOL_WEEKS + 1}), bad, "/weeks"),
        ("weekly_volume", json!({"weeks": -1}), bad, "/weeks"),
    ] {
        assert_eq!(refused(metric, parameters.clone()), (code, field.to_owned()), "{metric} {parameters}");
    }
    for (metric, most) in [
        ("trimp", json!({"days": limits::TOOL_DAYS})),
        ("weekly_volume", json!({"weeks": limits::TOOL_WEEKS})),
        ("riegel", json!({"distance_m": 100_000})),
        ("vdot", Value::Null),
    ] {
        assert!(compute(metric, &season, &settings(), &most).is_ok(), "{metric} {most}");
    }
}

#[test]
fn what_can_not_be_computed_says_what_it_needs() {
    let log = "start,sport,duration_min\n2026-03-14T06:30:00Z,run,60\n";
    let season = read_utc("a.csv", log).season;
    let refusal = compute("trimp", &season, &settings(), &json!({})).unwrap_err();
    assert_eq!(
        json!(refusal),
        json!({
            "code": "not_computable",
            "message": "trimp needs the athlete's sex: the formula has different constants for men and women",
            "what_to_do": "Ask for the missing input, or leave this number out. Never guess it.",
            "needs": "sex",
        })
    );
    let none = compute("trimp", &Season::default(), &settings(), &json!({"days": 2})).unwrap_err();
    assert_eq!(none.message, "trimp needs an activity from 2026-03-14 to 2026-03-15");
    // A call for several activities also lists the activities without a result.
    let log = "start,sport,duration_min,rpe\n2026-03-13T06:30:00Z,run,60,5\n2026-03-14T06:30:00Z,run,60,\n";
    let answer = compute("session_rpe", &read_utc("a.csv", log).season, &settings(), &json!({})).unwrap();
    assert_eq!((answer.results.len(), answer.missing.len()), (1, 1));
    assert!(answer.missing[0].message.contains("2026-03-14T06:30:00Z running"), "{:?}", answer.missing);
}

#[test]
fn as_many_results_as_a_model_is_given() {
    let season = |count: usize| {
        let row = |number: usize| format!("2026-03-14T06:30:00Z,x{number},60,5\n");
        let log = "start,sport,duration_min,rpe\n".to_owned() + &(0..count).map(row).collect::<String>();
        read_utc("a.csv", log).season
    };
    let most = limits::TOOL_RESULTS;
    for metric in ["session_rpe", "weekly_volume"] {
        assert_eq!(compute(metric, &season(most), &settings(), &json!({})).unwrap().results.len(), most);
        let beyond = compute(metric, &season(most + 1), &settings(), &json!({})).unwrap_err();
        assert_eq!(beyond.code, RefusalCode::TooManyResults);
    }
    let given = summary(&season(most + 1), &settings(), Analyst::Activities);
    assert_eq!((given.activities.len(), given.more_activities), (most, 1));
}

/// Tests that a summary leaves out implausible values of a season.
#[test]
fn a_summary_has_plausible_values_alone() {
    let mut season = sample();
    for day in season.days.values_mut() {
        day.measures.get_mut(&Measure::Weight).unwrap().value = f64::NAN;
    }
    let found = json!(summary(&season, &settings(), Analyst::Physiology)).to_string();
    assert!(!found.contains("weight") && found.contains("hrv"), "{found}");
}
