//! Subtasks of a plan: their order, their model requests, and the effect of a failed subtask.

use std::collections::BTreeMap;

use holdshort_core::definition::{Control, KindGate, PhaseKind, StepGates};
use holdshort_core::interrupt::Kind;
use holdshort_core::message::FailureKind;
use holdshort_core::projection::Status;
use holdshort_core::run::{Input, StepEnd};
use serde_json::json;

use super::{approved, at_work, ended, gated, planned, planning, request, say, subtask};
use crate::world::{calls, choose, choose_with, fails, read, says};

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

/// After a failed subtask, the subtasks that need it are skipped and all others continue. The run reports the failure
/// (case 29).
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
    let why = ["work/b", "work/c"].map(|step| world.run.steps[step].output.as_deref().unwrap_or_default());
    assert_eq!(why, ["not run: `a` failed", "not run: `b` was skipped"]);
}

/// Cases 06 and 07: gates ask before and after each subtask.
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

#[test]
fn a_plan_stops_and_goes_on() {
    let mut world = approved(planned(planning()), &[subtask("a", &[]), subtask("b", &["a"])]);
    world.person(Input::Pause);
    assert_eq!((world.run.status(), world.run.actions().len()), (Status::Paused, 0));
    world.person(Input::Resume);
    say(&mut world, "work/a", "Done.");
    assert_eq!(at_work(&world), "work/b");
}

/// A phase for a single subtask fails if the plan lacks that subtask.
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

/// If the interrupt at a subtask's limit expires, the subtasks that need it do not run (contract E22).
#[test]
fn a_subtask_whose_limit_nobody_decides_on_is_no_success() {
    let mut definition = planned(planning());
    definition.phases[1].limits.rounds = 1;
    let gate = KindGate { expires_in_ms: Some(1_000), ..KindGate::default() };
    definition.gates.kinds = BTreeMap::from([(Kind::Continuation, gate)]);
    let mut world = approved(definition, &[subtask("a", &[]), subtask("b", &["a"])])
        .with("work/a", vec![calls(&[read("x")])]);
    world.work();
    world.pass_ms(1_000);
    world.send(Input::Tick);
    assert_eq!(ended(&world), Some((Status::Cancelled, "expired")));
    assert!(!world.run.steps.contains_key("work/b"));
}

/// If a person stops a subtask at its limit, the run ends as `partial`.
#[test]
fn a_subtask_that_is_stopped_at_its_limit_says_so_to_those_that_need_it() {
    let mut definition = planned(planning());
    definition.phases[1].limits.rounds = 1;
    let mut world = approved(definition, &[subtask("a", &[]), subtask("b", &["a"])])
        .with("work/a", vec![calls(&[read("x")])]);
    world.work();
    world.decide(Kind::Continuation, choose("finish"));
    assert!(request(&world, "work/b").contains("`a`: I will.\n\nStopped at its limit of 1 round."));
    say(&mut world, "work/b", "Done.");
    assert_eq!(ended(&world), Some((Status::Completed, "partial")));
}
