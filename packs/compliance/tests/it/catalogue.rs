//! Specs of the compliance tools: closed schemas, effects.

use holdshort_compliance::tools::CaseTools;
use holdshort_core::tool::{Category, Effect, OnCrash, Runs};
use holdshort_tools::Toolset;
use serde_json::json;

const TOOLS: CaseTools = CaseTools;
const NAMES: [&str; 4] = ["case_overview", "case_findings", "case_query", "case_review"];

/// Tests that the compliance tools only read: no call needs an approval, and an interrupted call is repeated.
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
