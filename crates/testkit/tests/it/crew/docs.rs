//! Tests of `docs/reference/edges/crew.md`: its examples are valid, and its routes exist.

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
    let sent = examples("## Messages from a client");
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
    let shown = examples("## Messages to a client");
    assert_eq!(shown.len(), heard.len());
    for (shown, heard) in shown.iter().zip(&heard) {
        assert_eq!(members(shown), members(heard), "{heard:#}");
    }
    let told = sink.wait_for(1).await[0].json();
    assert_eq!(members(&examples("## Webhooks")[0]), members(&told), "{told:#}");
}

const PAGE: &str = include_str!("../../../../../docs/reference/edges/crew.md");

/// Extracts every route of the crew edge from the source code, for example `GET /crew`.
fn routed() -> BTreeSet<String> {
    let source = include_str!("../../../../edges/src/crew/mod.rs");
    let mut routes = BTreeSet::new();
    for route in source.split(".route(").skip(1) {
        let path = route.split('"').nth(1).expect("a path");
        let known = [("get(", "GET"), ("post(", "POST"), ("delete(", "DELETE")];
        let methods: Vec<&str> =
            known.iter().filter(|(call, _)| route.contains(call)).map(|(_, method)| *method).collect();
        assert!(!methods.is_empty(), "{path}: by which method?");
        routes.extend(methods.iter().map(|method| format!("{method} {path}")));
    }
    routes
}

/// Returns each code span of the page about the crew edge, without query and base path.
fn code_spans() -> impl Iterator<Item = &'static str> {
    let code = PAGE.split('`').skip(1).step_by(2);
    let code = code.map(|code| code.split('?').next().unwrap_or_default().trim());
    code.map(|code| {
        let path = code.strip_prefix("/edges/crew").unwrap_or(code);
        path.strip_prefix("/api/v1").unwrap_or(path)
    })
}

/// The page about the crew edge names each route with its method, and names no route that does not exist.
#[test]
fn every_route_is_there() {
    let routed = routed();
    let is_route =
        |code: &&str| ["GET /", "POST /", "DELETE /"].iter().any(|begins| code.starts_with(begins));
    let documented: BTreeSet<String> = code_spans().filter(is_route).map(str::to_owned).collect();
    assert_eq!(documented, routed);
    let paths: BTreeSet<&str> = routed.iter().filter_map(|route| Some(route.split_once(' ')?.1)).collect();
    let roots = ["/crew", "/webhooks", "/ws"];
    let is_path = |code: &&str| roots.iter().any(|root| code.starts_with(root));
    for path in code_spans().filter(is_path) {
        let begins = format!("{path}/");
        assert!(paths.iter().any(|known| *known == path || known.starts_with(&begins)), "{path}");
    }
}

/// The crew edge serves all lists under both of its base paths.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_list_is_answered() {
    let model = model().await;
    let server = setup(&model).start().await;
    for route in routed().iter().filter(|route| !route.contains('{')) {
        let Some(path) = route.strip_prefix("GET ") else { continue };
        for base in [BASE, "/edges/crew"] {
            assert_eq!(server.get(&format!("{base}{path}")).await.status, 200, "{base}{path}");
        }
    }
}
