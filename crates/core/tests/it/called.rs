//! Phases as tools: a tool call begins a phase in the same run, and the output of the phase is the result of the call.

use holdshort_core::definition::{Agent, Definition, EndCondition, PlanGate};
use holdshort_core::interrupt::Kind;
use holdshort_core::message::Message;
use holdshort_core::policy::RuleAction;
use holdshort_core::projection::Status;
use holdshort_core::run::{CallEnd, CallState, Input};
use holdshort_core::tool::{PhaseTool, Runs, Spec};
use serde_json::{Value, json};

use crate::world::{Answer, World, calls, choose, choose_with, definition, rule, says};

/// Returns a workflow whose agent can begin every kind of phase by a tool, with the agents for those phases.
fn phases() -> Definition {
    let mut definition = definition();
    definition.gates.plan = PlanGate::Show;
    let any = json!({ "type": "object" });
    let tools = PhaseTool::NAMES.map(|(name, tool)| (format!("invoke_{name}_phase"), tool));
    for (name, tool) in tools.into_iter().chain([("chain_phases".to_owned(), PhaseTool::Chain)]) {
        let spec = Spec {
            name: name.clone(),
            description: String::new(),
            parameters: any.clone(),
            runs: Runs::Begins(tool),
        };
        definition.agents.entry("pair".to_owned()).and_modify(|agent| agent.tools.push(name.clone()));
        definition.tools.insert(name, spec);
    }
    for name in ["planner", "engineer", "idea_maker", "idea_hater"] {
        let tools = if name == "engineer" { vec!["read_file".to_owned()] } else { Vec::new() };
        let agent = Agent {
            instructions: "Be it.".to_owned(),
            asking_instructions: None,
            model: None,
            tools,
            ends: EndCondition::Reply,
        };
        definition.agents.insert(name.to_owned(), agent);
    }
    definition
}

const PLAN: &str = r#"{"subtasks": [{"id": "s1", "description": "count", "agent": "engineer"}]}"#;

fn worked(definition: Definition, scripts: &[(&str, Vec<Answer>)]) -> World {
    let mut world = World::new(definition);
    for (step, script) in scripts {
        world = world.with(step, script.clone());
    }
    world.start(holdshort_core::run::Config::default());
    world.work();
    world
}

/// Returns the result of a call as the model gets it, parsed as JSON.
fn result(world: &World, call: &str) -> Value {
    let request = world.run.request("work").expect("the step is there");
    let told = request.messages.iter().find_map(|message| match message {
        Message::Tool { call: of, text, .. } if of == call => Some(text.clone()),
        _ => None,
    });
    let told = told.expect("the call has a result");
    serde_json::from_str(&told).unwrap_or(Value::String(told))
}

fn end(world: &World, call: &str) -> CallState {
    world.run.calls[call].state.clone()
}

#[test]
fn a_plan_that_a_call_asks_for_is_its_result_when_it_is_made() {
    let scripts = [
        (
            "work",
            vec![
                calls(&[("invoke_planning_phase", json!({"task": "count it", "max_steps": 2}))]),
                says("Done."),
            ],
        ),
        ("of:call_1/plan", vec![says(PLAN)]),
    ];
    let world = worked(phases(), &scripts);
    let told = result(&world, "call_1");
    assert_eq!((&told["status"], &told["phase"]), (&json!("success"), &json!("planning")));
    assert!(told["output"].as_str().is_some_and(|output| output.contains("count")), "{told}");
    let task = world.run.request("of:call_1/plan").map(|request| request.messages[1].clone());
    assert!(matches!(&task, Some(Message::User { text }) if text.starts_with("count it")), "{task:?}");
    assert_eq!(world.run.ended.as_ref().map(|ended| ended.status), Some(Status::Completed));
}

/// A change to a file that an approved plan names is not marked as outside the task.
#[test]
fn what_a_plan_names_that_a_call_asked_for_is_no_news() {
    let mut definition = phases();
    definition.gates.trial = true;
    let scripts = [
        (
            "work",
            vec![
                calls(&[("invoke_planning_phase", json!({"task": "count src/"}))]),
                calls(&[("run_command", json!({"command": "./do lib/a=1 etc/b=1"}))]),
            ],
        ),
        ("of:call_1/plan", vec![says(&PLAN.replace("count", "count in lib/"))]),
    ];
    let mut world = World::new(definition);
    for (step, script) in scripts {
        world = world.with(step, script);
    }
    let mut start = world.start_input(holdshort_core::run::Config::default());
    if let Input::Start(start) = &mut start {
        start.input = json!({ "task": "Count src/" });
    }
    world.send(start);
    world.work();
    let card = &world.run.interrupts[&world.open(Kind::ToolApproval)].content;
    assert_eq!(card.pointer("/payload/trial/outside"), Some(&json!(1)), "{card}");
}

