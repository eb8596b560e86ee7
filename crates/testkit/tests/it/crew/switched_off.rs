//! `HITL_ENABLED=false` is recorded in every run that continues without a review because of it (contract E20). Also
//! tests the other environment variables (D5).

use holdshort_testkit::server::TestServer;
use reqwest::Method;
use serde_json::json;

use super::{ask, get, key, model, post, setup};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn switched_off_nothing_pauses_and_the_journal_says_so() {
    let model = model().await;
    let server = setup(&model).env("HITL_ENABLED", "false").start().await;
    let (status, run) = post(&server, "/crew/run", &json!({"crew_name": "fraud"})).await;
    assert_eq!((status, &run["status"]), (200, &json!("completed")), "{run}");
    assert_eq!(run["bypassed"], true, "{run}");
    let task = run["task_id"].as_str().unwrap();
    assert_eq!(get(&server, &format!("/crew/status/{task}")).await["bypassed"], true);
    let started = &server.events_of(task, "run_started").await[0];
    assert!(started.to_string().contains("\"unreviewed\":true"), "{started}");
    let resolved = &server.events_of(task, "interrupt_resolved").await[0];
    assert!(resolved.to_string().contains("unasked"), "{resolved}");
    assert_eq!(resolved["actor"]["role"], "engine");
    let review = get(&server, &format!("/crew/review/{task}")).await;
    let told = json!([review["status"], review["responses"], review["bypassed"]]);
    assert_eq!(told, json!(["approved", [], true]), "nobody looked: {review}");

    // A service that requests a pause gets the status `bypassed`, and the service's findings are stored.
    model.script("nlq_translator", vec![holdshort_testkit::model::Scripted::hang()]);
    let (_, run) = post(&server, "/crew/run", &json!({"crew_name": "fraud", "async_execution": true})).await;
    let task = run["task_id"].as_str().unwrap();
    let service = key(&server, "watcher", "agent").await;
    let findings = json!({"findings": "sanctions", "risk_level": "critical"});
    let (status, told) =
        ask(&server, &service, Method::POST, &format!("/crew/pause/{task}"), Some(&findings)).await;
    assert_eq!(
        (status, &told["success"], &told["status"]),
        (200, &json!(false), &json!("bypassed")),
        "{told}"
    );
    assert_eq!(get(&server, &format!("/crew/status/{task}")).await["status"], "RUNNING");
    assert_eq!(server.events_of(task, "interrupt_opened").await.len(), 1);
    server.wait_for_log("HITL_ENABLED is false").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_review_expires_as_the_environment_says_and_a_notice_tells_what_does_nothing() {
    let model = model().await;
    let server =
        setup(&model).env("DEFAULT_REVIEW_EXPIRY_MINUTES", "7").env("REQUIRE_NEO4J", "true").start().await;
    let (_, run) = post(&server, "/crew/run", &json!({"crew_name": "fraud"})).await;
    let task = run["task_id"].as_str().unwrap();
    let review = get(&server, &format!("/crew/review/{task}")).await;
    let opened = &server.events_of(task, "interrupt_opened").await[0];
    let minutes = |text: &serde_json::Value| {
        let text = text.as_str().unwrap();
        let clock: Vec<u32> = text[11..16].split(':').map(|part| part.parse().unwrap()).collect();
        clock[0] * 60 + clock[1]
    };
    let waits = (minutes(&review["expires_at"]) + 24 * 60 - minutes(&opened["at"])) % (24 * 60);
    assert_eq!(waits, 7, "{review}");
    server.wait_for_log("REQUIRE_NEO4J").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_does_not_start_with_a_misspelt_switch() {
    let mut server = TestServer::setup().env("HITL_ENABLED", "flase").stopped();
    let status = server.try_start().await.unwrap_err();
    assert_eq!(status.code(), Some(2));
    server.wait_for_log("HITL_ENABLED").await;
}
