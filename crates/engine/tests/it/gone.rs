//! A caller disconnects while its append is in flight. The append may still be written, which must then be noticed.

use std::sync::Arc;

use futures::FutureExt;
use holdshort_core::projection::Status;
use holdshort_core::run::Input;
use holdshort_core::session::State;
use holdshort_core::system;
use holdshort_store::{Memory, Tables};
use holdshort_testkit::clock::SimClock;
use holdshort_testkit::faulty::{Fault, Faulty};

use crate::stage::{Stage, command, operator, option, read};
use crate::world::{Say, World};

fn stage(script: Vec<Say>) -> (Arc<Faulty<Memory>>, Stage<Faulty<Memory>>) {
    let world = World::default();
    world.script("solo", script);
    let journal = Arc::new(Faulty::new(Arc::new(Memory::new())));
    (journal.clone(), Stage::on(journal, world, SimClock::new(3)))
}

/// Polls the future once, and drops it, as if its caller had disconnected.
fn goes_away<T>(asked: impl Future<Output = T>) {
    assert!(asked.now_or_never().is_none(), "it was answered");
}

#[tokio::test]
async fn a_freeze_that_is_written_late_is_lifted_by_an_unfreeze() {
    let (journal, stage) = stage(vec![Say::Text("Done.")]);
    journal.fail([Fault::Held]);
    goes_away(stage.driver.change_system(system::Input::freeze("a look is needed"), operator()));
    assert!(stage.driver.system().await.unwrap().freezes.all.is_none(), "it is not written yet");
    journal.write_held().await.remove(0).unwrap();
    assert!(stage.driver.system().await.unwrap().freezes.all.is_some());
    stage.driver.change_system(system::Input::unfreeze(), operator()).await.unwrap();
    let run = stage.play().await;
    assert_eq!(stage.status(&run).await, Status::Completed);
}

#[tokio::test]
async fn a_suspension_that_is_written_late_is_lifted_by_a_resume() {
    let (journal, stage) = stage(vec![Say::Calls(vec![command("git add a")]), Say::Text("Done.")]);
    let run = stage.play().await;
    let session = stage.run(&run).await.session().unwrap().clone();
    journal.fail([Fault::Held]);
    goes_away(stage.driver.suspend_session(&session, operator()));
    assert_eq!(stage.driver.session(&session).await.unwrap().state, State::Open);
    journal.write_held().await.remove(0).unwrap();
    assert_eq!(stage.driver.session(&session).await.unwrap().state, State::Suspended);
    stage.driver.resume_session(&session, operator()).await.unwrap();
    let row = stage.driver.journal().session(&session).await.unwrap().unwrap();
    assert_eq!(row.state, State::Open);
    stage.decide_only(&run, option("approve")).await;
    assert_eq!(stage.status(&run).await, Status::Completed);
}

#[tokio::test]
async fn a_decision_that_is_written_late_begins_what_it_let_through() {
    let (journal, stage) = stage(vec![Say::Calls(vec![command("touch a")]), Say::Text("Done.")]);
    let run = stage.play().await;
    let shown = stage.only_open(&run).await.opened.interrupt;
    journal.fail([Fault::Held]);
    goes_away(stage.decide(&run, &shown, option("approve")));
    // A second caller reads the run before the event is written.
    stage.send(&run, Input::Tick).await.unwrap();
    journal.write_held().await.remove(0).unwrap();
    stage.driver.sweep().await.unwrap();
    assert_eq!(stage.world.waiting(), ["tool/call_1/1"]);
    stage.world.settle().await;
    assert_eq!((stage.world.effects().len(), stage.status(&run).await), (1, Status::Completed));
}

/// A decision whose caller has disconnected is not written after another decision. The run does not wait for it.
#[tokio::test]
async fn a_decision_that_is_too_late_changes_nothing() {
    let (journal, stage) = stage(vec![Say::Calls(vec![command("touch a")]), Say::Text("Done.")]);
    let run = stage.play().await;
    let shown = stage.only_open(&run).await.opened.interrupt;
    journal.fail([Fault::Held]);
    goes_away(stage.decide(&run, &shown, option("approve")));
    stage.decide(&run, &shown, option("reject")).await.unwrap();
    journal.write_held().await.remove(0).unwrap_err();
    stage.world.settle().await;
    assert_eq!((stage.world.effects().len(), stage.status(&run).await), (0, Status::Completed));
}

/// The result of one call is lost before it is written to the journal. That call is recovered, and the other call in
/// flight is not affected.
#[tokio::test]
async fn an_answer_that_is_lost_takes_nothing_else_with_it() {
    let (journal, stage) = stage(vec![Say::Calls(vec![read("a"), read("b")]), Say::Text("Done.")]);
    let run = stage.start().await;
    while !stage.world.waiting().iter().all(|action| action.starts_with("tool/")) {
        let (job, deliver) = stage.world.take().unwrap();
        deliver(stage.world.work(&job)).await.unwrap();
    }
    assert_eq!(stage.world.waiting(), ["tool/call_1/1", "tool/call_2/1"]);
    let (job, deliver) = stage.world.take().unwrap();
    journal.fail([Fault::Held]);
    goes_away(deliver(stage.world.work(&job)));
    stage.driver.sweep().await.unwrap();
    assert_eq!(stage.world.waiting(), ["tool/call_2/1", "tool/call_1/2"]);
    journal.write_held().await.remove(0).unwrap_err();
    stage.world.settle().await;
    let story = stage.story(&run).await;
    let taken_over: Vec<&String> =
        story.iter().filter(|told| *told == "adopted" || told.starts_with("tool_lost")).collect();
    assert_eq!(taken_over, ["adopted", "tool_lost call_1"]);
    assert_eq!((stage.status(&run).await, stage.world.aborted()), (Status::Completed, Vec::new()));
}
