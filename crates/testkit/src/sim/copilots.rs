//! Copilots, and phases that agents begin with tool calls: the workflows, the replies of routers and agents, and the
//! turns of people.

use std::sync::Arc;

use holdshort_core::definition::{Agent, Copilot, Definition, EndCondition, PhaseKind};
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{About, Decision, Interrupt};
use holdshort_core::message::{Arguments, Failure, FailureKind, Reply, Request, RequestedCall};
use holdshort_core::policy::{Rule, RuleAction};
use holdshort_core::routing::Mode;
use holdshort_core::run::{Input, Run};
use holdshort_core::tool::{PhaseTool, Runs, Spec};
use serde_json::{Value, json};

use super::choices::Choices;
use super::freezes;
use super::people::{SimRequest, decision, someone};
use super::settle::settle;
use super::site::Site;
use super::workflows::{self, PLANNER};

pub(super) const ROUTER: &str = "router";

/// Agents that work in the phases which tool calls can begin. Not all simulated workflows have them.
const HELPERS: [&str; 5] = [PLANNER, "plan_reviewer", "engineer", "idea_maker", "critic"];

const CHAIN: &str = "chain_phases";

/// Returns a workflow in which one or two agents work in rounds and begin phases by tool calls.
pub(super) fn workflow(choices: &mut Choices) -> Arc<Definition> {
    let base = match choices.below(4) {
        0 => workflows::team(choices),
        1 => workflows::planned(choices),
        _ => workflows::random(choices),
    };
    let mut definition = (*base).clone();
    let tools: Vec<Spec> = holdshort_tools::catalogue(&[])
        .into_iter()
        .filter(|spec| matches!(spec.runs, Runs::Begins(_)) && !choices.one_in(3))
        .collect();
    for spec in tools {
        for name in ["agent", "other"] {
            definition.agents.entry(name.to_owned()).and_modify(|agent| agent.tools.push(spec.name.clone()));
        }
        if choices.one_in(12) {
            let action = *choices.pick(&[RuleAction::Ask, RuleAction::Forbid]);
            let tools = vec![spec.name.clone()];
            definition.gates.rules.insert(0, Rule { tools, action, ..Rule::default() });
        }
        definition.tools.insert(spec.name.clone(), spec);
    }
    let worker = definition.agents["agent"].clone();
    for name in HELPERS {
        if !choices.one_in(3) {
            let helper = if name == "engineer" { worker.clone() } else { thinker() };
            definition.agents.entry(name.to_owned()).or_insert(helper);
        }
    }
    let mut talk = workflows::phase(0, definition.limits, choices);
    "talk".clone_into(&mut talk.id);
    talk.limits.continues = u32::from(choices.one_in(4));
    talk.kind = PhaseKind::Copilot(copilot(&mut definition, choices));
    definition.phases.truncate(usize::from(choices.one_in(3)));
    if let Some(before) = definition.phases.first().filter(|_| choices.one_in(2)) {
        talk.needs = vec![before.id.clone()];
    }
    definition.phases.push(talk);
    if choices.one_in(4) {
        let mut last = workflows::phase(9, definition.limits, choices);
        last.needs = vec!["talk".to_owned()];
        definition.phases.push(last);
    }
    Arc::new(definition)
}

fn thinker() -> Agent {
    Agent {
        instructions: "Think.".to_owned(),
        asking_instructions: None,
        model: None,
        tools: Vec::new(),
        ends: EndCondition::Reply,
    }
}

fn copilot(definition: &mut Definition, choices: &mut Choices) -> Copilot {
    let routing = *choices.pick(&[None, Some(Mode::Minimal), Some(Mode::Balanced), Some(Mode::Aggressive)]);
    let router = routing.filter(|_| choices.one_in(2)).map(|_| ROUTER.to_owned());
    if let Some(router) = &router {
        definition.agents.insert(router.clone(), thinker());
    }
    let others = definition.agents.keys().filter(|name| *name != "agent" && *name != ROUTER);
    let team = others.filter(|_| routing.is_some() && choices.one_in(2)).cloned().collect();
    let (conversational, satisfaction) = *choices.pick(&[(false, false), (true, false), (false, true)]);
    Copilot {
        agent: "agent".to_owned(),
        routing,
        router,
        team,
        conversational,
        satisfaction,
        simple_words: choices.one_in(2).then(|| 1 + u32::try_from(choices.below(6)).unwrap_or(0)),
    }
}

