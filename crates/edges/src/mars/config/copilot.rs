//! Config keys for a copilot (contracts A17 to A23, E25, E26). These keys set the agents of the copilot, its router,
//! and when the person has a turn.

use holdshort_core::definition::{Copilot, Definition, Limits, PlanGate};
use holdshort_core::routing::Mode;
use holdshort_core::tool::Runs;

use super::mode::{Chosen, Kind};
use super::phases::Made;
use super::raw_config::{RawConfig, Reader};

/// Agent of the base workflow that has all tools. The tools of a copilot's other agents are taken from this agent.
const EVERY_TOOL: &str = "copilot";
/// Agent of a copilot that assigns tasks to other agents and works on none of the tasks itself.
const ROUTER: &str = "copilot_control";
/// Agents of a copilot that work only inside phases. None of these agents can begin a task.
const ROLES: [&str; 6] = [ROUTER, "planner", "plan_reviewer", "task_improver", "idea_maker", "idea_hater"];
/// Agents of a copilot if the config names none.
const USUAL: [&str; 2] = ["engineer", "researcher"];

const ROUTING: [(&str, Mode); 3] =
    [("balanced", Mode::Balanced), ("minimal", Mode::Minimal), ("aggressive", Mode::Aggressive)];
/// Maximum number of words in a task that is treated as simple (contract A17).
const SIMPLE_WORDS: u32 = 50;
/// Number of times that a run's budget is renewed without a person's approval, if the config allows renewals.
const CONTINUES: u32 = 100;

/// Returns true if the config gives the person a turn after every round of a copilot. Either `approval_mode` or the key
/// `conversational` can do so.
pub(super) fn is_conversational(reader: &mut Reader<'_>) -> bool {
    let by_mode = reader.item("approval_mode").and_then(|item| item.value.as_str());
    reader.flag("conversational") == Some(true) || by_mode == Some("conversational")
}

pub(super) fn fill(copilot: &mut Copilot, limits: &mut Limits, reader: &mut Reader<'_>, base: &Definition) {
    let team = team(reader, base);
    // The coding agent begins if it is in the team.
    let first = [EVERY_TOOL, USUAL[0]].into_iter().find(|name| team.iter().any(|each| each == name));
    if let Some(agent) = first.or(team.first().map(String::as_str)) {
        agent.clone_into(&mut copilot.agent);
    }
    copilot.team = team.into_iter().filter(|name| *name != copilot.agent).collect();
    copilot.routing = Some(reader.one_of("intelligent_routing", &ROUTING).unwrap_or(ROUTING[0].1));
    // Each of the two flags can switch off routing by a model. Then tasks are routed by rules.
    let by_model = [reader.flag("use_dynamic_routing"), reader.flag("use_copilot_control")];
    let by_model = by_model.iter().all(|flag| flag.unwrap_or(true));
    copilot.router = Some(ROUTER.to_owned()).filter(|name| by_model && base.agents.contains_key(name));
    copilot.conversational = is_conversational(reader);
    copilot.satisfaction = !copilot.conversational && reader.flag("ask_satisfaction").unwrap_or(true);
    let words = reader.count("complexity_threshold", 0).unwrap_or(SIMPLE_WORDS);
    copilot.simple_words = reader.flag("auto_approve_simple").unwrap_or(true).then_some(words);
    let goes_on = [reader.flag("auto_continue"), reader.flag("continuous_mode")];
    if goes_on.contains(&Some(true)) {
        limits.continues = CONTINUES;
    }
    for key in ["enable_planning", "enable_phase_tools"] {
        reader.flag(key);
    }
    reader.text("control_model");
}

