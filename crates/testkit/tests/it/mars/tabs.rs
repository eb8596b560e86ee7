//! Tabs of the web UI over REST (contract A32): sessions, and the graph, history, files, cost and console of a run. The
//! strict reader checks each response.

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::ui::{Page, form};
use super::{plan, planned, reader};
use crate::play::{count, done, one, write};

const BASE: &str = "/edges/mars/api";

/// Sends a GET request and checks the response with the strict reader.
pub(crate) async fn get(server: &TestServer, path: &str) -> Value {
    let path = if path.starts_with(BASE) { path.to_owned() } else { format!("{BASE}/{path}") };
    let body = server.get(&path).await.ok();
    reader::answer(&path, &body);
    body
}

/// Plays a task that plans, asks, writes, runs a command and fails once. Returns when the request after the first step
/// is open.
async fn asked_about_a_step() -> (ScriptedModel, TestServer, Page) {
    let (model, server) = planned(&[plan(&[("build", "engineer"), ("ship", "engineer")])]).await;
    let fails = one(("run_command", json!({"command": "false"})));
    let step = [one(write("notes/plan.md", "one\n")), one(count("x")), done()];
    model.script("engineer", [&[fails][..], &step, &[done()]].concat());
    let mut form = form("hitl-interactive", &json!({"nPlanReviews": 0}));
    form["approvalMode"] = json!("both");
    let mut page = Page::start(&server, "t1", form).await;
    for (kind, option) in [("after_planning", "approve"), ("before_step", "approve"), ("on_error", "retry")] {
        page.drawn(kind).await;
        page.choose(option, "").await;
    }
    page.drawn("after_step").await;
    (model, server, page)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tab_of_a_run_has_data() {
    let (_model, server, mut page) = asked_about_a_step().await;
    let run = page.mars.run();
    let graph = get(&server, &format!("runs/{run}/dag")).await;
    let [first, second] = [&graph["nodes"][0], &graph["nodes"][1]];
    assert_eq!([&first["status"], &second["status"]], [&json!("waiting_approval"), &json!("pending")]);
    assert_eq!(first["retry_info"]["attemptNumber"], 2);
    assert!(
        first["started_at"].is_string() && first["completed_at"].is_null() && second["started_at"].is_null()
    );
    assert_eq!((&first["run_id"], &first["bullet_points"]), (&json!(run), &json!(["carefully"])));

    let files = get(&server, &format!("runs/{run}/files")).await["files"].clone();
    let file = json!([
        files[0]["file_path"],
        files[0]["file_name"],
        files[0]["size_bytes"],
        files[0]["node_id"],
        files[0]["agent_name"]
    ]);
    let path = page.folder().join("notes/plan.md");
    assert_eq!(file, json!([path, "plan.md", 4, "s1", "engineer"]));
    // A client that has not received a frame yet can use the task id instead of the run id.
    assert_eq!(get(&server, "runs/t1/files").await["files"], files);
    assert_eq!(get(&server, &format!("nodes/s1/files?run_id={run}")).await["files"], files);
    assert_eq!(get(&server, &format!("nodes/s2/files?run_id={run}")).await["files"], json!([]));

    let events = get(&server, &format!("runs/{run}/history")).await["events"].clone();
    let kinds = |of: &Value| {
        let of = of.as_array().unwrap().iter();
        of.map(|event| event["event_type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for kind in ["agent_call", "tool_call", "code_exec", "file_gen", "approval_requested"] {
        assert!(kinds(&events).contains(&kind.to_owned()), "{kind} in {events:#}");
    }
    let codes = get(&server, &format!("runs/{run}/history?event_type=code_exec")).await;
    assert_eq!((&codes["total"], codes.get("truncated")), (&json!(2), None), "what the answer holds is all");
    let codes = codes["events"].clone();
    assert_eq!(kinds(&codes), ["code_exec", "code_exec"]);
    assert_eq!([&codes[0]["status"], &codes[0]["inputs"]["code"]], [&json!("completed"), &json!("false")]);
    let last = get(&server, &format!("runs/{run}/history?limit=1")).await["events"].clone();
    assert_eq!(last[0], events.as_array().unwrap().last().unwrap().clone());
    let of_node = get(&server, "nodes/s1/events?run_id=t1&include_internal=false").await["events"].clone();
    assert!(kinds(&of_node).contains(&"code_exec".to_owned()), "{of_node:#}");
    assert!(of_node.as_array().unwrap().iter().all(|event| event["node_id"] == "s1"));

    let costs = get(&server, &format!("runs/{run}/costs")).await;
    assert_eq!(
        (&costs["total_tokens"], costs["total_tokens"].as_u64()),
        (&json!(page.panel.tokens), Some(page.panel.tokens))
    );
    let agents: Vec<&str> =
        costs["agent_breakdown"].as_array().unwrap().iter().filter_map(|one| one["agent"].as_str()).collect();
    assert_eq!(agents, ["engineer", "planner", "task_improver"]);
    let log = get(&server, &format!("runs/{run}/console-log")).await;
    let content = log["content"].as_str().unwrap();
    for line in [
        "workflow started: Build it.",
        "[engineer] $ false",
        "approval requested: ",
        "[engineer] write_file: created",
    ] {
        assert!(content.contains(line), "{line} in {content}");
    }

    page.choose("continue", "").await;
    page.drawn("before_step").await;
    let graph = get(&server, &format!("runs/{run}/dag")).await;
    assert!(graph["nodes"][0]["completed_at"].is_string(), "{graph}");
    page.choose("skip", "").await;
    page.until("workflow_completed").await;
    let graph = get(&server, &format!("runs/{run}/dag")).await;
    assert_eq!(graph["nodes"][1]["status"], "skipped");
}

/// A session is listed, and shown in full with its runs and messages. After a resume the next task continues in the
/// session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_listed_shown_and_resumed() {
    let (_model, server, mut page) = asked_about_a_step().await;
    let listed = get(&server, "sessions?limit=50").await["sessions"].clone();
    let id = listed[0]["session_id"].as_str().unwrap().to_owned();
    let shown = get(&server, &format!("sessions/{id}")).await;
    assert_eq!([&shown["current_phase"], &shown["current_step"]], [&json!("hitl_control"), &json!(1)]);
    assert_eq!(
        [&listed[0]["current_phase"], &listed[0]["current_step"]],
        [&shown["current_phase"], &shown["current_step"]]
    );
    assert_eq!(shown["plan_data"]["sub_tasks"].as_array().map(Vec::len), Some(2));
    assert!(shown["context_variables"]["work_dir"].is_string(), "{shown}");
    let said: Vec<&Value> =
        shown["conversation_history"].as_array().unwrap().iter().map(|one| &one["content"]).collect();
    assert!(said.contains(&&json!("Build it.")) && said.contains(&&json!("Done.")), "{said:?}");
    let messages = get(&server, &format!("sessions/{id}/history?limit=500")).await["messages"].clone();
    assert_eq!(messages, shown["conversation_history"]);
    let last = get(&server, &format!("sessions/{id}/history?limit=1")).await["messages"].clone();
    assert_eq!(last[0], messages.as_array().unwrap().last().unwrap().clone());
    for bad in ["0", "1001", "many"] {
        assert_eq!(
            server.get(&format!("{BASE}/sessions/{id}/history?limit={bad}")).await.refusal().1,
            "invalid_query"
        );
    }
    let run = get(&server, &format!("sessions/{id}/runs")).await["runs"][0].clone();
    let found = json!([
        run["id"],
        run["task_description"],
        run["agent"],
        run["model"],
        run["completed_at"],
        run["is_branch"]
    ]);
    // The server has another model than the form names.
    assert_eq!(found, json!([page.mars.run(), "Build it.", "planner", "default", null, false]));
    page.choose("abort", "").await;
    page.until("workflow_failed").await;
    let run = get(&server, &format!("sessions/{id}/runs")).await["runs"][0].clone();
    assert!(run["completed_at"].is_string(), "{run}");

    // Resume the session as the web UI does: a POST request whose response is ignored, and then a task with the config
    // of the session.
    server.post(&format!("{BASE}/sessions/{id}/resume"), &json!({})).await;
    let shown = get(&server, &format!("sessions/{id}")).await;
    let mut config = shown["config"].clone();
    config["activeSessionId"] = json!(id);
    config["additionalContext"] = json!("Go on.");
    config["mode"] = json!("one-shot");
    let mut next = Page::start(&server, "t2", config).await;
    assert_eq!(next.until("result").await["session_id"], *id);
    next.until("workflow_completed").await;
    assert_eq!(get(&server, &format!("sessions/{id}/runs")).await["runs"].as_array().map(Vec::len), Some(2));
}

/// Tabs exist only for runs of this edge and for their nodes. An agent may not read any tab.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_run_of_this_edge_has_no_tabs() {
    let (model, server) = planned(&[]).await;
    model.script("engineer", [Scripted::hang()]);
    let external =
        server.post("/v1/runs", &json!({"workflow": "external", "input": {"task": "t"}})).await.body["id"]
            .clone();
    for path in [
        format!("runs/{}/dag", external.as_str().unwrap()),
        "runs/run_01k6f0000000000000000000aa/history".to_owned(),
        "runs/nobody/files".to_owned(),
        "nodes/s1/files?run_id=undefined".to_owned(),
    ] {
        assert_eq!(server.get(&format!("{BASE}/{path}")).await.refusal(), (404, "not_found"), "{path}");
    }
    assert_eq!(server.get(&format!("{BASE}/nodes/s1/events")).await.refusal().1, "invalid_query");
    assert_eq!(server.get(&format!("{BASE}/runs/t1/dag?x=1")).await.refusal().1, "invalid_query");
    let mut page = Page::start(&server, "t1", form("one-shot", &json!({}))).await;
    page.until("step_started").await;
    // A task without a plan has a graph of its steps.
    assert_eq!(get(&server, "runs/t1/dag").await["nodes"][0]["id"], "one_shot");
    let tabs = ["dag", "history", "files", "costs", "console-log"].map(|tab| format!("runs/t1/{tab}"));
    let of_nodes = ["files", "events"].map(|tab| format!("nodes/s1/{tab}?run_id=t1"));
    for path in tabs.into_iter().chain(of_nodes) {
        let agent = server.agent_request(reqwest::Method::GET, &format!("{BASE}/{path}"));
        assert_eq!(server.send(agent).await.refusal(), (403, "forbidden_role"), "{path}");
    }
}
