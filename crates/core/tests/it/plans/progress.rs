//! Progress of each subtask, during the run and after its end.

use holdshort_core::definition::StepGates;
use holdshort_core::interrupt::Kind;
use holdshort_core::message::FailureKind;
use holdshort_core::run::{Input, Progress};

use super::{approved, gated, planned, planning, proposed, say, subtask};
use crate::world::{World, choose, fails};

fn progress(world: &World) -> [Progress; 3] {
    ["a", "b", "c"].map(|id| world.run.progress("plan", id))
}

fn cancelled(mut world: World) -> World {
    world.person(Input::Cancel { text: None });
    world
}

/// Once a run has ended, none of its subtasks is shown as running (lesson 12).
#[test]
fn each_subtask_comes_to_an_end_with_its_run() {
    use Progress::{Cancelled, Completed, Failed, NotRun, Pending, Running, Skipped, Waiting};
    let graph = [subtask("a", &[]), subtask("b", &["a"]), subtask("c", &["b"])];

    let world = proposed(planned(planning()), &graph);
    assert_eq!(progress(&world), [Pending, Pending, Pending]);
    assert_eq!(progress(&cancelled(world)), [NotRun, NotRun, NotRun], "it was never approved");

    let mut world = approved(planned(planning()), &graph);
    say(&mut world, "work/a", "Done.");
    assert_eq!(progress(&world), [Completed, Running, Pending]);
    assert_eq!(progress(&cancelled(world)), [Completed, Cancelled, NotRun]);

    let mut world = approved(gated(StepGates { before_step: true, ..StepGates::default() }), &graph);
    assert_eq!(progress(&world), [Waiting, Pending, Pending]);
    world.decide(Kind::Checkpoint, choose("reject"));
    assert_eq!(progress(&world), [Cancelled, NotRun, NotRun]);

    let mut world = approved(planned(planning()), &graph);
    world.script.entry("work/a".to_owned()).or_default().push_back(fails(FailureKind::Rejected));
    world.work();
    assert_eq!(progress(&world), [Failed, Skipped, Skipped]);
}
