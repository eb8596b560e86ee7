//! The read-only view of a run, which depends only on the run's state: live and replayed runs show the same after the
//! same event.

use holdshort_core::definition::{CheckpointPhase, PhaseKind, StepGates};
use holdshort_core::interrupt::Kind;
use holdshort_core::message::FailureKind;
use holdshort_core::run::{Input, Run, StepActivity, StepEnd, Trouble};

use super::{approved, gated, planned, planning, proposed, subtask};
use crate::world::{World, choose, choose_with, fails, one_shot, says};

fn step_progress(run: &Run) -> (u32, Trouble, StepActivity) {
    let step = &run.steps["work/a"];
    (step.attempts(), step.trouble, run.activity("work/a", step, &run.waiting()))
}

/// The read-only view of a run shows a step's attempts, its last failure and its activity, before each decision and at
/// the end.
#[test]
fn a_step_is_told_with_its_tries_and_its_trouble() {
    use StepActivity::{Ended, Failed, Waiting};
    use Trouble::{None, Retried, Stuck};
    let asks = StepGates { before_step: true, after_step: true, on_error: true, ..StepGates::default() };
    let answers =
        vec![fails(FailureKind::Rejected), says("Done."), fails(FailureKind::Rejected), says("Done.")];
    let told_at = |decisions: &[(Kind, &str)]| {
        let mut world = approved(gated(asks), &[subtask("a", &[])]).with("work/a", answers.clone());
        let mut all = Vec::new();
        for (kind, option) in decisions {
            world.work();
            all.push(step_progress(&world.run));
            world.decide(*kind, choose_with(option, "so"));
        }
        world.work();
        all.push(step_progress(&world.run));
        let step = &world.run.steps["work/a"];
        assert_eq!(step.until.is_some(), step.until_at.is_some_and(|until| until >= step.since_at));
        assert_eq!(world.run.attempts_allowed("work/a"), 5, "three tries, two redos");
        all
    };
    let done = told_at(&[
        (Kind::Checkpoint, "approve"),
        (Kind::Error, "retry"),
        (Kind::Checkpoint, "redo"),
        (Kind::Error, "retry"),
        (Kind::Checkpoint, "continue"),
    ]);
    assert_eq!(
        done,
        [
            (0, None, Waiting),
            (1, Stuck, Waiting),
            (2, Retried, Waiting),
            (3, Stuck, Waiting),
            (4, Retried, Waiting),
            (4, Retried, Ended(StepEnd::Completed)),
        ]
    );
    let aborted = told_at(&[(Kind::Checkpoint, "approve"), (Kind::Error, "abort")]);
    assert_eq!(aborted.last(), Some(&(1, Stuck, Failed)));
    let skipped = told_at(&[(Kind::Checkpoint, "skip")]);
    assert_eq!(skipped.last(), Some(&(0, None, Ended(StepEnd::Skipped))));
}

/// A running step is shown as paused in a paused run, and as cancelled in a cancelled run.
#[test]
fn what_is_at_work_stands_as_its_run_does() {
    let mut world = approved(planned(planning()), &[subtask("a", &[])]);
    assert_eq!(step_progress(&world.run).2, StepActivity::Running);
    world.person(Input::Pause);
    assert_eq!(step_progress(&world.run).2, StepActivity::Paused);
    world.person(Input::Cancel { text: None });
    assert_eq!(step_progress(&world.run).2, StepActivity::Cancelled);
}

/// The read-only view of a run shows the subtask of a step and its position in the plan. Steps outside of a plan have
/// no subtask.
#[test]
fn a_step_knows_its_part_of_the_plan() {
    let world = approved(planned(planning()), &[subtask("b", &[]), subtask("a", &["b"]), subtask("c", &[])]);
    let part = |step: &str| {
        world.run.part(step).map(|part| (part.planning, part.subtask.id.as_str(), part.number, part.of))
    };
    assert_eq!(part("work/b"), Some(("plan", "b", 1, 3)));
    assert_eq!(part("work/c"), Some(("plan", "c", 3, 3)));
    assert_eq!(part("plan/plan"), None);
    assert_eq!(part("work/a"), None, "it has not begun");
    assert_eq!(
        world.run.plan_at_work().map(|(planning, plan)| (planning, plan.subtasks.len())),
        Some(("plan", 3))
    );
}

/// The read-only view of a run lists decisions in the order of their resolutions, without checkpoints that are approved
/// without asking.
#[test]
fn people_are_told_of_what_they_are_asked() {
    let look = CheckpointPhase { message: "Look.".into(), ..CheckpointPhase::default() };
    for unasked in [true, false] {
        let mut definition = planned(planning());
        let look = PhaseKind::Checkpoint(CheckpointPhase { unasked, ..look.clone() });
        definition
            .phases
            .push(holdshort_core::definition::Phase { kind: look, ..one_shot("look", &["work"]) });
        let mut world: World = proposed(definition, &[subtask("a", &[])]).with("work/a", vec![says("Done.")]);
        assert_eq!(world.run.asked_interrupts().count(), 1);
        world.decide(Kind::PlanApproval, choose("approve"));
        world.work();
        assert_eq!(world.run.asked_interrupts().count(), usize::from(!unasked));
        let asked: Vec<bool> =
            world.run.interrupts.values().map(|each| world.run.asks(&each.opened)).collect();
        assert_eq!(asked.iter().filter(|asked| **asked).count(), 2 - usize::from(unasked));
        let decided: Vec<Kind> = world.run.decided().iter().map(|each| each.opened.kind).collect();
        assert_eq!(decided, [Kind::PlanApproval], "nobody decided on the other");
    }
}
