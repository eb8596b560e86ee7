//! Every input in every state of a run is either accepted or rejected with a typed reason.

use std::fmt::Write as _;

use holdshort_core::actor::Actor;
use holdshort_core::definition::{Smart, StepGates};
use holdshort_core::interrupt::{Assignment, Decision, Kind};
use holdshort_core::message::{Failure, FailureKind, Reply};
use holdshort_core::run::{Ask, Begin, ClientOutcome, Config, Input, Origin};
use holdshort_core::tool::{InspectionOutcome, Outcome, TrialOutcome};
use serde_json::{Value, json};

use crate::handoffs::{TO_ADMIN, TO_WRITER};
use crate::world::{self, Answer, World, calls, choose, command, definition, fails, says, write};
use crate::{copilot, snapshot};

/// Returns a world for each state that a run can have, with the name of the state.
pub(crate) fn states() -> Vec<(&'static str, World)> {
    let one_call = |call| World::started(definition(), vec![calls(&[call])]);
    let asks = |tool: &'static str, arguments: Value| {
        let mut world = one_call((tool, arguments));
        world.work();
        world
    };
    let gated = |phase: fn(&mut StepGates)| {
        let mut definition = definition();
        phase(&mut definition.phases[0].gates);
        definition
    };

    let running_model = {
        let mut world = World::started(definition(), Vec::new());
        world.begin_model("work");
        world
    };
    let proposed = {
        let mut world = one_call(write("a.txt"));
        world.work_once();
        world
    };
    let gated_call = asks("write_file", write("a.txt").1);
    let judged = {
        let mut definition = definition();
        definition.gates.rules = vec![world::allow(&["*"])];
        definition.gates.smart = Some(Smart::default());
        let mut world = World::started(definition, vec![calls(&[write("a.txt")])]);
        world.work();
        world
    };
    let authorised = {
        let mut world = gated_call.clone();
        world.decide(Kind::ToolApproval, choose("approve"));
        world
    };
    let started = {
        let mut world = authorised.clone();
        world.begin_tool("call_1");
        world
    };
    let with_the_client = {
        let fetch = calls(&[("client_write", json!({ "path": "a.txt", "content": "new" }))]);
        let mut world = World::started(world::with_client(), vec![fetch]);
        world.work();
        world.decide(Kind::ToolApproval, choose("approve"));
        world.work();
        world
    };
    let doubted = {
        let mut world = asks("run_command", command("make").1);
        world.decide(Kind::ToolApproval, choose("approve"));
        world.begin_tool("call_1");
        world.crash();
        world
    };
    let closing = {
        let mut world = doubted.clone();
        world.decide(Kind::UnknownOutcome, choose("rerun"));
        world.work_once();
        world.begin_tool("call_1");
        world
    };
    let tried = |until: usize| {
        let mut definition = definition();
        definition.gates.trial = true;
        let mut world = World::started(definition, vec![calls(&[command("./do a=1")])]);
        for _ in 0..until {
            world.work_once();
        }
        world
    };
    let trial_running = {
        let mut world = tried(1);
        world.work_once();
        world.send(Input::Begin { begins: vec![Begin::Trial { call: "call_1".to_owned() }] });
        world
    };
    let tried_gated = {
        let mut world = tried(2);
        world.work();
        world
    };
    let committing = {
        let mut world = tried_gated.clone();
        world.decide(Kind::ToolApproval, choose("approve"));
        world.begin_tool("call_1");
        world
    };
    let handed = |tool| {
        let mut world = World::started(world::handing_over(), vec![calls(&[(tool, json!({}))])]);
        world.work();
        world
    };
    let plan = json!({ "subtasks": [{ "id": "1", "description": "do" }] });
    let before_step = World::started(gated(|gates| gates.before_step = true), Vec::new());
    let after_step = {
        let mut world = World::started(gated(|gates| gates.after_step = true), vec![says("Done.")]);
        world.work();
        world
    };
    let error = {
        let script = vec![fails(FailureKind::Rejected)];
        let mut world = World::started(gated(|gates| gates.on_error = true), script);
        world.work();
        world
    };
    let continuation = {
        let mut definition = definition();
        definition.phases[0].limits.rounds = 1;
        let mut world = World::started(definition, vec![calls(&[world::read("a.txt")])]);
        world.work();
        world
    };
    let printed = {
        let mut world = World::started(definition(), vec![says("Which one?"), says("Which one?")]);
        world.work();
        world
    };
    let backing_off = {
        let mut world = World::started(definition(), vec![fails(FailureKind::Unavailable)]);
        world.work();
        world
    };
    let checkpoint = {
        let mut definition = definition();
        definition.phases.insert(0, world::checkpoint("look", &[]));
        definition.phases[1].needs = vec!["look".to_owned()];
        World::started(definition, Vec::new())
    };
    let paused = {
        let mut world = gated_call.clone();
        world.person(Input::Pause);
        world
    };
    let interrupting = {
        let mut world = running_model.clone();
        world.person(Input::Interrupt { text: None });
        world
    };
    let interrupted = {
        let mut world = interrupting.clone();
        world.send(Input::Stopped { step: "work".to_owned(), turn: 0, text: "Half a".to_owned() });
        world
    };
    // Returns a copilot after these replies of its router and of its rounds.
    let copilot = |scripts: &[(&str, Answer)]| {
        let scripts: Vec<(&str, Vec<Answer>)> =
            scripts.iter().map(|(step, answer)| (*step, vec![answer.clone()])).collect();
        copilot::begun_with(copilot::routed_team(), Config::default(), "sort the list", &scripts)
    };
    let routed = |route: Value| ("route_1", says(&route.to_string()));
    let routing = {
        let mut world = copilot(&[]);
        world.begin_model("work/route_1");
        world
    };
    let clarifying = copilot(&[routed(json!({ "route_type": "clarify" }))]);
    let choosing = copilot(&[routed(json!({ "route_type": "propose" }))]);
    let direct = || routed(json!({ "route_type": "direct" }));
    let in_a_round = {
        let mut world = copilot(&[direct()]);
        world.begin_model("work/round_1");
        world
    };
    let round_interrupted = {
        let mut world = in_a_round.clone();
        world.person(Input::Interrupt { text: None });
        world.send(Input::Stopped { step: "work/round_1".to_owned(), turn: 0, text: "Half a".to_owned() });
        world
    };
    let turn = copilot(&[direct(), ("round_1", says("Sorted."))]);
    let ended = |input: Option<Input>, script| {
        let mut world = World::started(definition(), script);
        world.work();
        if let Some(input) = input {
            world.person(input);
        }
        world
    };
    let external = |origin: Option<Origin>| {
        let mut world = World::new(world::external());
        let Input::Start(mut start) = world.start_input(Config::default()) else { unreachable!() };
        start.origin = origin.unwrap_or(start.origin);
        world.send(Input::Start(start));
        world
    };
    let external_waiting = {
        let mut world = external(Some(Origin::ExternalOnce));
        world.send(Input::Ask(Box::new(ask())));
        world
    };

    vec![
        ("not started", World::new(definition())),
        ("model due", World::started(definition(), Vec::new())),
        ("model running", running_model),
        ("model backing off", backing_off),
        ("call proposed", proposed),
        ("call gated", gated_call),
        ("call being judged", judged),
        ("call tried", trial_running),
        ("tried call gated", tried_gated),
        ("tried call committing", committing),
        ("call authorised", authorised),
        ("call started", started),
        ("call doubted", doubted),
        ("call with the client", with_the_client),
        ("call started again", closing),
        ("question open", asks("ask_human", json!({ "question": "Which?" }))),
        ("printed question", printed),
        ("plan open", asks("create_plan", plan)),
        ("review open", asks("request_review", json!({ "title": "t", "content": "c" }))),
        ("escalation open", handed(TO_ADMIN)),
        ("handed over", handed(TO_WRITER)),
        ("before step", before_step),
        ("after step", after_step),
        ("error open", error),
        ("continuation", continuation),
        ("checkpoint phase", checkpoint),
        ("paused", paused),
        ("interrupted, model out", interrupting),
        ("interrupted", interrupted),
        ("completed", ended(None, vec![says("Done.")])),
        ("failed", ended(None, vec![fails(FailureKind::Rejected)])),
        ("cancelled", ended(Some(Input::Cancel { text: None }), Vec::new())),
        ("router asked", routing),
        ("clarification open", clarifying),
        ("choice open", choosing),
        ("round at work", in_a_round),
        ("round interrupted", round_interrupted),
        ("turn open", turn),
        ("external", external(None)),
        ("external waiting", external_waiting),
    ]
}

