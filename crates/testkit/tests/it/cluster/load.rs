//! Agents that ask and people that decide, on whichever node answers: each repeats what was not answered.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::Cluster;
use holdshort_testkit::server::{PATIENCE, TestServer};

/// How long a client waits before it tries the next node.
const AGAIN: Duration = Duration::from_millis(100);
/// An answer that takes longer is none.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Plays so many asks, each through to its decision, and tells their runs. Requests go around the nodes.
pub(crate) async fn play(cluster: &Cluster, client: usize, asks: usize) -> Vec<String> {
    let mut runs = Vec::new();
    for n in 0..asks {
        let node = client + n;
        let key = format!("client-{client}-{n}");
        let body = json!({"kind": "question", "title": format!("May I? {key}"), "payload": {"n": n}});
        let ask = |node: &TestServer| {
            node.agent_request(Method::POST, "/v1/interrupts").header("idempotency-key", &key).json(&body)
        };
        let asked = until_answered(cluster, node, ask).await;
        let id = asked["id"].as_str().unwrap().to_owned();
        let path = format!("/v1/interrupts/{id}/decisions");
        let decision = json!({"option": "answer", "text": key});
        let decide = |node: &TestServer| node.request(Method::POST, &path).json(&decision);
        let decided = until_answered(cluster, node + 1, decide).await;
        assert_eq!(decided["resolution"]["text"], key.as_str(), "{decided:#}");
        let read = |node: &TestServer| node.agent_request(Method::GET, &format!("/v1/interrupts/{id}"));
        let seen = until_answered(cluster, node + 2, read).await;
        assert_eq!(seen["resolution"], decided["resolution"]);
        runs.push(asked["run"].as_str().unwrap().to_owned());
    }
    runs
}

/// Sends it again and again, to one node after the other, until one answers. A refusal ends the test.
async fn until_answered(
    cluster: &Cluster,
    mut node: usize,
    request: impl Fn(&TestServer) -> reqwest::RequestBuilder,
) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let at = &cluster.nodes[node % cluster.nodes.len()];
        let answer = at.try_send(request(at).timeout(TIMEOUT)).await;
        match answer {
            Some(answer) if answer.status < 500 => return answer.ok(),
            _ => assert!(Instant::now() < deadline, "no node answers: {answer:#?}"),
        }
        tokio::time::sleep(AGAIN).await;
        node += 1;
    }
}

/// Follows all events of the journal on one node, page by page, until it is told to stop and nothing is left.
/// Returns what it saw, as `stream/seq`.
pub(crate) async fn follow(node: &TestServer, stop: Arc<AtomicBool>) -> Vec<String> {
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let stopping = stop.load(Ordering::SeqCst);
        let path = format!("/v1/events?limit=200{cursor}");
        let request = node.request(Method::GET, &path).header("accept", "application/json").timeout(TIMEOUT);
        let Some(answer) = node.try_send(request).await.filter(|answer| answer.status == 200) else {
            tokio::time::sleep(AGAIN).await;
            continue;
        };
        let items = answer.body["items"].as_array().cloned().unwrap();
        seen.extend(items.iter().map(|event| format!("{}/{}", event["stream"], event["seq"])));
        if let Some(position) = items.last().and_then(|event| event["position"].as_str()) {
            cursor = format!("&position={position}");
        } else if stopping {
            return seen;
        } else {
            tokio::time::sleep(AGAIN).await;
        }
    }
}

/// Nothing twice, and nothing missing of what the runs' own streams hold.
pub(crate) async fn assert_followed(node: &TestServer, runs: &[String], seen: &[String]) {
    let unique: BTreeSet<&String> = seen.iter().collect();
    assert_eq!(unique.len(), seen.len(), "a follower saw something twice");
    for run in runs {
        let events = node.events(run).await;
        for event in &events {
            let name = format!("{}/{}", event["stream"], event["seq"]);
            assert!(unique.contains(&name), "a follower missed {name}");
        }
        let resolved = events.iter().filter(|event| event["type"] == "interrupt_resolved").count();
        assert_eq!(resolved, 1, "{run}");
    }
}
