//! The content of runs is erased after its retention time, unless a legal hold keeps it. Tested over memory, SQLite and
//! PostgreSQL.

use std::sync::Arc;
use std::time::Duration;

use holdshort_core::actor::Actor;
use holdshort_core::delivery::{Attempt, Delivery, DeliveryState};
use holdshort_core::event::Fact;
use holdshort_core::id::RunId;
use holdshort_core::interrupt::Kind;
use holdshort_core::run::{self, ErasureReason, Input, Rejection};
use holdshort_core::system;
use holdshort_engine::{Clock, Error, audit, rebuild};
use holdshort_store::{Claim, Journal, Memory, Outbox, Postgres, RunFilter, Settled, Sqlite, postgres};
use holdshort_testkit::clock::{START, SimClock};

use crate::gather::at_once;
use crate::stage::{Stage, command, operator, option};
use crate::upkeep::play;
use crate::world::{Say, World};

fn admin() -> Actor {
    Actor::admin("anna", "test")
}

async fn count_events_with_content<J: Journal>(stage: &Stage<J>, run: &RunId) -> usize {
    stage.events(run).await.iter().filter(|event| !event.content.is_empty()).count()
}

/// Returns the runs that have ended, and the runs that have not ended.
async fn ended_and_live<J: Journal>(stage: &Stage<J>) -> [Vec<RunId>; 2] {
    let runs = stage.driver.journal().runs(&RunFilter::default(), None, 100).await.unwrap().items;
    let (ended, live): (Vec<_>, Vec<_>) = runs.into_iter().partition(|row| row.status.is_terminal());
    [ended, live].map(|rows| rows.into_iter().map(|row| row.run).collect())
}

async fn what_ended_long_ago_is_erased<J: Journal>(journal: Arc<J>) {
    let stage = play(journal).await;
    let [ended, live] = ended_and_live(&stage).await;
    assert!(ended.len() >= 2 && !live.is_empty());
    let refused = stage.driver.erase_run(&live[0], ErasureReason::Request, &admin()).await;
    assert!(matches!(refused, Err(Error::Rejected(Rejection::NotEnded))), "{refused:?}");

    stage.clock.advance_ms(1_000);
    let now = stage.clock.now();
    assert_eq!(stage.driver.erase_old(START).await.unwrap(), 0, "it is too new");
    let held = &ended[0];
    stage
        .driver
        .send(held, Input::LegalHold { reason: "A case is open.".to_owned() }, admin())
        .await
        .unwrap();
    let freeze = system::Input::Freeze { part: None, reason: "a look".to_owned() };
    stage.driver.change_system(freeze, operator()).await.unwrap();
    let later = now.plus_ms(1_000);
    assert_eq!(stage.driver.erase_old(later).await.unwrap(), 0, "all is frozen");
    stage.driver.change_system(system::Input::Unfreeze { part: None }, operator()).await.unwrap();
    assert_eq!(stage.driver.erase_old(later).await.unwrap(), ended.len() - 1);
    assert_eq!(stage.driver.erase_old(later).await.unwrap(), 0, "once");
    for run in &ended[1..] {
        assert_eq!(count_events_with_content(&stage, run).await, 0, "{:?}", stage.story(run).await);
        assert_eq!(stage.run(run).await.status(), stage.status(run).await);
    }
    for run in live.iter().chain([held]) {
        assert!(count_events_with_content(&stage, run).await > 0);
    }
    let refused = stage.driver.erase_run(held, ErasureReason::Request, &admin()).await;
    assert!(matches!(refused, Err(Error::Rejected(Rejection::Held))), "{refused:?}");
    stage.driver.send(held, Input::LiftLegalHold, admin()).await.unwrap();
    assert_eq!(stage.driver.erase_old(later).await.unwrap(), 1);
    assert_eq!(count_events_with_content(&stage, held).await, 0, "also why it was held");

    // The journal is valid, and its rows equal the rows that a replay produces.
    let report = audit::verify(&**stage.driver.journal()).await.unwrap();
    assert!(report.problems.is_empty(), "{report:#?}");
    rebuild::rebuild(&stage.driver).await.unwrap();
    let report = audit::verify(&**stage.driver.journal()).await.unwrap();
    assert!(report.problems.is_empty(), "{report:#?}");

    // Runs that wait for a person can still continue.
    let open = stage.open(&live[0]).await;
    if let Some(shown) = open.first() {
        let chosen = if shown.opened.kind == Kind::Question { "skip" } else { "approve" };
        stage.decide(&live[0], &shown.opened.interrupt, option(chosen)).await.unwrap();
    }
}

#[tokio::test]
async fn what_ended_long_ago_is_erased_in_memory() {
    what_ended_long_ago_is_erased(Arc::new(Memory::new())).await;
}

