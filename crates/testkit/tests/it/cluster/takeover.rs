//! A node is killed, frozen or disconnected while it drives a run, and a different node takes over.

use std::time::{Duration, Instant};

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{PATIENCE, Setup, eventually, eventually_for};
use serde_json::{Value, json};

use super::proxy::Proxy;
use super::{Cluster, database, setup, wait_lines};
use crate::play::{command, count, done, one};

/// Duration of a node's lease: the shortest allowed lease, and the additional time that a busy machine needs.
const LEASE: Duration = Duration::from_secs(2);
const BUSY: Duration = Duration::from_secs(20);

/// Log messages of a node that abandons work on a run because the work is no longer valid.
const GIVEN_UP: [&str; 2] = ["an action was stopped because", "a result arrived too late and was discarded"];

/// Command that appends a line to a file when it starts, and then runs for a long time.
const SLOW: &str = "echo one >> count.txt; sleep 300";

/// Shortens a node's lease, and makes the node log why it abandons work.
fn hasty(setup: Setup) -> Setup {
    setup.lease(LEASE).env("HOLDSHORT_LOG", "info,holdshort_engine=debug")
}

async fn cluster(steps: impl Into<Vec<Scripted>>) -> Cluster {
    Cluster::start_on(&database().await, steps, hasty).await
}

/// Waits until a node asks a person for the outcome of the command that another node had started. Returns the
/// interrupt, and the time until it opened.
async fn wait_doubt(cluster: &Cluster, asked: usize, run: &str) -> (Value, Duration) {
    let since = Instant::now();
    let doubt = cluster.nodes[asked].wait_one(run).await;
    assert_eq!(doubt["kind"], "unknown_outcome", "{doubt:#}");
    (doubt, since.elapsed())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_node_is_taken_over_and_nothing_runs_twice() {
    let mut cluster = cluster([one(command(SLOW)), done()]).await;
    let run = cluster.nodes[0].start_run("solo", "count").await;
    let shown = cluster.nodes[0].wait_one(&run).await;
    cluster.nodes[0].choose(&shown, "approve").await;
    wait_lines(&cluster.nodes[0], "count.txt", 1).await;
    assert_eq!(cluster.driver(1, &run).await.as_deref(), Some("a"));
    cluster.nodes[0].kill();
    let (doubt, took) = wait_doubt(&cluster, 1, &run).await;
    assert!(took < LEASE + BUSY, "taken over after {took:?}");
    cluster.nodes[2].decide(&doubt, &json!({"option": "happened", "text": "exit code 0"})).await.ok();
    cluster.nodes[1].wait_status(&run, &["completed"]).await;
    cluster.nodes[0].start().await;
    assert_eq!(cluster.nodes[0].lines("count.txt"), 1);
    assert_eq!(cluster.nodes[0].events_of(&run, "tool_started").await.len(), 1);
    cluster.assert_one_story(&run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_call_of_a_killed_node_is_made_again() {
    let mut cluster = cluster([Scripted::Hang(Box::new(one(count("one")))), done()]).await;
    let run = cluster.nodes[0].start_run("solo", "count").await;
    cluster.model.wait_for_requests(1).await;
    cluster.nodes[0].kill();
    cluster.model.release();
    let shown = cluster.nodes[2].wait_one(&run).await;
    cluster.nodes[2].choose(&shown, "approve").await;
    cluster.nodes[1].wait_status(&run, &["completed"]).await;
    cluster.nodes[0].start().await;
    assert_eq!(cluster.nodes[0].lines("count.txt"), 1);
    assert_eq!(cluster.nodes[0].events_of(&run, "model_lost").await.len(), 1);
    cluster.assert_one_story(&run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_node_that_wakes_up_cannot_append() {
    let slow = "echo one >> count.txt; while [ ! -e go ]; do sleep 0.1; done; echo end >> end.txt";
    let cluster = cluster([one(command(slow)), done()]).await;
    let [a, b, c] = &cluster.nodes[..] else { panic!() };
    let run = a.start_run("solo", "count").await;
    let shown = a.wait_one(&run).await;
    a.choose(&shown, "approve").await;
    wait_lines(a, "count.txt", 1).await;
    a.signal("STOP");
    // The command itself continues. The outcome of the command is unknown, so a person is asked.
    let (doubt, _) = wait_doubt(&cluster, 1, &run).await;
    std::fs::write(a.workspace().join("go"), "").unwrap();
    wait_lines(a, "end.txt", 1).await;
    b.decide(&doubt, &json!({"option": "happened", "text": "seen in the file"})).await.ok();
    c.wait_status(&run, &["completed"]).await;
    let told = c.events(&run).await;
    a.signal("CONT");
    eventually("the node is back", async || {
        let nodes = b.get("/v1/nodes").await.ok();
        nodes["items"].as_array().unwrap().iter().all(|node| node["alive"] == true).then_some(())
    })
    .await;
    // The node notices that its work is no longer valid, either with its own check or when it reports the result.
    eventually("the node gives up its work", async || {
        GIVEN_UP.iter().any(|said| a.stderr().contains(said)).then_some(())
    })
    .await;
    assert_eq!(a.events(&run).await, told);
    assert_eq!(a.lines("count.txt"), 1);
    // The node can drive new runs.
    let next = a.start_run("solo", "count").await;
    let shown = b.wait_one(&next).await;
    assert_eq!(b.choose(&shown, "reject").await["status"], "resolved");
    c.wait_status(&next, &["completed"]).await;
    cluster.assert_one_story(&run).await;
    cluster.assert_one_story(&next).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_cut_off_is_taken_over_and_comes_back() {
    let model = ScriptedModel::start().await;
    model.script("solo", [one(command(SLOW)), done()]);
    let url = database().await;
    let proxy = Proxy::start(&url).await;
    let far = hasty(setup(&model)).database(&proxy.url(), "a").start().await;
    let near = hasty(setup(&model)).database(&url, "b").start().await;
    let cluster = Cluster { model, nodes: vec![far, near] };
    let [far, near] = &cluster.nodes[..] else { panic!() };
    let run = far.start_run("solo", "count").await;
    let shown = far.wait_one(&run).await;
    far.choose(&shown, "approve").await;
    wait_lines(far, "count.txt", 1).await;
    // Because the cable is cut, no bytes arrive and no connection is closed.
    proxy.cut();
    let (doubt, _) = wait_doubt(&cluster, 1, &run).await;
    near.decide(&doubt, &json!({"option": "happened", "text": "exit code 0"})).await.ok();
    near.wait_status(&run, &["completed"]).await;
    proxy.mend();
    // A request on a dead connection fails after 35 seconds. The next request uses a new connection.
    eventually_for(2 * PATIENCE, "the node is back", async || {
        let answer = far.try_send(far.request(reqwest::Method::GET, &format!("/v1/runs/{run}"))).await;
        answer.filter(|answer| answer.status == 200 && answer.body["status"] == "completed").map(drop)
    })
    .await;
    assert_eq!(far.lines("count.txt"), 1);
    cluster.assert_one_story(&run).await;
}
