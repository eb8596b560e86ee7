//! Requests that are repeated with the same idempotency key, and are carried out once.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Api, Served, ok, question, read, refusal};

async fn keyed(api: &Api, path: &str, key: &str, body: &str) -> (u16, Option<String>, Value) {
    let request = api.request(Method::POST, path).header("idempotency-key", key);
    let response =
        request.header("content-type", "application/json").body(body.to_owned()).send().await.unwrap();
    let replayed =
        response.headers().get("idempotency-replayed").map(|value| value.to_str().unwrap().to_owned());
    let (status, body) = read(response).await;
    (status, replayed, body)
}

#[tokio::test]
async fn a_repeated_question_is_asked_once() {
    let served = Served::new().await;
    let agent = served.agent();
    let body = question().to_string();
    let (status, replayed, first) = keyed(&agent, "/v1/interrupts", "k 1", &body).await;
    assert_eq!((status, replayed), (201, None));
    // White space and the order of members do not matter.
    let spaced = serde_json::to_string_pretty(&question()).unwrap();
    let (status, replayed, second) = keyed(&agent, "/v1/interrupts", "k 1", &spaced).await;
    assert_eq!((status, replayed.as_deref(), &second), (201, Some("true"), &first));

    let other = json!({"kind": "question", "title": "another"}).to_string();
    let (status, _, said) = keyed(&agent, "/v1/interrupts", "k 1", &other).await;
    assert_eq!((status, &said["code"]), (422, &json!("idempotency_key_reused")));

    // With a different actor, route or key, the request is a new request.
    let (status, replayed, _) = keyed(&served.operator(), "/v1/interrupts", "k 1", &body).await;
    assert_eq!((status, replayed), (201, None));
    let run = json!({"workflow": "external"}).to_string();
    let (status, replayed, started) = keyed(&agent, "/v1/runs", "k 1", &run).await;
    assert_eq!((status, replayed), (201, None));

    // Keys survive a restart. The response contains the current state of the resource.
    ok(served.operator().decide(&first, &json!({"option": "approve"})).await);
    let served = served.restart().await;
    let (status, replayed, third) = keyed(&served.agent(), "/v1/interrupts", "k 1", &body).await;
    assert_eq!((status, replayed.as_deref(), &third["id"]), (201, Some("true"), &first["id"]));
    assert_eq!(third["status"], "resolved");
    let (_, replayed, run) = keyed(&served.agent(), "/v1/runs", "k 1", &run).await;
    assert_eq!((replayed.as_deref(), &run), (Some("true"), &started));
}

#[tokio::test]
async fn the_same_key_at_once_makes_one() {
    let served = Served::new().await;
    let body = question().to_string();
    let asks = (0..8).map(|_| {
        let (agent, body) = (served.agent(), body.clone());
        tokio::spawn(async move { keyed(&agent, "/v1/interrupts", "at once", &body).await })
    });
    let mut ids = Vec::new();
    let mut replays = 0;
    for asked in asks.collect::<Vec<_>>() {
        let (status, replayed, said) = asked.await.unwrap();
        assert_eq!(status, 201, "{said}");
        replays += usize::from(replayed.is_some());
        ids.push(said["id"].clone());
    }
    ids.dedup();
    assert_eq!((ids.len(), replays), (1, 7));
    let listed = ok(served.operator().get("/v1/interrupts").await);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_key_has_a_length() {
    let served = Served::new().await;
    let agent = served.agent();
    for key in [String::new(), " ".to_owned(), "x".repeat(256)] {
        let request = agent.request(Method::POST, "/v1/interrupts").header("idempotency-key", &key);
        let said = crate::harness::send_request(request.json(&question())).await;
        assert_eq!(refusal(&said), (400, "invalid_header", vec![]), "{key:?}");
    }
    let longest = "x".repeat(255);
    assert_eq!(keyed(&agent, "/v1/interrupts", &longest, &question().to_string()).await.0, 201);
}

#[tokio::test]
async fn a_refused_request_does_not_use_its_key_up() {
    let served = Served::new().await;
    let agent = served.agent();
    let wrong = json!({"kind": "question", "title": ""}).to_string();
    assert_eq!(keyed(&agent, "/v1/interrupts", "k", &wrong).await.0, 422);
    assert_eq!(keyed(&agent, "/v1/interrupts", "k", &question().to_string()).await.0, 201);
}
