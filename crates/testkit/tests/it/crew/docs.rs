//! `docs/reference/edges/crew.md` keeps its word: what it shows is understood, or is what comes.

use std::collections::BTreeSet;

use holdshort_testkit::sink::WebhookSink;
use serde_json::{Value, json};

use super::{BASE, get, key, model, post, setup};

fn examples(part: &str) -> Vec<Value> {
    crate::docs::json_of("docs/reference/edges/crew.md", part)
}

fn members(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_shown_is_understood_and_is_what_comes() {
    let (model, sink) = (model().await, WebhookSink::start().await);
    let server = setup(&model).env("WEBHOOK_ALLOW_NETWORKS", "127.0.0.0/8").start().await;
    let sent = examples("## What a client sends");
    let [run, hold, decision, hook, link] = &sent[..] else { panic!("five examples") };

    let mut hook = hook.clone();
    hook["url"] = sink.url("/hook").into();
    assert_eq!(post(&server, "/webhooks/register", &hook).await.0, 201);
    let mut run = run.clone();
    run["crew_name"] = "fraud".into();
    let (_, begun) = post(&server, "/crew/run", &run).await;
    let task = begun["task_id"].as_str().unwrap();
    let status = get(&server, &format!("/crew/status/{task}")).await;
    let review = get(&server, &format!("/crew/review/{task}")).await;
    let id = review["review_id"].as_str().unwrap();
    assert_eq!(post(&server, &format!("/webhooks/callback/{id}/links"), link).await.0, 201);
    let service = key(&server, "watcher", "agent").await;
    let path = format!("/crew/pause/{task}");
    let paused = super::ask(&server, &service, reqwest::Method::POST, &path, Some(hold)).await;
    assert_eq!((paused.0, &paused.1["success"]), (200, &json!(false)), "it is paused already");
    let mut given = decision.clone();
    given["reviewer"] = "operator".into();
    given["review_id"] = review["review_id"].clone();
    let (_, decided) = post(&server, &format!("/crew/resume/{task}"), &given).await;

    let heard = [begun, status, review, decided];
    let shown = examples("## What a client hears");
    assert_eq!(shown.len(), heard.len());
    for (shown, heard) in shown.iter().zip(&heard) {
        assert_eq!(members(shown), members(heard), "{heard:#}");
    }
    let told = sink.wait_for(1).await[0].json();
    assert_eq!(members(&examples("## Webhooks")[0]), members(&told), "{told:#}");
}

/// Each route that the page names is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_is_there() {
    let model = model().await;
    let server = setup(&model).start().await;
    let page = include_str!("../../../../../docs/reference/edges/crew.md");
    for path in ["/crew", "/crew/crews", "/crew/agents", "/crew/reviews", "/crew/tasks", "/webhooks"] {
        assert!(page.contains(path), "{path}");
        assert_eq!(server.get(&format!("{BASE}{path}")).await.status, 200, "{path}");
    }
}
