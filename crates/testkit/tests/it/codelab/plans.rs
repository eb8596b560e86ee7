//! Plans are shown, decided, and carried out one subtask after another (cases 24 to 27, 29).

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use reqwest::Method;
use serde_json::{Value, json};

use super::ide::{Ide, find_only_frame, get, kinds, post};
use super::{on_plan, plans, served, subtask, user};

fn five() -> Vec<Value> {
    ["coder", "debug", "ask", "coder", "architect"]
        .iter()
        .zip(1..)
        .map(|(agent, n)| subtask(&format!("s{n}"), agent, &[]))
        .collect()
}

/// Makes every agent complete its subtask with a short text.
fn all_say_done(model: &ScriptedModel) {
    for agent in ["coder", "debug", "ask", "architect"] {
        model.script(agent, [Scripted::text(format!("{agent} is done."))]);
    }
}

/// Starts session `s` with a plan of these subtasks, which waits for a decision.
async fn planned(subtasks: &[Value]) -> (ScriptedModel, TestServer, Ide, Value) {
    let (model, server) = served().await;
    model.script("orchestrator", [plans(subtasks)]);
    all_say_done(&model);
    let mut ide = Ide::connect(&server, "s").await;
    ide.say(&user("Build it.")).await;
    let plan = ide.find("plan_notification").await;
    assert_eq!(super::done(&ide.next().await), "waiting");
    (model, server, ide, plan)
}

