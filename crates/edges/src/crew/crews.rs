//! Crews and their agents: the workflows of this server under the names that the source system uses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::Json;
use holdshort_core::definition::{Definition, EXTERNAL, PhaseKind};
use holdshort_core::history::{self, SUBJECT_BYTES};
use holdshort_core::interrupt::Kind;
use holdshort_core::schema;
use holdshort_web::app::App;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, Params};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::guest::Guest;
use super::{AS_OF, CASE, Settings, refusals};

/// Member of a run's input that contains the client's original inputs if the workflow accepts its task only as text.
pub(super) const INPUTS: &str = "inputs";

/// Member of a run's input that names the data subject of the task.
pub(super) const SUBJECT: &str = "subject";

/// Returns true if a workflow is a crew. All workflows are crews except the workflow of external agents.
pub(super) fn is_crew(workflow: &str) -> bool {
    workflow != EXTERNAL
}

/// Returns the workflow of the crew with this name. A workflow with exactly this name has precedence over an alias.
pub(super) fn workflow_of<'n>(app: &App, name: &'n str) -> Option<&'n str> {
    if is_crew(name) && app.library.get(name).is_some() {
        return Some(name);
    }
    let (_, workflow) = app.library.aliases().find(|(alias, _)| *alias == name)?;
    app.library.get(workflow).map(|_| workflow)
}

/// Returns the definition of a crew, or an error that lists the known crews.
pub(super) fn find(app: &App, name: &str) -> Answer<Arc<Definition>> {
    let found = workflow_of(app, name).and_then(|workflow| app.library.get(workflow));
    found.ok_or_else(|| {
        let known: Vec<&str> = names(app).collect();
        refusals::no_crew(name, &known)
    })
}

fn names(app: &App) -> impl Iterator<Item = &str> {
    app.library.names().filter(|name| is_crew(name))
}

/// Changes a workflow so that it runs as a crew: an approved review ends the step of its agent (contract D3), and each
/// review has an expiry.
pub(super) fn as_crew(definition: &Definition, settings: &Settings) -> Definition {
    let mut definition = definition.clone();
    definition.gates.release_ends_step = true;
    let gate = definition.gates.kinds.entry(Kind::Review).or_default();
    let usual = u64::try_from(settings.review_expiry.as_millis()).unwrap_or(u64::MAX);
    gate.expires_in_ms.get_or_insert(usual);
    definition
}

/// Returns the input of a run for the inputs that the client sent. If the workflow's schema accepts the client's
/// inputs, these are the input of the run. Otherwise, the member `task` contains the inputs as text, and the member
/// `inputs` contains the inputs unchanged. The text does not name the data subject (the person whom the task is about),
/// because only an erasure uses this name.
pub(super) fn input(definition: &mut Definition, inputs: Map<String, Value>) -> Value {
    let sent = Value::Object(inputs);
    let wants_words =
        definition.input.pointer("/properties/task/type").and_then(Value::as_str) == Some("string");
    if schema::check(&definition.input, &sent, "").is_empty() || !wants_words || sent.get("task").is_some() {
        return sent;
    }
    definition.input = json!({
        "type": "object",
        "properties": { "task": { "type": "string" }, INPUTS: { "type": "object" } },
        "required": ["task", INPUTS],
    });
    let mut told = sent.as_object().cloned().unwrap_or_default();
    told.remove(SUBJECT);
    let words = ["query", "question", "description"].iter().find_map(|name| told.get(*name)?.as_str());
    let task = match words {
        Some(words) if told.len() == 1 => words.to_owned(),
        Some(words) => format!("{words}\n\n{}", pretty(&told)),
        None => pretty(&told),
    };
    let mut input = json!({ "task": task, INPUTS: sent });
    if definition.works_on_files() {
        // The tools for cases read these members at the top level of the input.
        for name in [CASE, AS_OF] {
            input[name] = sent[name].clone();
        }
    }
    input
}

/// Records the data subject of a task (the person whom the task is about) in the member of the run's input that an
/// erasure searches. The data subject is recorded with the name that the client sent, because the client does not know
/// the numbers that replace the names of people in a case. Rejects a data subject that an erasure could not find, or
/// whose name the agents would read. If the input has a member `task`, the agents read only this member.
pub(super) fn record_subject(input: &mut Value, subject: Option<Value>) -> Answer<()> {
    let Some(subject) = subject.filter(|subject| !subject.is_null()) else { return Ok(()) };
    if subject.as_str().and_then(history::subject_of).is_none() {
        let rule = format!("is not a text of 1 to {SUBJECT_BYTES} bytes without control characters");
        return Err(Refused::invalid_at("/inputs/subject", rule));
    }
    if input[SUBJECT] == subject {
        return Ok(());
    }
    if !input["task"].is_string() {
        let rule = "names a person in the case, and agents of this crew read it: use a number of your own \
                    for this person";
        return Err(Refused::invalid_at("/inputs/subject", rule));
    }
    input[SUBJECT] = subject;
    Ok(())
}

