//! Specs of the coach's tools: closed schemas, effects, accepted and refused arguments.

use holdshort_coach::tools::Training;
use holdshort_core::tool::{Category, Effect, OnCrash, Runs};
use holdshort_tools::Toolset;
use serde_json::json;

const TOOLS: Training = Training;
const NAMES: [&str; 6] = [
    "read_load_data",
    "read_activity_data",
    "read_physiology_data",
    "compute_metric",
    "plot_series",
    "plan_weeks",
];

/// The coach's tools only read: no call needs an approval, and an interrupted call is repeated.
#[test]
fn each_reads() {
    let reads = Runs::Here { effect: Effect::Read, category: Category::ReadOnly, on_crash: OnCrash::Rerun };
    let specs: Vec<(String, Runs)> = TOOLS.specs().into_iter().map(|spec| (spec.name, spec.runs)).collect();
    let expected = NAMES.map(|name| (name.to_owned(), reads.clone()));
    assert_eq!(specs, expected);
}

#[test]
fn every_schema_is_closed_and_described() {
    for spec in TOOLS.specs() {
        let schema = &spec.parameters;
        jsonschema::draft202012::new(schema).unwrap();
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{}.{name}", spec.name);
        }
    }
}

#[test]
fn schemas_accept_and_refuse() {
    let cases = [
        ("compute_metric", json!({"metric": "acute_load", "parameters": {"scale": "tss"}}), true),
        ("compute_metric", json!({"metric": "luck"}), false),
        ("plot_series", json!({"series": "sleep", "title": "Sleep"}), true),
        ("plan_weeks", json!({"weeks": [{"begins": "2026-03-16", "hours": 4.5}]}), true),
        ("plan_weeks", json!({"weeks": [{"begins": "2026-03-16", "hours": 61}]}), false),
        ("plan_weeks", json!({"weeks": []}), false),
    ];
    let specs = TOOLS.specs();
    for (tool, arguments, valid) in cases {
        let spec = specs.iter().find(|spec| spec.name == tool).unwrap();
        assert_eq!(jsonschema::is_valid(&spec.parameters, &arguments), valid, "{tool} {arguments}");
    }
}
