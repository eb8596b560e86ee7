//! Planning and control: a plan is drafted, judged, decided on, carried out as a graph, edited on the way.

use std::collections::BTreeMap;

use holdshort_core::actor::Actor;
use holdshort_core::definition::{
    Agent, Checkpoint, Control, Definition, IdeaGeneration, KindGate, Phase, PhaseKind, PlanGate, Planning,
    StepGates,
};
use holdshort_core::interrupt::{Effect, Kind};
use holdshort_core::message::{FailureKind, Message};
use holdshort_core::plan::{self, Plan};
use holdshort_core::projection::Status;
use holdshort_core::run::{Input, Rejection, StepEnd};
use serde_json::{Value, json};

use crate::world::{
    Answer, World, allow, calls, choose, choose_with, command, definition, edit, fails, one_shot, says, write,
};

fn subtask(id: &str, needs: &[&str]) -> Value {
    json!({ "id": id, "description": format!("do {id}"), "depends_on": needs })
}

fn plan_of(subtasks: &[Value]) -> Value {
    json!({ "subtasks": subtasks })
}

fn proposes(subtasks: &[Value]) -> Answer {
    says(&format!("Here it is:\n```json\n{}\n```", plan_of(subtasks)))
}

fn planning() -> Planning {
    Planning {
        planner: "planner".to_owned(),
        improver: None,
        reviewer: None,
        reviews: 0,
        iterations: 3,
        agents: vec!["pair".to_owned(), "writer".to_owned()],
        settles: false,
        optional: false,
    }
}

/// `plan`, then `work` over it.
fn planned(planning: Planning) -> Definition {
    let mut definition = definition();
    let agent =
        Agent { instructions: "Work.".to_owned(), model: None, tools: vec!["run_command".to_owned()] };
    for name in ["planner", "reviewer", "improver", "writer"] {
        definition.agents.insert(name.to_owned(), agent.clone());
    }
    let control = Control { plan: "plan".to_owned(), agent: "pair".to_owned(), only: None };
    definition.phases = vec![
        Phase { kind: PhaseKind::Planning(planning), ..one_shot("plan", &[]) },
        Phase { kind: PhaseKind::Control(control), ..one_shot("work", &["plan"]) },
    ];
    definition
}

fn gated(gates: StepGates) -> Definition {
    let mut definition = planned(planning());
    definition.phases[1].gates = gates;
    definition
}

/// Started, and the plan of these subtasks is before a person.
fn proposed(definition: Definition, subtasks: &[Value]) -> World {
    let mut world = World::started(definition, Vec::new()).with("plan/plan", vec![proposes(subtasks)]);
    world.work();
    world
}

fn approved(definition: Definition, subtasks: &[Value]) -> World {
    let mut world = proposed(definition, subtasks);
    world.decide(Kind::PlanApproval, choose("approve"));
    world
}

fn at_work(world: &World) -> String {
    let open = world.run.steps.iter().filter(|(_, step)| step.end.is_none());
    open.map(|(id, _)| id.as_str()).collect::<Vec<_>>().join(" ")
}

fn say(world: &mut World, step: &str, text: &str) {
    world.script.entry(step.to_owned()).or_default().push_back(says(text));
    world.work();
}

fn ended(world: &World) -> Option<(Status, &str)> {
    world.run.ended.as_ref().map(|ended| (ended.status, ended.reason.as_str()))
}

