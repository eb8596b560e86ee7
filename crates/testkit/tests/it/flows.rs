//! Flows 1 and 2 of a copilot (document 004, contract A26) with the shipped workflow. The tests check the events of the
//! journal and the requests to the model.

use std::fs;

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use crate::play::{command, one, read, write};

const COPILOT: &str = "copilot";

async fn server(scripts: &[(&str, Vec<Scripted>)]) -> (ScriptedModel, TestServer) {
    let model = ScriptedModel::start().await;
    for (agent, script) in scripts {
        model.script(agent, script.clone());
    }
    let server = TestServer::setup().model(&model).start().await;
    (model, server)
}

fn saying(text: &str, call: (&'static str, Value)) -> Scripted {
    Scripted::Calls { text: text.to_owned(), calls: vec![(call.0.to_owned(), call.1)] }
}

/// Returns the texts of an agent's model request number `n`, counted from 0.
fn request_text(model: &ScriptedModel, agent: &str, n: usize) -> String {
    model.requests_of(agent)[n].texts().join("\n")
}

/// Describes a run with one line per event that a person would notice.
async fn story(server: &TestServer, run: &str) -> Vec<String> {
    let events = server.events(run).await;
    let text = |event: &Value, key: &str| event["data"][key].as_str().unwrap_or_default().to_owned();
    let line = |event: &Value| {
        let kind = event["type"].as_str().unwrap_or_default();
        Some(match kind {
            "step_started" => format!("{} begins {}", text(event, "agent"), text(event, "step")),
            "interrupt_opened" => format!("asks: {}", text(event, "kind")),
            "interrupt_resolved" => format!("{}: {}", text(event, "outcome"), text(event, "option")),
            "phase_called" | "plan_settled" | "round_wanted" | "rounds_over" | "changes_proposed"
            | "tool_tried" | "run_completed" => kind.to_owned(),
            _ => return None,
        })
    };
    events.iter().filter_map(line).collect()
}

/// Flow 1 of a copilot: vague task → clarify → plan → plan approval → execute.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_vague_task_is_clarified_planned_approved_and_carried_out() {
    let plan = json!({"subtasks": [
        {"id": "sort", "description": "Sort names.txt", "agent": COPILOT},
        {"id": "look", "description": "Look at the result", "agent": COPILOT, "depends_on": ["sort"]},
    ]});
    let question = json!({"question": "Sorted how?", "choices": ["by name", "by length"]});
    let (model, server) = server(&[
        (
            COPILOT,
            vec![
                one(read("names.txt")),
                saying("It could be many things.", ("ask_user", question)),
                one(("invoke_planning_phase", json!({"task": "sort names.txt by length", "max_steps": 3}))),
                one(write("names.txt", "al\nbea\ncarla\n")),
                one(command("python3 -c 'print(open(\"names.txt\").read())'")),
                Scripted::text("names.txt is sorted by length."),
            ],
        ),
        ("planner", vec![Scripted::text(plan.to_string())]),
    ])
    .await;
    fs::write(server.workspace().join("names.txt"), "carla\nal\nbea\n").unwrap();
    let run = server.start_run(COPILOT, "Improve the list.").await;

    // The agent reads without approval, and asks before it changes anything.
    let asked = server.wait_one(&run).await;
    assert_eq!(
        (&asked["kind"], &asked["payload"]["choices"]),
        (&json!("question"), &json!(["by name", "by length"]))
    );
    assert_eq!(model.requests().len(), 2);
    server.decide(&asked, &json!({"option": "answer", "text": "by length"})).await.ok();

    // The planner receives the task. No work begins before a person approves the plan.
    let asked = server.wait_one(&run).await;
    assert_eq!(asked["kind"], "plan_approval");
    assert_eq!(asked["payload"]["plan"]["subtasks"].as_array().unwrap().len(), 2, "{asked:#}");
    assert_eq!(fs::read_to_string(server.workspace().join("names.txt")).unwrap(), "carla\nal\nbea\n");
    let planner = request_text(&model, "planner", 0);
    assert!(planner.contains("sort names.txt by length"), "{planner}");
    assert!(request_text(&model, COPILOT, 2).contains("by length"));
    assert_eq!(
        model.requests_of(COPILOT).len(),
        3,
        "the call is open, and the model is not called meanwhile"
    );
    server.decide(&asked, &json!({"option": "approve", "text": "shortest first"})).await.ok();

    // The result of the call is the plan. The text of the approval is passed on as a note.
    let asked = server.wait_one(&run).await;
    assert_eq!((&asked["kind"], &asked["payload"]["tool"]), (&json!("tool_approval"), &json!("write_file")));
    assert!(asked["payload"]["diff"].to_string().contains("carla"), "{asked:#}");
    let result = request_text(&model, COPILOT, 3);
    for part in ["\"status\": \"success\"", "Sort names.txt", "shortest first"] {
        assert!(result.contains(part), "{part}: {result}");
    }
    server.choose(&asked, "approve").await;

    // The command changes nothing, so its trial releases the command. The person is satisfied.
    let asked = server.wait_one(&run).await;
    assert_eq!(
        (&asked["kind"], &asked["payload"]["satisfaction"], &asked["payload"]["output"]),
        (&json!("turn"), &json!(true), &json!("names.txt is sorted by length."))
    );
    server.choose(&asked, "done").await;
    let ended = server.wait_status(&run, &["completed"]).await;
    assert_eq!(ended["result"]["text"], "names.txt is sorted by length.");
    assert_eq!(fs::read_to_string(server.workspace().join("names.txt")).unwrap(), "al\nbea\ncarla\n");
    assert_eq!(
        story(&server, &run).await,
        [
            "copilot begins work/round_1",
            "asks: question",
            "answered: answer",
            "phase_called",
            "planner begins of:call_3/plan",
            "asks: plan_approval",
            "approved: approve",
            "plan_settled",
            "changes_proposed",
            "asks: tool_approval",
            "approved: approve",
            "tool_tried",
            "asks: turn",
            "answered: done",
            "rounds_over",
            "run_completed",
        ]
    );
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_simple_task_is_done_looked_at_and_done_differently() {
    let (model, server) = server(&[(
        COPILOT,
        vec![
            one(write("hello.txt", "hello\n")),
            Scripted::text("hello.txt greets."),
            saying("In Italian, then.", write("hello.txt", "ciao\n")),
            Scripted::text("It says ciao."),
            Scripted::text("It said hello, and says ciao."),
        ],
    )])
    .await;
    let run = server.start_run(COPILOT, "Write a greeting into hello.txt.").await;
    let asked = server.wait_one(&run).await;
    server.choose(&asked, "approve").await;

    let asked = server.wait_one(&run).await;
    assert_eq!((&asked["kind"], &asked["payload"]["round"]), (&json!("turn"), &json!(1)));
    let options: Vec<_> = asked["options"].as_array().unwrap().iter().map(|each| &each["label"]).collect();
    assert_eq!(options, ["Needs changes", "Start over", "Satisfied"]);
    // The option for a satisfied person needs no text. The option for changes needs a text.
    assert_eq!(server.decide(&asked, &json!({"option": "submit"})).await.refusal(), (422, "invalid_request"));
    server.decide(&asked, &json!({"option": "submit", "text": "in Italian"})).await.ok();

    // The agent's next round receives the previous round with its calls, and the person's comment.
    let asked = server.wait_one(&run).await;
    assert_eq!((&asked["kind"], &asked["step"]), (&json!("tool_approval"), &json!("work/round_2")));
    let request = &model.requests_of(COPILOT)[2];
    let sent = request.body["messages"].to_string();
    for part in ["Write a greeting", "write_file", "hello.txt greets.", "in Italian"] {
        assert!(sent.contains(part), "{part}: {sent}");
    }
    server.choose(&asked, "approve").await;

    // A message to the run is also a turn of the person. After a round without changes, only the next turn is asked
    // for.
    let asked = server.wait_one(&run).await;
    assert_eq!((&asked["kind"], &asked["payload"]["round"]), (&json!("turn"), &json!(2)));
    server.post(&format!("/v1/runs/{run}/messages"), &json!({"text": "and before?"})).await.ok();
    let asked = server.wait_one(&run).await;
    assert_eq!((&asked["kind"], &asked["payload"]["round"]), (&json!("turn"), &json!(3)));
    server.choose(&asked, "done").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(fs::read_to_string(server.workspace().join("hello.txt")).unwrap(), "ciao\n");
    assert_eq!(
        story(&server, &run).await,
        [
            "copilot begins work/round_1",
            "changes_proposed",
            "asks: tool_approval",
            "approved: approve",
            "asks: turn",
            "answered: submit",
            "round_wanted",
            "copilot begins work/round_2",
            "changes_proposed",
            "asks: tool_approval",
            "approved: approve",
            "asks: turn",
            "answered: submit",
            "round_wanted",
            "copilot begins work/round_3",
            "asks: turn",
            "answered: done",
            "rounds_over",
            "run_completed",
        ]
    );
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}
