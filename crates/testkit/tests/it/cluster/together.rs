//! Healthy nodes: every node shows clients the same journal.

use std::time::Duration;

use holdshort_testkit::model::Scripted;
use holdshort_testkit::server::eventually;
use serde_json::{Value, json};

use super::{Cluster, wait_lines};
use crate::play::{command, count, done, one};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_started_decided_and_followed_on_three_nodes() {
    let cluster = Cluster::start([one(count("one")), done()]).await;
    let [a, b, c] = &cluster.nodes[..] else { panic!() };
    assert_eq!((a.token(), a.agent_token()), (c.token(), c.agent_token()));
    let run = a.start_run("solo", "count").await;
    let shown = b.wait_one(&run).await;
    // While a run waits for a person, no node drives the run.
    assert_eq!(cluster.driver(2, &run).await, None);
    let (followed, ()) = tokio::join!(c.stream(&run, None, 200), async {
        b.choose(&shown, "approve").await;
        b.wait_status(&run, &["completed"]).await;
    });
    let told = a.events(&run).await;
    let seqs: Vec<u64> = followed.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(seqs, (1..=told.len() as u64).collect::<Vec<_>>());
    assert_eq!(a.lines("count.txt"), 1);
    // A repeated decision at a different node returns the resolution. A different decision is too late.
    assert_eq!(c.choose(&shown, "approve").await["status"], "resolved");
    let late = c.decide(&shown, &json!({"option": "reject"})).await;
    assert_eq!(late.refusal(), (409, "already_resolved"));
    cluster.assert_one_story(&run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_node_that_drives_hears_of_a_decision_taken_elsewhere() {
    let slow = "echo two >> count.txt; while [ ! -e go ]; do sleep 0.1; done";
    let calls = Scripted::calls([command(slow), count("one")]);
    let cluster = Cluster::start([calls, done()]).await;
    let [a, b, c] = &cluster.nodes[..] else { panic!() };
    let run = a.start_run("solo", "count").await;
    let open = b.wait_open(&run, 2).await;
    // The long command starts at the node that receives the decision. From then on this node drives the run.
    b.choose(&open[0], "approve").await;
    wait_lines(a, "count.txt", 1).await;
    assert_eq!(cluster.driver(0, &run).await.as_deref(), Some("b"));
    // Commands run one at a time. Node `b` must learn of the decision, and starts the second command after the first.
    c.choose(&open[1], "approve").await;
    assert_eq!(cluster.driver(0, &run).await.as_deref(), Some("b"));
    assert_eq!(a.events_of(&run, "tool_started").await.len(), 1);
    std::fs::write(a.workspace().join("go"), "").unwrap();
    a.wait_status(&run, &["completed"]).await;
    assert_eq!(a.lines("count.txt"), 2);
    assert_eq!(a.events_of(&run, "tool_started").await.len(), 2);
    cluster.assert_one_story(&run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_freeze_and_a_grant_hold_on_every_node() {
    let calls = Scripted::calls([count("one"), count("two")]);
    let cluster = Cluster::start([calls, done()]).await;
    let [a, b, c] = &cluster.nodes[..] else { panic!() };
    let run = a.start_run("solo", "count").await;
    let open = b.wait_open(&run, 2).await;
    b.post("/v1/system/freeze", &json!({"reason": "a look"})).await.ok();
    assert_eq!(c.get("/v1/system").await.ok()["frozen"], true);
    let decision = json!({"option": "approve_session", "also": [open[1]["id"]]});
    a.decide(&open[0], &decision).await.ok();
    // The grant releases the second call, which the person had kept open. The freeze prevents that call from starting.
    assert_eq!(c.open(&run).await.len(), 0);
    assert_eq!(c.events_of(&run, "tool_started").await, Vec::<Value>::new());
    c.post("/v1/system/unfreeze", &json!({})).await.ok();
    b.wait_status(&run, &["completed"]).await;
    assert_eq!(a.lines("count.txt"), 2);
    cluster.assert_one_story(&run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_elsewhere_stops_what_is_under_way() {
    let ticks = "while true; do echo tick >> ticks.txt; sleep 0.1; done";
    let cluster = Cluster::start([one(command(ticks)), done()]).await;
    let [a, b, _] = &cluster.nodes[..] else { panic!() };
    let run = a.start_run("solo", "tick").await;
    let shown = a.wait_one(&run).await;
    a.choose(&shown, "approve").await;
    eventually("the command runs", async || (a.lines("ticks.txt") > 0).then_some(())).await;
    assert_eq!(cluster.driver(1, &run).await.as_deref(), Some("a"));
    b.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await.ok();
    eventually("the command is stopped", async || {
        let before = a.lines("ticks.txt");
        tokio::time::sleep(Duration::from_secs(1)).await;
        (a.lines("ticks.txt") == before).then_some(())
    })
    .await;
    cluster.assert_one_story(&run).await;
}