async fn run_of(server: &TestServer) -> Value {
    server.get("/v1/runs").await.ok()["items"][0].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_shown_and_nothing_runs_before_the_decision() {
    let (model, server, mut ide, plan) = planned(&five()).await;
    let metadata = &plan["metadata"];
    let id = metadata["plan_id"].as_str().unwrap();
    assert!(id.len() == 13 && id.starts_with("plan_"), "{id}");
    assert_eq!(
        (&metadata["subtask_count"], &metadata["requires_approval"], &plan["is_final"]),
        (&json!(5), &json!(true), &json!(true))
    );
    assert_eq!(
        metadata["subtasks"][1],
        json!({ "id": "s2", "description": "do s2", "agent": "debug", "dependencies": [], "status": "pending" })
    );
    let content = plan["content"].as_str().unwrap();
    assert!(
        content.contains("plan_decision") && content.contains(id) && content.contains("do s5"),
        "{content}"
    );
    assert_eq!(model.requests().len(), 1, "nobody works");

    // A text message does not approve a plan, whatever the text says (B4).
    for words in ["yes, go ahead", "no"] {
        ide.say(&user(words)).await;
        let notice = ide.next().await;
        assert_eq!(
            (&notice["type"], &notice["metadata"]["plan_id"], &notice["metadata"]["waiting"]),
            (&json!("assistant_message"), &metadata["plan_id"], &json!(true))
        );
    }
    assert_eq!(model.requests().len(), 1);
    assert_eq!(run_of(&server).await["status"], "waiting");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approved_plan_is_carried_out_in_order_by_its_agents() {
    let (model, server, mut ide, plan) = planned(&five()).await;
    ide.say(&on_plan(&plan, "approve")).await;
    let frames = ide.until("done").await;

    let started: Vec<_> = frames
        .iter()
        .filter(|frame| frame["type"] == "subtask_started")
        .map(|frame| &frame["subtask_id"])
        .collect();
    assert_eq!(started, ["s1", "s2", "s3", "s4", "s5"]);
    let progress: Vec<(&str, &str)> = frames
        .iter()
        .filter_map(|frame| {
            let status = frame["metadata"]["subtask_status"].as_str()?;
            Some((frame["content"].as_str()?, status))
        })
        .collect();
    assert_eq!(progress[0], ("Subtask 1/5: do s1", "in_progress"));
    assert_eq!(progress[1], ("Subtask 1/5 completed: do s1", "completed"));
    assert_eq!(progress.len(), 10);
    let switched: Vec<String> = frames
        .iter()
        .filter(|frame| frame["type"] == "agent_switched")
        .map(|frame| format!("{} {}", frame["from"], frame["to"]).replace('"', ""))
        .collect();
    assert_eq!(switched, ["orchestrator code", "code debug", "debug ask", "ask code", "code architect"]);
    let completed = find_only_frame(&frames, "plan_completed");
    let facts = json!({ "plan_id": plan["metadata"]["plan_id"], "plan_status": "completed",
        "total_subtasks": 5, "completed": 5, "failed": 0, "skipped": 0, "is_final": true });
    let mut expected = facts.clone();
    expected["type"] = json!("plan_completed");
    expected["content"] = json!("The plan is completed: 5 of 5 subtasks completed, 0 failed, 0 skipped.");
    expected["metadata"] = facts;
    assert_eq!(*completed, expected);
    // Subtasks run in order, and each agent reads the results of previous subtasks.
    let last = model.requests_of("architect").pop().unwrap().texts().join("\n");
    assert!(last.contains("coder is done.") && last.contains("ask is done."), "{last}");
    assert_eq!(run_of(&server).await["end_reason"], "done");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rejected_plan_is_dropped_and_the_session_goes_on() {
    let (model, server, mut ide, plan) = planned(&five()).await;
    let mut no = on_plan(&plan, "reject");
    no["feedback"] = json!("This is not the way.");
    ide.say(&no).await;
    let frames = ide.until("done").await;
    let cancelled = find_only_frame(&frames, "assistant_message");
    assert_eq!(cancelled["is_final"], true);
    assert!(cancelled["content"].as_str().unwrap().contains("This is not the way."), "{cancelled}");
    assert_eq!(run_of(&server).await["status"], "completed");

    // The next message is handled as usual, and the model sees the previous conversation.
    model.script("orchestrator", [Scripted::text("Then I explain it.")]);
    ide.say(&user("Explain it instead.")).await;
    let frames = ide.until("done").await;
    let answer = find_only_frame(&frames, "assistant_message");
    assert_eq!((&answer["content"], &answer["is_final"]), (&json!("Then I explain it."), &json!(true)));
    let told = model.requests().pop().unwrap().texts().join("\n");
    assert!(told.contains("Build it.") && told.contains("Explain it instead."), "{told}");
    assert_eq!(server.get("/v1/runs").await.ok()["items"].as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edited_plan_is_the_one_that_runs() {
    let (_model, server, mut ide, plan) = planned(&five()).await;
    let refused = ide.refused(&on_plan(&plan, "edit")).await;
    assert_eq!(refused["errors"][0]["pointer"], "/modified_subtasks");
    let two = |first: &str, second: &str, needs: &[&str]| {
        let mut edit = on_plan(&plan, "edit");
        edit["modified_subtasks"] = json!([
            { "id": "a", "description": "only this", "agent": first, "dependencies": needs, "status": "pending" },
            { "id": "b", "description": "and that", "agent": second, "dependencies": ["a"],
              "estimated_time": "5 min", "result": null }
        ]);
        edit
    };
    let of = |subtasks: Value| {
        let mut edit = on_plan(&plan, "edit");
        edit["modified_subtasks"] = subtasks;
        edit
    };
    let many = |n: u32| json!({ "id": n.to_string(), "description": "one of many", "agent": "coder" });
    let table = [
        (two("nobody", "coder", &[]), "/modified_subtasks/0/agent"),
        (two("coder", "coder", &["b"]), "/modified_subtasks"),
        (two("coder", "coder", &["ghost"]), "/modified_subtasks/0/dependencies/0"),
        (of(json!([])), "/modified_subtasks"),
        (of(json!("do it")), "/modified_subtasks"),
        (of(json!([{ "id": "a", "description": "nobody's" }])), "/modified_subtasks/0/agent"),
        (of((0..1_000).map(many).collect()), "/modified_subtasks"),
    ];
    for (edit, pointer) in table {
        let refused = ide.refused(&edit).await;
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{refused}");
        assert_eq!(run_of(&server).await["status"], "waiting");
    }
    ide.say(&two("coder", "ask", &[])).await;
    let frames = ide.until("done").await;
    let started: Vec<_> = frames
        .iter()
        .filter(|frame| frame["type"] == "subtask_started")
        .map(|frame| &frame["subtask_id"])
        .collect();
    assert_eq!(started, ["a", "b"]);
    assert_eq!(find_only_frame(&frames, "plan_completed")["total_subtasks"], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_depends_on_a_failure_is_skipped_and_the_rest_goes_on() {
    let graph = [subtask("s1", "debug", &[]), subtask("s2", "coder", &["s1"]), subtask("s3", "coder", &[])];
    let (model, _server, mut ide, plan) = planned(&graph).await;
    model.script("debug", [Scripted::status(400)]);
    let mut approve = json!({ "type": "plan_decision", "decision": "approved" });
    approve["approval_request_id"] = plan["metadata"]["approval_request_id"].clone();
    // A decision may name the plan by either of the plan's two ids.
    approve["plan_id"] = plan["metadata"]["plan_id"].clone();
    ide.say(&approve).await;
    let frames = ide.until("done").await;
    let ended: Vec<String> = frames
        .iter()
        .filter(|frame| frame["type"] == "subtask_completed")
        .map(|frame| format!("{} {}", frame["subtask_id"], frame["status"]).replace('"', ""))
        .collect();
    assert_eq!(ended, ["s1 failed", "s2 skipped", "s3 completed"]);
    let completed = find_only_frame(&frames, "plan_completed");
    assert_eq!(
        (&completed["plan_status"], &completed["completed"], &completed["failed"], &completed["skipped"]),
        (&json!("partial"), &json!(1), &json!(1), &json!(1))
    );
    let started = frames.iter().filter(|frame| frame["type"] == "subtask_started").count();
    assert_eq!(started, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cyclic_plan_is_refused_when_it_is_made() {
    let (model, server) = served().await;
    let cycle = [subtask("a", "coder", &["b"]), subtask("b", "coder", &["a"])];
    model.script("orchestrator", [plans(&cycle), plans(&[subtask("a", "coder", &[])])]);
    let frames = post(&server, "s", &user("Build it.")).await;
    assert_eq!(find_only_frame(&frames, "plan_notification")["metadata"]["subtask_count"], 1);
    let told = model.requests().pop().unwrap().texts().join("\n");
    assert!(told.contains("cycle"), "{told}");
    super::assert_paired(&model);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_plan_can_be_asked_for() {
    let (model, _server, mut ide, plan) = planned(&five()).await;
    model.script("orchestrator", [plans(&five()), plans(&[subtask("small", "coder", &[])])]);
    let mut other = on_plan(&plan, "modify");
    other["feedback"] = json!("one step is enough");
    ide.say(&other).await;
    let frames = ide.until("done").await;
    let second = find_only_frame(&frames, "plan_notification");
    assert_eq!(second["metadata"]["subtask_count"], 1);
    assert_ne!(second["metadata"]["plan_id"], plan["metadata"]["plan_id"]);
    let told = model.requests().pop().unwrap().texts().join("\n");
    assert!(told.contains("one step is enough"), "{told}");
    // The first request is closed by the second plan.
    let late = ide.refused(&on_plan(&plan, "approve")).await;
    assert_eq!(late["code"], "already_resolved", "{late}");
}

/// Plans work in the same way over server-sent events, which gateways use. Each message is a request, and its response
/// streams the frames and ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_over_server_sent_events() {
    let (model, server) = served().await;
    model.script("orchestrator", [plans(&five()[..2])]);
    all_say_done(&model);
    let frames = post(&server, "session 1", &user("Build it.")).await;
    assert_eq!(kinds(&frames), ["plan_approval_required", "plan_notification", "done"]);
    let plan = find_only_frame(&frames, "plan_notification").clone();
    let frames = post(&server, "session 1", &user("yes")).await;
    assert_eq!(kinds(&frames), ["assistant_message", "done"]);
    let frames = post(&server, "session 1", &on_plan(&plan, "approve")).await;
    assert_eq!(
        kinds(&frames),
        [
            "status",
            "agent_switched",
            "subtask_started",
            "assistant_message",
            "plan_progress",
            "subtask_completed",
            "assistant_message",
            "plan_progress",
            "agent_switched",
            "subtask_started",
            "assistant_message",
            "plan_progress",
            "subtask_completed",
            "assistant_message",
            "plan_progress",
            "plan_completed",
            "done",
        ]
    );
}

/// A plan continues after the IDE and the server were restarted (lesson 7, case 32).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_goes_on_after_everything_was_started_again() {
    let (_model, mut server, ide, plan) = planned(&five()[..2]).await;
    drop(ide);
    server.kill();
    server.start().await;
    let mut ide = Ide::connect(&server, "s").await;
    assert_eq!(ide.next().await["type"], "plan_approval_required");
    assert_eq!(ide.next().await, plan, "the same under the same id");
    ide.say(&on_plan(&plan, "approve")).await;
    let frames = ide.until("plan_completed").await;
    assert_eq!(find_only_frame(&frames, "plan_completed")["completed"], 2);
    assert_eq!(server.get("/v1/runs").await.ok()["items"].as_array().unwrap().len(), 1);
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}

/// A plan without a decision is dropped with the outcome `expired`, not `rejected`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_that_nobody_decides_on_expires() {
    let (model, server) = super::served_with(&super::WORKFLOW.replace("300s", "300ms")).await;
    model.script("orchestrator", [plans(&five())]);
    let mut ide = Ide::connect(&server, "s").await;
    ide.say(&user("Build it.")).await;
    let plan = ide.find("plan_notification").await;
    let message = ide.find("assistant_message").await;
    assert_eq!((&message["is_final"], &message["metadata"]["outcome"]), (&json!(true), &json!("expired")));
    assert_eq!(ide.find("done").await["status"], "completed");
    assert_eq!(ide.refused(&on_plan(&plan, "approve")).await["code"], "expired");
    let log = get(&server, "events/audit-log?session_id=s").await;
    assert_eq!(log["events"][0]["decision"], "expired");
}

/// A replacement of a running plan needs a decision. If a person rejects the replacement, the running plan continues
/// unchanged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replacement_that_is_rejected_leaves_the_plan_as_it_was() {
    let (model, server, mut ide, plan) =
        planned(&[subtask("a", "coder", &[]), subtask("b", "ask", &[])]).await;
    let read = Scripted::call("read_file", json!({ "path": "x" }));
    model.script("coder", [read, Scripted::text("a is done.")]);
    ide.say(&on_plan(&plan, "approve")).await;
    let call = ide.find("tool_call").await;
    ide.find("done").await;
    let run = run_of(&server).await["id"].as_str().unwrap().to_owned();
    let other = json!({ "plan": { "subtasks": [subtask("a", "coder", &[]), subtask("c", "ask", &[])] } });
    let put = server.request(Method::PUT, &format!("/v1/runs/{run}/plans/work")).json(&other);
    server.send(put).await.ok();
    let second = ide.find("plan_notification").await;
    let id = &plan["metadata"]["plan_id"];
    assert_ne!(&second["metadata"]["plan_id"], id);
    ide.find("done").await;
    // The server accepts messages again, because the plan is running.
    ide.say(&user("Mind the tests.")).await;
    holdshort_testkit::server::eventually("the word", async || {
        (server.events_of(&run, "message_added").await.len() == 1).then_some(())
    })
    .await;
    let mut no = on_plan(&second, "reject");
    no["feedback"] = json!("keep the old one");
    ide.say(&no).await;
    let told = ide.find("assistant_message").await;
    assert_eq!(
        (&told["content"], &told["is_final"]),
        (&json!("The plan continues unchanged. keep the old one"), &json!(false))
    );
    ide.say(&super::result(&call, "text")).await;
    let frames = ide.until("plan_completed").await;
    let ids: Vec<&Value> = frames.iter().filter_map(|frame| frame.get("plan_id")).collect();
    assert!(ids.len() > 3 && ids.iter().all(|found| *found == id), "{ids:?} {id}");
    let listed = get(&server, "sessions/s/plans").await;
    assert_eq!(&listed["plans"][0]["plan_id"], id);
}

/// A client may send back the subtasks that it received, with either name of the dependency field.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_shown_can_be_sent_back() {
    let nobodys = json!({ "id": "s2", "description": "do s2", "depends_on": ["s1"] });
    let (_model, server, mut ide, plan) = planned(&[subtask("s1", "coder", &[]), nobodys]).await;
    let shown = &plan["metadata"]["subtasks"];
    assert_eq!(shown[1]["agent"], "code", "the one that will do it");
    let edit = |ids: Value| {
        let mut subtasks = shown.clone();
        let second = subtasks[1].as_object_mut().unwrap();
        second.remove("dependencies");
        second.insert("depends_on".to_owned(), ids);
        json!({ "type": "plan_decision", "decision": "edit", "modified_subtasks": subtasks,
            "request_id": plan["metadata"]["approval_request_id"] })
    };
    let refused = ide.refused(&edit(json!(["s1", "ghost"]))).await;
    assert_eq!(refused["errors"][0]["pointer"], "/modified_subtasks/1/depends_on/1", "{refused}");
    let mut both = edit(json!(["s1"]));
    both["modified_subtasks"][1]["dependencies"] = json!([]);
    let refused = ide.refused(&both).await;
    assert_eq!(refused["errors"][0]["pointer"], "/modified_subtasks/1/depends_on");
    ide.say(&edit(json!(["s1"]))).await;
    ide.find("plan_completed").await;
    let listed = get(&server, "sessions/s/plans").await;
    let second = &listed["plans"][0]["subtasks"][1];
    assert_eq!((&second["dependencies"], &second["status"]), (&json!(["s1"]), &json!("completed")));
}

/// If a person ends a subtask at its limit, the subtask's completion reason is the limit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subtask_that_is_ended_at_its_limit_says_so() {
    let workflow = super::WORKFLOW.replace("limits: {tool_calls: 20}", "limits: {tool_calls: 1}");
    let (model, server) = super::served_with(&workflow).await;
    model.script("orchestrator", [plans(&[subtask("a", "coder", &[])])]);
    for path in ["x", "y"] {
        model.push("coder", Scripted::call("read_file", json!({ "path": path })));
    }
    let mut ide = Ide::connect(&server, "s").await;
    ide.say(&user("Build it.")).await;
    let plan = ide.find("plan_notification").await;
    ide.say(&on_plan(&plan, "approve")).await;
    let call = ide.find("tool_call").await;
    let listed = get(&server, "sessions/s/plans").await;
    assert_eq!(listed["plans"][0]["subtasks"][0]["status"], "in_progress");
    ide.say(&super::result(&call, "text")).await;
    let limit = loop {
        let frame = ide.next().await;
        if frame["metadata"]["limit"] == true {
            break frame["metadata"]["request_id"].clone();
        }
    };
    ide.say(&json!({ "type": "hitl_decision", "call_id": limit, "decision": "reject" })).await;
    assert_eq!(ide.find("subtask_completed").await["completion_reason"], "limit");
    let log = get(&server, "events/audit-log?session_id=s&event_type=hitl_decision").await;
    assert_eq!(
        (&log["count"], &log["events"][0]["decision"], &log["events"][0]["call_id"]),
        (&json!(1), &json!("finish"), &limit)
    );
}

/// The number of new plans that a person can request is limited. The response to the last request tells the person
/// about the limit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_wish_for_another_plan_says_so() {
    let (model, _server, mut ide, mut plan) = planned(&five()).await;
    model.script("orchestrator", [plans(&five()), plans(&five()), plans(&five())]);
    let mut told = Vec::new();
    for _ in 0..3 {
        let mut other = on_plan(&plan, "modify");
        other["feedback"] = json!("shorter");
        ide.say(&other).await;
        told.push(ide.find("assistant_message").await["content"].as_str().unwrap().to_owned());
        let frames = ide.until("done").await;
        if let Some(next) = frames.into_iter().find(|frame| frame["type"] == "plan_notification") {
            plan = next;
        }
    }
    let again = "Another plan is being made. shorter";
    assert_eq!(told, [again, again, "No other plan is made: the limit of new plans is reached. shorter"]);
}