#[tokio::test]
async fn what_ended_long_ago_is_erased_in_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    what_ended_long_ago_is_erased(Arc::new(Sqlite::open(folder.path()).unwrap())).await;
}

async fn node(url: &str, name: &str) -> Arc<Postgres> {
    Arc::new(Postgres::open(postgres::Config::new(url, name)).await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ended_long_ago_is_erased_in_postgres() {
    let url = holdshort_testpg::shared().database();
    what_ended_long_ago_is_erased(node(&url, "a").await).await;
}

/// Two nodes that search for old runs in a shared database at the same time erase each run once.
#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_that_look_at_once_erase_each_run_once() {
    let url = holdshort_testpg::shared().database();
    let one = play(node(&url, "a").await).await;
    let other = Stage::on(node(&url, "b").await, one.world.clone(), one.clock.clone());
    let [ended, live] = ended_and_live(&one).await;
    one.clock.advance_ms(1_000);
    let later = one.clock.now().plus_ms(1_000);
    loop {
        let (here, there) = tokio::join!(one.driver.erase_old(later), other.driver.erase_old(later));
        if here.unwrap() + there.unwrap() == 0 {
            break;
        }
    }
    for run in &ended {
        let is_last = |fact: &Fact| matches!(fact, Fact::Run(run::Fact::ContentErased { from: 1, .. }));
        let erased = one.events(run).await.iter().filter(|event| is_last(&event.fact)).count();
        assert_eq!(
            (count_events_with_content(&one, run).await, erased),
            (0, 1),
            "{:?}",
            one.story(run).await
        );
    }
    for run in &live {
        assert!(count_events_with_content(&one, run).await > 0);
    }
    let report = audit::verify(&**other.driver.journal()).await.unwrap();
    assert!(report.problems.is_empty(), "{report:#?}");
}

/// Returns the state of an answered delivery after `days` days: true if the delivery exists, and true if its content
/// exists. `kept` is the retention time of runs.
async fn a_delivery_after(days: u64, kept: Option<Duration>) -> (bool, bool) {
    let world = World::default();
    world.script("solo", vec![Say::Calls(vec![command("git add a")])]);
    world.write("a", "alpha");
    let stage = Stage::on(Arc::new(Memory::new()), world, SimClock::new(1));
    stage.driver.set_channels(vec![at_once()]);
    stage.play().await;
    let (journal, now) = (stage.driver.journal(), stage.clock.now());
    let claim = Claim { channel: at_once().name, now, limit: 10, sending: Vec::new(), whole: false };
    let [delivery] = &journal.claim_deliveries(claim).await.unwrap()[..] else { panic!("one delivery") };
    let id = delivery.delivery.clone();
    let attempt = Attempt {
        delivery: id.clone(),
        number: 1,
        at: now,
        took_ms: 7,
        status: Some(200),
        error: None,
        digest: Some("ab".repeat(32)),
        answer: Some("thanks".to_owned()),
    };
    let delivery = Delivery {
        state: DeliveryState::Delivered,
        next_at: None,
        ended_at: Some(now),
        attempts: 1,
        node: None,
        status: Some(200),
        ..delivery.clone()
    };
    journal.settle_delivery(Settled { delivery, attempt: Some(attempt) }).await.unwrap();
    stage.clock.set(now.plus_ms(days * 24 * 3_600_000));
    stage.driver.forget_deliveries(kept).await.unwrap();
    let (delivery, tried) = (journal.delivery(&id).await.unwrap(), journal.attempts(&id).await.unwrap());
    assert_eq!(delivery.is_some(), !tried.is_empty(), "attempts are kept as long");
    let said = [
        delivery.as_ref().is_some_and(|kept| !kept.notice.is_empty()),
        tried.iter().any(|each| each.answer.is_some()),
    ];
    assert_eq!(said[0], said[1], "what was answered goes with what was said");
    (delivery.is_some(), said[0])
}

/// A delivery is kept for 90 days, or for the retention time of runs if that time is longer. The content of the
/// delivery is always kept for 30 days (contracts D1, E19).
#[tokio::test]
async fn deliveries_are_kept_for_90_days_or_longer_and_what_they_said_for_30() {
    let for_days = |days: u64| Some(Duration::from_hours(days * 24));
    for (days, kept, is_there, says) in [
        (29, None, true, true),
        (31, None, true, false),
        (89, None, true, false),
        (91, None, false, false),
        (89, for_days(90), true, false),
        (91, for_days(90), false, false),
        (31, for_days(365), true, false),
        (364, for_days(365), true, false),
        (366, for_days(365), false, false),
        // A configuration cannot set a time below 90 days. If it could, the shorter time would have no effect.
        (89, for_days(1), true, false),
    ] {
        assert_eq!(a_delivery_after(days, kept).await, (is_there, says), "after {days} days of {kept:?}");
    }
}