pub(crate) fn ask() -> Ask {
    Ask {
        kind: Kind::Question,
        title: "Which?".to_owned(),
        message: String::new(),
        payload: json!({ "question": "Which?" }),
        options: Vec::new(),
        response_schema: None,
        expires_in_ms: None,
        on_expiry: None,
        assignment: Assignment::default(),
        call: None,
        trial: None,
        usable_ms: None,
        callback: None,
        withhold: Vec::new(),
        timing: holdshort_core::interrupt::Timing::default(),
    }
}

/// Returns one input of every kind, for the step, call and interrupt of the run in this world.
pub(crate) fn inputs(world: &World) -> Vec<(&'static str, Actor, Input)> {
    let (engine, person, agent) = (Actor::engine, || Actor::operator("rest"), || Actor::agent("a", "rest"));
    let call = || "call_1".to_owned();
    let of_call = world.run.calls.get("call_1");
    let revision = of_call.map_or(0, |call| call.revision);
    let attempt = of_call.map_or(0, |call| call.attempt);
    let trial = of_call.map_or(0, |call| call.trial.attempt);
    let tried = || match of_call {
        Some(_) => world.try_command("call_1"),
        None => TrialOutcome::Changed { paths: Vec::new() },
    };
    let inspected = if of_call.is_some() {
        world.inspect("call_1")
    } else {
        InspectionOutcome::Impossible { code: "none", message: String::new() }
    };
    let at_work = world.run.steps.iter().find(|(_, step)| step.end.is_none());
    let last = at_work.or(world.run.steps.iter().next_back());
    let step = || last.map_or("work", |(id, _)| id.as_str()).to_owned();
    let turn = last.map_or(0, |(_, step)| step.turn);
    let first = world.run.interrupts.keys().next_back().cloned();
    let interrupt = world.run.open_interrupts().next().map(|(id, _)| id.clone()).or(first);
    let option = interrupt.as_ref().and_then(|id| world.run.interrupts.get(id)).map(|each| {
        let choice = each.opened.options.iter().find(|choice| !choice.needs_edit);
        choice.map(|choice| choice.id.clone()).unwrap_or_default()
    });
    let decision = Decision { text: Some("text".to_owned()), ..choose(&option.unwrap_or_default()) };
    let interrupt = interrupt.unwrap_or_else(|| world::draw(9).id());
    let reply = Reply { text: "Done.".to_owned(), ..Reply::default() };
    let failure = Failure { kind: FailureKind::Rejected, retry_after_ms: None, message: "no".to_owned() };
    let done = Outcome::Done { text: "done".to_owned(), data: Value::Null };
    let told = || ClientOutcome::Done { text: "done".to_owned() };
    let begin_model = vec![Begin::Model { step: step(), turn }];
    let changed = Outcome::Changed { paths: vec!["a.txt".to_owned()] };
    vec![
        ("start", engine(), world.start_input(Config::default())),
        ("adopt", engine(), world::adopt()),
        ("tick", engine(), Input::Tick),
        ("revote", engine(), Input::Revote),
        (
            "decide",
            person(),
            Input::Decide { interrupt: interrupt.clone(), decision: decision.clone(), holder: None },
        ),
        ("decide (agent)", agent(), Input::Decide { interrupt, decision, holder: None }),
        ("message", person(), Input::Message { text: "hear".to_owned() }),
        ("message (agent)", agent(), Input::Message { text: "hear".to_owned() }),
        ("pause", person(), Input::Pause),
        ("resume", person(), Input::Resume),
        ("cancel", person(), Input::Cancel { text: Some("enough".to_owned()) }),
        ("interrupt", person(), Input::Interrupt { text: None }),
        ("interrupt with words", person(), Input::Interrupt { text: Some("hear".to_owned()) }),
        ("stop call", person(), Input::StopCall { call: call(), text: None }),
        ("begin nothing", engine(), Input::Begin { begins: Vec::new() }),
        ("begin model", engine(), Input::Begin { begins: begin_model }),
        ("begin tool", engine(), Input::Begin { begins: vec![world.begin_of("call_1")] }),
        ("inspected", engine(), Input::Inspected { call: call(), revision, inspected }),
        ("begin trial", engine(), Input::Begin { begins: vec![Begin::Trial { call: call() }] }),
        ("tried", engine(), Input::Tried { call: call(), attempt: trial, tried: tried() }),
        (
            "untried",
            engine(),
            Input::Tried {
                call: call(),
                attempt: trial,
                tried: TrialOutcome::Impossible { why: "no".to_owned() },
            },
        ),
        ("ran", engine(), Input::Ran { call: call(), attempt, outcome: done }),
        ("ran (changed)", engine(), Input::Ran { call: call(), attempt, outcome: changed }),
        (
            "ran (agent)",
            agent(),
            Input::Ran { call: call(), attempt, outcome: Outcome::Failed { text: String::new() } },
        ),
        ("result", person(), Input::ClientResult { call: call(), outcome: told() }),
        ("result (agent)", agent(), Input::ClientResult { call: call(), outcome: told() }),
        ("replied", engine(), Input::Replied { step: step(), turn, reply }),
        ("failed", engine(), Input::Failed { step: step(), turn, failure }),
        ("stopped", engine(), Input::Stopped { step: step(), turn, text: "Half a".to_owned() }),
        ("ask", agent(), Input::Ask(Box::new(ask()))),
        ("finish", agent(), Input::Finish { result: json!("done") }),
    ]
}