fn request(world: &World, step: &str) -> String {
    let messages = world.run.request(step).expect("the step has started").messages;
    let said = messages.iter().map(|message| match message {
        Message::System { text }
        | Message::User { text }
        | Message::Assistant { text, .. }
        | Message::Tool { text, .. } => text.as_str(),
    });
    said.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_plan_waits_for_a_person_and_nothing_else_runs() {
    let world = proposed(planned(planning()), &[subtask("a", &[]), subtask("b", &["a"]), subtask("c", &[])]);
    let asked = &world.run.interrupts[&world.open(Kind::PlanApproval)];
    let options: Vec<_> = asked.opened.options.iter().map(|each| (each.id.as_str(), each.effect)).collect();
    assert_eq!(
        options,
        [
            ("approve", Effect::Proceed),
            ("edit", Effect::ProceedWithEdit),
            ("revise", Effect::Replan),
            ("reject", Effect::FailRun),
        ],
    );
    let payload = &asked.content["payload"];
    assert_eq!((&payload["iteration"], &payload["plan"]["subtasks"][1]["id"]), (&json!(1), &json!("b")));
    assert_eq!((at_work(&world).as_str(), world.run.status()), ("plan/plan", Status::Waiting));
}

/// Contract A8: every form of a plan that is understood, and what is none.
#[test]
fn a_plan_is_read_in_many_forms() {
    let upstream = json!({ "sub_tasks": [
        { "sub_task": "Look", "sub_task_agent": "engineer", "bullet_points": ["well", "again"] },
        "Write",
    ] });
    let native = plan_of(&[subtask("a", &[])]);
    let two = json!({ "subtasks": [
        { "id": "s1", "description": "Look\n- well\n- again", "agent": "engineer" },
        { "id": "s2", "description": "Write" },
    ] });
    let lines = json!({ "subtasks": [
        { "id": "s1", "description": "Look" }, { "id": "s2", "description": "Write\n- fast" },
    ] });
    let text = |value: &Value| Value::String(value.to_string());
    let counted =
        json!([{ "id": 1, "description": "x" }, { "id": 2, "description": "y", "depends_on": [1] }]);
    let table = [
        (upstream.clone(), Some(two.clone())),
        (upstream["sub_tasks"].clone(), Some(two.clone())),
        (text(&upstream), Some(two.clone())),
        (json!({ "plan": upstream }), Some(two)),
        (native.clone(), Some(native.clone())),
        (json!(format!("I suggest {native} as it is short.")), Some(native)),
        (json!("My plan:\n1. Look\n2) Write\n   - fast\nThat is all."), Some(lines)),
        (
            counted,
            Some(json!({ "subtasks": [
                { "id": "1", "description": "x" }, { "id": "2", "description": "y", "depends_on": ["1"] },
            ] })),
        ),
        (json!([]), Some(json!({ "subtasks": [] }))),
        (json!("I can not plan this."), None),
        (json!(null), None),
        (json!({ "answer": 42 }), None),
        (json!("\"[1]\""), Some(json!({ "subtasks": [1] }))),
        (json!("Before I plan:\n1. Which database?\n2. Which region?"), None),
        (
            json!([{ "title": "Look", "description": "Read rain.csv", "bullet_points": "be quick" }]),
            Some(json!({ "subtasks": [{ "id": "s1", "description": "Look: Read rain.csv\n- be quick" }] })),
        ),
    ];
    for (said, expected) in table {
        assert_eq!(plan::read(&said), expected, "{said}");
    }
}

#[test]
fn what_is_no_plan_goes_back_to_the_planner_and_ends_the_run_at_last() {
    let bad = [says("No."), proposes(&[]), proposes(&[subtask("a", &["b"]), subtask("b", &["a"])])];
    let mut world = World::started(planned(planning()), Vec::new()).with("plan/plan", bad[..2].to_vec());
    world.work();
    assert!(request(&world, "plan/plan").contains("holds no subtask"));
    let mut again = world.clone().with("plan/plan", vec![proposes(&[subtask("a", &[])])]);
    again.work();
    again.open(Kind::PlanApproval);
    let mut world = world.with("plan/plan", bad[2..].to_vec());
    world.work();
    assert_eq!(ended(&world), Some((Status::Failed, "no_plan")));
    let text = world.run.ended.and_then(|ended| ended.text).unwrap_or_default();
    assert!(text.contains("cycle"), "{text}");
}

#[test]
fn agents_improve_the_task_and_judge_the_plan_before_a_person_does() {
    let planning = Planning {
        improver: Some("improver".to_owned()),
        reviewer: Some("reviewer".to_owned()),
        reviews: 2,
        ..planning()
    };
    let mut world = World::started(planned(planning), Vec::new());
    assert_eq!(at_work(&world), "plan/improve");
    say(&mut world, "plan/improve", "Do it well.");
    assert!(request(&world, "plan/plan").contains("Do it well."));
    let draft = |n: usize| proposes(&[subtask(&format!("a{n}"), &[])]);
    for n in 1..=2 {
        world.script.entry("plan/plan".to_owned()).or_default().push_back(draft(n));
        world.work();
        assert!(world.run.open_interrupts().next().is_none());
        let judge = format!("plan/review_{n}");
        assert!(request(&world, &judge).contains(&format!("do a{n}")), "the last draft is judged");
        say(&mut world, &judge, &format!("Shorter {n}?"));
        assert!(request(&world, "plan/plan").contains(&format!("Shorter {n}?")));
    }
    world.script.entry("plan/plan".to_owned()).or_default().push_back(draft(3));
    world.work();
    world.open(Kind::PlanApproval);
    world.decide(Kind::PlanApproval, choose("approve"));
    assert_eq!(at_work(&world), "work/a3");
}

#[test]
fn a_plan_that_was_called_counts_as_one_that_was_said() {
    let mut definition = planned(planning());
    definition.agents.get_mut("planner").unwrap().tools.push("create_plan".to_owned());
    let call = calls(&[("create_plan", plan_of(&[subtask("a", &[])]))]);
    let mut world = World::started(definition, Vec::new()).with("plan/plan", vec![call]);
    world.work();
    world.decide(Kind::PlanApproval, choose_with("revise", "add tests"));
    assert!(request(&world, "plan/plan").contains("add tests"), "the planner is asked again");
    world.script.entry("plan/plan".to_owned()).or_default().push_back(proposes(&[subtask("b", &[])]));
    world.work();
    assert_eq!(world.run.interrupts[&world.open(Kind::PlanApproval)].content["payload"]["iteration"], 2);
}

/// Cases 02 to 05.
#[test]
fn each_decision_on_a_plan_has_its_effect() {
    let two = [subtask("a", &[]), subtask("b", &[])];

    let mut world = proposed(planned(planning()), &two);
    world.decide(Kind::PlanApproval, choose_with("approve", "mind the units"));
    assert_eq!(at_work(&world), "work/a work/b");
    assert!(request(&world, "work/b").contains("mind the units"));

    let mut world = proposed(planned(planning()), &two);
    world.decide(Kind::PlanApproval, choose_with("reject", "wrong"));
    let text = world.run.ended.as_ref().and_then(|ended| ended.text.clone());
    assert_eq!(
        (ended(&world), text.as_deref()),
        (Some((Status::Failed, "rejected")), Some("the plan was rejected: wrong"),)
    );

    let mut world = proposed(planned(planning()), &two);
    let interrupt = world.open(Kind::PlanApproval);
    for bad in [
        json!({ "subtasks": [] }),
        json!({ "subtasks": [{ "id": "x", "description": "y", "agent": "nobody" }] }),
    ] {
        let input = Input::Decide { interrupt: interrupt.clone(), decision: edit(bad) };
        world.try_send(&Actor::operator("rest"), input).unwrap_err();
        assert!(world.run.interrupts[&interrupt].is_open());
    }
    world.decide(Kind::PlanApproval, edit(plan_of(&[subtask("c", &[]), subtask("d", &["c"])])));
    assert_eq!(at_work(&world), "work/c");
    assert_eq!(world.run.plans["plan"].versions.len(), 2);

    let mut definition = planned(planning());
    definition.gates.kinds.entry(Kind::PlanApproval).or_default().reject = Some(Effect::DropPlan);
    let mut world = proposed(definition, &two);
    world.decide(Kind::PlanApproval, choose("reject"));
    assert_eq!(ended(&world), Some((Status::Completed, "done")));

    let mut definition = planned(planning());
    definition.gates.plan = PlanGate::Show;
    assert_eq!(at_work(&proposed(definition, &two)), "work/a work/b", "shown, and work goes on");
}

/// Contract A13: the iterations are used up without an approval.
#[test]
fn iterations_end() {
    let mut world = proposed(planned(Planning { iterations: 2, ..planning() }), &[subtask("a", &[])]);
    world.decide(Kind::PlanApproval, choose_with("revise", "one"));
    world.script.entry("plan/plan".to_owned()).or_default().push_back(proposes(&[subtask("b", &[])]));
    world.work();
    world.decide(Kind::PlanApproval, choose_with("revise", "two"));
    assert_eq!(ended(&world), Some((Status::Failed, "plan_iterations")));
}

#[test]
fn what_depends_on_nothing_runs_side_by_side() {
    let graph = [
        subtask("a", &[]),
        subtask("b", &[]),
        subtask("c", &["a", "b"]),
        subtask("d", &["a"]),
        subtask("e", &[]),
    ];
    let mut definition = planned(planning());
    definition.phases[1].limits.parallel = 2;
    let mut world = approved(definition, &graph);
    let mut seen = vec![at_work(&world)];
    for step in ["a", "b", "d", "c", "e"] {
        say(&mut world, &format!("work/{step}"), &format!("{step} is done."));
        seen.push(at_work(&world));
    }
    assert_eq!(seen, ["work/a work/b", "work/b work/d", "work/c work/d", "work/c work/e", "work/e", ""],);
    assert_eq!(ended(&world), Some((Status::Completed, "done")));
    let result = &world.run.ended.as_ref().unwrap().result;
    assert_eq!(
        result["phases"]["work"]["c"],
        json!({
            "status": "completed", "agent": "pair", "output": "c is done.", "attempts": 1, "redos": 0,
        })
    );
    assert_eq!(result["text"], "e is done.");
}

#[test]
fn each_subtask_goes_to_its_agent_with_what_was_done_before() {
    let mut first = subtask("a", &[]);
    first["agent"] = json!("writer");
    let mut world = approved(planned(planning()), &[first, subtask("b", &["a"])]);
    assert_eq!(world.run.steps["work/a"].agent, "writer");
    say(&mut world, "work/a", "It is 42.");
    let told = request(&world, "work/b");
    assert!(told.contains("do b") && told.contains("It is 42.") && told.contains("Do it"), "{told}");
    assert_eq!(world.run.steps["work/b"].agent, "pair");
}

/// Case 29: what depends on a failure is skipped, the rest goes on, the run says so.
#[test]
fn a_failure_skips_what_depends_on_it() {
    let graph = [subtask("a", &[]), subtask("b", &["a"]), subtask("c", &["b"]), subtask("d", &[])];
    let mut world = approved(planned(planning()), &graph)
        .with("work/a", vec![fails(FailureKind::Rejected)])
        .with("work/d", vec![says("d is done.")]);
    world.work();
    let ends: BTreeMap<&str, StepEnd> = world
        .run
        .steps
        .iter()
        .filter_map(|(id, step)| Some((id.strip_prefix("work/")?, step.end?)))
        .collect();
    let expected =
        [("a", StepEnd::Failed), ("b", StepEnd::Skipped), ("c", StepEnd::Skipped), ("d", StepEnd::Completed)];
    assert_eq!(ends, BTreeMap::from(expected));
    assert_eq!(ended(&world), Some((Status::Completed, "partial")));
}

/// Cases 06 and 07: gates around each subtask.
#[test]
fn gates_stand_around_each_subtask() {
    let two = [subtask("a", &[]), subtask("b", &["a"])];
    let mut world = approved(gated(StepGates { before_step: true, ..StepGates::default() }), &two);
    world.decide(Kind::Checkpoint, choose("skip"));
    assert_eq!(world.run.steps["work/a"].end, Some(StepEnd::Skipped));
    let shown = &world.run.interrupts[&world.open(Kind::Checkpoint)].content["payload"];
    assert_eq!(shown["input"], "do b");
    world.decide(Kind::Checkpoint, choose("approve"));
    say(&mut world, "work/b", "Done.");
    assert_eq!(ended(&world), Some((Status::Completed, "done")), "what a person skips holds nobody back");

    let mut world = approved(gated(StepGates { after_step: true, ..StepGates::default() }), &two[..1]);
    say(&mut world, "work/a", "1.2.2026");
    world.decide(Kind::Checkpoint, choose_with("redo", "use ISO"));
    assert!(request(&world, "work/a").contains("use ISO"));
    say(&mut world, "work/a", "2026-02-01");
    world.decide(Kind::Checkpoint, choose("continue"));
    assert_eq!((world.run.steps["work/a"].redos, ended(&world)), (1, Some((Status::Completed, "done"))));
}

/// Case 08: after each failed attempt a person says what follows.
#[test]
fn a_failed_tool_asks_where_errors_are_asked_about() {
    let on_error = || gated(StepGates { on_error: true, ..StepGates::default() });
    let failed = || {
        let mut definition = on_error();
        definition.gates.rules = Vec::new();
        let mut world =
            approved(definition, &[subtask("a", &[])]).with("work/a", vec![calls(&[command("false")])]);
        world.work();
        world.decide(Kind::ToolApproval, choose("approve"));
        world.work();
        world
    };
    let mut world = failed();
    let shown = world.run.interrupts[&world.open(Kind::Error)].content["payload"].clone();
    assert_eq!((&shown["reason"], &shown["attempts"]), (&json!("tool_failed"), &json!(1)));
    world.decide(Kind::Error, choose_with("retry", "with care"));
    assert!(request(&world, "work/a").contains("with care"));
    say(&mut world, "work/a", "Done.");
    assert_eq!((world.run.steps["work/a"].retries, ended(&world)), (1, Some((Status::Completed, "done"))));

    let mut world = failed();
    world.decide(Kind::Error, choose("skip"));
    assert_eq!(world.run.steps["work/a"].end, Some(StepEnd::Skipped));

    let mut world = failed();
    world.decide(Kind::Error, choose("abort"));
    assert_eq!(ended(&world), Some((Status::Failed, "aborted")));
}

fn replan(version: Option<usize>, plan: Value) -> Input {
    Input::Replan { phase: "plan".to_owned(), version, plan }
}

#[test]
fn what_has_not_started_can_be_planned_anew() {
    let mut world = approved(planned(planning()), &[subtask("a", &[]), subtask("b", &["a"])]);
    let person = Actor::operator("rest");
    let without_a = plan_of(&[subtask("b", &[])]);
    let refused = world.try_send(&person, replan(None, without_a));
    assert!(matches!(refused, Err(Rejection::Invalid(_))), "{refused:?}");
    let stale = world.try_send(&person, replan(Some(7), plan_of(&[subtask("a", &[])])));
    assert!(matches!(stale, Err(Rejection::StalePlan { found: 1 })), "{stale:?}");

    // The gate asks again; meanwhile nothing more starts of the old one.
    let more = plan_of(&[subtask("a", &[]), subtask("x", &["a"])]);
    world.person(replan(Some(1), more.clone()));
    say(&mut world, "work/a", "a is done.");
    assert_eq!(at_work(&world), "");
    let mut dropped = world.clone();
    dropped.decide(Kind::PlanApproval, choose("reject"));
    assert_eq!(at_work(&dropped), "work/b", "the old plan goes on");
    world.decide(Kind::PlanApproval, choose("approve"));
    assert_eq!(at_work(&world), "work/x");
    say(&mut world, "work/x", "x is done.");
    assert_eq!(ended(&world), Some((Status::Completed, "done")));
    let late = world.try_send(&person, replan(None, more));
    assert!(matches!(late, Err(Rejection::Ended(_))), "{late:?}");
}

#[test]
fn a_plan_stops_and_goes_on() {
    let mut world = approved(planned(planning()), &[subtask("a", &[]), subtask("b", &["a"])]);
    world.person(Input::Pause);
    assert_eq!((world.run.status(), world.run.actions().len()), (Status::Paused, 0));
    world.person(Input::Resume);
    say(&mut world, "work/a", "Done.");
    assert_eq!(at_work(&world), "work/b");
}

/// Contract A15: the newest notes that fit, whole and in order.
#[test]
fn notes_reach_later_steps_within_their_budget() {
    let mut world = approved(planned(planning()), &[subtask("a", &[]), subtask("b", &["a"])]);
    let note = |n: usize| format!("note {n} {}", "x".repeat(1_500));
    for n in 1..=4 {
        world.message(&note(n));
    }
    say(&mut world, "work/a", "Done.");
    let told = request(&world, "work/b");
    let found: Vec<bool> = (1..=4).map(|n| told.contains(&format!("note {n} "))).collect();
    assert_eq!(found, [false, false, true, true]);
    assert!(told.find("note 3") < told.find("note 4"));
}

#[test]
fn ideas_are_judged_so_often() {
    let ideas = IdeaGeneration { maker: "writer".into(), critic: "reviewer".into(), ideas: 3, reviews: 1 };
    let mut definition = planned(planning());
    definition.phases = vec![Phase { kind: PhaseKind::IdeaGeneration(ideas), ..one_shot("ideas", &[]) }];
    let mut world = World::started(definition, Vec::new());
    say(&mut world, "ideas/make", "First.");
    assert!(request(&world, "ideas/review_1").contains("First."));
    say(&mut world, "ideas/review_1", "Bolder.");
    assert!(request(&world, "ideas/make").contains("Bolder."));
    say(&mut world, "ideas/make", "Second.");
    assert_eq!(ended(&world), Some((Status::Completed, "done")));
    assert_eq!(world.run.ended.unwrap().result["phases"]["ideas"], "Second.");
}

#[test]
fn a_plan_is_drawn_from_left_to_right() {
    let plan: Plan = serde_json::from_value(plan_of(&[
        subtask("d", &["b", "c"]),
        subtask("a", &[]),
        subtask("b", &["x"]),
        subtask("c", &["a"]),
        subtask("x", &[]),
    ]))
    .unwrap();
    let places: Vec<_> = plan.layout().into_iter().map(|place| (place.layer, place.row)).collect();
    assert_eq!(places, [(2, 0), (0, 0), (1, 1), (1, 0), (0, 1)], "edges do not cross where they need not");
    let circle: Plan =
        serde_json::from_value(plan_of(&[subtask("a", &["b"]), subtask("b", &["a"])])).unwrap();
    assert_eq!(circle.layout().len(), 2);
}

/// Cases 01 and 09: mandatory checkpoints, with the plan's own gate in one interrupt and on a write.
#[test]
fn a_person_must_speak_at_mandatory_checkpoints() {
    let must = |at| {
        let mut definition = planned(planning());
        definition.gates.mandatory.insert(at);
        definition.gates.rules = vec![allow(&["*"])];
        definition
    };
    for gate in [PlanGate::Ask, PlanGate::Show] {
        let mut definition = must(Checkpoint::AfterPlanning);
        definition.gates.plan = gate;
        let world = proposed(definition, &[subtask("a", &[])]);
        let asked = &world.run.interrupts[&world.open(Kind::PlanApproval)].opened;
        assert_eq!(
            asked.risk.reasons.iter().map(|each| each.code.as_str()).collect::<Vec<_>>(),
            ["after_planning"]
        );
    }

    let writing = || {
        let mut world = approved(must(Checkpoint::BeforeFileEdit), &[subtask("a", &[])])
            .with("work/a", vec![calls(&[write("config.yaml")]), says("Done.")]);
        world.work();
        assert!(world.effects.is_empty(), "nothing is written before a person has spoken");
        world
    };
    let mut world = writing();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert_eq!(world.effects, ["write_file config.yaml"]);
    assert_eq!(ended(&world), Some((Status::Completed, "done")), "the same agent goes on");
    let mut world = writing();
    world.decide(Kind::ToolApproval, choose("reject"));
    assert_eq!((ended(&world), world.effects.len()), (Some((Status::Failed, "rejected")), 0));
}

/// A phase for one subtask that the plan does not have has nothing to complete.
#[test]
fn one_subtask_alone_is_carried_out_or_the_run_fails() {
    let only = |n| {
        let mut definition = planned(planning());
        let control = Control { plan: "plan".to_owned(), agent: "pair".to_owned(), only: Some(n) };
        definition.phases[1].kind = PhaseKind::Control(control);
        approved(definition, &[subtask("a", &[]), subtask("b", &["a"])])
    };
    assert_eq!(at_work(&only(2)), "work/b");
    assert_eq!(ended(&only(3)), Some((Status::Failed, "no_subtask")));
}

/// The planner may answer instead: only its tool makes a plan.
fn may_plan() -> Definition {
    let mut definition = planned(Planning { optional: true, ..planning() });
    definition.agents.get_mut("planner").expect("it is there").tools.push("create_plan".to_owned());
    definition
}

#[test]
fn where_a_plan_is_optional_an_answer_is_no_plan() {
    let mut world =
        World::started(may_plan(), Vec::new()).with("plan/plan", vec![proposes(&[subtask("a", &[])])]);
    world.work();
    assert_eq!(world.run.status(), Status::Completed);
    assert_eq!(world.count("plan_drafted"), 0);
    assert_eq!(world.run.phases["work"], Some(StepEnd::Skipped));
    let result = &world.run.ended.as_ref().expect("it has ended").result;
    assert!(result["text"].as_str().expect("a text").starts_with("Here it is"), "{result}");
}

#[test]
fn where_a_plan_is_optional_the_tool_makes_one() {
    let called = calls(&[("create_plan", plan_of(&[subtask("a", &[]), subtask("b", &["a"])]))]);
    let mut world = World::started(may_plan(), Vec::new())
        .with("plan/plan", vec![called])
        .with("work/a", vec![says("Done a.")])
        .with("work/b", vec![says("Done b.")]);
    world.work();
    assert_eq!(world.open_kinds(), ["plan_approval"]);
    world.decide(Kind::PlanApproval, choose("approve"));
    world.work();
    assert_eq!(world.run.status(), Status::Completed);
    assert_eq!(world.count("model_started"), 3, "the planner's turn has ended with its plan");
}

#[test]
fn of_several_plans_in_one_answer_the_last_one_that_holds_is_taken() {
    let first = plan_of(&[subtask("first", &[])]);
    let better = plan_of(&[subtask("better", &[])]);
    let said =
        format!("Data: ```json\n[1, 2]\n``` First: ```json\n{first}\n``` better: ```json\n{better}\n```");
    let mut world = World::started(planned(planning()), Vec::new()).with("plan/plan", vec![says(&said)]);
    world.work();
    let shown = &world.run.plans["plan"].versions;
    assert_eq!(shown.iter().map(|plan| plan.subtasks[0].id.as_str()).collect::<Vec<_>>(), ["better"]);
}

#[test]
fn a_planner_that_stops_without_a_plan_is_no_success() {
    let mut definition = planned(planning());
    definition.phases[0].limits.rounds = 1;
    let mut world = World::started(definition, Vec::new()).with("plan/plan", vec![says("No.")]);
    world.work();
    world.decide(Kind::Continuation, choose("finish"));
    assert_eq!(ended(&world), Some((Status::Failed, "no_plan")));
}

#[test]
fn a_planner_that_uses_its_tool_wrongly_again_and_again_ends_the_run_too() {
    let cycle = calls(&[("create_plan", plan_of(&[subtask("a", &["b"]), subtask("b", &["a"])]))]);
    let mut definition = planned(planning());
    definition.agents.get_mut("planner").expect("it is there").tools.push("create_plan".to_owned());
    let mut world =
        World::started(definition, Vec::new()).with("plan/plan", vec![cycle.clone(), cycle.clone(), cycle]);
    world.work();
    assert_eq!(ended(&world), Some((Status::Failed, "no_plan")));
}

#[test]
fn errors_of_those_who_plan_are_asked_about_too() {
    let mut definition = planned(planning());
    definition.phases[0].gates = StepGates { on_error: true, before_step: true, ..StepGates::default() };
    let mut world = World::started(definition, Vec::new())
        .with("plan/plan", vec![fails(FailureKind::Rejected), proposes(&[subtask("a", &[])])]);
    world.work();
    world.decide(Kind::Error, choose("retry"));
    world.work();
    assert_eq!(world.open_kinds(), ["plan_approval"]);
}

#[test]
fn a_plan_is_planned_anew_only_while_it_is_carried_out_and_for_all_who_do() {
    let control = Control { plan: "plan".to_owned(), agent: "writer".to_owned(), only: None };
    let mut definition = planned(planning());
    definition.phases.push(Phase { kind: PhaseKind::Control(control), ..one_shot("verify", &["plan"]) });
    definition.phases[1].limits.parallel = 1;
    let mut world = approved(definition, &[subtask("a", &[]), subtask("b", &[])]);
    assert_eq!(at_work(&world), "verify/a verify/b work/a");
    let person = Actor::operator("rest");
    let refused = world.try_send(&person, replan(None, plan_of(&[subtask("a", &[])])));
    let Err(Rejection::Invalid(problems)) = refused else { panic!("{refused:?}") };
    assert_eq!(problems[0].pointer, "/plan/subtasks");
    assert!(problems[0].message.contains("`b` has started"), "{problems:?}");
    // Whoever does it anyway may be named.
    let mut named = subtask("a", &[]);
    named["agent"] = json!("pair");
    let mut definition = planned(planning());
    definition.phases.insert(1, crate::world::checkpoint("look", &["plan"]));
    definition.phases[2].needs = vec!["look".to_owned()];
    let mut waiting = approved(definition, &[subtask("a", &[]), subtask("b", &["a"])]);
    let early = waiting.try_send(&person, replan(None, plan_of(&[named.clone()])));
    assert!(
        matches!(early, Err(Rejection::NoPlan)),
        "what a person is looking at does not change: {early:?}"
    );
    waiting.decide(Kind::Checkpoint, choose("approve"));
    waiting.person(replan(None, plan_of(&[named, subtask("c", &["a"])])));
    assert_eq!(waiting.open_kinds(), ["plan_approval"]);
    let again = waiting.try_send(&person, replan(Some(1), plan_of(&[subtask("a", &[])])));
    assert!(matches!(again, Err(Rejection::PlanHeld { version: 2 })), "{again:?}");
}

#[test]
fn a_phase_of_one_subtask_keeps_its_plan() {
    let mut definition = planned(planning());
    let control = Control { plan: "plan".to_owned(), agent: "pair".to_owned(), only: Some(2) };
    definition.phases[1].kind = PhaseKind::Control(control);
    let mut world = approved(definition, &[subtask("a", &[]), subtask("b", &[])]);
    assert_eq!(at_work(&world), "work/b");
    let turned = plan_of(&[subtask("b", &[]), subtask("a", &[])]);
    let refused = world.try_send(&Actor::operator("rest"), replan(None, turned));
    assert!(matches!(refused, Err(Rejection::Invalid(_))), "{refused:?}");
}

#[test]
fn what_a_subtask_is_told_stays_and_holds_what_it_depends_on_whole() {
    let long = "x".repeat(5_000);
    let graph =
        [subtask("a", &[]), subtask("b", &[]), subtask("c", &[]), subtask("d", &[]), subtask("e", &["a"])];
    let mut definition = planned(planning());
    definition.phases[1].limits.parallel = 5;
    let mut world = approved(definition, &graph);
    say(&mut world, "work/a", &long);
    let first = request(&world, "work/e");
    for id in ["b", "c", "d"] {
        say(&mut world, &format!("work/{id}"), &format!("{id} is done."));
    }
    assert_eq!(request(&world, "work/e"), first);
    assert!(first.contains(&long));
}

#[test]
fn a_note_is_never_cut_and_never_hides_the_ones_before_it_that_fit() {
    let mut world = proposed(planned(planning()), &[subtask("a", &[])]);
    world.message("first of all");
    world.message(&"y".repeat(3_999));
    let long = "z".repeat(4_500);
    world.decide(Kind::PlanApproval, choose_with("approve", &long));
    let heard = request(&world, "work/a");
    assert!(heard.contains(&long));
    assert!(heard.contains("yyy"));
    assert!(!heard.contains("first of all"));
}

#[test]
fn a_person_who_speaks_during_a_review_is_heard_after_it() {
    let planning = Planning { reviewer: Some("reviewer".to_owned()), reviews: 1, ..planning() };
    let mut world =
        World::started(planned(planning), Vec::new()).with("plan/plan", vec![proposes(&[subtask("a", &[])])]);
    world.work();
    world.message("Use ISO dates.");
    let due: Vec<String> = world.run.actions().iter().map(|action| action.id().to_string()).collect();
    assert_eq!(due, ["model/plan/review_1/0/1"]);
}

#[test]
fn rejecting_another_version_never_ends_the_run() {
    let mut definition = planned(planning());
    let gate = KindGate { reject: Some(Effect::FailRun), ..KindGate::default() };
    definition.gates.kinds.insert(Kind::PlanApproval, gate);
    let mut world = approved(definition, &[subtask("a", &[])]);
    world.person(replan(None, plan_of(&[subtask("a", &[]), subtask("b", &["a"])])));
    let told = world.decide(Kind::PlanApproval, choose("reject"));
    assert_eq!(told[1], "interrupt_resolved rejected reject");
    let resolved = world.log.iter().rev().find(|event| event.fact.encode().0 == "interrupt_resolved");
    assert_eq!(resolved.expect("it is there").fact.encode().1["effect"], "drop_plan");
    assert_eq!(at_work(&world), "work/a");
}

/// A13: where approval is not required, feedback is taken so often, and then the plan is.
#[test]
fn a_plan_may_be_settled_after_its_iterations() {
    let settles = || planned(Planning { iterations: 1, settles: true, ..planning() });
    let revised = |definition| {
        let mut world = proposed(definition, &[subtask("a", &[])]);
        world.decide(Kind::PlanApproval, choose_with("revise", "shorter"));
        let mut world = world.with("plan/plan", vec![proposes(&[subtask("b", &[])])]);
        world.work();
        world
    };
    let world = revised(settles());
    assert_eq!((at_work(&world).as_str(), world.open_kinds().len()), ("work/b", 0));
    // A mandatory checkpoint is never passed by.
    let mut must = settles();
    must.gates.mandatory.insert(Checkpoint::AfterPlanning);
    let mut world = proposed(must, &[subtask("a", &[])]);
    world.decide(Kind::PlanApproval, choose_with("revise", "shorter"));
    assert_eq!(ended(&world), Some((Status::Failed, "plan_iterations")));
}

/// The person sees the plan itself: its JSON is not said once more.
#[test]
fn what_is_said_around_a_plan_is_kept_without_it() {
    let plan = plan_of(&[subtask("a", &[])]);
    let table = [
        (format!("My plan: {plan}"), "My plan:"),
        (format!("{plan}"), ""),
        (format!("First:\n```json\n{plan}\n```\nThat is all."), "First:\nThat is all."),
        ("1. Look\n2. Write".to_owned(), "1. Look\n2. Write"),
        ("It costs {nothing}:\n```sh\nls\n```".to_owned(), "It costs {nothing}:\n```sh\nls\n```"),
    ];
    for (said, around) in table {
        assert_eq!(plan::around(&said), around, "{said}");
    }
}
