//! SIGKILL and a new start. Clients see no change, and all work continues.

use holdshort_core::time::Timestamp;
use holdshort_testkit::model::Scripted;
use holdshort_testkit::server::{Setup, eventually};
use serde_json::json;

use crate::play::{SOLO, ask, count, done, one, play, solo};

#[tokio::test]
async fn what_waits_waits_on_and_the_decision_resumes() {
    let (model, mut server) = solo([one(count("one")), one(ask("Which?")), done()]).await;
    let run = server.start_run("solo", "count").await;
    let shown = server.wait_one(&run).await;
    let before = (server.run(&run).await, server.events(&run).await);
    server.restart().await;
    assert_eq!((server.run(&run).await, server.events(&run).await), before);
    assert_eq!(server.wait_one(&run).await, shown);
    assert_eq!((model.requests().len(), server.lines("count.txt")), (1, 0));

    server.choose(&shown, "approve").await;
    let question = server.wait_one(&run).await;
    server.restart().await;
    // The approval from before the kill is valid. A different decision is too late.
    let again = server.choose(&shown, "approve").await;
    assert_eq!(again["resolution"]["outcome"], "approved");
    assert_eq!(server.decide(&shown, &json!({"option": "reject"})).await.status, 409);
    server.decide(&question, &json!({"option": "answer", "text": "this"})).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert_eq!((model.requests().len(), server.lines("count.txt")), (3, 1));
    let finished = server.run(&run).await;
    server.restart().await;
    assert_eq!(server.run(&run).await, finished);
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}

#[tokio::test]
async fn a_stream_goes_on_after_a_restart_where_it_was() {
    let (_model, mut server) = solo([one(count("one")), done()]).await;
    let run = server.start_run("solo", "count").await;
    let shown = server.wait_one(&run).await;
    let seen = server.events(&run).await.len();
    let mut streamed = server.stream(&run, None, seen - 2).await;
    assert_eq!(streamed.len(), seen - 2);
    server.restart().await;
    let last = streamed.last().unwrap().0;
    server.choose(&shown, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    // The stream ends by itself when the run ends.
    streamed.extend(server.stream(&run, Some(last), usize::MAX).await);
    let events = server.events(&run).await;
    assert_eq!(streamed.len(), events.len());
    for ((id, data), event) in streamed.iter().zip(&events) {
        assert_eq!((json!(id), &data["type"]), (event["seq"].clone(), &event["type"]));
    }
}

#[tokio::test]
async fn a_repeated_start_is_the_same_run_also_after_a_restart() {
    let (_model, mut server) = solo([one(count("one")), done()]).await;
    let body = server.run_body("solo", "count");
    let start = |server: &holdshort_testkit::server::TestServer| {
        server.request(reqwest::Method::POST, "/v1/runs").header("idempotency-key", "k1").json(&body)
    };
    let first = server.send(start(&server)).await.ok();
    server.restart().await;
    let again = server.send(start(&server)).await.ok();
    assert_eq!(first["id"], again["id"]);
    let other = server.request(reqwest::Method::POST, "/v1/runs").header("idempotency-key", "k1");
    let other = server.send(other.json(&server.run_body("solo", "something else"))).await;
    assert_eq!(other.refusal(), (422, "idempotency_key_reused"));
    assert_eq!(server.get("/v1/runs").await.ok()["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_leaves_nothing_undone() {
    let (model, mut server) = solo([Scripted::Hang(Box::new(one(count("one")))), done()]).await;
    let run = server.start_run("solo", "count").await;
    model.wait_for_requests(1).await;
    assert_eq!(server.stop().await.code(), Some(0));
    model.release();
    server.start().await;
    let shown = server.wait_one(&run).await;
    server.choose(&shown, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.lines("count.txt"), 1);
    server.events(&run).await;
}

#[tokio::test]
async fn what_expires_while_the_server_is_down_has_expired_when_it_is_back() {
    let workflow = SOLO.replace("gates:\n", "gates:\n  tool_approval: {expires_in: 1s}\n");
    let (model, mut server) = play(&workflow, [one(count("one")), done()]).await;
    let run = server.start_run("solo", "count").await;
    let shown = server.wait_one(&run).await;
    let expires_at = shown["expires_at"].as_str().unwrap().to_owned();
    server.kill();
    let is_over = async || {
        let now: Timestamp = holdshort_engine::Clock::now(&holdshort_engine::SystemClock);
        (now.to_string() > expires_at).then_some(())
    };
    eventually("its time is over", is_over).await;
    server.start().await;
    server.wait_status(&run, &["completed"]).await;
    let resolution = server.interrupt(shown["id"].as_str().unwrap()).await["resolution"].clone();
    assert_eq!((&resolution["outcome"], &resolution["cause"]), (&json!("expired"), &json!("expiry")));
    assert_eq!(server.decide(&shown, &json!({"option": "approve"})).await.refusal(), (410, "expired"));
    assert_eq!((server.lines("count.txt"), model.requests().len()), (0, 2));
    server.events(&run).await;
}

#[tokio::test]
async fn a_freeze_outlives_a_restart() {
    let (model, mut server) = solo([one(count("one")), done()]).await;
    let run = server.start_run("solo", "count").await;
    let shown = server.wait_one(&run).await;
    server.post("/v1/system/freeze", &json!({"reason": "a look"})).await.ok();
    server.choose(&shown, "approve").await;
    let fresh = server.start_run("solo", "count").await;
    server.restart().await;
    assert_eq!(server.get("/v1/system").await.ok()["frozen"], true);
    assert_eq!((server.lines("count.txt"), model.requests().len()), (0, 1));
    server.post("/v1/system/unfreeze", &json!({})).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.lines("count.txt"), 1);
    server.wait_one(&fresh).await;
    server.events(&run).await;
}

#[tokio::test]
async fn large_contents_are_as_they_were() {
    // The text is large enough to be stored as a separate blob, and small enough to be sent completely to a model with
    // an unknown context window.
    let large = "0123456789abcdef\n".repeat(8_000);
    let arguments = json!({"path": "large.txt", "content": large});
    let (model, mut server) = solo([one(("write_file", arguments.clone())), done()]).await;
    let run = server.start_run("solo", "write").await;
    let shown = server.wait_one(&run).await;
    assert_eq!(shown["payload"]["arguments"], arguments);
    server.restart().await;
    assert_eq!(server.wait_one(&run).await, shown);
    server.choose(&shown, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(std::fs::read_to_string(server.workspace().join("large.txt")).unwrap(), large);
    assert!(model.requests()[1].body.to_string().len() > large.len());
    server.restart().await;
    server.events(&run).await;
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}

#[tokio::test]
async fn a_run_whose_model_is_not_there_waits_for_it() {
    let (model, mut server) = solo([one(count("one")), done()]).await;
    let run = server.start_run("solo", "count").await;
    let shown = server.wait_one(&run).await;
    server.kill();
    server.change(Setup::without_model);
    server.start().await;
    server.choose(&shown, "approve").await;
    // Wait for the event, because a kill before the event would raise a question about the call's outcome.
    let finished = async || (!server.events_of(&run, "tool_finished").await.is_empty()).then_some(());
    eventually("the approved call to run", finished).await;
    assert_eq!(server.run(&run).await["status"], "running");
    assert_eq!(model.requests().len(), 1);

    server.kill();
    server.change(|setup| setup.model(&model));
    server.start().await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!((model.requests().len(), server.lines("count.txt")), (2, 1));
}
