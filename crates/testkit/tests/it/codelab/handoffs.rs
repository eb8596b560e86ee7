//! Handoffs between agents, in a reply and during a plan (lessons 1 to 3, 17).

use holdshort_testkit::model::Scripted;
use serde_json::{Value, json};

use super::ide::{Ide, find_only_frame, post};
use super::{assert_paired, conversation, on_call, on_plan, plans, result, served, subtask, user};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_orchestrator_hands_over_and_every_call_has_its_result() {
    let (model, server) = served().await;
    let read = ("read_file", json!({ "path": "a.py" }));
    let over = ("handoff_to_coder", json!({ "reason": "this is code", "message": "fix a.py" }));
    model.push("orchestrator", Scripted::calls([read, over]));
    model.push("coder", Scripted::call("write_file", json!({ "path": "a.py", "content": "y" })));
    model.push("coder", Scripted::call("handoff_to_debug", json!({})));
    model.push("debug", Scripted::call("write_file", json!({ "path": "a.py", "content": "z" })));
    model.push("debug", Scripted::text("It works."));

    let mut ide = Ide::connect(&server, "s").await;
    ide.say(&user("Fix it.")).await;
    // In this reply the read comes before the handoff, so the handoff takes effect when the read has its result.
    let read = ide.find("tool_call").await;
    ide.find("done").await;
    ide.say(&result(&read, "x")).await;
    let frames = ide.until("tool_call").await;
    let switched = find_only_frame(&frames, "agent_switched");
    assert_eq!(
        (&switched["from"], &switched["to"], &switched["reason"]),
        (&json!("orchestrator"), &json!("code"), &json!("this is code"))
    );
    let write = frames.last().unwrap().clone();
    assert_eq!(write["agent"], "code");
    ide.find("done").await;
    ide.say(&on_call(&write, "approve")).await;
    ide.say(&result(&write, "written")).await;
    // The debugger has no tool that writes, so its call is refused and the debugger ends its work.
    let frames = ide.until("assistant_message").await;
    assert_eq!(find_only_frame(&frames, "agent_switched")["to"], "debug");
    assert_eq!(frames.last().unwrap()["content"], "It works.");
    let told = conversation(&model).iter().map(Value::to_string).collect::<String>();
    assert!(told.contains("the tool `write_file` is not available"), "{told}");
    assert_eq!(model.requests().len(), 5);
    assert_paired(&model);
    assert_eq!(ide.find("done").await["status"], "completed");

    // The orchestrator receives the next message again.
    model.push("orchestrator", Scripted::text("Anything."));
    let frames = post(&server, "s", &user("Thanks.")).await;
    assert_eq!(find_only_frame(&frames, "assistant_message")["metadata"]["agent"], "orchestrator");
    assert_eq!(Ide::open(&server, "s").await.next().await["agent"], "orchestrator");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_switch_gives_up_what_runs_and_stays_until_the_next() {
    let (model, server) = served().await;
    model.push("orchestrator", Scripted::call("read_file", json!({ "path": "a" })));
    let call = find_only_frame(&post(&server, "s", &user("Look at a.")).await, "tool_call").clone();
    let switch = json!({ "type": "switch_agent", "agent_type": "ask", "content": "Just explain a.", "reason": "faster" });
    model.push("ask", Scripted::text("a is a file."));
    let frames = post(&server, "s", &switch).await;
    let switched = find_only_frame(&frames, "agent_switched");
    assert_eq!((&switched["from"], &switched["to"]), (&json!("orchestrator"), &json!("ask")));
    assert_eq!(frames.last().unwrap()["status"], "completed");
    let told = model.requests().pop().unwrap().texts().join("\n");
    assert!(told.contains("Look at a.") && told.contains("Just explain a."), "{told}");
    let runs = server.get("/v1/runs").await.ok();
    let statuses: Vec<_> = runs["items"].as_array().unwrap().iter().map(|run| &run["status"]).collect();
    assert_eq!(statuses, ["completed", "cancelled"]);

    // The result is too late, and `ask` stays the front agent.
    let mut ide = Ide::connect(&server, "s").await;
    assert_eq!(ide.refused(&result(&call, "x")).await["code"], "run_ended");
    model.push("ask", Scripted::text("Yes."));
    ide.say(&user("Really.")).await;
    assert_eq!(ide.find("assistant_message").await["content"], "Yes.");
}

/// A plan continues after the server was killed while a subtask waited for the IDE.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_survives_a_kill_in_the_middle_of_a_subtask() {
    let (model, mut server) = served().await;
    let graph = [subtask("one", "debug", &[]), subtask("two", "ask", &["one"])];
    model.push("orchestrator", plans(&graph));
    model.push("debug", Scripted::call("execute_command", json!({ "command": "make test" })));
    model.push("debug", Scripted::text("The test fails."));
    model.push("ask", Scripted::text("Because of the clock."));
    let plan = find_only_frame(&post(&server, "s", &user("Why?")).await, "plan_notification").clone();
    let frames = post(&server, "s", &on_plan(&plan, "approve")).await;
    let call = find_only_frame(&frames, "tool_call").clone();
    post(&server, "s", &on_call(&call, "approve")).await;
    server.kill();
    server.start().await;

    let mut ide = Ide::connect(&server, "s").await;
    let again = ide.next().await;
    assert_eq!((&again["call_id"], &again["requires_approval"]), (&call["call_id"], &json!(false)));
    ide.say(&result(&call, "exit code 1")).await;
    let frames = ide.until("plan_completed").await;
    assert_eq!(frames.last().unwrap()["completed"], 2);
    assert_eq!(model.requests().len(), 4, "nothing was asked twice");
    assert_paired(&model);
    let ids: Vec<_> = model
        .requests()
        .iter()
        .flat_map(|request| request.body["messages"].as_array().cloned().unwrap())
        .collect();
    assert!(ids.iter().any(|message| message["role"] == "tool" && message["content"] == "exit code 1"));
}