/// Returns a reply that the router of a copilot could give. The reply is valid, or has an unexpected form, or makes no
/// sense. With choice 0, the work begins.
pub(super) fn routed(step: String, turn: u32, choices: &mut Choices) -> Input {
    let way = |title: &str| json!({ "title": title, "description": "d", "pros": ["p"], "cons": [] });
    let text = match choices.below(12) {
        0 => json!({ "route_type": "direct", "complexity": 10 }).to_string(),
        1 => json!({ "route_type": "plan", "complexity": 80, "refined_task": "all of it" }).to_string(),
        2 => json!({ "route_type": "clarify", "clarifying_questions": ["Which?", "When?"] }).to_string(),
        3 => json!({ "route_type": "clarify" }).to_string(),
        4 => json!({ "route_type": "propose", "proposals": [way("one"), way("other")] }).to_string(),
        5 => json!({ "route_type": "propose", "proposals": [way("alone")] }).to_string(),
        6 => json!({ "route_type": "one_shot", "primary_agent": "other" }).to_string(),
        7 => json!({ "route_type": "direct", "primary_agent": "nobody", "complexity": 40 }).to_string(),
        8 => format!("I say:\n```json\n{}\n```", json!({ "route_type": "Planned", "complexity_score": 61 })),
        9 => json!({ "route_type": "direct", "complexity": 1_000 }).to_string(),
        10 => {
            let kind = *choices.pick(&[FailureKind::Unavailable, FailureKind::Rejected]);
            let failure = Failure { kind, retry_after_ms: None, message: "simulated".to_owned() };
            return Input::Failed { step, turn, failure };
        }
        _ => "I cannot say.".to_owned(),
    };
    let reply = Reply { text, model: "simulated".to_owned(), ..Reply::default() };
    Input::Replied { step, turn, reply }
}

fn is_phase_tool(name: &str) -> bool {
    name == CHAIN || name.starts_with("invoke_")
}

pub(super) fn begins_phases(request: &Request) -> bool {
    request.tools.iter().any(|tool| is_phase_tool(&tool.name))
}

/// Returns a tool call of a simulated agent that begins a phase. In some cases, the arguments of the call are invalid.
pub(super) fn call(request: &Request, choices: &mut Choices) -> RequestedCall {
    let own: Vec<&str> =
        request.tools.iter().map(|tool| tool.name.as_str()).filter(|name| is_phase_tool(name)).collect();
    let tool = (*choices.pick(&own)).to_owned();
    let arguments = match choices.below(12) {
        10 => json!({}),
        11 => json!({ "task": 7, "topic": "", "n_ideas": 100 }),
        _ if tool == CHAIN => chain(choices),
        _ => json_of(&tool, choices),
    };
    RequestedCall { tool, arguments: Arguments::Json(arguments) }
}

fn json_of(tool: &str, choices: &mut Choices) -> Value {
    let mut arguments = match tool.trim_start_matches("invoke_").trim_end_matches("_phase") {
        "idea_generation" => json!({ "topic": "names", "n_ideas": 1 + choices.below(3) }),
        "hitl_checkpoint" if choices.one_in(2) => json!({}),
        "hitl_checkpoint" => json!({ "message": "Shall it?", "checkpoint_type": "confirm" }),
        "planning" | "hitl_planning" => json!({ "task": "plan it", "max_iterations": 1 + choices.below(3) }),
        "control" | "hitl_control" => json!({}),
        _ => json!({ "task": "a part of it" }),
    };
    let may_name = ["invoke_one_shot_phase", "invoke_control_phase", "invoke_hitl_control_phase"];
    if may_name.contains(&tool) && choices.one_in(2) {
        arguments["agent"] = json!(choices.pick(&["agent", "engineer", "nobody"]));
    }
    arguments
}

/// Returns arguments of a tool call that name several phases to run one after another. In some cases, names or
/// arguments are invalid.
fn chain(choices: &mut Choices) -> Value {
    let known = PhaseTool::NAMES.map(|(name, _)| name);
    let phases: Vec<Value> = (0..=choices.below(4))
        .map(|n| {
            let name = match choices.below(12) {
                10 => "chain",
                11 => "nothing",
                _ => *choices.pick(&known),
            };
            let mut phase = json_of(&format!("invoke_{name}_phase"), choices);
            phase["phase"] = json!(name);
            // The first phase has no previous result to which it could refer.
            let says = if n == 0 { choices.one_in(8) } else { choices.one_in(2) };
            if says {
                phase["task"] = json!("go on from $previous");
            }
            phase
        })
        .collect();
    let mut chain = json!({ "phases": phases });
    if choices.one_in(3) {
        chain["pass_context"] = json!(choices.one_in(2));
    }
    chain
}

