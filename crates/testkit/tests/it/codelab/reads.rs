//! Reads over HTTP without a stream: pending requests, plans, and the audit log (B9, B12).

use holdshort_testkit::model::Scripted;
use reqwest::Method;
use serde_json::{Value, json};

use super::ide::{find_only_frame, get, post};
use super::{on_call, on_plan, plans, served, subtask, user};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plans_are_read_paused_and_audited() {
    let (model, server) = served().await;
    let graph = [subtask("a", "coder", &[]), subtask("b", "coder", &["a"])];
    model.script("orchestrator", [plans(&graph)]);
    model.script(
        "coder",
        [Scripted::call("write_file", json!({ "path": "a", "content": "" })), Scripted::text("Done.")],
    );
    let unknown = ["pending-approvals", "pending-plans", "plans"];
    for path in unknown {
        for session in ["s", "%FF", "%00"] {
            let answer = server.get(&format!("/edges/codelab/sessions/{session}/{path}")).await;
            assert_eq!(answer.refusal(), (404, "not_found"), "{session} {path}");
        }
    }
    assert_eq!(server.get("/edges/codelab/events/audit-log?session_id=s").await.status, 404);

    let plan = find_only_frame(&post(&server, "s", &user("Build it.")).await, "plan_notification").clone();
    let pending = get(&server, "sessions/s/pending-plans").await;
    let item = &pending["pending_plans"][0];
    assert!(item.as_object().unwrap().values().all(|field| !field.is_null()), "{item}");
    assert_eq!(
        (&pending["count"], &item["plan_id"], &item["original_task"], &item["is_approved"]),
        (&json!(1), &plan["metadata"]["plan_id"], &json!("Build it."), &json!(false))
    );
    assert_eq!(item["subtasks"], plan["metadata"]["subtasks"]);
    let approvals = get(&server, "sessions/s/pending-approvals").await;
    assert_eq!((&approvals["count"], &approvals["pending_plans"][0]), (&json!(0), item));

    let mut approve = on_plan(&plan, "approve");
    approve["feedback"] = json!("go");
    let frames = post(&server, "s", &approve).await;
    let call = find_only_frame(&frames, "tool_call").clone();
    assert_eq!(get(&server, "sessions/s/pending-plans").await["count"], 0);

    // Check the dependencies and the order of the subtasks.
    let shown = get(&server, "sessions/s/plans").await;
    let subtasks: Vec<(&Value, &Value, &Value)> = shown["plans"][0]["subtasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| (&each["id"], &each["dependencies"], &each["layer"]))
        .collect();
    assert_eq!(subtasks, [(&json!("a"), &json!([]), &json!(0)), (&json!("b"), &json!(["a"]), &json!(1))]);

    // During a pause a decision is recorded, but no new work starts.
    let id = plan["metadata"]["plan_id"].as_str().unwrap();
    let steer = async |verb: &str| {
        let path = format!("/edges/codelab/sessions/s/plans/{id}/{verb}");
        server.send(server.request(Method::POST, &path)).await
    };
    assert_eq!(steer("pause").await.ok()["status"], "paused");
    let frames = post(&server, "s", &on_call(&call, "reject")).await;
    assert_eq!(super::done(frames.last().unwrap()), "paused");
    assert_eq!(model.requests_of("coder").len(), 1);
    assert_eq!(steer("resume").await.ok()["status"], "running");
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    let missing = server.request(Method::POST, "/edges/codelab/sessions/s/plans/plan_00000000/pause");
    assert_eq!(server.send(missing).await.status, 404);

    // The second subtask asks in the same way as the first.
    let asked = server.wait_one(&run).await;
    server.choose(&asked, "reject").await;
    server.wait_status(&run, &["completed"]).await;

    let log = get(&server, "events/audit-log?session_id=s").await;
    let told: Vec<String> = log["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            format!("{} {} {}", entry["event_type"], entry["decision"], entry["via"]).replace('"', "")
        })
        .collect();
    assert_eq!(
        told,
        ["hitl_decision reject rest", "hitl_decision reject codelab", "plan_decision approve codelab"]
    );
    let entry = &log["events"][2];
    assert_eq!(
        (&entry["session_id"], &entry["plan_id"], &entry["original_task"], &entry["feedback"]),
        (&json!("s"), &plan["metadata"]["plan_id"], &json!("Build it."), &json!("go"))
    );
    let entry = &log["events"][1];
    assert_eq!(
        (&entry["call_id"], &entry["tool_name"], &entry["original_arguments"]),
        (&call["call_id"], &json!("write_file"), &call["arguments"])
    );
    // The entries can still be found after many later runs.
    let entries = log["count"].as_u64().unwrap();
    model.script("orchestrator", [Scripted::text("Hello.")]);
    for n in 0..55 {
        post(&server, "s", &user(&format!("word {n}"))).await;
    }
    for query in ["session_id=s", "limit=200"] {
        let log = get(&server, &format!("events/audit-log?{query}")).await;
        assert_eq!((&log["count"], log.get("truncated")), (&json!(entries), None), "{query}");
    }
    let plans = get(&server, "events/audit-log?event_type=plan_decision&limit=1").await;
    assert_eq!(plans["count"], 1);
    let newest = get(&server, "events/audit-log?session_id=s&limit=1").await;
    assert_eq!(newest["events"], json!([log["events"][0]]));
    for query in ["limit=0", "limit=201", "event_type=all", "sort=asc"] {
        let answer = server.get(&format!("/edges/codelab/events/audit-log?{query}")).await;
        assert_eq!(answer.status, 400, "{query}");
    }
}
