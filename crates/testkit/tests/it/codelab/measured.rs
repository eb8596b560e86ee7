//! `/events/metrics/sessions` and `/events/metrics/session/{id}`, which the later gateway forwards (contract B16).

use holdshort_testkit::model::Scripted;
use serde_json::{Value, json};

use super::ide::{find_only_frame, get, post};
use super::{result, served, user};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_has_the_figures_of_its_model_requests() {
    let (model, server) = served().await;
    let none = json!({ "sessions": [], "count": 0 });
    assert_eq!(get(&server, "events/metrics/sessions").await, none);
    let begun = server.post("/edges/codelab/sessions", &json!({ "session_id": "idle" })).await;
    assert_eq!(begun.status, 201);
    // A session without a model request has no metrics.
    assert_eq!(get(&server, "events/metrics/sessions").await, none);
    for session in ["idle", "nobody", "%00"] {
        let answer = server.get(&format!("/edges/codelab/events/metrics/session/{session}")).await;
        assert_eq!(answer.refusal(), (404, "not_found"), "{session}");
    }

    model.push("orchestrator", Scripted::call("read_file", json!({ "path": "a" })));
    model.push("orchestrator", Scripted::text("Read."));
    model.push("orchestrator", Scripted::status(400));
    let frames = post(&server, "my session", &user("Read it.")).await;
    post(&server, "my session", &result(find_only_frame(&frames, "tool_call"), "text")).await;
    post(&server, "my session", &user("Again.")).await;
    let listed = get(&server, "events/metrics/sessions").await;
    assert_eq!(listed, json!({ "sessions": ["my session"], "count": 1 }));

    let metrics = get(&server, "events/metrics/session/my session").await;
    let counts = ["total_requests", "successful_requests", "failed_requests", "requests_with_tools"];
    assert_eq!(counts.map(|count| metrics[count].as_u64().unwrap()), [3, 2, 1, 1], "{metrics:#}");
    // The sums are those of the runs.
    let runs = server.get("/v1/runs").await.ok();
    let sum = |field: &str| -> u64 {
        let runs = runs["items"].as_array().unwrap().iter();
        runs.map(|run| run["usage"][field].as_u64().unwrap_or_default()).sum()
    };
    assert!(sum("input_tokens") > 0, "{runs}");
    assert_eq!(metrics["total_prompt_tokens"], sum("input_tokens"));
    assert_eq!(metrics["total_completion_tokens"], sum("output_tokens"));
    let mean = |of: &str| metrics[of].as_f64().unwrap() / 2.0;
    assert!((metrics["average_tokens_per_request"].as_f64().unwrap() - mean("total_tokens")).abs() < 0.01);
    assert!((metrics["average_duration_ms"].as_f64().unwrap() - mean("total_duration_ms")).abs() < 0.01);
    let requests: Vec<[&Value; 3]> = metrics["requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|request| ["success", "has_tool_calls", "total_tokens"].map(|member| &request[member]))
        .collect();
    let tokens = json!(metrics["total_tokens"].as_u64().unwrap() / 2);
    let (yes, no, none) = (json!(true), json!(false), json!(0));
    assert_eq!(requests, [[&yes, &yes, &tokens], [&yes, &no, &tokens], [&no, &no, &none]], "oldest first");
    assert!(metrics["requests"][2]["error"].is_string() && metrics["requests"][0]["error"].is_null());
}
