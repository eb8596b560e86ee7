//! Two nodes on one PostgreSQL. The clock of one node is five minutes ahead. The first node that finds a deadline due
//! handles the deadline, and no node handles it again. Only one decision takes effect, and no node takes over from a
//! living node.

use std::time::Duration;

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{TestServer, eventually};
use reqwest::Method;
use serde_json::{Value, json};

use super::{WallClock, happened, text};
use crate::cluster::{Cluster, database, setup, wait_lines};
use crate::play::{command, count, done, one};

const SKEW_MS: u64 = 300_000;
const SKEW_S: i64 = 300;
/// Duration of a node's lease, which is much shorter than the difference of the clocks, and long enough that a slow
/// machine can renew the lease.
const LEASE: Duration = Duration::from_secs(8);

/// Starts node `a` with the machine's clock and node `b` with a clock that is ahead. The model replies with `steps`.
async fn apart(steps: impl Into<Vec<Scripted>>) -> (Cluster, [WallClock; 2]) {
    let model = ScriptedModel::start().await;
    model.script("solo", steps);
    let clocks = [WallClock::ahead(0), WallClock::ahead(SKEW_S)];
    let url = database().await;
    let mut nodes = Vec::new();
    for (name, clock) in ["a", "b"].into_iter().zip(&clocks) {
        let setup = setup(&model).database(&url, name).lease(LEASE);
        let setup = setup.env("HOLDSHORT_LOG", "info,holdshort_engine=debug");
        nodes.push(clock.apply_to(setup).start().await);
    }
    (Cluster { model, nodes }, clocks)
}

/// Returns the reminders, the escalations and the end of an interrupt, without timestamps.
async fn story(node: &TestServer, asked: &Value) -> Vec<String> {
    happened(node, asked)
        .await
        .into_iter()
        .map(|(_, what)| what.split(' ').next().unwrap().to_owned())
        .collect()
}

async fn wait_story(node: &TestServer, asked: &Value, expected: &[&str]) {
    eventually(&format!("{expected:?}"), async || (story(node, asked).await == expected).then_some(())).await;
}

