//! Tool catalogue of the tests: the names of the built-in tools, and one tool of a pack.

use holdshort_core::tool::{Category, Effect, OnCrash, Opens, PhaseTool, Runs, Spec};
use serde_json::{Value, json};

pub(crate) fn catalogue() -> Vec<Spec> {
    let read = || here(Effect::Read, Category::ReadOnly, OnCrash::Rerun);
    let write = || here(Effect::Write, Category::FileWrite, OnCrash::Ask);
    vec![
        spec("read_file", &["path"], read()),
        spec("list_directory", &["path"], read()),
        spec("search_codebase", &["pattern", "path"], read()),
        spec("edit_file", &["path", "old", "new"], write()),
        spec("write_file", &["path", "content"], write()),
        spec("run_command", &["command"], here(Effect::Write, Category::Bash, OnCrash::Ask)),
        spec("web_fetch", &["url"], here(Effect::Read, Category::Web, OnCrash::Rerun)),
        spec("pack_review", &[], read()),
        spec(
            "ask_human",
            &["question", "context", "choices", "kind", "response_schema"],
            Runs::Opens(Opens::Question),
        ),
        spec("ask_user", &["question"], Runs::Opens(Opens::Question)),
        spec("create_plan", &["subtasks"], Runs::Opens(Opens::Plan)),
        spec("request_review", &["title", "content"], Runs::Opens(Opens::Review)),
        spec("invoke_planning_phase", &["task"], Runs::Begins(PhaseTool::Planning)),
        spec("invoke_control_phase", &["agent"], Runs::Begins(PhaseTool::Control)),
        spec("invoke_one_shot_phase", &["task"], Runs::Begins(PhaseTool::OneShot)),
        spec("invoke_idea_generation_phase", &["topic"], Runs::Begins(PhaseTool::IdeaGeneration)),
        spec("invoke_hitl_checkpoint", &["message"], Runs::Begins(PhaseTool::Checkpoint)),
        spec("chain_phases", &["phases"], Runs::Begins(PhaseTool::Chain)),
    ]
}

fn here(effect: Effect, category: Category, on_crash: OnCrash) -> Runs {
    Runs::Here { effect, category, on_crash }
}

fn spec(name: &str, arguments: &[&str], runs: Runs) -> Spec {
    let properties: serde_json::Map<String, Value> =
        arguments.iter().map(|argument| ((*argument).to_owned(), json!({}))).collect();
    Spec {
        name: name.to_owned(),
        description: format!("The tool {name}."),
        parameters: json!({"type": "object", "properties": properties, "additionalProperties": false}),
        runs,
    }
}
