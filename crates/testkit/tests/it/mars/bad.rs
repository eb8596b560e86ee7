//! Invalid messages return an error frame with a JSON pointer. The connection stays open, and the run does not change.

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use super::{Mars, around_steps, error_summary, first, plan, planned};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn before_a_task_there_is_nothing_to_do() {
    let (_model, server) = planned(&[plan(&[("build", "engineer")])]).await;
    let mut mars = Mars::connect(&server, "t1").await;
    for frame in [json!({"type": "pause"}), json!({"type": "request_state", "since": 1})] {
        assert_eq!(mars.refused(&frame).await["error_type"], "not_found", "{frame}");
    }
    mars.say(&json!({"type": "ping"})).await;
    mars.wait("pong").await;
    for task in ["", "  \n"] {
        assert_eq!(
            error_summary(&mars.refused(&first(&server, task, json!({}))).await),
            ("invalid_request", "/task")
        );
    }
    let table = [
        (json!({"mode": "planing"}), "/config/mode"),
        (json!({"max_rouns": 5}), "/config/max_rouns"),
        (
            json!({"mode": "planning-control", "step_number": 2, "execute_all_steps": true}),
            "/config/execute_all_steps",
        ),
        (json!({"conversational": "true"}), "/config/conversational"),
        (json!({"sessionId": "ses_nobody"}), "/config/sessionId"),
        // A timeout never approves a step, so `default_on_timeout: approve` is refused.
        (
            json!({"approval_mode": "before_step", "default_on_timeout": "approve"}),
            "/config/default_on_timeout",
        ),
        (
            json!({"phases": [{"type": "one_shot", "config": {"default_on_timeout": "approve"}}]}),
            "/config/phases/0/config/default_on_timeout",
        ),
    ];
    for (config, pointer) in table {
        let refused = mars.refused(&first(&server, "Build it.", config.clone())).await;
        let named = refused["errors"].to_string().contains(&format!("\"{pointer}\""));
        assert!(named || refused["error_type"] == "unknown_session", "{config}: {refused}");
    }
    mars.send(Message::text("{no json")).await;
    assert_eq!(mars.wait("error_occurred").await["error_type"], "malformed_json");
    mars.send(Message::binary(vec![1, 2, 3])).await;
    assert_eq!(mars.wait("error_occurred").await["error_type"], "malformed_json");
    assert_eq!(server.get("/v1/runs").await.ok()["items"], json!([]), "nothing was started");
    // The connection still works after the errors.
    mars.say(&first(&server, "Build it.", json!({"mode": "planning-control", "n_plan_reviews": 0}))).await;
    mars.wait("workflow_completed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_that_does_not_fit_leaves_the_request_open() {
    let (_model, server) = planned(&[plan(&[("build", "engineer")])]).await;
    let config = around_steps("before_step");
    let mut mars = Mars::start(&server, "t1", "Build it.", config.clone()).await;
    let asked = mars.wait_for_request().await;
    let id = &asked["approval_id"];
    let table = [
        (json!({"approval_id": "nonsense", "resolution": "approve"}), "not_found", ""),
        (json!({"approval_id": "int_01k6f0000000000000000000cc", "resolution": "approve"}), "not_found", ""),
        (json!({"approval_id": id, "resolution": "revise"}), "invalid_request", "/resolution"),
        (json!({"approval_id": id, "resolution": "maybe"}), "invalid_request", "/resolution"),
        (json!({"approval_id": id}), "invalid_request", "/resolution"),
        (
            json!({"approval_id": id, "resolution": "approve", "approved": false}),
            "invalid_request",
            "/approved",
        ),
        (
            json!({"approval_id": id, "resolution": "skip", "modifications": {"a": 1}}),
            "invalid_request",
            "/modifications",
        ),
        (json!({"approval_id": id, "resolution": "approve", "feedback": 5}), "invalid_request", "/feedback"),
        (
            json!({"approval_id": id, "resolution": "approve", "feedback": "a", "user_feedback": "b"}),
            "invalid_request",
            "/user_feedback",
        ),
        (json!({"approval_id": id, "resolution": "approve", "comment": "a"}), "invalid_request", "/comment"),
        (
            json!({"approval_id": id, "resolution": "approve", "feedback": "x".repeat(70_000)}),
            "invalid_request",
            "/feedback",
        ),
    ];
    for (mut frame, code, pointer) in table {
        frame["type"] = json!("resolve_approval");
        let refused = mars.refused(&frame).await;
        let shown: String = frame.to_string().chars().take(120).collect();
        assert_eq!(error_summary(&refused), (code, pointer), "{shown}: {refused}");
        assert_eq!(refused["in_reply_to"], "resolve_approval");
    }
    assert_eq!(server.wait_one(&mars.run()).await["id"], *id, "it is still open");
    let refused = mars.refused(&json!({"type": "cancel", "reason": "x".repeat(70_000)})).await;
    assert_eq!(error_summary(&refused), ("invalid_request", "/reason"), "{refused}");
    assert!(refused["message"].as_str().unwrap().starts_with("/reason "), "{refused}");

    // The approval id of a different task is refused.
    let mut other = Mars::start(&server, "t2", "Build it.", config).await;
    let foreign = other.wait_for_request().await;
    let frame =
        json!({"type": "resolve_approval", "approval_id": foreign["approval_id"], "resolution": "approve"});
    assert_eq!(mars.refused(&frame).await["error_type"], "not_found");
    mars.resolve(&asked, "approve", json!({})).await;
    mars.wait("workflow_completed").await;
}

/// The token is accepted in three places of a request, and is required. Agent tokens and pages of other origins are
/// refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_open_one() {
    type Headers<'a> = &'a [(&'static str, &'a str)];
    let (_model, server) = planned(&[]).await;
    let (token, agent) = (server.token().to_owned(), server.agent_token().to_owned());
    let path = "/edges/mars/ws/t1";
    let bearer = format!("Bearer {token}");
    let query = format!("{path}?token={token}");
    let table: [(&str, Headers<'_>, Option<u16>); 10] = [
        (path, &[("authorization", &bearer)], None),
        (path, &[("x-internal-auth", &token)], None),
        (&query, &[], None),
        (path, &[], Some(401)),
        (&query, &[("x-internal-auth", &token)], Some(401)),
        (path, &[("x-internal-auth", "wrong")], Some(401)),
        ("/edges/mars/ws/t1?token=wrong", &[], Some(401)),
        (path, &[("x-internal-auth", &agent)], Some(403)),
        (&query, &[("origin", "http://evil.example")], Some(403)),
        (&query, &[("host", "evil.example")], Some(421)),
    ];
    for (path, headers, refused) in table {
        let opened = Mars::open(&server, path, headers).await;
        assert_eq!(opened.map(|_| ()).err(), refused, "{headers:?}");
    }
    let long = format!("/edges/mars/ws/{}?token={token}", "x".repeat(300));
    assert_eq!(Mars::open(&server, &long, &[]).await.map(|_| ()).err(), Some(404));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_beyond_the_limit_ends_the_connection() {
    let (_model, server) = planned(&[]).await;
    let mut mars = Mars::connect(&server, "t1").await;
    mars.say(&json!({"task": "x".repeat(1_100_000)})).await;
    assert_eq!(mars.receive().await.err(), Some(Some(1009)));
}
