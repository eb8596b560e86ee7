//! A clock that is set back: events stay in order, deadlines expire no later than announced, and ids stay unique.

use std::collections::BTreeSet;

use holdshort_core::interrupt::Outcome;
use holdshort_core::projection::Status;
use holdshort_core::run::Input;
use holdshort_store::{RunFilter, Tables};
use holdshort_testkit::clock::START;

use crate::stage::{SOLO, Stage, command, option};
use crate::world::Say;

const MINUTE: i64 = 60_000;

fn script() -> Vec<Say> {
    vec![Say::Calls(vec![command("rm old")]), Say::Calls(vec![command("rm older")]), Say::Text("Done.")]
}

fn expiring() -> String {
    SOLO.replace("  rules:", "  tool_approval: {expires_in: 10m}\n  rules:")
}

#[tokio::test]
async fn a_deadline_stays_where_it_was_and_comes() {
    for back in [1, MINUTE, 60 * MINUTE, 20 * 365 * 24 * 60 * MINUTE] {
        let stage = Stage::solo(script());
        let run = stage.start_with(&expiring(), None).await;
        stage.world.settle().await;
        let shown = stage.only_open(&run).await.opened;
        let expires_at = START.plus_ms(600_000);
        assert_eq!(shown.expires_at, Some(expires_at));

        stage.clock.advance_ms(5 * MINUTE);
        stage.send(&run, Input::Message { text: "soon".to_owned() }).await.unwrap();
        stage.clock.advance_ms(-back);
        assert_eq!(stage.driver.due().await.unwrap(), 0, "back by {back}");
        stage.send(&run, Input::Message { text: "wait".to_owned() }).await.unwrap();
        assert_eq!(stage.only_open(&run).await.opened, shown, "back by {back}");
        assert_eq!(stage.driver.journal().next_deadline().await.unwrap(), Some(expires_at));

        // One millisecond before the deadline, and then exactly at it.
        stage.clock.set(START.plus_ms(599_999));
        assert_eq!(stage.driver.due().await.unwrap(), 0, "back by {back}");
        stage.clock.advance_ms(1);
        assert_eq!(stage.driver.due().await.unwrap(), 1, "back by {back}");
        stage.world.settle().await;
        let resolution = stage.run(&run).await.interrupts[&shown.interrupt].resolution.clone().unwrap();
        assert_eq!((resolution.outcome, resolution.at), (Outcome::Expired, expires_at));
        let times: Vec<_> = stage.events(&run).await.iter().map(|event| event.at).collect();
        assert!(times.is_sorted(), "{times:?}");
    }
}

/// After the clock was set back, the time until an interrupt's deadline is counted from the run's last event.
#[tokio::test]
async fn what_is_opened_later_expires_later() {
    let stage = Stage::solo(script());
    let run = stage.start_with(&expiring(), None).await;
    stage.world.settle().await;
    stage.clock.advance_ms(5 * MINUTE);
    stage.send(&run, Input::Message { text: "soon".to_owned() }).await.unwrap();
    stage.clock.advance_ms(-60 * MINUTE);
    stage.decide_only(&run, option("approve")).await;
    let second = stage.only_open(&run).await;
    assert_eq!(second.opened.expires_at, Some(START.plus_ms(900_000)));
    stage.clock.set(START.plus_ms(900_000));
    assert_eq!(stage.driver.due().await.unwrap(), 1);
    stage.world.settle().await;
    assert_eq!((stage.status(&run).await, stage.world.effects().len()), (Status::Completed, 1));
}

#[tokio::test]
async fn ids_stay_unique_and_lists_whole() {
    let stage = Stage::solo(script());
    let mut ids = BTreeSet::new();
    let mut started = 0;
    for _ in 0..40 {
        let run = stage.play().await;
        let interrupt = stage.only_open(&run).await.opened.interrupt;
        let session = stage.run(&run).await.session().unwrap().to_string();
        ids.extend([run.to_string(), interrupt.to_string(), session]);
        started += 1;
        // Sets the clock back, so that milliseconds repeat.
        stage.clock.advance_ms(-1);
        if started % 10 == 0 {
            stage.clock.set(START);
        }
    }
    assert_eq!(ids.len(), 3 * started);
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let page = stage.driver.journal().runs(&RunFilter::default(), after.as_ref(), 7).await.unwrap();
        listed.extend(page.items.into_iter().map(|row| row.run));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((listed.len(), listed.iter().collect::<BTreeSet<_>>().len()), (started, started));
}
