//! Tests of `docs/reference/edges/mars.md`: the server accepts each message that the page shows, and sends frames like
//! those that the page shows.

use std::collections::BTreeMap;

use holdshort_testkit::model::Scripted;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Mars, plan, planned};
use crate::play::{count, done, one, write};

fn examples(part: &str) -> Vec<Value> {
    crate::docs::json_of("docs/reference/edges/mars.md", part)
}

/// Returns true if both values have the same fields. The contents of `context`, `config` and `result` are not compared.
fn alike(shown: &Value, real: &Value) -> bool {
    match (shown, real) {
        (Value::Object(shown), Value::Object(real)) => {
            shown.keys().eq(real.keys())
                && shown.iter().all(|(key, shown)| {
                    ["context", "config", "result", "arguments"].contains(&&**key) || alike(shown, &real[key])
                })
        }
        (Value::Array(shown), Value::Array(real)) => match (shown.first(), real.first()) {
            (Some(shown), Some(real)) => alike(shown, real),
            (None, _) | (_, None) => true,
        },
        _ => true,
    }
}

/// The server accepts each message of the page. A refusal is expected only because the approval does not exist.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_client_sends_is_understood() {
    let (_model, server) = planned(&[]).await;
    let shown = examples("## Messages from a client");
    let types: Vec<&str> = shown.iter().map(|frame| frame["type"].as_str().unwrap_or("")).collect();
    assert_eq!(
        types,
        [
            "",
            "ping",
            "resolve_approval",
            "resolve_approval",
            "approval_response",
            "pause",
            "resume",
            "cancel",
            "request_state"
        ]
    );
    for (i, mut frame) in shown.into_iter().enumerate() {
        let mut mars = Mars::connect(&server, &format!("t{i}")).await;
        if frame["type"].is_null() {
            frame["config"]["work_dir"] = json!(server.workspace());
            mars.say(&frame).await;
            assert_eq!(mars.next().await["event_type"], "status", "{frame}");
        } else if frame["type"] == "ping" {
            mars.say(&frame).await;
            mars.wait("pong").await;
        } else {
            assert_eq!(mars.refused(&frame).await["error_type"], "not_found", "{frame}");
        }
    }
}

/// The tests receive each type of frame, and every example of the page has the fields of a real frame.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_client_hears_is_what_is_shown() {
    let (model, server) = planned(&[plan(&[("build", "engineer")]), plan(&[("build", "engineer")])]).await;
    let fails = one(("run_command", json!({"command": "false"})));
    model.script("engineer", [fails, one(count("step")), done(), one(count("step")), done()]);
    let mut heard = Vec::new();
    let config = json!({"mode": "hitl-interactive", "n_plan_reviews": 0, "max_human_iterations": 2});
    let mut mars = Mars::start(&server, "t1", "Build it.", config).await;
    let asked = mars.wait_for_request().await;
    mars.refused(
        &json!({"type": "resolve_approval", "approval_id": asked["approval_id"], "resolution": "skip"}),
    )
    .await;
    mars.say(&json!({"type": "ping"})).await;
    mars.wait("pong").await;
    mars.say(&json!({"type": "pause"})).await;
    mars.wait("workflow_paused").await;
    mars.say(&json!({"type": "resume"})).await;
    mars.wait("workflow_resumed").await;
    mars.resolve(&asked, "revise", json!({"feedback": "add tests"})).await;
    let asked = mars.wait_for_request().await;
    mars.resolve(&asked, "approve", json!({})).await;
    let before = mars.wait_for_request().await;
    // A person adds a step to the running plan.
    let run = mars.run();
    let plans = server.get(&format!("/v1/runs/{run}/plans")).await.ok();
    let phase = plans["items"][0]["phase"].as_str().unwrap();
    let more = json!({"subtasks": [
        {"id": "s1", "description": "build\n- carefully", "agent": "engineer"},
        {"id": "s2", "description": "skip me", "depends_on": ["s1"]},
    ]});
    let put = server.request(Method::PUT, &format!("/v1/runs/{run}/plans/{phase}"));
    server.send(put.json(&json!({"plan": more}))).await.ok();
    let newer = mars.wait_for_request().await;
    mars.resolve(&newer, "approve", json!({})).await;
    mars.wait("dag_updated").await;
    mars.resolve(&before, "approve", json!({"feedback": "only the fast ones"})).await;
    let failed = mars.wait_for_request().await;
    mars.resolve(&failed, "retry", json!({})).await;
    let after = mars.wait_for_request().await;
    mars.resolve(&after, "redo", json!({"feedback": "use ISO"})).await;
    let after = mars.wait_for_request().await;
    mars.resolve(&after, "continue", json!({})).await;
    let second = mars.wait_for_request().await;
    mars.resolve(&second, "skip", json!({})).await;
    mars.wait("workflow_completed").await;
    heard.extend(mars.frames);
    // A step fails permanently, and then a task is cancelled.
    model.script("planner", [plan(&[("read", "researcher")])]);
    model.script("researcher", [Scripted::status(400)]);
    let config = || json!({"mode": "planning-control", "n_plan_reviews": 0});
    let mut mars = Mars::start(&server, "t2", "Read it.", config()).await;
    mars.wait("step_failed").await;
    mars.wait("workflow_completed").await;
    heard.extend(mars.frames);
    model.script("planner", [Scripted::hang()]);
    let mut mars = Mars::start(&server, "t3", "Build it.", config()).await;
    mars.wait("step_started").await;
    mars.say(&json!({"type": "cancel", "reason": "enough"})).await;
    mars.wait("workflow_cancelled").await;
    heard.extend(mars.frames);
    model.script("engineer", [one(("run_command", json!({"command": "echo out; sleep 0.3"}))), done()]);
    let mut mars = Mars::start(&server, "t4", "Say it.", json!({})).await;
    mars.wait("output").await;
    mars.wait("workflow_completed").await;
    heard.extend(mars.frames);
    model.script("planner", [plan(&[])]);
    let mut mars = Mars::start(&server, "t5", "Nothing.", config()).await;
    mars.wait("workflow_failed").await;
    heard.extend(mars.frames);
    // A provider stays unavailable, a provider recovers, and files are written.
    let file = |content: &str| one(write("notes/plan.md", content));
    model.script("engineer", [Scripted::status(500)]);
    let mut mars = Mars::start(&server, "t6", "Write it.", json!({"max_n_attempts": 2})).await;
    mars.wait("workflow_failed").await;
    heard.extend(mars.frames);
    let mut mars = Mars::start(&server, "t7", "Write it.", json!({})).await;
    mars.wait("step_retry_backoff").await;
    model.script("engineer", [file("one"), file("two"), done()]);
    mars.wait("workflow_completed").await;
    heard.extend(mars.frames);

    let mut by_type: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for frame in &heard {
        by_type.entry(frame["event_type"].as_str().unwrap()).or_default().push(frame);
    }
    let shown = examples("## Messages to a client");
    let mut types: Vec<&str> = shown.iter().filter_map(|frame| frame["event_type"].as_str()).collect();
    for frame in &shown {
        let event_type = frame["event_type"].as_str().unwrap();
        let real = by_type.get(event_type).map(Vec::as_slice).unwrap_or_default();
        assert!(
            real.iter().any(|real| alike(frame, real)),
            "the page shows\n{frame:#}\nand what came is\n{:#}",
            real.first().unwrap_or(&&Value::Null)
        );
    }
    types.sort_unstable();
    types.dedup();
    assert_eq!(types, by_type.keys().copied().collect::<Vec<_>>(), "one example of each at least");
}
