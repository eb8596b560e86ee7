//! The interrupt after a failed step, and the maximum number of attempts (contract A14).

use holdshort_core::definition::StepGates;
use holdshort_core::interrupt::Kind;
use holdshort_core::limits;
use holdshort_core::message::FailureKind;
use holdshort_core::projection::Status;
use holdshort_core::run::StepEnd;
use serde_json::{Value, json};

use super::{approved, ended, gated, planned, planning, request, say, subtask};
use crate::world::{World, calls, choose, choose_with, command, fails, read, says};

/// A person decides after each failed attempt of a step (case 08).
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

type Decided = &'static [(Kind, &'static str)];

/// Every started attempt of a step counts, even without a reply of the model. A step that never started has none.
#[test]
fn attempts_are_the_tries_that_were_begun() {
    let asks = StepGates { before_step: true, after_step: true, on_error: true, ..StepGates::default() };
    let table: [(&str, Decided, u32); 7] = [
        ("skipped before it", &[(Kind::Checkpoint, "skip")], 0),
        ("skipped when it failed", &[(Kind::Checkpoint, "approve"), (Kind::Error, "skip")], 1),
        ("given by a person", &[(Kind::Checkpoint, "approve"), (Kind::Error, "hand_over")], 1),
        ("failed twice", &[(Kind::Checkpoint, "approve"), (Kind::Error, "retry"), (Kind::Error, "skip")], 2),
        ("done at once", &[(Kind::Checkpoint, "approve"), (Kind::Checkpoint, "continue")], 1),
        (
            "done at the second try",
            &[(Kind::Checkpoint, "approve"), (Kind::Error, "retry"), (Kind::Checkpoint, "continue")],
            2,
        ),
        (
            "done again",
            &[(Kind::Checkpoint, "approve"), (Kind::Checkpoint, "redo"), (Kind::Checkpoint, "continue")],
            2,
        ),
    ];
    for (what, decisions, attempts) in table {
        let failures = decisions.iter().filter(|(kind, _)| *kind == Kind::Error).count();
        let mut answers = vec![fails(FailureKind::Rejected); failures];
        answers.extend(vec![says("Done."); 2]);
        let mut world = approved(gated(asks), &[subtask("a", &[])]).with("work/a", answers);
        for (kind, option) in decisions {
            world.work();
            world.decide(*kind, choose_with(option, "so"));
        }
        let result = &world.run.ended.as_ref().expect(what).result;
        assert_eq!(result["phases"]["work"]["a"]["attempts"], attempts, "{what}: {result}");
    }
    let mut world = approved(planned(planning()), &[subtask("a", &[]), subtask("b", &["a"])])
        .with("work/a", vec![fails(FailureKind::Rejected)]);
    world.work();
    let work = &world.run.ended.as_ref().expect("it has ended").result["phases"]["work"];
    assert_eq!((&work["a"]["attempts"], &work["b"]["attempts"]), (&json!(1), &json!(0)), "{work}");
}

/// The interrupt about failed calls lists all failed calls of the reply, not only the first.
#[test]
fn calls_that_fail_together_are_asked_about_together() {
    let mut world =
        approved(gated(StepGates { on_error: true, ..StepGates::default() }), &[subtask("a", &[])])
            .with("work/a", vec![calls(&[read("x"), read("y")])]);
    world.work();
    let asked = &world.run.interrupts[&world.open(Kind::Error)].content;
    let expected = "`read_file` failed: there is no file `x`\n`read_file` failed: there is no file `y`";
    assert_eq!((&asked["payload"]["error"], &asked["payload"]["failures"]), (&json!(expected), &json!(2)));
    world.decide(Kind::Error, choose("retry"));
    assert_eq!(world.open_kinds(), Vec::<&str>::new(), "they are decided on together");
}

/// Returns the number of attempts on the card of the only open failure, and true if the card offers a retry.
fn card(world: &World) -> (Value, bool) {
    let asked = &world.run.interrupts[&world.open(Kind::Error)];
    (asked.content["payload"]["attempts"].clone(), asked.offers("retry").is_some())
}

/// Name of a failure, and the function that makes the step fail once.
type Fails = (&'static str, fn(&mut World));

/// The maximum number of attempts applies to a step's failures of all kinds.
#[test]
fn a_step_is_tried_so_often_and_no_more() {
    let table: [Fails; 4] = [
        ("the provider refuses", |world| {
            world.script.entry("work/a".to_owned()).or_default().push_back(fails(FailureKind::Rejected));
            world.work();
        }),
        ("the provider is away", |world| {
            for _ in 0..2 {
                world.script.entry("work/a".to_owned()).or_default().push_back(fails(FailureKind::TimedOut));
                world.work();
                world.pass_ms(60_000);
            }
        }),
        ("a call fails", |world| {
            world.script.entry("work/a".to_owned()).or_default().push_back(calls(&[read("x")]));
            world.work();
        }),
        ("the process dies", |world| {
            for _ in 0..limits::CRASHES {
                world.begin_model("work/a");
                world.crash();
            }
        }),
    ];
    for (name, fail) in table {
        let mut definition = gated(StepGates { on_error: true, ..StepGates::default() });
        definition.phases[1].limits.attempts = 2;
        let mut world = approved(definition, &[subtask("a", &[])]);
        fail(&mut world);
        assert_eq!(card(&world), (json!(1), true), "{name}");
        world.decide(Kind::Error, choose("retry"));
        fail(&mut world);
        assert_eq!(card(&world), (json!(2), false), "{name}");
        world.decide(Kind::Error, choose("skip"));
        assert_eq!(ended(&world), Some((Status::Completed, "done")), "{name}");
    }
}

/// A planner that makes no plan has failed, and has the same maximum number of attempts.
#[test]
fn a_planner_is_tried_so_often_and_no_more() {
    let mut definition = planned(planning());
    definition.phases[0].gates.on_error = true;
    definition.phases[0].limits.attempts = 2;
    let script = (0..4).map(|_| says("No plan.")).collect();
    let mut world = World::started(definition, Vec::new()).with("plan/plan", script);
    world.work();
    assert_eq!(card(&world), (json!(1), true));
    world.decide(Kind::Error, choose("retry"));
    world.work();
    assert_eq!(card(&world), (json!(2), false));
}