#[test]
fn a_person_decides_on_a_plan_that_a_call_asks_for() {
    let scripts = || {
        [
            (
                "work",
                vec![calls(&[("invoke_hitl_planning_phase", json!({"task": "count it"}))]), says("Done.")],
            ),
            ("of:call_1/plan", vec![says(PLAN)]),
        ]
    };
    let mut world = worked(phases(), &scripts());
    assert_eq!(world.open_kinds(), ["plan_approval"]);
    assert!(
        world.run.request("work").is_some_and(|request| request.messages.len() < 5),
        "nothing is told yet"
    );
    world.decide(Kind::PlanApproval, choose("approve"));
    world.work();
    assert_eq!(result(&world, "call_1")["status"], "success");

    // After a rejection, the run continues without the plan, and the calling model gets the failure.
    let mut world = worked(phases(), &scripts());
    world.decide(Kind::PlanApproval, choose_with("reject", "not now"));
    world.work();
    assert_eq!(result(&world, "call_1")["status"], "failed");
    assert_eq!(end(&world, "call_1"), CallState::Ended(CallEnd::Failed));
    assert_eq!(world.run.ended.as_ref().map(|ended| ended.status), Some(Status::Completed));
}

#[test]
fn a_checkpoint_holds_its_caller_until_a_person_has_spoken() {
    let scripts = || {
        [(
            "work",
            vec![
                calls(&[(
                    "invoke_hitl_checkpoint_phase",
                    json!({"message": "Delete it?", "checkpoint_type": "confirm"}),
                )]),
                says("Done."),
            ],
        )]
    };
    let mut world = worked(phases(), &scripts());
    let asked = world.open(Kind::Checkpoint);
    assert_eq!(world.run.interrupts[&asked].content["title"], "Delete it?");
    assert_eq!(world.count("model_started"), 1);
    world.decide(Kind::Checkpoint, choose("approve"));
    world.work();
    assert_eq!(result(&world, "call_1")["status"], "success");

    let mut world = worked(phases(), &scripts());
    world.decide(Kind::Checkpoint, choose_with("reject", "keep it"));
    world.work();
    let told = result(&world, "call_1");
    assert!(told["error"].as_str().is_some_and(|error| error.contains("keep it")), "{told}");
}

#[test]
fn a_chain_hands_on_what_each_phase_brought() {
    let chain = json!({"phases": [
        {"phase": "planning", "task": "count it"},
        {"phase": "control"},
        {"phase": "one_shot", "task": "Say it nicely: $previous", "agent": "engineer"},
    ]});
    let scripts = [
        ("work", vec![calls(&[("chain_phases", chain)]), says("Done.")]),
        ("of:call_1/plan", vec![says(PLAN)]),
        ("of:call_1.2/s1", vec![says("Three.")]),
        ("of:call_1.3", vec![says("It is three.")]),
    ];
    let world = worked(phases(), &scripts);
    assert_eq!(result(&world, "call_1")["output"], "It is three.", "{:#?}", world.story());
    let asked = world.run.request("of:call_1.3").map(|request| request.messages[1].clone());
    assert!(
        matches!(&asked, Some(Message::User { text }) if text.contains("nicely") && text.contains("Three.")),
        "{asked:?}"
    );
}

#[test]
fn a_chain_ends_with_the_first_phase_that_fails() {
    let chain = json!({"phases": [{"phase": "hitl_checkpoint", "message": "On?"}, {"phase": "one_shot", "task": "x"}]});
    let mut world = worked(phases(), &[("work", vec![calls(&[("chain_phases", chain)]), says("Done.")])]);
    world.decide(Kind::Checkpoint, choose("reject"));
    world.work();
    assert_eq!(result(&world, "call_1")["status"], "failed");
    assert_eq!(world.run.called.size(), 1);
}

