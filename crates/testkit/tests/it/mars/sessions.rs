//! Sessions of this edge (contract A30).

use holdshort_testkit::server::eventually;
use reqwest::Method;
use serde_json::{Value, json};

use super::tabs::get as read;
use super::{Mars, first, plan, planned};

const BASE: &str = "/edges/mars/api/sessions";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_its_runs() {
    let (_model, server) = planned(&[plan(&[("build", "engineer")])]).await;
    assert_eq!(server.get(BASE).await.ok()["sessions"], json!([]));
    let config = json!({"mode": "step_by_step", "n_plan_reviews": 0});
    let mut mars = Mars::start(&server, "t1", "Build it.", config).await;
    let asked = mars.wait_for_request().await;
    let session = mars.journal_frames()[0]["session_id"].as_str().unwrap().to_owned();
    let path = format!("{BASE}/{session}");

    let found = read(&server, &path).await;
    assert_eq!(
        [&found["session_id"], &found["name"], &found["mode"], &found["status"], &found["run_count"]],
        [&json!(session), &json!("Build it."), &json!("step_by_step"), &json!("active"), &json!(1)]
    );
    // Suspending the session also pauses the run of the connected client, until the session is resumed.
    let suspended = server.post(&format!("{path}/suspend"), &json!({})).await.ok();
    assert_eq!(suspended["status"], "suspended");
    mars.wait("workflow_paused").await;
    assert_eq!(server.post(&format!("{path}/resume"), &json!({})).await.ok()["status"], "active");
    mars.wait("workflow_resumed").await;
    mars.resolve(&asked, "approve", json!({"feedback": "mind the units"})).await;
    let asked = mars.wait_for_request().await;
    mars.resolve(&asked, "approve", json!({})).await;
    mars.wait("workflow_completed").await;

    // The next task continues in the same session.
    let config = json!({"mode": "one-shot", "sessionId": session});
    let mut next = Mars::start(&server, "t2", "And once more.", config).await;
    next.wait("workflow_completed").await;
    assert_eq!(next.journal_frames()[0]["session_id"], session.as_str());
    let runs = read(&server, &format!("{path}/runs")).await;
    let tasks: Vec<(&Value, &Value)> =
        runs["runs"].as_array().unwrap().iter().map(|run| (&run["task"], &run["status"])).collect();
    let (done, once, build) = (json!("completed"), json!("And once more."), json!("Build it."));
    assert_eq!(tasks, [(&once, &done), (&build, &done)]);
    let history = read(&server, &format!("{path}/history")).await;
    let said: Vec<&str> =
        history["messages"].as_array().unwrap().iter().filter_map(|one| one["content"].as_str()).collect();
    for words in ["Build it.", "mind the units", "Done.", "And once more."] {
        assert!(said.contains(&words), "{words} in {said:?}");
    }
    let ended = server.post(&format!("{path}/suspend"), &json!({})).await;
    assert_eq!(ended.refusal(), (409, "run_ended"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_and_ends() {
    let (_model, server) = planned(&[plan(&[("build", "engineer")])]).await;
    let config = json!({"mode": "hitl-interactive", "n_plan_reviews": 0});
    let mut waiting = Mars::start(&server, "t1", "Build it.", config).await;
    waiting.wait_for_request().await;
    let mut done = Mars::start(&server, "t2", "Count.", json!({})).await;
    done.wait("workflow_completed").await;
    let names = async |query: &str| {
        let list = read(&server, &format!("{BASE}{query}")).await;
        let sessions = list["sessions"].as_array().cloned().unwrap();
        sessions.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    for (query, found) in [
        ("", "Count. Build it."),
        ("?status=active", "Build it."),
        ("?status=completed", "Count."),
        ("?status=expired", ""),
        ("?mode=hitl-interactive", "Build it."),
        ("?mode=one_shot&limit=1", "Count."),
        ("?limit=1", "Count."),
    ] {
        assert_eq!(names(query).await, found, "{query}");
    }
    for (path, refusal) in [
        (format!("{BASE}?limit=201"), (422, "invalid_query")),
        (format!("{BASE}?statuss=active"), (400, "invalid_query")),
        (format!("{BASE}/ses_01k6f0000000000000000000bb"), (404, "not_found")),
        (format!("{BASE}/nonsense"), (404, "not_found")),
    ] {
        let refused = server.get(&path).await;
        assert_eq!(refused.refusal().1, refusal.1, "{path}: {refused:?}");
    }
    let modes = server.get(&format!("{BASE}/modes/list")).await.ok();
    assert_eq!(modes["modes"].as_array().map(Vec::len), Some(9));

    let session = waiting.journal_frames()[0]["session_id"].as_str().unwrap().to_owned();
    let path = format!("{BASE}/{session}");
    let odd = server.post(&format!("{path}/suspend"), &json!({"for": "ever"})).await;
    assert_eq!(odd.refusal(), (422, "invalid_request"));
    let ended = server.send(server.request(Method::DELETE, &path)).await.ok();
    assert_eq!(ended["status"], "completed");
    waiting.wait("workflow_cancelled").await;
    // The session has ended, but can still be read.
    assert_eq!(read(&server, &path).await["status"], "completed");
    // Agents may not read sessions. A client that cannot send headers passes its token in the query.
    let agent = server.send(server.agent_request(Method::GET, BASE)).await;
    assert_eq!(agent.refusal(), (403, "forbidden_role"));
    let url = format!("{}{BASE}?token={}", server.base(), server.token());
    assert_eq!(holdshort_http::plain().build().unwrap().get(url).send().await.unwrap().status(), 200);
}

/// A client creates a session. The client's tasks run in that session until the client ends it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_made_before_its_first_task() {
    let (_model, mut server) = planned(&[]).await;
    let made = json!({"mode": "step_by_step", "config": {"n_plan_reviews": 0}, "name": "Release 1.2"});
    let session = server.post(BASE, &made).await;
    assert_eq!(session.status, 201, "{session:?}");
    let session = session.body;
    let expected = json!({
        "session_id": session["session_id"], "name": "Release 1.2", "mode": "step_by_step",
        "config": {"mode": "step_by_step", "n_plan_reviews": 0}, "status": "active", "run_count": 0,
        "current_phase": null, "current_step": null, "conversation_history": [], "context_variables": {},
        "plan_data": null,
        "version": 1, "created_at": session["created_at"], "updated_at": session["created_at"],
    });
    assert_eq!(session, expected);
    let path = format!("{BASE}/{}", session["session_id"].as_str().unwrap());
    assert_eq!(read(&server, &path).await, expected);
    assert_eq!(read(&server, &format!("{path}/runs")).await["runs"], json!([]));
    assert_eq!(read(&server, &format!("{path}/history")).await["messages"], json!([]));
    for (query, found) in [
        ("", 1),
        ("?status=active", 1),
        ("?status=completed", 0),
        ("?mode=step-by-step&status=active", 1),
        ("?mode=one_shot", 0),
    ] {
        let list = read(&server, &format!("{BASE}{query}")).await;
        assert_eq!(list["sessions"].as_array().map(Vec::len), Some(found), "{query}");
    }

    let config = json!({"mode": "one_shot", "session_id": session["session_id"]});
    let mut mars = Mars::start(&server, "t1", "Count.", config.clone()).await;
    mars.wait("workflow_completed").await;
    let found = read(&server, &path).await;
    assert_eq!(
        [&found["name"], &found["mode"], &found["status"], &found["run_count"]],
        [&json!("Release 1.2"), &json!("one-shot"), &json!("active"), &json!(1)]
    );

    // No task begins in a suspended session, even after a restart. The task begins when the session is resumed.
    let suspended = server.post(&format!("{path}/suspend"), &json!({})).await.ok();
    assert_eq!([&suspended["status"], &suspended["version"]], [&json!("suspended"), &json!(2)]);
    server.restart().await;
    let mut next = Mars::connect(&server, "t2").await;
    let task = first(&server, "And once more.", config);
    let refused = next.refused(&task).await;
    assert_eq!(refused["error_type"], "session_suspended", "{refused}");
    assert_eq!(read(&server, &format!("{BASE}?status=suspended")).await["sessions"][0]["run_count"], 1);
    assert_eq!(server.post(&format!("{path}/resume"), &json!({})).await.ok()["status"], "active");
    next.say(&task).await;
    next.wait("workflow_completed").await;

    let ended = server.send(server.request(Method::DELETE, &path)).await.ok();
    assert_eq!([&ended["status"], &ended["run_count"]], [&json!("completed"), &json!(2)]);
    let ended = server.send(server.request(Method::DELETE, &path)).await.ok();
    assert_eq!(ended["version"], 5, "suspended to be closed, and again is the same");
    let mut late = Mars::connect(&server, "t3").await;
    assert_eq!(late.refused(&task).await["error_type"], "session_closed");
    assert_eq!(server.post(&format!("{path}/resume"), &json!({})).await.refusal(), (409, "session_closed"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_session_is_made_of() {
    let (_model, server) = planned(&[]).await;
    for (body, pointer) in [
        (json!({"modes": "one_shot"}), "/modes"),
        (json!({"mode": "blessing"}), "/mode"),
        (json!({"mode": "one_shot", "config": {"mode": "step_by_step"}}), "/mode"),
        (json!({"config": {"mode": "blessing"}}), "/config/mode"),
        (json!({"config": {"n_plan_revieuws": 1}}), "/config/n_plan_revieuws"),
        (json!({"config": {"session_id": "ses_01k6f0000000000000000000bb"}}), "/config/session_id"),
        (json!({"config": []}), "/config"),
        (json!({"config": {"model": "https://example.com/v1"}}), "/config/model"),
        (json!({"name": ""}), "/name"),
        (json!([]), ""),
    ] {
        let refused = server.post(BASE, &body).await;
        assert_eq!(refused.refusal(), (422, "invalid_request"), "{body}: {refused:?}");
        assert_eq!(refused.body["errors"][0]["pointer"], pointer, "{body}: {refused:?}");
    }
    assert_eq!(server.get(BASE).await.ok()["sessions"], json!([]));
    let agent = server.agent_request(Method::POST, BASE).json(&json!({}));
    assert_eq!(server.send(agent).await.refusal(), (403, "forbidden_role"));
    // An empty body selects the default mode. A field with the value null is ignored.
    for body in [json!({}), json!({"mode": null, "config": null, "name": null})] {
        assert_eq!(server.post(BASE, &body).await.ok()["mode"], "one-shot", "{body}");
    }
    // A task would replace this directory with a default, so the directory does not prevent the creation of a session
    // (contract E40).
    for folder in [json!("/nonexistent"), json!(server.data())] {
        let made = server.post(BASE, &json!({"config": {"work_dir": folder}})).await;
        assert_eq!(made.status, 201, "{made:?}");
    }
}

/// If a session's expiry passes while the server is down, the next start expires the session. Sessions of this edge
/// last one day, so this test uses a native session with a shorter lifetime.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_session_has_expired_after_a_restart() {
    let (_model, mut server) = planned(&[]).await;
    let idle = json!({"expires_when_idle_ms": 1});
    let session = server.post("/v1/sessions", &idle).await.body["id"].clone();
    let config = json!({"mode": "one_shot", "session_id": session});
    let mut mars = Mars::start(&server, "t1", "Count.", config).await;
    mars.wait("workflow_completed").await;
    server.restart().await;
    let path = format!("{BASE}/{}", session.as_str().unwrap());
    eventually("the session expires", async || {
        (read(&server, &path).await["status"] == "expired").then_some(())
    })
    .await;
    assert_eq!(read(&server, &format!("{BASE}?status=expired")).await["sessions"][0]["session_id"], session);
    assert_eq!(server.send(server.request(Method::DELETE, &path)).await.ok()["status"], "expired");
}

/// The end of a session ends all its runs, however many there are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_reaches_every_run() {
    let (_model, server) = planned(&[]).await;
    let mut config = json!({"phases": [{"type": "hitl_checkpoint"}]});
    let mut first = String::new();
    for n in 0..53 {
        let mut mars = Mars::connect(&server, &format!("t{n}")).await;
        mars.say(&json!({"task": format!("Task {n}."), "config": config})).await;
        mars.wait_for_request().await;
        if n == 0 {
            first = mars.run();
            config["session_id"] = mars.journal_frames()[0]["session_id"].clone();
        }
    }
    let path = format!("{BASE}/{}", config["session_id"].as_str().unwrap());
    assert_eq!(read(&server, &path).await["run_count"], 53);
    assert_eq!(server.post(&format!("{path}/suspend"), &json!({})).await.ok()["status"], "suspended");
    assert_eq!(server.run(&first).await["status"], "paused");
    assert_eq!(server.send(server.request(Method::DELETE, &path)).await.ok()["status"], "completed");
    assert_eq!(server.run(&first).await["status"], "cancelled");
    let history = read(&server, &format!("{path}/history")).await;
    assert_eq!(history["messages"].as_array().map(Vec::len), Some(53));
}

/// Each key of a session's config applies to the tasks of the session. A task with different phases takes only the keys
/// that do not concern phases.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_session_was_made_with_holds_for_its_tasks() {
    let (_model, server) = planned(&[plan(&[("build", "engineer")])]).await;
    let made = json!({"mode": "step_by_step", "config": {"toolApproval": "prompt", "n_plan_reviews": 0}});
    let session = server.post(BASE, &made).await.ok()["session_id"].clone();
    let mut mars = Mars::start(&server, "t1", "Build it.", json!({"session_id": session})).await;
    assert_eq!(mars.wait_for_request().await["action"], "plan_approval");
    let started = mars.frames.iter().find(|frame| frame["event_type"] == "workflow_started").unwrap();
    assert_eq!(started["data"]["mode"], "step_by_step");

    let config = json!({"session_id": session, "mode": "one-shot"});
    let mut mars = Mars::start(&server, "t2", "Build it.", config).await;
    assert_eq!(mars.wait_for_request().await["action"], "tool_approval", "the session says so");
    let free = json!({"session_id": session, "mode": "one-shot", "tool_approval": "none"});
    let mut mars = Mars::start(&server, "t3", "Build it.", free).await;
    mars.wait("workflow_completed").await;
}
