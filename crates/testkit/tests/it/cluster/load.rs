//! Clients that ask as agents and decide as people, on any node that responds. A client repeats each request that got
//! no response.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use holdshort_testkit::server::{PATIENCE, TestServer};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::Cluster;

/// Pause of a client between a failed request and the next node.
const AGAIN: Duration = Duration::from_millis(100);
const TIMEOUT: Duration = Duration::from_secs(5);

/// Requests that a client has sent to the cluster.
#[derive(Default)]
pub(crate) struct Played {
    pub(crate) runs: Vec<String>,
    /// Number of the client's requests that got no response, or a server error.
    pub(crate) repeats: usize,
}

/// Asks questions and decides them repeatedly until `stop`. The client sends its requests to the nodes of the cluster
/// in rotation.
pub(crate) async fn play(cluster: Arc<Cluster>, client: usize, stop: watch::Receiver<bool>) -> Played {
    let mut played = Played::default();
    while !*stop.borrow() {
        let run = ask_and_decide(&cluster, client, &mut played).await;
        played.runs.push(run);
    }
    played
}

/// Asks one question of the cluster and decides it. Returns the run.
pub(crate) async fn ask_and_decide(cluster: &Cluster, client: usize, played: &mut Played) -> String {
    let n = played.runs.len();
    let node = client + n;
    let key = format!("client-{client}-{n}");
    let body = json!({"kind": "question", "title": format!("May I? {key}"), "payload": {"n": n}});
    let ask = |node: &TestServer| {
        node.agent_request(Method::POST, "/v1/interrupts").header("idempotency-key", &key).json(&body)
    };
    let asked = until_answered(cluster, node, &mut played.repeats, ask).await;
    let id = asked["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/interrupts/{id}/decisions");
    let decision = json!({"option": "answer", "text": key});
    let decide = |node: &TestServer| node.request(Method::POST, &path).json(&decision);
    let decided = until_answered(cluster, node + 1, &mut played.repeats, decide).await;
    assert_eq!(decided["resolution"]["text"], key.as_str(), "{decided:#}");
    let read = |node: &TestServer| node.agent_request(Method::GET, &format!("/v1/interrupts/{id}"));
    let seen = until_answered(cluster, node + 2, &mut played.repeats, read).await;
    assert_eq!(seen["resolution"], decided["resolution"]);
    asked["run"].as_str().unwrap().to_owned()
}

/// Repeats a request, at one node of the cluster after the other, until a node responds. A refusal fails the test.
async fn until_answered(
    cluster: &Cluster,
    mut node: usize,
    repeats: &mut usize,
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
        *repeats += 1;
        node += 1;
    }
}

/// Reads all events of the journal from one node of the cluster, page by page, until the end of the run that `last`
/// names at a later time. Returns the events as `stream/seq`.
pub(crate) async fn follow(
    cluster: Arc<Cluster>,
    node: usize,
    last: watch::Receiver<Option<String>>,
) -> Vec<String> {
    let node = &cluster.nodes[node];
    let (mut seen, mut ended, mut cursor) = (Vec::new(), BTreeSet::new(), String::new());
    let mut deadline = Instant::now() + PATIENCE;
    // Positions are in commit order, so a follower that has seen the end of the last run has seen everything.
    while last.borrow().as_ref().is_none_or(|last| !ended.contains(last)) {
        assert!(Instant::now() < deadline, "nothing came to follow; seen so far: {}", seen.len());
        let path = format!("/v1/events?limit=200{cursor}");
        let request = node.request(Method::GET, &path).header("accept", "application/json").timeout(TIMEOUT);
        let answer = node.try_send(request).await.filter(|answer| answer.status == 200);
        let items =
            answer.map(|answer| answer.body["items"].as_array().cloned().unwrap()).unwrap_or_default();
        let Some(position) = items.last().map(|event| event["position"].as_str().unwrap()) else {
            tokio::time::sleep(AGAIN).await;
            continue;
        };
        cursor = format!("&position={position}");
        deadline = Instant::now() + PATIENCE;
        seen.extend(items.iter().map(name));
        let ends = items.iter().filter(|event| event["type"] == "run_completed");
        ended.extend(ends.map(|event| event["stream"].as_str().unwrap().to_owned()));
    }
    seen
}

fn name(event: &Value) -> String {
    format!("{}/{}", event["stream"], event["seq"])
}

/// Asserts that a reader of the journal saw each event of the runs exactly once.
pub(crate) async fn assert_followed(node: &TestServer, runs: &[String], seen: &[String]) {
    let unique: BTreeSet<&String> = seen.iter().collect();
    assert_eq!(unique.len(), seen.len(), "a follower saw something twice");
    for run in runs {
        let events = node.events(run).await;
        for event in &events {
            assert!(unique.contains(&name(event)), "a follower missed {}", name(event));
        }
        let resolved = events.iter().filter(|event| event["type"] == "interrupt_resolved").count();
        assert_eq!(resolved, 1, "{run}");
    }
}
