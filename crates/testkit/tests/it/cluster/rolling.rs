//! Nodes of several versions on one database: an update in progress, and an older node that reads data of a newer node.
//! A build with a later schema version acts as the newer binary.

use std::time::Duration;

use holdshort_core::digest::Digest;
use holdshort_core::envelope::Sealed;
use holdshort_core::id::{RunId, StreamId};
use holdshort_core::json;
use holdshort_store::postgres::{Config, Reach, Schema};
use holdshort_store::{Append, Leases, Log, Postgres, Rows, StreamAppend, Tables};
use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::{Setup, TestServer, eventually, other_version};
use serde_json::{Value, json};

use super::{database, setup, sql};
use crate::play::{ask, done, one};

/// Schema version of this binary. [`NEXT`] is the schema version of a newer binary.
const THIS: &str = "13";
const NEXT: &str = "14";
const BREAKS: &str = "14 breaks";

fn node(model: &ScriptedModel, url: &str, name: &str) -> Setup {
    setup(model).database(url, name).lease(Duration::from_secs(2))
}

/// Returns a node that acts as a build with a different schema version.
fn plays(model: &ScriptedModel, url: &str, name: &str, schema: &str) -> Setup {
    node(model, url, name).program(other_version()).env("HOLDSHORT_PLAYS_SCHEMA", schema)
}

async fn version(url: &str) -> String {
    sql(url, "SELECT value FROM meta WHERE name = 'version'").await
}

async fn answer(server: &TestServer, run: &str) {
    let question = server.wait_one(run).await;
    server.decide(&question, &json!({ "option": "answer", "text": "This." })).await.ok();
    server.wait_status(run, &["completed"]).await;
}