/// One node receives an approval, and at the same time the second node receives a rejection. Only one of the two
/// decisions takes effect.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_decisions_on_nodes_whose_clocks_differ_one_counts() {
    let (cluster, _clocks) = apart([one(count("one")), done()]).await;
    let [a, b] = &cluster.nodes[..] else { panic!() };
    for (starts, other) in [(a, b), (b, a), (a, b), (b, a)] {
        let before = starts.lines("count.txt");
        let run = starts.start_run("solo", "count").await;
        let shown = other.wait_one(&run).await;
        let (yes, no) = (json!({"option": "approve"}), json!({"option": "reject"}));
        let (yes, no) = tokio::join!(a.decide(&shown, &yes), b.decide(&shown, &no));
        let mut statuses = [yes.status, no.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{yes:?} {no:?}");
        other.wait_status(&run, &["completed", "failed"]).await;
        assert_eq!(a.events_of(&run, "decision_made").await.len(), 1);
        assert_eq!(starts.lines("count.txt") - before, usize::from(yes.status == 200));
        // `assert_one_story` also checks that no event has an earlier timestamp than the previous event.
        cluster.assert_one_story(&run).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_due_is_done_once_whichever_clock_is_ahead() {
    let (cluster, mut clocks) = apart([done()]).await;
    let [a, b] = &cluster.nodes[..] else { panic!() };
    // By the clock of `b`, interrupts that open at `a` reach these deadlines within seconds.
    let far = json!({
        "kind": "tool_approval", "title": "May I?", "reminders": {"after_ms": SKEW_MS + 1_000},
        "escalation": [{"after_ms": SKEW_MS + 2_000, "approvers": ["anna"]}], "expires_in_ms": SKEW_MS + 15_000,
    });
    // These deadlines are short. If `a` opens the interrupt, `b` finds it due at once. If `b` opens the interrupt, `a`
    // finds it due in five minutes.
    let near = json!({
        "kind": "tool_approval", "title": "May I?", "reminders": {"after_ms": 1_000}, "expires_in_ms": 2 * SKEW_MS,
    });
    let anna = a.request(Method::PUT, "/v1/people/anna").json(&json!({"roles": ["reviewer"]}));
    a.send(anna).await.ok();
    let here = a.post("/v1/interrupts", &far).await.ok();
    let there = b.post("/v1/interrupts", &near).await.ok();
    wait_story(a, &there, &["reminds"]).await;
    wait_story(a, &here, &["reminds", "asks", "ends"]).await;
    // By the clock of `a` the interrupt would be open for more minutes, but it has expired.
    let late = a.decide(&here, &json!({"option": "approve"})).await;
    assert_eq!(late.refusal(), (410, "expired"));
    // The clock of the deciding node is behind the timestamp of the interrupt's last event.
    assert_eq!(a.choose(&there, "approve").await["status"], "resolved");
    let open = a.post("/v1/interrupts", &near).await.ok();
    wait_story(b, &open, &["reminds"]).await;
    // Both nodes use the later of the two clocks. Now the clock of `a` is past the deadline.
    clocks[0].put(4 * SKEW_S);
    wait_story(b, &open, &["reminds", "ends"]).await;
    let last = json!({"kind": "question", "title": "Is it time?", "expires_in_ms": 1_000});
    let last = b.post("/v1/interrupts", &last).await.ok();
    wait_story(b, &last, &["ends"]).await;
    assert_eq!(story(a, &here).await, ["reminds", "asks", "ends"]);
    assert_eq!(story(a, &there).await, ["reminds", "ends"]);
    for asked in [&here, &there, &open, &last] {
        cluster.assert_one_story(text(&asked["run"])).await;
    }
}

/// The database measures the duration of a lease, not the clock of a node. A node whose clock is ahead does not take
/// over from a living node.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_node_takes_over_from_one_that_lives_because_its_clock_is_ahead() {
    let slow = "echo one >> count.txt; while [ ! -e go ]; do sleep 0.1; done";
    let (cluster, _clocks) = apart([one(command(slow)), done()]).await;
    for (drives, name) in [(0, "a"), (1, "b")] {
        let (node, other) = (&cluster.nodes[drives], &cluster.nodes[1 - drives]);
        let run = node.start_run("solo", "count").await;
        let shown = other.wait_one(&run).await;
        node.choose(&shown, "approve").await;
        wait_lines(node, "count.txt", 1).await;
        for _ in 0..3 {
            assert_eq!(cluster.driver(1 - drives, &run).await.as_deref(), Some(name));
            let nodes = other.get("/v1/nodes").await.ok();
            assert!(nodes["items"].as_array().unwrap().iter().all(|node| node["alive"] == true), "{nodes:#}");
            tokio::time::sleep(LEASE / 2).await;
        }
        std::fs::write(node.workspace().join("go"), "").unwrap();
        other.wait_status(&run, &["completed"]).await;
        assert_eq!(node.lines("count.txt"), 1);
        assert_eq!(other.events_of(&run, "tool_started").await.len(), 1);
        assert!(!node.stderr().contains("an action was stopped because"), "{}", node.stderr());
        cluster.assert_one_story(&run).await;
    }
}

/// Node `a` drives the run, node `b` records an event with a timestamp five minutes ahead, and then the model fails. By
/// the clock of `a` the next attempt is due in five minutes, so `b` makes this attempt.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_goes_on_where_the_next_attempt_is_due_by_one_clock_alone() {
    let slow = "echo two >> count.txt; while [ ! -e go ]; do sleep 0.1; done";
    let calls = Scripted::calls([command(slow), count("one")]);
    let (cluster, _clocks) = apart([calls, Scripted::status(503)]).await;
    let [a, b] = &cluster.nodes[..] else { panic!() };
    let run = a.start_run("solo", "count").await;
    let open = b.wait_open(&run, 2).await;
    a.choose(&open[0], "approve").await;
    wait_lines(a, "count.txt", 1).await;
    b.choose(&open[1], "approve").await;
    assert_eq!(cluster.driver(1, &run).await.as_deref(), Some("a"));
    std::fs::write(a.workspace().join("go"), "").unwrap();
    let failed = async || (!a.events_of(&run, "model_failed").await.is_empty()).then_some(());
    eventually("the model fails", failed).await;
    // From now on the model replies.
    cluster.model.script("solo", [done(), done()]);
    a.wait_status(&run, &["completed"]).await;
    assert_eq!(a.lines("count.txt"), 2);
    cluster.assert_one_story(&run).await;
}