/// Returns the agents of a copilot that the config names, except agents that work only inside phases.
fn team(reader: &mut Reader<'_>, base: &Definition) -> Vec<String> {
    let usual = || USUAL.map(str::to_owned).to_vec();
    let Some(item) = reader.item("available_agents") else { return usual() };
    let names: Option<Vec<&str>> = item
        .value
        .as_array()
        .map(|names| names.iter().map(|name| name.as_str().unwrap_or_default()).collect());
    let Some(names) = names else {
        reader.refuse(item, "is not a list of names");
        return usual();
    };
    for name in names.iter().filter(|name| !base.agents.contains_key(**name)) {
        let known: Vec<&str> = base.agents.keys().map(String::as_str).collect();
        reader.refuse(item, format!("`{name}` is not an agent; the agents are: {}", known.join(", ")));
    }
    let workers = names.into_iter().filter(|name| base.agents.contains_key(*name) && !ROLES.contains(name));
    let mut team: Vec<String> = Vec::new();
    for name in workers {
        if !team.iter().any(|each| each == name) {
            team.push(name.to_owned());
        }
    }
    if team.is_empty() { usual() } else { team }
}

/// Gives the agents of a copilot the tools that start plans and phases, provided that the config allows these tools.
pub(super) fn set(definition: &mut Definition, (chosen, made): (&[Chosen], &[Made]), top: &RawConfig) {
    let copilots = || made.iter().filter_map(|made| made.phase.kind.copilot());
    if copilots().next().is_none() {
        return;
    }
    // Keys inside a phase have precedence over keys of the whole config.
    let own = || chosen.iter().filter(|each| each.kind == Kind::Copilot).map(|each| &each.own).chain([top]);
    let value = |key: &str| own().find_map(|given| given.get(key)).map(|item| item.value.clone());
    let flag = |key: &str| value(key).and_then(|value| value.as_bool()).unwrap_or(true);
    let (plans, phases) = (flag("enable_planning"), flag("enable_phase_tools"));
    if plans {
        // A plan that an agent makes needs a person's approval (contract E27).
        definition.gates.plan = PlanGate::Ask;
    }
    let is_given = |name: &str| match definition.tools.get(name).map(|spec| &spec.runs) {
        Some(Runs::Begins(_)) => phases,
        Some(Runs::Opens(_)) if name == "create_plan" => plans,
        _ => false,
    };
    let all = definition.agents.get(EVERY_TOOL).map(|agent| agent.tools.clone()).unwrap_or_default();
    let given: Vec<String> = all.iter().filter(|name| is_given(name)).cloned().collect();
    let taken: Vec<String> = all
        .into_iter()
        .filter(|name| {
            let begins = definition.tools.get(name).is_some_and(|spec| matches!(spec.runs, Runs::Begins(_)));
            (begins && !phases) || (name == "create_plan" && !plans)
        })
        .collect();
    let workers: Vec<String> = copilots()
        .flat_map(|copilot| std::iter::once(&copilot.agent).chain(&copilot.team).cloned().collect::<Vec<_>>())
        .collect();
    let control_model = value("control_model").and_then(|value| value.as_str().map(str::to_owned));
    for (name, agent) in &mut definition.agents {
        if name == ROUTER {
            agent.model = control_model.clone().or(agent.model.take());
        }
        if workers.contains(name) {
            agent.tools.retain(|tool| !taken.contains(tool));
            let missing: Vec<String> =
                given.iter().filter(|tool| !agent.tools.contains(tool)).cloned().collect();
            agent.tools.extend(missing);
        }
    }
}

/// Returns the agents of the phases that a copilot can start with tool calls.
pub(super) fn roles_of_phases(definition: &Definition) -> Vec<&'static str> {
    let copilots = definition.phases.iter().filter_map(|phase| phase.kind.copilot());
    let mut workers = copilots.flat_map(|copilot| std::iter::once(&copilot.agent).chain(&copilot.team));
    let begins =
        |tool: &String| definition.tools.get(tool).is_some_and(|spec| matches!(spec.runs, Runs::Begins(_)));
    let begins_phases =
        workers.any(|name| definition.agents.get(name).is_some_and(|agent| agent.tools.iter().any(begins)));
    let roles = ROLES.into_iter().filter(|name| *name != ROUTER && begins_phases);
    roles.filter(|name| definition.agents.contains_key(*name)).collect()
}