#[test]
fn what_can_not_begin_is_told_to_its_model() {
    let table = [
        (
            "chain_phases",
            json!({"phases": [{"phase": "one_shot", "task": "$previous"}]}),
            "invalid_arguments",
        ),
        ("invoke_control_phase", json!({}), "phase_not_begun"),
        ("invoke_one_shot_phase", json!({"task": "x", "agent": "nobody"}), "phase_not_begun"),
    ];
    for (tool, arguments, code) in table {
        let world = worked(phases(), &[("work", vec![calls(&[(tool, arguments)]), says("Done.")])]);
        let finished = world.log.iter().find_map(|event| match &event.fact {
            holdshort_core::event::Fact::Run(holdshort_core::run::Fact::ToolFinished { code, .. }) => {
                code.clone()
            }
            _ => None,
        });
        assert_eq!(finished.as_deref(), Some(code), "{tool}");
        assert_eq!(world.count("phase_called"), 0);
    }
}

#[test]
fn phases_begin_in_one_another_only_so_deep() {
    let deeper = |n: usize| {
        let step = match n {
            0 => "work".to_owned(),
            n => format!("of:call_{n}/round_1"),
        };
        (step, vec![calls(&[("invoke_copilot_phase", json!({"task": "deeper"}))]), says("Done.")])
    };
    let scripts: Vec<(String, Vec<Answer>)> = (0..4).map(deeper).collect();
    let scripts: Vec<(&str, Vec<Answer>)> =
        scripts.iter().map(|(step, script)| (step.as_str(), script.clone())).collect();
    let world = worked(phases(), &scripts);
    assert_eq!(world.run.called.size(), holdshort_core::limits::PHASE_DEPTH);
    assert_eq!(
        world.run.ended.as_ref().map(|ended| ended.status),
        Some(Status::Completed),
        "{:#?}",
        world.story()
    );
}

#[test]
fn a_rule_speaks_of_a_phase_as_of_any_tool() {
    let scripts = || {
        [
            ("work", vec![calls(&[("invoke_one_shot_phase", json!({"task": "x"}))]), says("Done.")]),
            ("of:call_1", vec![says("y")]),
        ]
    };
    let mut forbids = phases();
    forbids.gates.rules.push(rule(RuleAction::Forbid, &["invoke_one_shot_phase"], &[]));
    let world = worked(forbids, &scripts());
    assert_eq!(end(&world, "call_1"), CallState::Ended(CallEnd::Refused));
    let mut asks = phases();
    asks.gates.rules.push(rule(RuleAction::Ask, &["invoke_one_shot_phase"], &[]));
    let mut world = worked(asks.clone(), &scripts());
    assert_eq!(world.open_kinds(), ["escalation"]);
    world.decide(Kind::Escalation, choose("continue"));
    world.work();
    assert_eq!(result(&world, "call_1")["output"], "y");
    let mut world = worked(asks, &scripts());
    world.decide(Kind::Escalation, choose_with("instruct", "do it yourself"));
    world.work();
    assert_eq!(result(&world, "call_1"), json!("do it yourself"));
}

#[test]
fn a_phase_ends_with_the_step_that_called_for_it() {
    let scripts = [(
        "work",
        vec![calls(&[
            ("invoke_one_shot_phase", json!({"task": "x"})),
            ("invoke_hitl_checkpoint_phase", json!({})),
        ])],
    )];
    let mut world = worked(phases(), &scripts);
    assert_eq!(world.open_kinds(), ["checkpoint"]);
    world.person(Input::Cancel { text: None });
    assert!(world.run.open_interrupts().next().is_none());
}

/// When the call that began a phase ends without a result, the phase's open interrupts are withdrawn.
#[test]
fn what_a_phase_asks_is_withdrawn_with_the_call_that_began_it() {
    let scripts = [("work", vec![calls(&[("invoke_hitl_checkpoint_phase", json!({}))])])];
    let mut world = worked(phases(), &scripts);
    let asked = world.open(Kind::Checkpoint);
    world.person(Input::Interrupt { text: None });
    world.decide(Kind::Turn, choose("done"));
    world.work();
    assert!(!world.run.interrupts[&asked].is_open(), "{:#?}", world.story());
    assert!(world.run.ended.is_some(), "{:#?}", world.story());
}

#[test]
fn a_failure_in_a_phase_is_its_callers_and_not_the_runs() {
    let failing = vec![crate::world::fails(holdshort_core::message::FailureKind::Rejected)];
    let scripts = [
        ("work", vec![calls(&[("invoke_one_shot_phase", json!({"task": "x"}))]), says("Done.")]),
        ("of:call_1", failing),
    ];
    let world = worked(phases(), &scripts);
    assert_eq!(result(&world, "call_1")["status"], "failed", "{:#?}", world.story());
    assert_eq!(world.run.ended.as_ref().map(|ended| ended.status), Some(Status::Completed));
}
