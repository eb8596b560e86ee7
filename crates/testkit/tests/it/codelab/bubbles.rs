//! A plan as the IDE with the plan panel shows it (contract B16): messages in the chat, and the panel itself, which
//! moves only on `plan_progress`. Estimated times are shown as they are sent.

use std::collections::BTreeMap;

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use reqwest::Method;
use serde_json::{Value, json};

use super::ide::{Ide, find_only_frame, get, kinds, post, post_refused};
use super::{on_plan, plans, served, subtask, user};

/// Members of a chat message in the IDE's model. The IDE sends all of them, and null for those without a value.
const MEMBERS: [&str; 22] = [
    "type",
    "content",
    "role",
    "is_final",
    "call_id",
    "tool_name",
    "arguments",
    "requires_approval",
    "result",
    "error",
    "agent_type",
    "from_agent",
    "to_agent",
    "reason",
    "plan_id",
    "steps",
    "current_step",
    "step_id",
    "status",
    "decision",
    "feedback",
    "metadata",
];

/// Returns a chat message as the IDE serializes it.
fn model_of(message: &Value) -> Value {
    MEMBERS.iter().map(|member| ((*member).to_owned(), message[*member].clone())).collect::<Value>()
}

#[derive(Default)]
struct Panel {
    plan: Value,
    steps: BTreeMap<String, String>,
    /// All statuses of the plan panel, in the order of their frames.
    moves: Vec<String>,
}

