//! Converts the `config` in a client's first frame to a workflow: a base workflow is changed as the config says
//! (contracts A9 to A16).
//!
//! No key is silently ignored. If a key is unknown, the config is rejected with an error that names the key. If a key
//! has no effect, the client receives the reason (`unused_keys.rs`). `raw_config.rs` reads values, `mode.rs` chooses
//! the phases, and `phases.rs` builds the chosen phases. `copilot.rs` reads the keys of a copilot, `gates.rs` sets the
//! points at which people decide, and `kinds.rs` configures the requests of each phase. `foreign_models.rs` removes the
//! names of models that the server's provider does not have.

mod copilot;
mod foreign_models;
mod gates;
mod kinds;
mod mode;
mod phases;
mod raw_config;
mod unused_keys;

use holdshort_core::definition::Definition;
use holdshort_core::run;
use holdshort_core::schema::Problem;
use serde_json::{Map, Value, json};

use raw_config::{RawConfig, Reader};

/// Name of the workflow of all runs that the MARS edge starts.
pub(super) const WORKFLOW: &str = "mars";
/// Key of the working directory in the client's config.
pub(super) const WORK_DIR: &str = "work_dir";

#[derive(Debug)]
pub struct Translated {
    pub definition: Definition,
    pub config: run::Config,
    /// Id of the session to which the new run belongs, as the client sent it.
    pub session: Option<String>,
    /// Config keys that were accepted but have no effect.
    pub idle: Vec<UnusedKey>,
}

/// Kinds of context that a MARS client wants to receive with an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Display {
    pub(super) plan: bool,
    pub(super) results: bool,
    pub(super) step: bool,
}

pub(super) use foreign_models::remove_foreign_models;
pub(super) use mode::all as modes;
pub use unused_keys::UnusedKey;

/// Config keys that apply to the whole run and not to a single phase.
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

/// Translates a MARS config to the workflow and the settings of a run, or returns all problems in the config.
pub fn translate(config: &Map<String, Value>, base: &Definition) -> Result<Translated, Vec<Problem>> {
    let mut problems = Vec::new();
    let top = RawConfig::from_map(config, "/config", &mut problems);
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
    let idle =
        unused_keys::find_unused_keys(&top, (&chosen, has_variants), (&definition, base), &mut problems);
    problems.sort_by(|a, b| (&a.pointer, &a.message).cmp(&(&b.pointer, &b.message)));
    problems.dedup();
    if !problems.is_empty() {
        return Err(problems);
    }
    let config = run::Config { workspace, model, unattended, ..run::Config::default() };
    Ok(Translated { definition, config, session, idle })
}

/// Applies the model and instructions that the config sets for an agent, such as `engineer_model` or
/// `planner_instructions`.
fn agents(definition: &mut Definition, top: &RawConfig, problems: &mut Vec<Problem>) {
    for (name, agent) in &mut definition.agents {
        let mut reader = Reader { own: top, top: None, keys: &[], problems };
        agent.model = reader.text(&format!("{name}_model")).or(agent.model.take());
        if let Some(more) = reader.text(&format!("{name}_instructions")) {
            agent.instructions = format!("{}\n{more}", agent.instructions.trim_end());
        }
    }
}

/// Adds the keys of the session's config to the config of a task. Keys of the task have precedence. If the task chooses
/// its phases, only those keys of the session are added that apply to the whole run.
pub(super) fn within(session: &Map<String, Value>, task: &Map<String, Value>) -> Map<String, Value> {
    const WHICH_PHASES: [&str; 4] = ["mode", "preset", "phases", "hitl_variant"];
    let own = RawConfig::from_map(task, "", &mut Vec::new());
    // `hitl_variant` alone does not choose phases, because it only modifies a mode.
    let chooses = WHICH_PHASES[..3].iter().any(|key| own.get(key).is_some());
    let mut merged = task.clone();
    for (key, value) in session {
        let name = raw_config::canonical(key);
        let is_of_the_run = RUN.contains(&name.as_str()) && !WHICH_PHASES.contains(&name.as_str());
        if own.get(&name).is_none() && (is_of_the_run || !chooses) {
            merged.insert(key.clone(), value.clone());
        }
    }
    merged
}

/// Returns true if the config of a task says that the task resumes its session. The web UI of MARS then sends the id of
/// the session under both names.
pub(super) fn resumes_session(config: &Map<String, Value>) -> bool {
    ["session_id", "copilotSessionId"].iter().all(|key| config.get(*key).is_some_and(Value::is_string))
}

/// Returns the config with which a run was started, as the client sent it.
pub(super) fn from_run(run: &run::Run) -> Value {
    let config = run.started.as_ref().and_then(|started| started.input.get("config"));
    config.cloned().unwrap_or_else(|| json!({}))
}

/// Returns the value of a key in a config. The config may use any accepted spelling of the key.
pub(super) fn find_value(config: &Value, key: &str) -> Option<Value> {
    RawConfig::from_accepted(config).get(key).map(|item| item.value.clone())
}

/// Returns the display name of the mode that a config names, or `phases` if the config lists its phases.
pub fn mode_of(config: &Value) -> String {
    let given = RawConfig::from_accepted(config);
    if given.get("phases").is_some() {
        return "phases".to_owned();
    }
    let named = ["mode", "preset"].iter().find_map(|key| given.get(key)?.value.as_str());
    mode::client_name(named.unwrap_or(mode::DEFAULT))
}

pub(super) fn is_mode(asked: &str, config: &Value) -> bool {
    mode::client_name(asked) == mode_of(config)
}

/// Returns the kinds of context that the client wants to receive with an interrupt (contracts A12, A14).
pub fn display_of(config: &Value) -> Display {
    let top = RawConfig::from_accepted(config);
    let phases = top.get("phases").and_then(|item| item.value.as_array()).into_iter().flatten();
    let own: Vec<RawConfig> =
        phases.filter_map(|phase| phase.get("config")).map(RawConfig::from_accepted).collect();
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