/// Returns a message or a task of a simulated person: it is clear, vague or long, or it begins a new task.
pub(super) fn random_message(choices: &mut Choices) -> String {
    match choices.below(8) {
        0 => "do it".to_owned(),
        1 => "list the rows".to_owned(),
        2 => "new task: write a script".to_owned(),
        3 => "do: explain the rows".to_owned(),
        4 => "fix it".to_owned(),
        5 => "count the rows of every table once more and so on ".repeat(7),
        6 => "instead, find the rows".to_owned(),
        _ => "so be it".to_owned(),
    }
}

/// Returns true for an interrupt that is opened before a copilot's round or after it.
pub(super) fn is_of_a_round(interrupt: &Interrupt) -> bool {
    matches!(interrupt.opened.about, About::Round(_))
}

/// Returns the option that a simulated person chooses after a round of the copilot. After a few rounds, the person ends
/// the work.
pub(super) fn turn(run: &Run, interrupt: &Interrupt) -> &'static str {
    let round = interrupt.content.pointer("/payload/round").and_then(Value::as_u64).unwrap_or_default();
    match (run.seq + round) % 3 {
        1 if round < 3 => "submit",
        2 if round < 3 => "new_task",
        _ => "done",
    }
}

/// Returns a decision on an interrupt of a copilot. The option of the decision may be one that the interrupt does not
/// offer.
pub(super) fn answer(interrupt: &Interrupt, choices: &mut Choices) -> Decision {
    let choice = choices.pick(&interrupt.opened.options);
    let text = (choice.needs_text || choices.one_in(2)).then(|| random_message(choices));
    let option = match choices.below(12) {
        10 => "option_9".to_owned(),
        11 => "approve".to_owned(),
        _ => choice.id.clone(),
    };
    Decision { option, text, version: choices.one_in(8).then_some(1), ..Decision::default() }
}

/// Returns a request by which a simulated person continues a copilot's run: it answers an interrupt, or resumes a
/// paused run.
pub(super) fn next_request(site: &mut Site, choices: &mut Choices) -> Option<SimRequest> {
    if let Some(deed) = freezes::lift(site.witness.system()) {
        return Some(deed);
    }
    let at_work = || site.witness.runs().filter(|run| run.ended.is_none());
    let resting = at_work().find(|run| run.is_paused());
    if let Some(deed) = resting.and_then(|run| settle(run, site)) {
        return Some(deed);
    }
    let runs: Vec<Run> = at_work().filter(|run| run.open_interrupts().next().is_some()).cloned().collect();
    if runs.is_empty() {
        return (!choices.one_in(6)).then_some(SimRequest::Sweep);
    }
    let run = choices.pick(&runs);
    let send = |input, actor| SimRequest::Send { run: run.id.clone(), input: Box::new(input), actor };
    let somebody = someone(if choices.one_in(4) { "bob" } else { "alice" });
    let open = run.open_interrupts().map(|(_, interrupt)| interrupt).find(|each| is_of_a_round(each));
    let Some(interrupt) = open.filter(|_| !choices.one_in(8)) else {
        let (input, actor) = decision(run, site, choices)?;
        return Some(send(input, actor));
    };
    let input = match choices.below(8) {
        6 => Input::Interrupt { text: choices.one_in(2).then(|| random_message(choices)) },
        7 => Input::Message { text: random_message(choices) },
        _ => decide(&interrupt.opened.interrupt, answer(interrupt, choices)),
    };
    Some(send(input, somebody))
}

/// Returns a request that arrives at the same time as the decision `deed`: a message, an interruption, or another
/// decision.
pub(super) fn concurrent_request(deed: &SimRequest, choices: &mut Choices) -> Option<SimRequest> {
    let SimRequest::Send { run, input, .. } = deed else { return None };
    let Input::Decide { interrupt, decision, .. } = &**input else { return None };
    let input = match choices.below(4) {
        0 | 1 => Input::Message { text: random_message(choices) },
        2 => Input::Interrupt { text: None },
        _ => {
            let option = (*choices.pick(&["submit", "done", "continue", "approve", "reject"])).to_owned();
            let decision = Decision { option, text: Some(random_message(choices)), ..decision.clone() };
            decide(interrupt, decision)
        }
    };
    Some(SimRequest::Send { run: run.clone(), input: Box::new(input), actor: someone("bob") })
}

fn decide(interrupt: &InterruptId, decision: Decision) -> Input {
    Input::Decide { interrupt: interrupt.clone(), decision, holder: None }
}