async fn asking() -> ScriptedModel {
    let model = ScriptedModel::start().await;
    model.script("solo", [one(ask("Which?")), done()]);
    model
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_node_goes_on_beside_a_newer_one() {
    let (model, url) = (asking().await, database().await);
    let mut older = node(&model, &url, "older").start().await;
    let run = older.start_run("solo", "wait").await;
    older.wait_one(&run).await;
    assert_eq!(version(&url).await, THIS);
    let newer = plays(&model, &url, "newer", NEXT).start().await;
    assert_eq!(version(&url).await, NEXT);

    // Both nodes serve requests, and the older node can be restarted. An update can be reverted in this way.
    answer(&newer, &run).await;
    for _ in 0..2 {
        let (one, other) = (older.start_run("solo", "ask").await, newer.start_run("solo", "ask").await);
        answer(&newer, &one).await;
        answer(&older, &other).await;
        assert_eq!(older.get("/readyz").await.status, 200);
        older.stop().await;
        older.start().await;
    }
    assert_eq!(newer.get("/v1/audit/verify").await.ok()["intact"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_node_does_not_take_the_database_from_an_older_one() {
    let (model, url) = (asking().await, database().await);
    let mut older = node(&model, &url, "older").start().await;
    let run = older.start_run("solo", "wait").await;
    older.wait_one(&run).await;

    let mut newer = plays(&model, &url, "newer", BREAKS).stopped();
    newer.try_start().await.unwrap_err();
    let said = newer.stderr();
    assert!(
        said.contains("these servers use the database") && said.contains(": older. Stop them first"),
        "{said}"
    );
    assert_eq!(version(&url).await, THIS, "nothing was changed");
    assert_eq!(older.get("/readyz").await.status, 200);

    older.stop().await;
    newer.start().await;
    assert_eq!(version(&url).await, NEXT);
    answer(&newer, &run).await;
    // After this migration, an older version can only be used with a backup.
    older.try_start().await.unwrap_err();
    let said = older.stderr();
    assert!(said.contains("schema version 14, but this binary only knows 13: update Holdshort"), "{said}");
}

/// A server of this version waits until older nodes have stopped, because older nodes would drop data about its
/// channels.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn this_version_waits_for_those_before_it_to_stop() {
    let (model, url) = (asking().await, database().await);
    let mut older = plays(&model, &url, "older", "12").start().await;
    assert_eq!(version(&url).await, "12");
    let mut newer = node(&model, &url, "newer").stopped();
    newer.try_start().await.unwrap_err();
    let said = newer.stderr();
    assert!(said.contains("Stop them first"), "{said}");
    older.stop().await;
    newer.start().await;
    assert_eq!(version(&url).await, THIS);
    older.try_start().await.unwrap_err();
}

/// A stopped node of an older version, presumed dead while the database was upgraded, ends when it resumes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_node_that_wakes_up_too_late_ends() {
    let (model, url) = (asking().await, database().await);
    let mut older = node(&model, &url, "older").start().await;
    let run = older.start_run("solo", "wait").await;
    older.wait_one(&run).await;
    older.signal("STOP");
    let mut newer = plays(&model, &url, "newer", BREAKS).stopped();
    // The newer node is refused until the lease of the stopped node ends.
    let mut tries = 0;
    while newer.try_start().await.is_err() {
        tries += 1;
        assert!(tries < 60, "the newer one does not start: {}", newer.stderr());
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    older.signal("CONT");
    assert!(!older.wait_until_ended().await.success());
    let said = older.stderr();
    assert!(said.contains("schema version 14, but this binary only knows 13: update Holdshort"), "{said}");
    answer(&newer, &run).await;
    assert_eq!(newer.get("/v1/audit/verify").await.ok()["intact"], true);
}

/// Appends an event of an unknown type to a run, as a newer node would.
async fn append_unknown(newer: &Postgres, run: &RunId) {
    let stream = StreamId::Run(run.clone());
    let chain = newer.chain(&stream).await.unwrap();
    let last = newer.read(&stream, chain.seq - 1, 1).await.unwrap().remove(0);
    let mut head: Value = serde_json::from_slice(&last.head).unwrap();
    head["type"] = "run_teleported".into();
    head["facts"] = json!({ "to": "the moon" });
    head["seq"] = (chain.seq + 1).into();
    head.as_object_mut().unwrap().remove("content_digest");
    let head = json::canonical(&head);
    let hash = Digest::of_parts(&[chain.hash.as_bytes(), &head]);
    let event = Sealed { stream: stream.clone(), seq: chain.seq + 1, head, content: None, hash };
    let mut row = newer.run(run).await.unwrap().unwrap();
    (row.seq, row.runnable) = (chain.seq + 1, true);
    let append = Append {
        streams: vec![StreamAppend { stream, expected: chain.seq, events: vec![event] }],
        rows: Rows { run: Some(row), ..Rows::default() },
        drives: true,
        ..Append::default()
    };
    newer.append(append).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_node_leaves_what_it_can_not_read_to_newer_ones() {
    let (model, url) = (asking().await, database().await);
    let older = node(&model, &url, "older").start().await;
    let run = older.start_run("solo", "wait").await;
    older.wait_one(&run).await;
    let next = [Schema::default().migrations(), &[(Reach::Expands, "")]].concat();
    let config = || Config { schema: Schema::new(next.clone()), ..Config::new(&url, "newer") };
    let newer = Postgres::open(config()).await.unwrap();
    let id: RunId = run.parse().unwrap();
    append_unknown(&newer, &id).await;
    assert_eq!(older.get("/readyz").await.status, 200, "it has met nothing of it yet");
    // The newer node stops, and the older node takes over the run.
    newer.close().await.unwrap();
    eventually("it meets what it cannot read", async || {
        (older.get("/readyz").await.refusal() == (503, "outdated")).then_some(())
    })
    .await;
    let detail = older.get("/readyz").await.body["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains(&format!("version {NEXT}")), "{detail}");
    let said = older.stderr();
    assert!(said.contains("a run cannot continue") && said.contains("run_teleported"), "{said}");

    // The older node wrote nothing, holds no lease on the run, and does not claim the run again. The older node serves
    // all other runs.
    let lease = format!("SELECT node IS NULL FROM leases WHERE run = '{run}'");
    assert_eq!(sql(&url, &lease).await, "t");
    let another = older.start_run("solo", "ask").await;
    answer(&older, &another).await;
    assert_eq!(sql(&url, &lease).await, "t");
    let told = older.stderr().matches("a run cannot continue").count();
    assert!(told <= 2, "{told} times: {}", older.stderr());

    let newer = Postgres::open(config()).await.unwrap();
    assert_eq!(newer.claim(10).await.unwrap(), std::slice::from_ref(&id));
    let chain = newer.chain(&StreamId::Run(id.clone())).await.unwrap();
    assert_eq!(newer.run(&id).await.unwrap().unwrap().seq, chain.seq);
    newer.close().await.unwrap();
}