impl Panel {
    fn read(&mut self, frames: &[Value]) {
        for frame in frames {
            match frame["type"].as_str().unwrap() {
                "plan_notification" => {
                    self.plan = frame["metadata"]["plan_id"].clone();
                    let subtasks = frame["metadata"]["subtasks"].as_array().unwrap().iter();
                    let pending =
                        |each: &Value| (each["id"].as_str().unwrap().to_owned(), "pending".to_owned());
                    self.steps = subtasks.map(pending).collect();
                }
                // The panel ignores the progress of any other plan, and steps that it does not know.
                "plan_progress" if frame["plan_id"] == self.plan => {
                    let (step, status) =
                        (frame["step_id"].as_str().unwrap(), frame["status"].as_str().unwrap());
                    if let Some(known) = self.steps.get_mut(step) {
                        status.clone_into(known);
                        self.moves.push(format!("{step} {status}"));
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns the texts that the IDE's chat shows about a plan: the plan, the messages of agents, and the end of the plan.
fn bubbles(frames: &[Value]) -> Vec<&str> {
    let kinds = ["plan_approval_required", "plan_notification", "assistant_message", "plan_completed"];
    let shown = frames.iter().filter(|frame| kinds.contains(&frame["type"].as_str().unwrap()));
    shown.map(|frame| frame["content"].as_str().unwrap()).collect()
}

async fn of_two(model: &ScriptedModel, server: &TestServer) -> Vec<Value> {
    model.push("orchestrator", plans(&[subtask("a", "coder", &[]), subtask("b", "ask", &["a"])]));
    post(server, "s", &model_of(&user("Build it."))).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_of_two_subtasks_is_six_messages_and_moves_the_panel() {
    let (model, server) = served().await;
    model.push("coder", Scripted::text("a is done."));
    model.push("ask", Scripted::text("b is done."));
    let mut frames = of_two(&model, &server).await;
    assert_eq!(kinds(&frames), ["plan_notification", "done"], "the plan is shown once");
    let plan = frames[0].clone();
    frames.extend(post(&server, "s", &model_of(&on_plan(&plan, "approve"))).await);
    let shown = bubbles(&frames);
    assert!(shown[0].starts_with("Plan of 2 subtasks:"), "{shown:?}");
    assert_eq!(
        shown[1..],
        [
            "Subtask 1/2: do a",
            "Subtask 1/2 completed: do a",
            "Subtask 2/2: do b",
            "Subtask 2/2 completed: do b",
            "The plan is completed: 2 of 2 subtasks completed, 0 failed, 0 skipped.",
        ]
    );
    let mut panel = Panel::default();
    panel.read(&frames);
    assert_eq!(panel.moves, ["a in_progress", "a completed", "b in_progress", "b completed"]);
}

/// Over a socket, the first message of the IDE tells its version. A client of another version gets both frames.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_another_version_gets_both_frames_of_a_plan() {
    let (model, server) = served().await;
    let both = ["plan_approval_required", "plan_notification", "done"];
    for (n, (message, expected)) in
        [(user("Build it."), &both[..]), (model_of(&user("Build it.")), &both[1..])].into_iter().enumerate()
    {
        model.push("orchestrator", plans(&[subtask("a", "coder", &[])]));
        let mut ide = Ide::connect(&server, &format!("socket{n}")).await;
        ide.say(&message).await;
        assert_eq!(kinds(&ide.until("done").await), expected);
        model.push("orchestrator", plans(&[subtask("a", "coder", &[])]));
        assert_eq!(kinds(&post(&server, &format!("posted{n}"), &message).await), expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_panel_shows_failures_and_what_is_not_done_because_of_them() {
    let (model, server) = served().await;
    model.push("coder", Scripted::status(400));
    let mut panel = Panel::default();
    let frames = of_two(&model, &server).await;
    panel.read(&frames);
    let frames = post(&server, "s", &model_of(&on_plan(&frames[0], "approve"))).await;
    panel.read(&frames);
    assert_eq!(panel.moves, ["a in_progress", "a failed", "b skipped"]);
    let failed = frames.iter().find(|frame| frame["status"] == "failed").unwrap();
    assert_eq!(failed["type"], "subtask_completed");
    let told = frames.iter().find(|frame| frame["type"] == "plan_progress" && frame["status"] == "failed");
    assert_eq!(told.unwrap()["error"], failed["error"], "the panel shows the reason");
    assert!(bubbles(&frames).contains(&"Subtask 2/2 skipped: do b"), "{frames:#?}");
}

/// If a person ends the run, the panel shows no running subtask.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_cancelled_leaves_no_subtask_at_work() {
    let (model, server) = served().await;
    model.push("coder", Scripted::call("read_file", json!({ "path": "x" })));
    let mut panel = Panel::default();
    let frames = of_two(&model, &server).await;
    panel.read(&frames);
    panel.read(&post(&server, "s", &model_of(&on_plan(&frames[0], "approve"))).await);
    assert_eq!(panel.moves, ["a in_progress"]);
    let mut ide = Ide::connect(&server, "s").await;
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    server.send(server.request(Method::POST, &format!("/v1/runs/{run}/cancel"))).await.ok();
    let frames = ide.until("done").await;
    panel.read(&frames);
    assert_eq!(panel.moves, ["a in_progress", "a failed", "b skipped"]);
    assert_eq!(find_only_frame(&frames, "plan_completed")["plan_status"], "cancelled");
}

fn timed(id: &str, time: &Value) -> Value {
    let mut subtask = subtask(id, "coder", &[]);
    subtask["estimated_time"] = time.clone();
    subtask
}

/// Returns the estimates of the subtasks, and null for a subtask without an estimate.
fn times(subtasks: &Value) -> Vec<Value> {
    subtasks.as_array().unwrap().iter().map(|each| each["estimated_time"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn estimated_times_come_through_and_are_left_out_where_there_are_none() {
    let (model, server) = served().await;
    let table = [
        ([json!("2 min"), json!("5 min")], [json!("2 min"), json!("5 min")], json!("7 min")),
        ([json!("2 min"), Value::Null], [json!("2 min"), Value::Null], Value::Null),
        ([json!("unknown"), json!("")], [Value::Null, Value::Null], Value::Null),
        ([json!("a while"), json!(" 1 hour")], [json!("a while"), json!("1 hour")], Value::Null),
    ];
    for (n, (sent, shown, total)) in table.into_iter().enumerate() {
        model.push("orchestrator", plans(&[timed("a", &sent[0]), timed("b", &sent[1])]));
        let session = format!("s{n}");
        let frames = post(&server, &session, &user("Build it.")).await;
        let asked = find_only_frame(&frames, "plan_approval_required");
        let summary = &asked["plan_summary"];
        assert_eq!((times(&summary["subtasks"]), &summary["total_estimated_time"]), (shown.to_vec(), &total));
        let plan = find_only_frame(&frames, "plan_notification");
        assert_eq!(times(&plan["metadata"]["subtasks"]), shown);
        for (path, list) in [("pending-plans", "pending_plans"), ("plans", "plans")] {
            let listed = get(&server, &format!("sessions/{session}/{path}")).await;
            assert_eq!(times(&listed[list][0]["subtasks"]), shown, "{path}");
        }
    }
    // A tool call of the later version states minutes.
    let minutes = json!({ "id": "a", "description": "do a", "agent": "coder", "estimated_time_minutes": 5 });
    model.push("orchestrator", plans(&[minutes]));
    let frames = post(&server, "minutes", &user("Build it.")).await;
    assert_eq!(times(&find_only_frame(&frames, "plan_notification")["metadata"]["subtasks"]), ["5 min"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_keeps_the_times_that_it_sends_back() {
    let (model, server) = served().await;
    model.script("coder", [Scripted::text("Done.").repeat()]);
    model.push("orchestrator", plans(&[timed("a", &json!("2 min")), timed("b", &json!("5 min"))]));
    let frames = post(&server, "s", &user("Build it.")).await;
    let plan = find_only_frame(&frames, "plan_notification").clone();
    let edit = |times: [Value; 2]| {
        let mut edit = on_plan(&plan, "edit");
        let mut subtasks = plan["metadata"]["subtasks"].clone();
        for (subtask, time) in subtasks.as_array_mut().unwrap().iter_mut().zip(times) {
            subtask["estimated_time"] = time;
        }
        subtasks[0]["description"] = json!("do a well");
        edit["modified_subtasks"] = subtasks;
        json!({ "session_id": "s", "message": edit })
    };
    let near_misses = [json!(5), json!("x".repeat(65)), json!("5\nmin")];
    for wrong in near_misses {
        let refused = post_refused(&server, &edit([wrong.clone(), Value::Null])).await;
        let at = "/message/modified_subtasks/0/estimated_time";
        assert_eq!(refused["errors"][0]["pointer"], at, "{wrong}: {refused}");
    }
    let sent = edit([json!("3 min"), json!("unknown")]);
    find_only_frame(&post(&server, "s", &sent["message"]).await, "plan_completed");
    let listed = get(&server, "sessions/s/plans").await;
    assert_eq!(times(&listed["plans"][0]["subtasks"]), [json!("3 min"), Value::Null]);
    let audited = get(&server, "events/audit-log?session_id=s").await;
    assert_eq!(times(&audited["events"][0]["modified_subtasks"]), [json!("3 min"), Value::Null]);
    // The native interface has the same estimates, and accepts them.
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    let native = server.get(&format!("/v1/runs/{run}/plans")).await.ok();
    assert_eq!(native["items"][0]["subtasks"][0]["estimated_time"], "3 min", "{native}");
}
