//! `config` of a client's first frame as data: a workflow, made from a base by typed changes (contracts A9 to A16).
//!
//! Nothing is passed over: a key that is not known, that is of the copilot, or that means nothing in the mode is an
//! error that names it. `given.rs` reads values, `mode.rs` says which phases there are, `phases.rs` makes them,
//! `gates.rs` says where people speak, `kinds.rs` what each phase says of its own requests.

mod gates;
mod given;
mod kinds;
mod mode;
mod phases;

use holdshort_core::definition::Definition;
use holdshort_core::run;
use holdshort_core::schema::Problem;
use serde_json::{Map, Value, json};

use super::approval::Display;
use given::{Given, Reader};

/// The name of the workflow that runs of this edge have.
pub(super) const WORKFLOW: &str = "mars";

/// What a config comes to.
#[derive(Debug)]
pub(super) struct Translated {
    pub(super) definition: Definition,
    pub(super) config: run::Config,
    /// The session that the run continues, as the client names it.
    pub(super) session: Option<String>,
}

pub(super) use mode::LISTED as MODES;

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

/// Keys of the copilot (contract A17).
const COPILOT: &[&str] = &[
    "available_agents",
    "enable_planning",
    "use_dynamic_routing",
    "complexity_threshold",
    "intelligent_routing",
    "use_copilot_control",
    "auto_continue",
    "continuous_mode",
    "auto_approve_simple",
    "conversational",
    "enable_phase_tools",
    "max_turns",
    "control_model",
    "copilot_session_id",
];

/// The workflow and the run's own settings, or everything that is wrong with the config.
pub(super) fn translate(config: &Map<String, Value>, base: &Definition) -> Result<Translated, Vec<Problem>> {
    let mut problems = Vec::new();
    let top = Given::of(config, "/config", &mut problems);
    let mut reader = Reader { own: &top, top: None, keys: RUN, problems: &mut problems };
    let chosen = mode::read(&mut reader);
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
    gates::set(&mut definition, &made, &top, &mut problems);
    models(&mut definition, &top, &mut problems);
    definition.phases = made.into_iter().map(|made| made.phase).collect();
    phases::keep_what_is_used(&mut definition);
    for (key, item) in top.items() {
        if let Some(why) = refused(key, &chosen, base) {
            problems.push(Problem::new(&item.pointer, why));
        }
    }
    problems.sort_by(|a, b| (&a.pointer, &a.message).cmp(&(&b.pointer, &b.message)));
    problems.dedup();
    if !problems.is_empty() {
        return Err(problems);
    }
    let config = run::Config { workspace, model, unattended, ..run::Config::default() };
    Ok(Translated { definition, config, session })
}

/// Why a key of the config can not be there.
fn refused(key: &str, chosen: &[mode::Chosen], base: &Definition) -> Option<String> {
    let of_an_agent = key.strip_suffix("_model").is_some_and(|agent| base.agents.contains_key(agent));
    if RUN.contains(&key) || of_an_agent || chosen.iter().any(|phase| phase.kind.keys().contains(&key)) {
        return None;
    }
    Some(if COPILOT.contains(&key) {
        "is of the copilot, which this version does not support yet".to_owned()
    } else if mode::Kind::ALL.iter().any(|kind| kind.keys().contains(&key)) {
        let phases: Vec<&str> = chosen.iter().map(|phase| phase.kind.as_str()).collect();
        format!("means nothing here: the phases are {}", phases.join(", "))
    } else {
        "is not a known key".to_owned()
    })
}

/// `engineer_model` and the like.
fn models(definition: &mut Definition, top: &Given, problems: &mut Vec<Problem>) {
    for (name, agent) in &mut definition.agents {
        let key = format!("{name}_model");
        let mut reader = Reader { own: top, top: None, keys: &[], problems };
        agent.model = reader.text(&key).or(agent.model.take());
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

/// What a config says under this name, however it is written.
pub(super) fn said(config: &Value, key: &str) -> Option<Value> {
    Given::taken(config).get(key).map(|item| item.value.clone())
}

/// The mode that a config names, for those who read it later; `phases` where it lists its own.
pub(super) fn mode_of(config: &Value) -> String {
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
pub(super) fn display_of(config: &Value) -> Display {
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

#[cfg(test)]
mod tests;
