//! State of the web UI during a task and after a reload (contracts A32, A33): its tabs, the end of a refused task, its
//! models, and *Resume*.

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::tabs::get;
use super::ui::{Page, form};
use super::{Mars, check_invariants, plan, planned};
use crate::play::{done, one, read, write};

fn graphs(page: &Page) -> Vec<(&str, Vec<&str>)> {
    let drawn = page
        .mars
        .frames
        .iter()
        .filter(|frame| ["dag_created", "dag_updated"].map(Value::from).contains(&frame["event_type"]));
    drawn
        .map(|frame| {
            let nodes = frame["data"]["nodes"].as_array().unwrap().iter();
            (frame["event_type"].as_str().unwrap(), nodes.filter_map(|node| node["id"].as_str()).collect())
        })
        .collect()
}

/// The page shows the tabs of a run only if a graph names the run, so a task without a plan has a graph of its steps.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_without_a_plan_has_a_graph() {
    let (model, server) = planned(&[]).await;
    model.script("engineer", [one(write("notes/plan.md", "one\n")), done()]);
    let mut page = Page::start(&server, "t1", form("one-shot", &json!({}))).await;
    let graph = page.until("dag_created").await;
    let run = page.mars.run();
    assert_eq!(graph["run_id"], run.as_str());
    let node = &graph["nodes"][0];
    assert_eq!(
        [&node["id"], &node["agent"], &node["name"], &node["status"], &graph["edges"]],
        [&json!("one_shot"), &json!("engineer"), &json!("engineer"), &json!("running"), &json!([])]
    );
    page.until("workflow_completed").await;
    assert_eq!(page.panel.nodes, [("one_shot".to_owned(), "completed".to_owned())]);
    let graph = get(&server, &format!("runs/{run}/dag")).await;
    assert_eq!(graph["nodes"][0]["status"], "completed");
    assert!(graph["nodes"][0]["completed_at"].is_string(), "{graph}");
    let files = get(&server, &format!("nodes/one_shot/files?run_id={run}")).await;
    assert_eq!(files["files"][0]["file_name"], "plan.md");
    check_invariants(&server, &page.mars).await;
}

/// While agents plan, the graph has the steps of the planning. The plan then replaces these steps.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_plan_replaces_the_steps_of_its_planning() {
    let (_model, server) = planned(&[plan(&[("build it", "engineer")])]).await;
    let more = json!({"nPlanReviews": 0, "hitlVariant": "planning_only"});
    let mut page = Page::start(&server, "t1", form("hitl-interactive", &more)).await;
    page.drawn("after_planning").await;
    let [improve, planner] = ["hitl_planning/improve", "hitl_planning/plan"];
    assert_eq!(graphs(&page), [("dag_created", vec![improve]), ("dag_updated", vec![improve, planner])]);
    let waiting = [(improve, "completed"), (planner, "waiting_approval")];
    assert_eq!(page.panel.nodes, waiting.map(|(id, status)| (id.to_owned(), status.to_owned())));
    // A page that reloads gets the same graph.
    let again = get(&server, "runs/t1/dag").await;
    assert_eq!(again["edges"], json!([{"source": improve, "target": planner}]));
    page.choose("approve", "").await;
    page.until("workflow_completed").await;
    assert_eq!(graphs(&page)[2..], [("dag_created", vec!["s1"])]);
    assert_eq!(page.panel.nodes, [("s1".to_owned(), "completed".to_owned())]);
    assert_eq!(get(&server, "runs/t1/dag").await["nodes"][0]["name"], "build it");
}

/// The page shows a task as running until it learns the end. A task that is refused before it has a run therefore ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_task_ends() {
    let (model, server) = planned(&[]).await;
    model.script("engineer", [Scripted::hang()]);
    let mut page = Page::start(&server, "t1", form("ocr", &json!({}))).await;
    let error = page.until("error_occurred").await;
    let failed = page.until("workflow_failed").await;
    assert_eq!((&failed["reason"], &failed["error"]), (&json!("invalid_request"), &error["message"]));
    assert!(!page.panel.is_running);
    // The connection is still open for a task.
    page.mars.say(&json!({"task": "Build it.", "config": form("one-shot", &json!({}))})).await;
    page.until("step_started").await;

    // A task that has a run goes on, even if a connection with a different config is refused.
    let mut other = Mars::connect(&server, "t1").await;
    other.say(&json!({"task": "Something else.", "config": {}})).await;
    assert_eq!(other.next().await["data"]["error_type"], "idempotency_key_reused");
    other.say(&json!({"type": "ping"})).await;
    assert_eq!(other.next().await["event_type"], "pong");
}

/// The page names models of OpenAI with every task. A server with another model uses its own model, and reports this.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_models_of_the_pages_form_are_not_required() {
    let (model, server) = planned(&[plan(&[("build it", "engineer")])]).await;
    let mut page = Page::start(&server, "t1", form("planning-control", &json!({"nPlanReviews": 0}))).await;
    let status = page.until("status").await;
    let why = |key: &str| {
        let ignored = status["ignored"].as_array().unwrap();
        ignored.iter().find(|each| each["key"] == key).map(|each| each["why"].as_str().unwrap().to_owned())
    };
    for key in ["model", "plannerModel"] {
        assert_eq!(
            why(key).unwrap(),
            "is not used: `gpt-4.1-2025-04-14` is a model of OpenAI, and this server uses `scripted`",
            "{key}"
        );
    }
    page.until("workflow_completed").await;
    for request in model.requests() {
        assert_eq!(request.body["model"], "scripted", "{}", request.agent);
    }
    // A model that is not known to belong to another provider is used.
    let mut form = form("one-shot", &json!({}));
    form["model"] = json!("qwen3-coder");
    Page::start(&server, "t2", form).await.until("workflow_completed").await;
    assert_eq!(model.requests().last().unwrap().body["model"], "qwen3-coder");
}

