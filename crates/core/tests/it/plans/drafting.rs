//! Plans and ideas: rewording of the task, plans as text or as a call, their parsing, judgements, and answers instead
//! of a plan.

use std::collections::BTreeSet;

use holdshort_core::definition::{Definition, IdeaGeneration, Phase, PhaseKind, Planning, StepGates};
use holdshort_core::interrupt::Kind;
use holdshort_core::message::FailureKind;
use holdshort_core::plan::{self, Plan};
use holdshort_core::projection::Status;
use holdshort_core::run::StepEnd;
use serde_json::{Value, json};

use super::{at_work, ended, plan_of, planned, planning, proposes, request, say, subtask};
use crate::world::{World, calls, choose, choose_with, fails, one_shot, says};

/// Contract A8: all accepted formats of a plan are parsed, and other texts are not mistaken for a plan.
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
        (json!(format!("I suggest {native} as it is short.")), Some(native.clone())),
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
        (text(&text(&native)), Some(native.clone())),
        (text(&text(&text(&native))), None),
        (
            json!({ "steps": [{ "id": "s1", "description": "x", "dependencies": [2], "estimated_time": "5 min" }] }),
            Some(json!({ "subtasks": [
                { "id": "s1", "description": "x", "depends_on": ["2"], "estimated_time": "5 min" },
            ] })),
        ),
        (
            json!([{ "id": "a", "description": "x", "estimated_time_minutes": 5, "result": "done" },
                { "id": "b", "description": "y", "estimated_time": null },
                { "id": "c", "description": "z", "estimated_time": " " }]),
            Some(json!({ "subtasks": [
                { "id": "a", "description": "x", "estimated_time": "5 min" },
                { "id": "b", "description": "y" },
                { "id": "c", "description": "z" },
            ] })),
        ),
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

/// A subtask without an id gets an id from its position, or the next free id.
#[test]
fn what_has_no_id_gets_one_that_nobody_else_has() {
    let s = |n: u32| json!({ "id": format!("s{n}"), "description": "x" });
    let table = [
        (json!(["x", "y"]), "s1 s2"),
        (json!(["new", s(1), s(2), s(3)]), "s4 s1 s2 s3"),
        (json!([s(1), "new", s(2), s(3)]), "s1 s4 s2 s3"),
        (json!([s(2), s(3), "new"]), "s2 s3 s4"),
        (json!([s(2), "y"]), "s2 s3"),
        (json!(["x", "y", s(1), "z"]), "s2 s3 s1 s4"),
        (json!(["x", { "id": "b", "description": "after it", "depends_on": ["s1"] }, "z"]), "s1 b s3"),
        (json!([{ "id": null, "description": "x" }, s(1)]), "s2 s1"),
        // Ids that the planner gave do not change. The later check reports the duplicate id.
        (json!([s(1), s(1), "x"]), "s1 s1 s3"),
    ];
    for (sent, expected) in table {
        let read = plan::read(&sent).unwrap();
        let ids: Vec<&str> =
            read["subtasks"].as_array().unwrap().iter().filter_map(|each| each["id"].as_str()).collect();
        assert_eq!(ids.join(" "), expected, "{sent}");
    }
}

/// The estimated time of a subtask is one short line in the planner's words.
#[test]
fn an_estimate_is_one_short_line() {
    let table = [
        (json!("5 min"), true),
        (json!("etwa 5 Minuten"), true),
        (json!("x".repeat(64)), true),
        (json!("x".repeat(65)), false),
        (json!("5\nmin"), false),
        (json!(" "), false),
        (json!(5), false),
    ];
    for (time, is_good) in table {
        let mut sent = plan_of(&[subtask("a", &[])]);
        sent["subtasks"][0]["estimated_time"] = time.clone();
        match Plan::check(&sent, &BTreeSet::from(["pair"]), 5, "/plan") {
            Ok(plan) => {
                assert!(is_good, "{time}");
                assert_eq!(json!(plan.subtasks[0].estimated_time), time, "nothing is lost");
            }
            Err(problems) => {
                assert!(!is_good, "{time}: {problems:?}");
                assert_eq!(problems[0].pointer, "/plan/subtasks/0/estimated_time");
            }
        }
    }
}

#[test]
fn what_is_no_plan_goes_back_to_the_planner_and_ends_the_run_at_last() {
    let bad = [says("No."), proposes(&[]), proposes(&[subtask("a", &["b"]), subtask("b", &["a"])])];
    let mut world = World::started(planned(planning()), Vec::new()).with("plan/plan", bad[..2].to_vec());
    world.work();
    assert!(request(&world, "plan/plan").contains("contains no subtask"));
    let mut again = world.clone().with("plan/plan", vec![proposes(&[subtask("a", &[])])]);
    again.work();
    again.open(Kind::PlanApproval);
    let mut world = world.with("plan/plan", bad[2..].to_vec());
    world.work();
    assert_eq!(ended(&world), Some((Status::Failed, "no_plan")));
    let text = world.run.ended.and_then(|ended| ended.text.clone()).unwrap_or_default();
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
    let result = world.run.ended.unwrap().result.clone();
    assert_eq!(
        (&result["text"], &result["phases"]["ideas"]),
        (
            &json!("Second."),
            &json!({
                "text": "Second.", "ideas": ["First.", "Second."], "reviews": ["Bolder."], "selected_idea": "Second.",
            })
        )
    );
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

/// Returns a workflow whose planner may answer in prose, so that only a call of the plan tool makes a plan.
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

/// The message around a plan is kept without the plan's JSON, because the card shows the plan itself.
#[test]
fn what_is_said_around_a_plan_is_kept_without_it() {
    let plan = plan_of(&[subtask("a", &[])]);
    let table = [
        (format!("My plan: {plan}"), "My plan:"),
        (format!("{plan}"), ""),
        (Value::String(plan.to_string()).to_string(), ""),
        (format!("First:\n```json\n{plan}\n```\nThat is all."), "First:\nThat is all."),
        ("1. Look\n2. Write".to_owned(), "1. Look\n2. Write"),
        ("It costs {nothing}:\n```sh\nls\n```".to_owned(), "It costs {nothing}:\n```sh\nls\n```"),
    ];
    for (said, around) in table {
        assert_eq!(plan::around(&said), around, "{said}");
    }
}
