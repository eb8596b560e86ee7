//! Invalid requests change nothing. Each response has a status, and a `detail` in plain words (case 42).

use reqwest::Method;
use serde_json::json;

use super::{BASE, ask, get, key, paused, post, server, wait_state};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_requests_are_told_in_words_and_change_nothing() {
    let (_model, server) = server().await;
    let (task, _) = paused(&server).await;
    let resume = format!("/crew/resume/{task}");
    let table = [
        ("/crew/run", json!({}), 422),
        ("/crew/run", json!({"crew_name": 5}), 422),
        // The OpenAPI document does not cover this edge, so the response refers to the header `Allow` instead.
        ("/crew/agents", json!({}), 405),
        ("/crew/run", json!({"crew_name": "fraud", "inputs": []}), 422),
        ("/crew/run", json!({"crew_name": "fraud", "asynch": true}), 422),
        ("/crew/run", json!({"crew_name": "external"}), 404),
        ("/crew/run", json!({"crew_name": ""}), 404),
        ("/crew/run", json!({"crew_name": "ä".repeat(10_000)}), 404),
        (&resume, json!({"status": "maybe"}), 422),
        (&resume, json!({"status": "Approved"}), 422),
        (&resume, json!({"status": true}), 422),
        (&resume, json!({}), 422),
        (&resume, json!({"status": "approved", "comments": 5}), 422),
        (&resume, json!({"status": "approved", "reviewer": "x".repeat(300)}), 422),
        ("/crew/resume/none", json!({"status": "approved"}), 404),
        ("/crew/resume/REV-01K6F0000000000000000000CC", json!({"status": "approved"}), 404),
        ("/webhooks/callback/REV-01K6F0000000000000000000CC", json!({"status": "approved"}), 404),
        ("/webhooks/callback/none", json!({"status": "approved"}), 404),
    ];
    for (path, body, expected) in table {
        let (status, told) = post(&server, path, &body).await;
        assert_eq!(status, expected, "{path} {body}: {told}");
        let detail = told["detail"].as_str().unwrap_or_default();
        assert!((1..2_000).contains(&detail.len()) && !detail.contains("openapi"), "{told}");
    }
    let body = json!({"status": "approved", "comments": "x".repeat(70_000)});
    let (status, told) = post(&server, &resume, &body).await;
    assert_eq!((status, &told["errors"][0]["pointer"]), (422, &json!("/comments")), "{told}");
    assert!(told["detail"].as_str().unwrap().starts_with("/comments is longer than"), "{told}");
    for path in [
        "/crew/tasks?state=odd",
        "/crew/tasks?stat=paused",
        "/crew/reviews?status=odd",
        "/crew/agents?crew=fraud",
        "/crew/tasks?limit=0",
    ] {
        assert_eq!(server.get(&format!("{BASE}{path}")).await.status, 400, "{path}");
    }
    let raw =
        server.request(Method::POST, &format!("{BASE}{resume}")).header("content-type", "application/json");
    assert_eq!(server.send(raw.body("{\"status\": ")).await.status, 400);
    assert_eq!(get(&server, &format!("/crew/status/{task}")).await["status"], "PAUSED");
    assert_eq!(server.events_of(&task, "decision_made").await.len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_42_a_task_in_the_wrong_state() {
    let (model, server) = server().await;
    let service = key(&server, "watcher", "agent").await;
    let findings = json!({"findings": ["x", {"rule": "S-1"}], "risk_level": "low"});
    let pause = async |task: &str, body: &serde_json::Value| {
        ask(&server, &service, Method::POST, &format!("/crew/pause/{task}"), Some(body)).await
    };
    model.script("nlq_translator", vec![holdshort_testkit::model::Scripted::hang()]);
    let (_, run) = post(&server, "/crew/run", &json!({"crew_name": "fraud", "async_execution": true})).await;
    let task = run["task_id"].as_str().unwrap();
    wait_state(&server, task, "RUNNING").await;
    let (status, told) = post(&server, &format!("/crew/resume/{task}"), &json!({"status": "approved"})).await;
    assert_eq!(status, 409, "{told}");
    assert_eq!(server.get(&format!("{BASE}/crew/review/{task}")).await.status, 404);
    for (body, expected) in [
        (json!({"findings": "x", "risk_level": "odd"}), 422),
        (json!({"findings": "", "risk_level": "low"}), 422),
        (json!({"findings": {}, "risk_level": "low"}), 422),
        (json!({"findings": [], "risk_level": "low"}), 422),
        (json!({"findings": [""], "risk_level": "low"}), 422),
        (json!({"findings": 0, "risk_level": "low"}), 422),
        (json!({"findings": false, "risk_level": "low"}), 422),
        (json!({"risk_level": "low"}), 422),
        (json!({"findings": "x", "risk_level": "low", "more": 1}), 422),
    ] {
        assert_eq!(pause(task, &body).await.0, expected, "{body}");
    }
    let (status, first) = pause(task, &findings).await;
    assert_eq!((status, &first["success"]), (200, &json!(true)), "{first}");
    let (status, again) = pause(task, &findings).await;
    assert_eq!((status, &again["success"]), (200, &json!(false)));
    assert_eq!(again["review_id"], first["review_id"]);
    let shown = get(&server, &format!("/crew/review/{task}")).await;
    assert_eq!(
        shown["findings"], "x\n{\"rule\":\"S-1\"}",
        "a text, whatever was sent: its form draws nothing else"
    );
    post(&server, &format!("/crew/resume/{task}"), &json!({"status": "rejected"})).await;
    let (status, told) = pause(task, &findings).await;
    assert_eq!(status, 409, "{told}");
    assert_eq!(pause("none", &findings).await.0, 404);
}
