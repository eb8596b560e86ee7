//! The tools that agents are offered.

use holdshort_core::tool::{Category, Effect, OnCrash, Opens, PhaseTool, Runs};
use holdshort_tools::catalogue;
use serde_json::json;

#[test]
fn names_and_natures() {
    let read = Runs::Here { effect: Effect::Read, category: Category::ReadOnly, on_crash: OnCrash::Rerun };
    let write = Runs::Here { effect: Effect::Write, category: Category::FileWrite, on_crash: OnCrash::Ask };
    let bash = Runs::Here { effect: Effect::Write, category: Category::Bash, on_crash: OnCrash::Ask };
    let web = Runs::Here { effect: Effect::Read, category: Category::Web, on_crash: OnCrash::Rerun };
    let mut found: Vec<_> = catalogue(&[]).into_iter().map(|spec| (spec.name, spec.runs)).collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let begins = |(_, runs): &(String, Runs)| matches!(runs, Runs::Begins(_));
    let (phases, found): (Vec<_>, Vec<_>) = found.into_iter().partition(begins);
    let expected = [
        ("chain_phases", PhaseTool::Chain),
        ("invoke_control_phase", PhaseTool::Control),
        ("invoke_copilot_phase", PhaseTool::Copilot),
        ("invoke_hitl_checkpoint", PhaseTool::Checkpoint),
        ("invoke_hitl_checkpoint_phase", PhaseTool::Checkpoint),
        ("invoke_hitl_control_phase", PhaseTool::HumanControl),
        ("invoke_hitl_planning_phase", PhaseTool::HumanPlanning),
        ("invoke_idea_generation_phase", PhaseTool::IdeaGeneration),
        ("invoke_one_shot_phase", PhaseTool::OneShot),
        ("invoke_planning_phase", PhaseTool::Planning),
    ];
    assert_eq!(phases, expected.map(|(name, tool)| (name.to_owned(), Runs::Begins(tool))));
    let expected = [
        ("ask_human", Runs::Opens(Opens::Question)),
        ("ask_user", Runs::Opens(Opens::Question)),
        ("communicate_with_human", Runs::Opens(Opens::Question)),
        ("create_plan", Runs::Opens(Opens::Plan)),
        ("edit_file", write.clone()),
        ("list_directory", read.clone()),
        ("read_file", read.clone()),
        ("request_review", Runs::Opens(Opens::Review)),
        ("run_command", bash),
        ("search_codebase", read),
        ("web_fetch", web),
        ("write_file", write),
    ];
    assert_eq!(found, expected.map(|(name, runs)| (name.to_owned(), runs)));
}

#[test]
fn every_schema_is_closed_and_described() {
    for spec in catalogue(&[]) {
        let schema = &spec.parameters;
        jsonschema::draft202012::new(schema).unwrap();
        assert_eq!(
            (&schema["type"], &schema["additionalProperties"]),
            (&json!("object"), &json!(false)),
            "{}",
            spec.name
        );
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{}.{name}", spec.name);
        }
    }
}

#[test]
fn schemas_accept_and_refuse() {
    let cases = [
        ("read_file", json!({"path": "a"}), true),
        ("read_file", json!({}), false),
        ("read_file", json!({"path": "a", "offset": 3}), false),
        ("write_file", json!({"path": "a", "content": ""}), true),
        ("edit_file", json!({"path": "a", "old": "", "new": "x"}), false),
        ("list_directory", json!({}), true),
        ("run_command", json!({"command": "ls", "cwd": "src", "timeout_s": 5}), true),
        ("run_command", json!({"command": "ls", "timeout_s": 0}), false),
        ("web_fetch", json!({"url": "https://docs.rs/"}), true),
        ("web_fetch", json!({"url": ""}), false),
        ("web_fetch", json!({"url": "https://docs.rs/".to_owned() + &"a".repeat(2048)}), false),
        ("web_fetch", json!({"url": "https://docs.rs/", "method": "POST"}), false),
        ("ask_user", json!({"question": "Which?", "choices": ["a", "b"]}), true),
        ("ask_human", json!({"question": "Which?", "kind": "suggestion"}), true),
        ("ask_human", json!({"question": "Which?", "kind": "order"}), false),
        ("ask_human", json!({"question": "Which?", "response_schema": {"type": "number"}}), true),
        ("ask_human", json!({"message": "Which?"}), false),
        ("communicate_with_human", json!({"message": "Which?", "message_type": "clarification"}), true),
        ("create_plan", json!({"subtasks": [{"id": "1", "description": "x", "depends_on": ["0"]}]}), true),
        ("create_plan", json!({"subtasks": [{"id": "1", "description": "x", "extra": 1}]}), false),
        ("request_review", json!({"title": "t", "content": "c", "risk_level": "high"}), true),
    ];
    let catalogue = catalogue(&[]);
    for (tool, arguments, valid) in cases {
        let spec = catalogue.iter().find(|spec| spec.name == tool).unwrap();
        assert_eq!(jsonschema::is_valid(&spec.parameters, &arguments), valid, "{tool} {arguments}");
    }
}