fn pretty(members: &Map<String, Value>) -> String {
    serde_json::to_string_pretty(members).unwrap_or_default()
}

/// Returns the agents of a crew's workflow in the order of its phases. Agents that work in no phase come last.
pub(super) fn in_order(definition: &Definition) -> Vec<&str> {
    let mut agents: Vec<&str> = Vec::new();
    let of_phases = definition.phases.iter().filter_map(|phase| match &phase.kind {
        PhaseKind::OneShot { agent } => Some(agent.as_str()),
        PhaseKind::Planning(planning) => Some(planning.planner.as_str()),
        PhaseKind::Control(control) => Some(control.agent.as_str()),
        PhaseKind::IdeaGeneration(ideas) => Some(ideas.maker.as_str()),
        PhaseKind::Copilot(copilot) => Some(copilot.agent.as_str()),
        PhaseKind::Checkpoint(_) | PhaseKind::Call { .. } => None,
    });
    for agent in of_phases.chain(definition.agents.keys().map(String::as_str)) {
        if !agents.contains(&agent) {
            agents.push(agent);
        }
    }
    agents
}

fn crew(app: &App, definition: &Definition) -> Value {
    let aliases =
        app.library.aliases().filter(|(_, workflow)| *workflow == definition.name).map(|(alias, _)| alias);
    json!({
        "name": definition.name,
        "crew_name": definition.name,
        "description": definition.description,
        "process_type": "sequential",
        "agents": in_order(definition),
        "tasks": definition.phases.iter().map(|phase| phase.id.as_str()).collect::<Vec<_>>(),
        "aliases": aliases.collect::<Vec<_>>(),
        "inputs": definition.input,
    })
}

/// `GET /crew`: lists the names with which a client can start a crew, including the aliases of crews.
pub(super) async fn list(guest: Guest) -> Answer<Json<Value>> {
    let app = guest.authorize()?.app;
    let aliases = app.library.aliases().map(|(alias, _)| alias);
    let known = |name: &&str| workflow_of(&app, name).is_some();
    let crews: BTreeSet<&str> = names(&app).chain(aliases).filter(known).collect();
    Ok(Json(json!({ "crews": crews })))
}

/// `GET /crew/crews`: lists all crews with their descriptions.
pub(super) async fn all(guest: Guest) -> Answer<Json<Value>> {
    let app = guest.authorize()?.app;
    let crews: Vec<Value> = names(&app)
        .filter_map(|name| app.library.get(name))
        .map(|definition| crew(&app, &definition))
        .collect();
    Ok(Json(json!({ "success": true, "count": crews.len(), "crews": crews })))
}

/// `GET /crew/crews/{name}`: returns the description of one crew.
pub(super) async fn one(guest: Guest, Id(name): Id<String>) -> Answer<Json<Value>> {
    let app = guest.authorize()?.app;
    Ok(Json(crew(&app, &*find(&app, &name)?)))
}

/// Returns the agents of all crews by name, each with the names of its crews. The `goal` of an agent is the description
/// of the agent's first crew. The instructions of agents are never included.
fn by_name(app: &App) -> BTreeMap<String, Value> {
    let mut agents: BTreeMap<String, Value> = BTreeMap::new();
    for definition in names(app).filter_map(|name| app.library.get(name)) {
        for (name, agent) in &definition.agents {
            let known = agents.entry(name.clone()).or_insert_with(|| {
                json!({
                    "id": name, "agent_id": name, "name": name, "role": name.replace('_', " "),
                    "goal": definition.description,
                    "tools": agent.tools, "crews": [],
                })
            });
            if let Some(crews) = known["crews"].as_array_mut() {
                crews.push(json!(definition.name));
            }
        }
    }
    agents
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    crew_name: Option<String>,
    #[expect(dead_code, reason = "read during authentication")]
    token: Option<String>,
}

/// `GET /crew/agents?crew_name=`: lists the agents of one crew, in the order of the crew's phases. Without `crew_name`,
/// lists the agents of all crews.
pub(super) async fn agents(guest: Guest, Params(query): Params<Query>) -> Answer<Json<Value>> {
    let app = guest.authorize()?.app;
    let mut known = by_name(&app);
    let agents: Vec<Value> = match query.crew_name.filter(|name| !name.is_empty()) {
        Some(name) => {
            in_order(&*find(&app, &name)?).into_iter().filter_map(|agent| known.remove(agent)).collect()
        }
        None => known.into_values().collect(),
    };
    Ok(Json(json!({ "success": true, "count": agents.len(), "agents": agents })))
}

/// `GET /crew/agents/{id}`: returns one agent, with the names of its crews.
pub(super) async fn agent(guest: Guest, Id(id): Id<String>) -> Answer<Json<Value>> {
    let app = guest.authorize()?.app;
    by_name(&app).remove(&id).map(Json).ok_or_else(|| refusals::no_agent(&id))
}
