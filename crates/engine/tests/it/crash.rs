//! A crash after every single commit of a complete run, with the jobs in flight done or not. No side effect starts
//! twice without a person's decision, and every run ends as it would have without the crash.

use std::sync::Arc;

use holdshort_core::message::FailureKind;
use holdshort_core::projection::Status;
use holdshort_store::Memory;
use holdshort_testkit::clock::SimClock;
use holdshort_testkit::faulty::{Fault, Faulty};
use serde_json::json;

use crate::stage::{Stage, command, read, write};
use crate::world::{Say, World};

fn story() -> Vec<Say> {
    let plan = json!({"subtasks": [{"id": "one", "description": "first"}]});
    let three = vec![write("b.txt", "beta"), command("touch c"), read("a.txt")];
    vec![
        Say::Calls(vec![read("a.txt"), ("ask_human", json!({"question": "Which?"}))]),
        Say::FailOnce(FailureKind::Unavailable, Box::new(Say::Calls(vec![("create_plan", plan)]))),
        Say::Calls(three),
        Say::Calls(vec![write("a.txt", "changed")]),
        Say::Calls(vec![("request_review", json!({"title": "Summary", "content": "raw"}))]),
        Say::Text("Done."),
    ]
}

fn world() -> World {
    let world = World::default();
    world.script("solo", story());
    world.write("a.txt", "alpha");
    world
}

/// Runs the process until the journal fails or the run has ended.
async fn live(stage: &Stage<Faulty<Memory>>) -> Result<(), ()> {
    stage.driver.sweep().await.map_err(drop)?;
    loop {
        while let Some((job, deliver)) = stage.world.take() {
            let answer = stage.world.work(&job);
            deliver(answer).await.map_err(drop)?;
        }
        // Does the periodic work of the server: a sweep, and deadlines.
        stage.clock.advance_ms(60_000);
        stage.driver.sweep().await.map_err(drop)?;
        stage.driver.due().await.map_err(drop)?;
        if !stage.world.waiting().is_empty() {
            continue;
        }
        let runs = stage.driver.journal().runs_all().await;
        let Some(run) = runs.first().cloned() else {
            // The crash came before the first write, so the client repeats its request.
            let key = Some(holdshort_engine::IdempotencyKey {
                scope: "test".into(),
                key: "the run".into(),
                digest: holdshort_core::digest::Digest::of_bytes(b"the run"),
            });
            stage.try_start(crate::stage::SOLO, None, key, "do it").await.map_err(drop)?;
            continue;
        };
        let Some(interrupt) = stage.open(&run).await.into_iter().next() else {
            assert!(stage.run(&run).await.ended.is_some(), "stuck: {:#?}", stage.story(&run).await);
            return Ok(());
        };
        let decision = stage.yes(&interrupt);
        stage.decide(&run, &interrupt.opened.interrupt, decision).await.map_err(drop)?;
    }
}

trait AllRuns {
    async fn runs_all(&self) -> Vec<holdshort_core::id::RunId>;
}

impl<J: holdshort_store::Journal> AllRuns for J {
    async fn runs_all(&self) -> Vec<holdshort_core::id::RunId> {
        let page = self.runs(&holdshort_store::RunFilter::default(), None, 10).await.unwrap();
        page.items.into_iter().map(|row| row.run).collect()
    }
}

/// Crashes the first process at append `n`, before or after the append is written. `done` tells if the jobs in flight
/// are done.
async fn crash_at(n: usize, written: bool, done: bool) -> bool {
    let (world, clock) = (world(), SimClock::new(n as u64));
    let memory = Memory::new();
    let first = Arc::new(Faulty::new(Arc::new(memory)));
    let fault = if written { Fault::LostAnswer } else { Fault::Full };
    first.fail(std::iter::repeat_n(Fault::Pass, n).chain([fault]).chain([Fault::Full; 3]));
    let stage = Stage::on(first.clone(), world.clone(), clock.clone());
    let crashed = live(&stage).await.is_err();
    let reopened = Arc::new(Faulty::new(Arc::new(first.inner().reopen())));
    drop(stage);
    world.lose_jobs(done);

    let stage = Stage::on(reopened, world.clone(), clock);
    live(&stage).await.expect("nothing fails in the second life");
    let run = stage.driver.journal().runs_all().await.remove(0);
    assert_eq!(stage.status(&run).await, Status::Completed, "crash at {n}");

    let mut effects = world.effects();
    effects.sort();
    let expected = ["run:touch c", "write:a.txt=changed", "write:b.txt=beta"];
    assert_eq!(effects, expected, "crash at {n}, written {written}, done {done}");
    // The chain is valid, and no sequence number is missing.
    stage.events(&run).await;
    assert_eq!(holdshort_engine::audit::verify(&**stage.driver.journal()).await.unwrap().problems, []);
    crashed
}

async fn crash_at_every_commit(written: bool, done: bool) {
    let mut n = 0;
    while crash_at(n, written, done).await {
        n += 1;
        assert!(n < 200, "the story has no end");
    }
    assert!(n >= 25, "the story has {n} commits only");
}

#[tokio::test]
async fn before_a_commit_with_nothing_done() {
    crash_at_every_commit(false, false).await;
}

#[tokio::test]
async fn before_a_commit_with_everything_done() {
    crash_at_every_commit(false, true).await;
}

#[tokio::test]
async fn after_a_commit_with_nothing_done() {
    crash_at_every_commit(true, false).await;
}

#[tokio::test]
async fn after_a_commit_with_everything_done() {
    crash_at_every_commit(true, true).await;
}
