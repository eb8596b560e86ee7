//! Idempotency keys: a request takes effect once, even if it is sent several times.

use std::sync::Arc;

use holdshort_core::digest::Digest;
use holdshort_core::interrupt::Kind;
use holdshort_core::projection::Status;
use holdshort_core::run::{Ask, Config, Origin};
use holdshort_engine::{Error, IdempotencyKey, StartRun};
use holdshort_store::{Memory, RunFilter, Tables};
use serde_json::{Value, json};

use crate::stage::{SOLO, Stage, operator};
use crate::world::Say;

pub(crate) fn key(body: &str) -> IdempotencyKey {
    let digest = Digest::of_bytes(body.as_bytes());
    IdempotencyKey { scope: "operator POST /v1/runs".into(), key: "k1".into(), digest }
}

async fn runs(stage: &Stage<Memory>) -> usize {
    stage.driver.journal().runs(&RunFilter::default(), None, 100).await.unwrap().items.len()
}

#[tokio::test]
async fn the_same_request_gives_the_same_run() {
    let stage = Stage::solo(vec![Say::Text("Done.")]);
    let first = stage.try_start(SOLO, None, Some(key("a")), "a").await.unwrap();
    stage.world.settle().await;
    let again = stage.try_start(SOLO, None, Some(key("a")), "a").await.unwrap();
    assert_eq!((&again.run, again.is_replayed(), first.is_replayed()), (&first.run, true, false));
    assert_eq!((runs(&stage).await, stage.world.performed().len()), (1, 1));
}

#[tokio::test]
async fn another_request_under_the_same_key_is_refused() {
    let stage = Stage::solo(vec![Say::Text("Done.")]);
    stage.try_start(SOLO, None, Some(key("a")), "a").await.unwrap();
    let other = stage.try_start(SOLO, None, Some(key("b")), "b").await;
    assert!(matches!(other, Err(Error::KeyReused)), "{other:?}");
    assert_eq!(runs(&stage).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_start_one_run() {
    let stage = Arc::new(Stage::solo(vec![Say::Text("Done.")]));
    let starts: Vec<_> = (0..16)
        .map(|_| {
            let stage = stage.clone();
            tokio::spawn(async move { stage.try_start(SOLO, None, Some(key("a")), "a").await.unwrap() })
        })
        .collect();
    let mut started = Vec::new();
    for start in starts {
        started.push(start.await.unwrap());
    }
    assert!(started.iter().all(|each| each.run == started[0].run), "{started:?}");
    assert_eq!(started.iter().filter(|each| !each.is_replayed()).count(), 1);
    assert_eq!((runs(&stage).await, stage.world.performed().len()), (1, 1));
    assert_eq!(stage.driver.loaded_runs(), 1);
}

pub(crate) fn ask(title: &str) -> Ask {
    Ask {
        kind: Kind::Question,
        title: title.to_owned(),
        message: String::new(),
        payload: Value::Null,
        options: Vec::new(),
        response_schema: None,
        expires_in_ms: None,
        on_expiry: None,
        assignment: holdshort_core::interrupt::Assignment::default(),
        call: None,
        trial: None,
        usable_ms: None,
        callback: None,
        withhold: Vec::new(),
        timing: holdshort_core::interrupt::Timing::default(),
    }
}

/// Returns the request that starts a run of an external agent.
pub(crate) fn external(origin: Origin, ask: Option<Ask>, key: Option<IdempotencyKey>) -> StartRun {
    StartRun {
        definition: Arc::new(holdshort_workflow::external()),
        session: None,
        config: Config::default(),
        input: json!({}),
        origin,
        ask,
        key,
        front: None,
        trace: None,
    }
}

#[tokio::test]
async fn an_agent_that_asks_twice_asks_once() {
    let stage = Stage::solo(Vec::new());
    let start = |key| external(Origin::ExternalOnce, Some(ask("Which?")), key);
    let first = stage.driver.start(start(Some(key("a"))), operator()).await.unwrap();
    let again = stage.driver.start(start(Some(key("a"))), operator()).await.unwrap();
    assert_eq!((&again.run, &again.interrupt, again.is_replayed()), (&first.run, &first.interrupt, true));
    assert!(first.interrupt.is_some());
    let other = stage.driver.start(start(Some(key("b"))), operator()).await;
    assert!(matches!(other, Err(Error::KeyReused)), "{other:?}");

    stage.decide_only(&first.run, crate::stage::text("answer", "that one")).await;
    let ended = stage.run(&first.run).await.ended.clone().unwrap();
    assert_eq!((ended.status, &ended.result["text"]), (Status::Completed, &json!("that one")));
}

#[tokio::test]
async fn an_agent_asks_again_in_its_own_run() {
    let stage = Stage::solo(Vec::new());
    let start = external(Origin::External, None, None);
    let run = stage.driver.start(start, operator()).await.unwrap().run;
    let first = stage.driver.ask(&run, ask("One?"), Some(key("1")), operator()).await.unwrap();
    let again = stage.driver.ask(&run, ask("One?"), Some(key("1")), operator()).await.unwrap();
    assert_eq!((&first.interrupt, again.is_replayed()), (&again.interrupt, true));
    let reused = stage.driver.ask(&run, ask("Two?"), Some(key("2")), operator()).await;
    assert!(matches!(reused, Err(Error::KeyReused)), "{reused:?}");
    stage.driver.ask(&run, ask("Two?"), None, operator()).await.unwrap();
    assert_eq!(stage.open(&run).await.len(), 2);
}
