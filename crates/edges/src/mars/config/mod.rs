//! `config` of a client's first frame as data: a workflow, made from a base by typed changes (contracts A9 to A16).
//!
//! Nothing is passed over: a key that is not known is an error that names it, and one that changes nothing is named
//! with why (`idle.rs`). `given.rs` reads values, `mode.rs` says which phases there are, `phases.rs` makes them,
//! `copilot.rs` what is a copilot's alone, `gates.rs` says where people speak, `kinds.rs` what each phase says of its own requests.

mod copilot;
mod gates;
mod given;
mod idle;
mod kinds;
mod mode;
mod phases;

use holdshort_core::definition::Definition;
use holdshort_core::run;
use holdshort_core::schema::Problem;
use serde_json::{Map, Value, json};

use given::{Given, Reader};

/// The name of the workflow that runs of this edge have.
pub(super) const WORKFLOW: &str = "mars";

/// What a config comes to.
#[derive(Debug)]
pub struct Translated {
    pub definition: Definition,
    pub config: run::Config,
    /// The session that the run continues, as the client names it.
    pub session: Option<String>,
    /// What was taken and changes nothing.
    pub idle: Vec<Idle>,
}

/// What a client wants to see beside a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Display {
    pub(super) plan: bool,
    pub(super) results: bool,
    pub(super) step: bool,
}

pub use idle::Idle;
pub(super) use mode::all as modes;

/// Keys that speak of no single phase.
const RUN: &[&str] = &[
    "mode",
    "preset",
    "hitl_variant",
    "phases",
    "work_dir",
    "model",
    "session_id",
    "unattended",
    "tool_approval",
    "use_ag2_handoffs",
    "ag2_mandatory_checkpoints",
    "ag2_smart_approval",
    "ag2_smart_criteria",
];

/// The workflow and the run's own settings, or everything that is wrong with the config.
pub fn translate(config: &Map<String, Value>, base: &Definition) -> Result<Translated, Vec<Problem>> {
    let mut problems = Vec::new();
    let top = Given::of(config, "/config", &mut problems);
    let mut reader = Reader { own: &top, top: None, keys: RUN, problems: &mut problems };
    let (chosen, has_variants) = mode::read(&mut reader);
    let model = reader.text("model");
    let workspace = reader.text("work_dir");
    let session = reader.text("session_id");
    let unattended = reader.flag("unattended").unwrap_or_default();
    let mut definition = base.clone();
    WORKFLOW.clone_into(&mut definition.name);
    definition.input = json!({
        "type": "object",
        "properties": { "task": { "type": "string", "minLength": 1 }, "config": { "type": "object" } },
        "required": ["task"],
    });
    let made = phases::make(&chosen, &top, base, &mut problems);
    phases::check(&chosen, &top, base, &mut problems);
    gates::set(&mut definition, &made, &top, &mut problems);
    copilot::set(&mut definition, (&chosen, &made), &top);
    agents(&mut definition, &top, &mut problems);
    definition.phases = made.into_iter().map(|made| made.phase).collect();
    phases::keep_what_is_used(&mut definition);
    let idle = idle::of(&top, (&chosen, has_variants), (&definition, base), &mut problems);
    problems.sort_by(|a, b| (&a.pointer, &a.message).cmp(&(&b.pointer, &b.message)));
    problems.dedup();
    if !problems.is_empty() {
        return Err(problems);
    }
    let config = run::Config { workspace, model, unattended, ..run::Config::default() };
    Ok(Translated { definition, config, session, idle })
}

/// `engineer_model`, `planner_instructions` and the like.
fn agents(definition: &mut Definition, top: &Given, problems: &mut Vec<Problem>) {
    for (name, agent) in &mut definition.agents {
        let mut reader = Reader { own: top, top: None, keys: &[], problems };
        agent.model = reader.text(&format!("{name}_model")).or(agent.model.take());
        if let Some(more) = reader.text(&format!("{name}_instructions")) {
            agent.instructions = format!("{}\n{more}", agent.instructions.trim_end());
        }
    }
}

/// A task's config with what its session was made with beneath it: of each key the task's own counts. One that says
/// which phases there are takes from its session only what speaks of no phase.
pub(super) fn within(session: &Map<String, Value>, task: &Map<String, Value>) -> Map<String, Value> {
    const WHICH_PHASES: [&str; 4] = ["mode", "preset", "phases", "hitl_variant"];
    let own = Given::of(task, "", &mut Vec::new());
    // A variant is one of the mode that is there.
    let chooses = WHICH_PHASES[..3].iter().any(|key| own.get(key).is_some());
    let mut merged = task.clone();
    for (key, value) in session {
        let name = given::canonical(key);
        let is_of_the_run = RUN.contains(&name.as_str()) && !WHICH_PHASES.contains(&name.as_str());
        if own.get(&name).is_none() && (is_of_the_run || !chooses) {
            merged.insert(key.clone(), value.clone());
        }
    }
    merged
}

/// The config of a run as its client sent it.
pub(super) fn of(run: &run::Run) -> Value {
    let config = run.started.as_ref().and_then(|started| started.input.get("config"));
    config.cloned().unwrap_or_else(|| json!({}))
}

/// What a config says under this name, however it is written.
pub(super) fn said(config: &Value, key: &str) -> Option<Value> {
    Given::taken(config).get(key).map(|item| item.value.clone())
}

/// The mode that a config names, for those who read it later; `phases` where it lists its own.
pub fn mode_of(config: &Value) -> String {
    let given = Given::taken(config);
    if given.get("phases").is_some() {
        return "phases".to_owned();
    }
    let named = ["mode", "preset"].iter().find_map(|key| given.get(key)?.value.as_str());
    mode::told(named.unwrap_or(mode::DEFAULT))
}

/// Whether a mode that somebody asks for is the one that a config names.
pub(super) fn is_mode(asked: &str, config: &Value) -> bool {
    mode::told(asked) == mode_of(config)
}

/// What the client wants to see beside a question (contracts A12, A14).
pub fn display_of(config: &Value) -> Display {
    let top = Given::taken(config);
    let phases = top.get("phases").and_then(|item| item.value.as_array()).into_iter().flatten();
    let own: Vec<Given> = phases.filter_map(|phase| phase.get("config")).map(Given::taken).collect();
    let flag = |key: &str, usual: bool| {
        let mut all = own.iter().chain([&top]);
        all.find_map(|given| given.get(key)?.value.as_bool()).unwrap_or(usual)
    };
    Display {
        plan: flag("show_plan", true),
        results: flag("show_context", false),
        step: flag("show_step_context", true),
    }
}
