//! Deliveries that accumulate while sending is stopped, with the real binary. When sending resumes, each delivery is
//! sent once, and only a few are sent at a time. If two nodes are killed while they send, no delivery is lost, and none
//! changes its content.

use std::collections::{BTreeMap, BTreeSet};

use futures::stream::{self, StreamExt};
use holdshort_testkit::server::{TestServer, eventually};
use holdshort_testkit::sink::WebhookSink;
use serde_json::json;

use crate::cluster::database;
use crate::notifications::{ask, wait_state, webhook_setup};

/// Maximum number of deliveries that one channel of the server sends at a time (`engine/src/outbox/limits.rs`).
const SENT_AT_ONCE: usize = 4;

/// Maximum number of deliveries that the test can list before the receiver's response would time out.
const LISTED_IN_TIME: usize = 1_000;

/// Returns the number of waiting deliveries that a server process has claimed.
async fn claimed(server: &TestServer) -> usize {
    let (mut claimed, mut cursor) = (0, String::new());
    loop {
        let page = server.get(&format!("/v1/deliveries?state=waiting&limit=200{cursor}")).await.ok();
        claimed += page["items"].as_array().unwrap().iter().filter(|each| each["sending"] == true).count();
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return claimed,
        }
    }
}

/// Opens `many` interrupts while nothing is sent, and restarts the server before it sends their notices.
async fn all_are_sent_afterwards(many: usize) {
    let sink = WebhookSink::start().await;
    let mut server = webhook_setup(&sink, "").start().await;
    server.post("/v1/system/freeze", &json!({"reason": "the receiver is being rebuilt"})).await.ok();
    let asking = stream::iter(0..many).map(|_| ask(&server, json!({}))).buffer_unordered(16);
    let asked: BTreeSet<String> = asking.collect().await;
    assert_eq!((asked.len(), sink.count()), (many, 0));
    server.restart().await;

    // The server claims only as many deliveries as it sends at a time.
    sink.hold();
    server.post("/v1/system/unfreeze", &json!({})).await.ok();
    sink.wait_for(SENT_AT_ONCE).await;
    if many <= LISTED_IN_TIME {
        assert_eq!(claimed(&server).await, SENT_AT_ONCE);
    }
    assert_eq!(sink.count(), SENT_AT_ONCE);
    sink.release();
    let mut so_far = 0;
    while so_far < many {
        let before = so_far;
        so_far = eventually("more are sent", async || Some(sink.count()).filter(|now| *now > before)).await;
    }
    eventually("none waits any more", async || {
        let waiting = server.get("/v1/deliveries?state=waiting&limit=1").await.ok();
        waiting["items"].as_array().unwrap().is_empty().then_some(())
    })
    .await;
    let received = sink.received();
    assert_eq!(received.len(), many, "each once");
    let of = |pointer: &str| -> BTreeSet<String> {
        let text = |body: serde_json::Value| body.pointer(pointer).unwrap().as_str().unwrap().to_owned();
        received.iter().map(|each| text(each.json())).collect()
    };
    assert_eq!(of("/data/interrupt"), asked);
    let ids: BTreeSet<&str> = received.iter().map(|each| each.header("webhook-id")).collect();
    assert_eq!(ids.len(), many);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waited_while_nothing_was_sent_is_sent_once() {
    all_are_sent_afterwards(300).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a campaign: cargo xtask verify --long"]
async fn campaign_of_a_hundred_thousand_that_waited() {
    all_are_sent_afterwards(100_000).await;
}

/// Two nodes are killed in turn while they send. Each delivery arrives once, and at most one more time per kill, always
/// under the same id.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_that_are_killed_while_they_send_lose_nothing() {
    const ROUNDS: usize = 6;
    const ASKS: usize = 6;
    let (sink, url) = (WebhookSink::start().await, database().await);
    let node =
        |name: &str| webhook_setup(&sink, "").database(&url, name).lease(std::time::Duration::from_secs(2));
    let mut nodes = [node("a").start().await, node("b").start().await];
    let mut asked = BTreeSet::new();
    for round in 0..ROUNDS {
        let so_far = sink.count();
        sink.hold();
        for n in 0..ASKS {
            asked.insert(ask(&nodes[n % 2], json!({})).await);
        }
        sink.wait_for(so_far + 1).await;
        nodes[round % 2].kill();
        sink.release();
        nodes[round % 2].start().await;
    }
    wait_state(&nodes[0], "delivered", ROUNDS * ASKS).await;
    let received = sink.received();
    let mut told: BTreeMap<&str, Vec<serde_json::Value>> = BTreeMap::new();
    for each in &received {
        let mut body = each.json();
        // Each node puts its own address into links, and the address changes with each start.
        body["data"]["url"].take();
        told.entry(each.header("webhook-id")).or_default().push(body);
    }
    assert_eq!(told.len(), asked.len(), "one id for each");
    let of = received.iter().map(|each| each.json()["data"]["interrupt"].as_str().unwrap().to_owned());
    assert_eq!(of.collect::<BTreeSet<_>>(), asked, "nothing else is told");
    for bodies in told.values() {
        assert!(bodies.iter().all(|body| *body == bodies[0]), "the same each time");
        assert!(bodies.len() <= 1 + ROUNDS, "{} times", bodies.len());
    }
    let again = received.len() - told.len();
    assert!(again <= ROUNDS * SENT_AT_ONCE, "no more than a killed one was sending: {again}");
}
