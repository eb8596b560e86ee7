//! Sessions of this edge (contract A30).

use reqwest::Method;
use serde_json::{Value, json};

use super::{Mars, plan, planned};

const BASE: &str = "/edges/mars/api/sessions";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_its_runs() {
    let (_model, server) = planned(&[plan(&[("build", "engineer")])]).await;
    assert_eq!(server.get(BASE).await.ok()["sessions"], json!([]));
    let config = json!({"mode": "step_by_step", "n_plan_reviews": 0});
    let mut mars = Mars::start(&server, "t1", "Build it.", config).await;
    let asked = mars.asked().await;
    let session = mars.told()[0]["session_id"].as_str().unwrap().to_owned();
    let path = format!("{BASE}/{session}");

    let found = server.get(&path).await.ok();
    assert_eq!(
        [&found["session_id"], &found["name"], &found["mode"], &found["status"], &found["run_count"]],
        [&json!(session), &json!("Build it."), &json!("step_by_step"), &json!("active"), &json!(1)]
    );
    // Suspended, also for the client that is there; and resumed.
    let suspended = server.post(&format!("{path}/suspend"), &json!({})).await.ok();
    assert_eq!(suspended["status"], "suspended");
    mars.wait("workflow_paused").await;
    assert_eq!(server.post(&format!("{path}/resume"), &json!({})).await.ok()["status"], "active");
    mars.wait("workflow_resumed").await;
    mars.resolve(&asked, "approve", json!({"feedback": "mind the units"})).await;
    let asked = mars.asked().await;
    mars.resolve(&asked, "approve", json!({})).await;
    mars.wait("workflow_completed").await;

    // The next task goes on in it.
    let config = json!({"mode": "one-shot", "sessionId": session});
    let mut next = Mars::start(&server, "t2", "And once more.", config).await;
    next.wait("workflow_completed").await;
    assert_eq!(next.told()[0]["session_id"], session.as_str());
    let runs = server.get(&format!("{path}/runs")).await.ok();
    let tasks: Vec<(&Value, &Value)> =
        runs["runs"].as_array().unwrap().iter().map(|run| (&run["task"], &run["status"])).collect();
    let (done, once, build) = (json!("completed"), json!("And once more."), json!("Build it."));
    assert_eq!(tasks, [(&once, &done), (&build, &done)]);
    let history = server.get(&format!("{path}/history")).await.ok();
    let said: Vec<&str> =
        history["history"].as_array().unwrap().iter().filter_map(|one| one["message"].as_str()).collect();
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
    waiting.asked().await;
    let mut done = Mars::start(&server, "t2", "Count.", json!({})).await;
    done.wait("workflow_completed").await;
    let names = async |query: &str| {
        let list = server.get(&format!("{BASE}{query}")).await.ok();
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
    let made = server.post(BASE, &json!({"mode": "one-shot", "name": "n"})).await;
    assert_eq!(made.refusal(), (405, "method_not_allowed"));
    let bare = reqwest::Client::new().post(format!("{}{BASE}", server.base())).bearer_auth(server.token());
    assert_eq!(bare.send().await.unwrap().headers()["allow"], "GET,HEAD");
    let modes = server.get(&format!("{BASE}/modes/list")).await.ok();
    assert_eq!(modes["modes"].as_array().map(Vec::len), Some(8));

    let session = waiting.told()[0]["session_id"].as_str().unwrap().to_owned();
    let path = format!("{BASE}/{session}");
    let odd = server.post(&format!("{path}/suspend"), &json!({"for": "ever"})).await;
    assert_eq!(odd.refusal(), (422, "invalid_request"));
    let ended = server.send(server.request(Method::DELETE, &path)).await.ok();
    assert_eq!(ended["status"], "completed");
    waiting.wait("workflow_cancelled").await;
    // What happened is still there.
    assert_eq!(server.get(&path).await.ok()["status"], "completed");
    // Agents have no sessions here; who can not send headers shows the token in the query.
    let agent = server.send(server.agent_request(Method::GET, BASE)).await;
    assert_eq!(agent.refusal(), (403, "forbidden_role"));
    let url = format!("{}{BASE}?token={}", server.base(), server.token());
    assert_eq!(reqwest::get(url).await.unwrap().status(), 200);
}

/// However many runs live in it: the end of a session is the end of each.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_reaches_every_run() {
    let (_model, server) = planned(&[]).await;
    let mut config = json!({"phases": [{"type": "hitl_checkpoint"}]});
    let mut first = String::new();
    for n in 0..53 {
        let mut mars = Mars::connect(&server, &format!("t{n}")).await;
        mars.say(&json!({"task": format!("Task {n}."), "config": config})).await;
        mars.asked().await;
        if n == 0 {
            first = mars.run();
            config["session_id"] = mars.told()[0]["session_id"].clone();
        }
    }
    let path = format!("{BASE}/{}", config["session_id"].as_str().unwrap());
    assert_eq!(server.get(&path).await.ok()["run_count"], 53);
    assert_eq!(server.post(&format!("{path}/suspend"), &json!({})).await.ok()["status"], "suspended");
    assert_eq!(server.run(&first).await["status"], "paused");
    assert_eq!(server.send(server.request(Method::DELETE, &path)).await.ok()["status"], "completed");
    assert_eq!(server.run(&first).await["status"], "cancelled");
    let history = server.get(&format!("{path}/history")).await.ok();
    assert_eq!(history["history"].as_array().map(Vec::len), Some(53));
}
