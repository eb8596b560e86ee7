//! Deadlines, which are stored in the journal and so expire even if no server is running.

use holdshort_core::interrupt::Outcome;
use holdshort_core::limits;
use holdshort_core::message::FailureKind;
use holdshort_core::projection::Status;
use holdshort_core::run::Input;
use holdshort_core::system;
use holdshort_core::system::freeze::Part;
use holdshort_engine::{Clock, Error};
use holdshort_store::{Blob, Bodies, Tables};
use holdshort_testkit::clock::START;

use crate::stage::{SOLO, Stage, command, operator, option};
use crate::world::Say;

fn expiring() -> String {
    SOLO.replace("  rules:", "  tool_approval: {expires_in: 10m}\n  rules:")
}

#[tokio::test]
async fn an_ask_that_nobody_answers_expires_and_is_never_a_rejection() {
    let stage = Stage::solo(vec![Say::Calls(vec![command("rm old")]), Say::Text("Done.")]);
    let run = stage.start_with(&expiring(), None).await;
    stage.world.settle().await;
    let shown = stage.only_open(&run).await;
    assert_eq!(stage.driver.journal().next_deadline().await.unwrap(), Some(START.plus_ms(600_000)));
    stage.clock.advance_ms(599_999);
    assert_eq!(stage.driver.due().await.unwrap(), 0);
    stage.clock.advance_ms(1);
    assert_eq!(stage.driver.due().await.unwrap(), 1);
    stage.world.settle().await;
    let ended = stage.run(&run).await;
    let resolution = ended.interrupts[&shown.opened.interrupt].resolution.clone().unwrap();
    assert_eq!((resolution.outcome, resolution.option.as_deref()), (Outcome::Expired, Some("reject")));
    assert!(stage.last_request().contains("nobody decided in time"));
    assert_eq!((stage.world.effects().len(), ended.status()), (0, Status::Completed));
    assert_eq!(stage.driver.journal().next_deadline().await.unwrap(), None);
}

#[tokio::test]
async fn a_deadline_counts_also_while_the_sweep_is_late_and_the_run_paused() {
    let stage = Stage::solo(vec![Say::Calls(vec![command("rm old")]), Say::Text("Done.")]);
    let run = stage.start_with(&expiring(), None).await;
    stage.world.settle().await;
    let shown = stage.only_open(&run).await.opened.interrupt;
    stage.send(&run, Input::Pause).await.unwrap();
    stage.clock.advance_ms(600_000);
    let late = stage.decide(&run, &shown, option("approve")).await;
    assert!(matches!(late, Err(Error::Rejected(_))), "{late:?}");
    assert_eq!(stage.driver.due().await.unwrap(), 1);
    assert_eq!(stage.open(&run).await.len(), 0);
    assert_eq!((stage.status(&run).await, stage.world.waiting().len()), (Status::Paused, 0));
    stage.send(&run, Input::Resume).await.unwrap();
    stage.world.settle().await;
    assert_eq!(stage.status(&run).await, Status::Completed);
}

/// Runs that stay due do not block later ones. The runs of a frozen workflow stay due, because their model calls are
/// not retried. In this test, such runs fill more than one page.
#[tokio::test]
async fn what_stays_due_keeps_nothing_behind_it() {
    const STAY: usize = 501;
    let stage = Stage::solo(vec![Say::Fail(FailureKind::RateLimited)]);
    stage.world.script("asker", vec![Say::Calls(vec![command("rm old")]), Say::Text("Done.")]);
    for _ in 0..STAY {
        stage.start().await;
    }
    stage.world.settle().await;
    let run = stage.start_with(&expiring().replace("solo", "asker"), None).await;
    stage.world.settle().await;
    assert_eq!(stage.open(&run).await.len(), 1);
    let part = Some(Part::Workflow("solo".to_owned()));
    let freeze = system::Input::Freeze { part, reason: "a look is needed".to_owned() };
    stage.driver.change_system(freeze, operator()).await.unwrap();
    stage.clock.advance_ms(600_000);
    assert_eq!(stage.driver.catch_up().await.unwrap(), STAY + 1);
    assert_eq!(stage.open(&run).await.len(), 0, "it expired");
    assert_eq!(stage.driver.due().await.unwrap(), STAY);
}

#[tokio::test]
async fn a_clock_that_jumps_back_moves_no_event_back() {
    let stage = Stage::solo(vec![Say::Calls(vec![command("rm old")]), Say::Text("Done.")]);
    let run = stage.play().await;
    stage.clock.advance_ms(-3_600_000);
    stage.decide_only(&run, option("approve")).await;
    let times: Vec<_> = stage.events(&run).await.iter().map(|event| event.at).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(stage.status(&run).await, Status::Completed);
}

#[tokio::test]
async fn files_that_nobody_needed_for_a_month_are_dropped() {
    let stage = Stage::solo(vec![Say::Text("Done.")]);
    let [old, needed] = [b"old", b"new"].map(|bytes| Blob::new(bytes.to_vec()));
    let journal = stage.driver.journal();
    journal.put_bodies(vec![old.clone(), needed.clone()], stage.clock.now()).await.unwrap();
    stage.clock.advance_ms(i64::try_from(limits::BODIES_MS).unwrap());
    assert_eq!(stage.driver.drop_bodies().await.unwrap(), 0);
    journal.need_bodies(vec![needed.digest], stage.clock.now()).await.unwrap();
    stage.clock.advance_ms(1);
    assert_eq!(stage.driver.drop_bodies().await.unwrap(), 1);
    assert_eq!(journal.body(&old.digest).await.unwrap(), None);
    assert_eq!(journal.body(&needed.digest).await.unwrap(), Some(needed.bytes));
}
