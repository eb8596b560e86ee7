//! Webhooks of several servers that share one database. Each server sends to all registered webhooks.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use holdshort_testkit::server::eventually;
use holdshort_testkit::sink::WebhookSink;
use reqwest::Method;
use serde_json::{Value, json};

use super::webhooks::{SECRET, allow_local_webhooks, hmac, register};
use super::{BASE, get, model, paused, setup};
use crate::cluster::{database, leave_behind, sql};

const KEPT: &str = "SELECT value FROM agreed WHERE name LIKE 'webhooks/%'";
const NAMES: &str = "SELECT name FROM agreed WHERE name LIKE 'webhooks/%'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_node_sends_to_a_webhook_that_another_one_registered() {
    let (model, sink, url) = (model().await, WebhookSink::start().await, database().await);
    let mut one = allow_local_webhooks(setup(&model)).database(&url, "a").start().await;
    let mut other = allow_local_webhooks(setup(&model)).database(&url, "b").start().await;
    let hook = register(&one, &sink, json!({"headers": {"X-Tenant": "t1"}})).await;
    let id = hook["id"].as_str().unwrap();
    let known = eventually("the other node knows where it is", async || {
        let listed = get(&other, "/webhooks").await;
        let shown = listed["webhooks"].as_array().unwrap().first()?.clone();
        (shown["has_secret"] == true).then_some(shown)
    })
    .await;
    assert_eq!((&known["id"], &known["headers"]), (&hook["id"], &json!(["X-Tenant"])), "{known}");
    assert!(!known.to_string().contains(SECRET), "{known}");

    one.kill();
    // The node sends to the webhook, even if the webhook was registered at a different node.
    for n in 1..=2 {
        paused(&other).await;
        let received = sink.wait_for(n).await;
        let last = &received[n - 1];
        assert_eq!(last.header("x-webhook-signature"), data_encoding::HEXLOWER.encode(&hmac(&last.body)));
        assert_eq!((last.header("x-webhook-id"), last.header("x-tenant")), (id, "t1"));
        other.restart().await;
    }
    for node in [&one, &other] {
        assert!(!node.data().join("webhooks.json").exists(), "nothing lies in a folder");
    }

    // Any node can remove the webhook, and no data is left.
    other.send(other.request(Method::DELETE, &format!("{BASE}/webhooks/{id}"))).await.ok();
    assert_eq!(sql(&url, KEPT).await, "");
    one.start().await;
    assert_eq!(get(&one, "/webhooks").await["count"], 0);
    paused(&one).await;
    assert_eq!(sink.received().len(), 2, "one that is removed is told nothing");
}

/// A webhook that is stored in the data folder of one node moves to the database. Earlier versions stored webhooks in
/// the directory, and so does a journal on SQLite that later moves to a database.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_lies_in_a_folder_moves_to_the_database() {
    let (model, sink, url) = (model().await, WebhookSink::start().await, database().await);
    let mut one = allow_local_webhooks(setup(&model)).database(&url, "a").start().await;
    let hook = register(&one, &sink, json!({})).await;
    let id = hook["id"].as_str().unwrap();
    let stored: Value = serde_json::from_str(&sql(&url, KEPT).await).unwrap();
    sql(&url, "DELETE FROM agreed WHERE name LIKE 'webhooks/%'").await;
    let file = one.data().join("webhooks.json");
    let strange = "whk_01k6f0000000000000000000dd";
    fs::write(&file, json!({ (id): stored, (strange): stored }).to_string()).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    one.restart().await;
    eventually("it is where every node finds it", async || {
        let kept = sql(&url, KEPT).await;
        (!kept.is_empty()).then(|| assert_eq!(serde_json::from_str::<Value>(&kept).unwrap(), stored))
    })
    .await;
    // The entry of a different journal stays in the file, because a person may go back to that journal.
    let left = eventually("the file is written", async || {
        let left: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        left.get(id).is_none().then_some(left)
    })
    .await;
    assert_eq!(left, json!({ (strange): stored }));
    drop(one);
    let other = allow_local_webhooks(setup(&model)).database(&url, "b").start().await;
    paused(&other).await;
    let received = sink.wait_for(1).await.remove(0);
    assert_eq!(received.header("x-webhook-signature"), data_encoding::HEXLOWER.encode(&hmac(&received.body)));
}

/// A node may crash between storing a webhook and appending its event, or between the event of a removal and the
/// removal itself. Both leave a database row, which the next start removes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_crash_left_of_a_webhook_is_swept() {
    let (model, sink, url) = (model().await, WebhookSink::start().await, database().await);
    let mut one = allow_local_webhooks(setup(&model)).database(&url, "a").start().await;
    let hook = register(&one, &sink, json!({})).await;
    let known = format!("webhooks/{}", hook["id"].as_str().unwrap());
    one.kill();
    let [past, recent] = leave_behind(&url, &known).await;
    one.start().await;
    let left = eventually("what no event follows is forgotten", async || {
        let names = sql(&url, NAMES).await;
        (!names.contains(&past)).then_some(names)
    })
    .await;
    // A recent row stays, because a different node may be about to append its event.
    assert!(left.contains(&known) && left.contains(&recent), "{left}");
    paused(&one).await;
    sink.wait_for(1).await;
}

/// At its start, a single server removes webhooks without an event from its file, because no other process writes the
/// file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_crash_left_in_the_file_is_swept() {
    let (model, sink) = (model().await, WebhookSink::start().await);
    let mut server = allow_local_webhooks(setup(&model)).start().await;
    let hook = register(&server, &sink, json!({})).await;
    server.kill();
    let file = server.data().join("webhooks.json");
    let read = || serde_json::from_str::<Value>(&fs::read_to_string(&file).unwrap()).unwrap();
    let before = read();
    let mut with = before.clone();
    with["whk_01k6f0000000000000000000aa"] = before[hook["id"].as_str().unwrap()].clone();
    fs::write(&file, with.to_string()).unwrap();
    server.start().await;
    eventually("what no event follows is forgotten", async || (read() == before).then_some(())).await;
    paused(&server).await;
    sink.wait_for(1).await;
}