#[test]
fn every_state_takes_or_rejects_every_input() {
    let mut text = String::new();
    for (name, world) in states() {
        let mut rows = Vec::new();
        for (input_name, actor, input) in inputs(&world) {
            let cell = match world.clone().try_send(&actor, input) {
                Ok(events) if events.is_empty() => "–".to_owned(),
                Ok(events) => events.join(", "),
                Err(rejection) => format!("✗ {}", format!("{rejection:?}").replace('\n', " ")),
            };
            rows.push(vec![format!("  {input_name}"), cell]);
        }
        let status = world.run.status().as_str();
        let due: Vec<String> = world.run.actions().iter().map(|action| action.id().to_string()).collect();
        let _ = writeln!(
            text,
            "{name}: {status}; due: {}; open: {}",
            due.join(" "),
            world.open_kinds().join(" ")
        );
        text.push_str(&snapshot::table(&rows));
        text.push('\n');
    }
    snapshot::check("pairs", &text);
}

/// An agent can start and finish a run and ask people, but can neither control a run nor decide on an interrupt.
#[test]
fn an_agent_starts_asks_and_finishes_and_nothing_else() {
    for (name, world) in states() {
        for (input_name, _, input) in inputs(&world) {
            let asks = matches!(input, Input::Ask(_) | Input::Finish { .. });
            let events = world.clone().try_send(&Actor::agent("a", "rest"), input).unwrap_or_default();
            assert!(asks || events.is_empty(), "{name}, {input_name}: {events:?}");
        }
    }
}