/// Returns the first frame that the page sends when a person presses *Resume* for a session.
async fn resume(server: &TestServer, session: &str) -> Value {
    server.post(&format!("/edges/mars/api/sessions/{session}/resume"), &json!({})).await.ok();
    let shown = get(server, &format!("sessions/{session}")).await;
    let said = shown["conversation_history"].as_array().unwrap().iter().rev();
    let last = said.clone().find(|said| said["role"] == "user").unwrap()["content"].clone();
    let mut config = shown["config"].clone();
    for (key, value) in [("mode", &shown["mode"]), ("session_id", &json!(session))] {
        config[key] = value.clone();
    }
    config["copilotSessionId"] = json!(session);
    json!({"task": last, "config": config})
}

/// A page that reloads has lost its task. *Resume* shows the run that waits, instead of starting a second run with the
/// person's last words as its task.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn resume_shows_the_run_that_waits() {
    let (_model, server) = planned(&[plan(&[("build it", "engineer")])]).await;
    let more = json!({"nPlanReviews": 0});
    let mut page = Page::start(&server, "t1", form("hitl-interactive", &more)).await;
    page.drawn("after_planning").await;
    page.choose("approve", "be quick").await;
    let asked = page.drawn("before_step").await;
    let run = page.mars.run();
    let session = page.mars.journal_frames()[0]["session_id"].as_str().unwrap().to_owned();
    drop(page);

    let frame = resume(&server, &session).await;
    assert_eq!(frame["task"], "be quick");
    let mut mars = Mars::connect(&server, "t2").await;
    mars.say(&frame).await;
    assert_eq!(mars.wait("status").await["status"], "waiting_approval");
    assert_eq!(mars.wait("dag_updated").await["run_id"], run.as_str());
    let again = mars.wait("approval_requested").await;
    assert_eq!(again["approval_id"], asked["approval_id"]);
    mars.resolve(&again, "approve", json!({})).await;
    let after = mars.wait("approval_requested").await;
    assert_eq!(after["checkpoint_type"], "after_step");

    // The connection breaks, and the run ends before the page sends its first frame again: no second run starts.
    drop(mars);
    let mut first = Mars::connect(&server, "t1").await;
    first.say(&json!({"type": "request_state"})).await;
    first.wait("approval_requested").await;
    first.resolve(&after, "continue", json!({})).await;
    first.wait("workflow_completed").await;
    let mut mars = Mars::connect(&server, "t2").await;
    mars.say(&frame).await;
    mars.wait("workflow_completed").await;
    let runs = get(&server, &format!("sessions/{session}/runs")).await["runs"].clone();
    assert_eq!(runs.as_array().unwrap().iter().map(|each| &each["id"]).collect::<Vec<_>>(), [&json!(run)]);
}

/// Each message of a copilot is a task of its own. A message without a folder works with the files of the messages
/// before it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_keeps_its_files() {
    let model = ScriptedModel::start().await;
    let server = TestServer::setup().model(&model).start().await;
    let config = json!({
        "mode": "copilot", "use_copilot_control": false, "ask_satisfaction": false,
        "intelligentRouting": "minimal", "approvalMode": "none",
    });
    model.script("engineer", [one(write("report.md", "one\n")), done()]);
    let mut first = Mars::connect(&server, "t1").await;
    first.say(&json!({"task": "write the report for the quarter", "config": config})).await;
    let result = first.wait("result").await;
    first.wait("workflow_completed").await;

    model.script("engineer", [one(read("report.md")), done()]);
    let mut next = config.clone();
    next["copilotSessionId"] = result["session_id"].clone();
    let mut second = Mars::connect(&server, "t2").await;
    second.say(&json!({"task": "read the report of the quarter", "config": next})).await;
    let told = second.wait("tool_call").await;
    assert_eq!(told["status"], "completed", "{told}");
    assert_eq!(second.wait("result").await["work_dir"], result["work_dir"]);
}

/// *Stop* of the page closes the connection with a reason. Any other end of a connection does not affect the run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stop_of_the_page_cancels_the_run() {
    let (model, server) = planned(&[]).await;
    model.script("engineer", [Scripted::hang()]);
    let close = |reason: &'static str| {
        Message::Close(Some(CloseFrame { code: CloseCode::Normal, reason: reason.into() }))
    };
    let config = form("one-shot", &json!({}));
    let frame = json!({"task": "Build it.", "config": config});
    let mut page = Page::start(&server, "t1", config).await;
    page.until("step_started").await;
    page.mars.send(close("Component unmounted")).await;
    let mut again = Mars::connect(&server, "t1").await;
    again.say(&frame).await;
    assert_eq!(again.wait("status").await["status"], "executing");
    again.send(close("Manual disconnect")).await;
    while again.receive().await.is_ok() {}

    let mut after = Mars::connect(&server, "t1").await;
    after.say(&json!({"type": "request_state", "since": 0})).await;
    let cancelled = after.wait("workflow_cancelled").await;
    assert_eq!(cancelled["message"], "stopped in the web UI");
    check_invariants(&server, &after).await;
}
