//! Messages of people during a run reach the steps that start later (contract A15).

use holdshort_core::conversation::Turn;
use holdshort_core::definition::StepGates;
use holdshort_core::interrupt::Kind;
use holdshort_core::message::FailureKind;

use super::{approved, gated, planned, planning, proposed, proposes, request, say, subtask};
use crate::world::{Answer, World, calls, choose, choose_with, fails, read, says};

/// A test case: lengths of the messages, oldest first, and indexes of the messages that a later step receives.
type FeedbackCase<'a> = (&'a [usize], &'a [usize]);

/// A step receives the newest messages within the limit, uncut and in their order. The selection ends at the first
/// message that does not fit.
#[test]
fn the_newest_that_fits_is_told_in_the_order_in_which_it_was_said() {
    let table: &[FeedbackCase] = &[
        (&[1_500, 1_500, 1_500, 1_500], &[2, 3]),
        (&[2_000, 2_000], &[0, 1]),
        // The message that does not fit may correct an older one, so the older message is left out, too.
        (&[50, 3_950, 100], &[2]),
        // The newest message is included at any length, and uses up the limit.
        (&[50, 4_500], &[1]),
        (&[4_500, 50], &[1]),
    ];
    for (lengths, expected) in table {
        let mut world = approved(planned(planning()), &[subtask("a", &[]), subtask("b", &["a"])]);
        let notes: Vec<String> = (0..).zip(*lengths).map(|(n, length)| note(n, *length)).collect();
        for note in &notes {
            world.message(note);
        }
        say(&mut world, "work/a", "Done.");
        let told = request(&world, "work/b");
        let places: Vec<(usize, usize)> =
            notes.iter().enumerate().filter_map(|(n, note)| Some((told.find(note.as_str())?, n))).collect();
        assert!(places.is_sorted(), "{lengths:?}: {places:?}");
        assert_eq!(places.into_iter().map(|(_, n)| n).collect::<Vec<_>>(), *expected, "{lengths:?}");
    }
}

fn note(n: usize, length: usize) -> String {
    format!("note {n} {}", "x".repeat(length - 7))
}

/// A test case: gates, first reply of the agent, kind of the interrupt, and chosen option.
type Guided = (StepGates, Option<Answer>, Kind, &'static str);

/// Feedback on a step reaches this step at once and every step that starts later. Other running steps do not receive
/// it.
#[test]
fn what_is_said_about_a_step_is_heard_once_by_it_and_by_each_that_follows() {
    let before = StepGates { before_step: true, ..StepGates::default() };
    let after = StepGates { after_step: true, ..StepGates::default() };
    let on_error = StepGates { on_error: true, ..StepGates::default() };
    let table: Vec<Guided> = vec![
        (before, None, Kind::Checkpoint, "approve"),
        (after, Some(says("1.2.2026")), Kind::Checkpoint, "redo"),
        (on_error, Some(fails(FailureKind::Rejected)), Kind::Error, "retry"),
        (on_error, Some(calls(&[read("a")])), Kind::Error, "retry"),
        (StepGates::default(), Some(calls(&[read("a")])), Kind::Continuation, "continue"),
    ];
    for (gates, first, kind, option) in table {
        let mut definition = gated(gates);
        definition.phases[1].limits.rounds = if kind == Kind::Continuation { 1 } else { 50 };
        let mut world =
            approved(definition, &[subtask("a", &[]), subtask("b", &["a"]), subtask("c", &["b"])])
                .with("work/a", first.into_iter().collect());
        world.work();
        world.decide(kind, choose_with(option, "use ISO dates"));
        for step in ["work/a", "work/b", "work/c"] {
            if step != "work/a" && gates.before_step {
                world.decide(Kind::Checkpoint, choose("approve"));
            }
            assert_eq!(count_feedback(&world, step), 1, "{option}: {step}");
            say(&mut world, step, "Done.");
            if gates.after_step {
                world.decide(Kind::Checkpoint, choose("continue"));
            }
        }
    }
}

#[test]
fn what_is_said_about_one_of_two_is_not_told_to_the_one_beside_it() {
    let gates = StepGates { after_step: true, ..StepGates::default() };
    let mut world = approved(gated(gates), &[subtask("a", &[]), subtask("b", &[])]);
    say(&mut world, "work/a", "1.2.2026");
    world.decide(Kind::Checkpoint, choose_with("redo", "use ISO dates"));
    assert_eq!((count_feedback(&world, "work/a"), count_feedback(&world, "work/b")), (1, 0));
}

/// Feedback in the planning phase also reaches the subtasks of the control phase.
#[test]
fn what_is_said_to_the_planner_after_a_failure_reaches_the_subtasks() {
    let mut definition = planned(planning());
    definition.phases[0].gates.on_error = true;
    let script = vec![fails(FailureKind::Rejected), proposes(&[subtask("a", &[])])];
    let mut world = World::started(definition, Vec::new()).with("plan/plan", script);
    world.work();
    world.decide(Kind::Error, choose_with("retry", "use ISO dates"));
    world.work();
    world.decide(Kind::PlanApproval, choose("approve"));
    assert_eq!((count_feedback(&world, "plan/plan"), count_feedback(&world, "work/a")), (1, 1));
}

/// The conversation keeps every message and the text of every decision, even if the texts are equal.
#[test]
fn words_with_a_decision_on_a_plan_are_told_once_beside_equal_ones() {
    for option in ["approve", "revise", "reject"] {
        for beside in [0, 1, 2] {
            let mut world = proposed(planned(planning()), &[subtask("a", &[])]);
            for _ in 0..beside {
                world.message("use ISO dates");
            }
            world.decide(Kind::PlanApproval, choose_with(option, "use ISO dates"));
            let said = Turn::from_run(&world.run, &world.session).said;
            let told = said.iter().filter(|said| said.contains("use ISO dates")).count();
            assert_eq!(told, beside + 1, "{option}, {beside} times beside it: {said:?}");
        }
    }
}

fn count_feedback(world: &World, step: &str) -> usize {
    request(world, step).matches("use ISO dates").count()
}
