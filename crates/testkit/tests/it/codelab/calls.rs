//! Calls that the IDE runs (cases 30 to 32).

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::ide::{Ide, find_only_frame, get, kinds, post};
use super::{assert_paired, conversation, on_call, result, served};

fn write(path: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": path, "content": "x" }))
}

fn read(path: &str) -> (&'static str, Value) {
    ("read_file", json!({ "path": path }))
}

/// Starts a session in which the agent `coder` receives the messages. The agent replies with these steps and then says
/// that it is done.
async fn coding(steps: Vec<Scripted>) -> (ScriptedModel, TestServer, Ide) {
    let (model, server) = served().await;
    let steps: Vec<Scripted> = steps.into_iter().chain([Scripted::text("Done.")]).collect();
    model.script("coder", steps);
    let mut ide = Ide::connect(&server, "s").await;
    ide.say(&json!({ "type": "switch_agent", "agent_type": "coder", "content": "Write it." })).await;
    let switched = ide.next().await;
    let facts = json!({ "from": "orchestrator", "to": "code", "from_agent": "orchestrator", "to_agent": "code",
        "reason": "the agent was chosen to continue" });
    assert_eq!((&switched["type"], &switched["metadata"]), (&json!("agent_switched"), &facts));
    (model, server, ide)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_approved_run_in_the_ide_and_paired_with_its_result() {
    let (model, _server, mut ide) = coding(vec![Scripted::calls([write("a.py")])]).await;
    let call = ide.next().await;
    assert_eq!(
        (&call["type"], &call["tool_name"], &call["arguments"], &call["requires_approval"]),
        (&json!("tool_call"), &json!("write_file"), &json!({ "path": "a.py", "content": "x" }), &json!(true))
    );
    assert_eq!(ide.next().await["status"], "waiting");
    ide.say(&on_call(&call, "approve")).await;
    let frames = ide.until("done").await;
    assert_eq!(kinds(&frames), ["status", "tool_call", "done"]);
    let mut handed_out = call.clone();
    handed_out["requires_approval"] = json!(false);
    handed_out["metadata"] = json!({ "approved": true });
    handed_out.as_object_mut().unwrap().remove("reason");
    assert_eq!(frames[1], handed_out, "whoever approved it, a call is run when it is handed out");
    assert_eq!(model.requests().len(), 1);
    ide.say(&result(&call, "written")).await;
    let frames = ide.until("done").await;
    assert_eq!(find_only_frame(&frames, "assistant_message")["content"], "Done.");
    assert_eq!(model.requests().len(), 2, "one model call after it");
    let told = conversation(&model);
    assert_eq!(
        (&told[1]["tool_calls"][0]["function"]["name"], &told[2]["content"]),
        (&json!("write_file"), &json!("written"))
    );
    assert_paired(&model);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_calls_one_runs_free_and_the_other_waits() {
    let (model, _server, mut ide) = coding(vec![Scripted::calls([read("a.py"), write("b.py")])]).await;
    let frames = ide.until("done").await;
    let calls: Vec<&Value> = frames.iter().filter(|frame| frame["type"] == "tool_call").collect();
    let call = |tool: &str| *calls.iter().find(|call| call["tool_name"] == tool).unwrap();
    let (reads, writes) = (call("read_file"), call("write_file"));
    assert_eq!((&reads["requires_approval"], &writes["requires_approval"]), (&json!(false), &json!(true)));
    ide.say(&result(reads, "import os")).await;
    ide.until("done").await;
    assert_eq!(model.requests().len(), 1, "the other one has no result yet");
    ide.say(&on_call(writes, "approve")).await;
    ide.until("done").await;
    ide.say(&result(writes, "ok")).await;
    let frames = ide.until("done").await;
    assert_eq!(find_only_frame(&frames, "assistant_message")["content"], "Done.");
    assert_eq!(model.requests().len(), 2);
    assert_paired(&model);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_can_be_edited_or_refused() {
    let (model, _server, mut ide) =
        coding(vec![Scripted::calls([write("a.py")]), Scripted::calls([write("b.py")])]).await;
    let call = ide.next().await;
    ide.next().await;
    let refused = ide.refused(&on_call(&call, "edit")).await;
    assert_eq!(refused["errors"][0]["pointer"], "/modified_arguments");
    let mut edit = on_call(&call, "edit");
    edit["modified_arguments"] = json!({ "path": "c.py" });
    let refused = ide.refused(&edit).await;
    assert!(
        refused["errors"][0]["pointer"].as_str().unwrap().starts_with("/modified_arguments"),
        "{refused}"
    );
    edit["modified_arguments"] = json!({ "path": "c.py", "content": "y" });
    ide.say(&edit).await;
    ide.until("done").await;
    ide.say(&result(&call, "written")).await;
    let second = ide.find("tool_call").await;
    ide.next().await;
    let told = conversation(&model);
    let arguments: Value =
        serde_json::from_str(told[1]["tool_calls"][0]["function"]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments["path"], "c.py", "the model is told what ran");

    let mut no = on_call(&second, "reject");
    no["feedback"] = json!("not there");
    ide.say(&no).await;
    ide.until("done").await;
    let told = conversation(&model).iter().map(Value::to_string).collect::<String>();
    assert!(told.contains("refused") && told.contains("not there"), "{told}");
    assert_paired(&model);
}

/// A result without a decision approves its call (E33). Late, repeated and unknown results change nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_come_early_twice_and_for_nothing() {
    let (model, server, mut ide) = coding(vec![Scripted::calls([write("a.py")])]).await;
    let call = ide.next().await;
    ide.next().await;
    let unknown = json!({ "type": "tool_result", "call_id": "call_99", "result": "x" });
    assert_eq!(ide.refused(&unknown).await["code"], "not_found");
    let foreign = json!({ "type": "tool_result", "result": "x",
        "call_id": call["call_id"].as_str().unwrap().replace("call_1", "call_77") });
    assert_eq!(ide.refused(&foreign).await["code"], "not_found");

    ide.say(&result(&call, "written")).await;
    let frames = ide.until("done").await;
    assert_eq!(find_only_frame(&frames, "assistant_message")["content"], "Done.");
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    let made = server.events_of(&run, "decision_made").await;
    assert_eq!((&made[0]["data"]["option"], &made[0]["data"]["implied"]), (&json!("approve"), &json!(true)));
    assert_eq!(made[0]["actor"]["via"], "codelab");
    let log = get(&server, "events/audit-log?session_id=s").await;
    assert_eq!(
        (&log["count"], &log["events"][0]["decision"], &log["events"][0]["implied"]),
        (&json!(1), &json!("approve"), &json!(true))
    );

    // The run has ended, so a repeated result and a different result are both too late.
    let events = server.events(&run).await.len();
    ide.refused(&result(&call, "something else")).await;
    assert_eq!(server.events(&run).await.len(), events);
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeat_is_harmless_and_a_contradiction_is_not_taken() {
    let (model, server, mut ide) = coding(vec![Scripted::calls([read("a"), read("b")])]).await;
    let frames = ide.until("done").await;
    let calls: Vec<&Value> = frames.iter().filter(|frame| frame["type"] == "tool_call").collect();
    ide.say(&result(calls[0], "one")).await;
    ide.until("done").await;
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    let events = server.events(&run).await.len();
    ide.say(&result(calls[0], "one")).await;
    assert_eq!(ide.refused(&result(calls[0], "two")).await["code"], "already_resolved");
    assert_eq!(server.events(&run).await.len(), events, "nothing was written");
    ide.say(&json!({ "type": "tool_result", "call_id": calls[1]["call_id"], "error": "no such file" })).await;
    ide.until("done").await;
    let told = conversation(&model);
    assert_eq!(told[2]["content"], "one");
    assert!(told[3]["content"].as_str().unwrap().contains("no such file"), "{told:#?}");
}

/// After a restart of the IDE, the server sends the open call again (case 32).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_open_call_is_found_again() {
    let (_model, mut server, mut ide) = coding(vec![Scripted::calls([write("a.py")])]).await;
    let call = ide.next().await;
    drop(ide);
    let path = "sessions/s/pending-approvals";
    let before = get(&server, path).await;
    server.kill();
    server.start().await;
    assert_eq!(get(&server, path).await, before);
    let item = &before["pending_approvals"][0];
    assert_eq!(
        (&before["count"], &item["request_type"], &item["call_id"], &item["tool_name"], &item["arguments"]),
        (&json!(1), &json!("tool"), &call["call_id"], &json!("write_file"), &call["arguments"])
    );
    let mut ide = Ide::connect(&server, "s").await;
    assert_eq!(ide.next().await, call);
    ide.say(&on_call(&call, "approve")).await;
    ide.until("done").await;
    // A client that reconnects between the approval and the result is asked to run the call.
    drop(ide);
    let mut ide = Ide::connect(&server, "s").await;
    let again = ide.next().await;
    assert_eq!((&again["call_id"], &again["requires_approval"]), (&call["call_id"], &json!(false)));
    assert_eq!(again["metadata"], json!({ "approved": true, "redelivered": true }));
    ide.say(&result(&call, "written")).await;
    ide.until("done").await;
    assert_eq!(server.get("/v1/runs").await.ok()["items"].as_array().unwrap().len(), 1);
}

/// If a call is approved outside the IDE, the server asks the IDE to run it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_approved_elsewhere_is_handed_out() {
    let (_model, server, mut ide) = coding(vec![Scripted::calls([write("a.py")])]).await;
    let call = ide.next().await;
    ide.next().await;
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    let asked = server.open(&run).await.remove(0);
    server.choose(&asked, "approve").await;
    let handed_out = ide.find("tool_call").await;
    assert_eq!((&handed_out["call_id"], &handed_out["requires_approval"]), (&call["call_id"], &json!(false)));
}

/// An edited call passes the gates again before the server asks the IDE to run it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edited_call_is_handed_out_as_it_is_allowed() {
    let (model, server) = served().await;
    let steps = [Scripted::calls([write("a.md")]), Scripted::calls([write("b.md")]), Scripted::text("Done.")];
    model.script("architect", steps);
    let mut ide = Ide::connect(&server, "s").await;
    ide.say(&json!({ "type": "switch_agent", "agent_type": "architect", "content": "Write it." })).await;
    let asked = ide.find("tool_call").await;
    ide.next().await;
    let edit = |call: &Value, path: &str| {
        let mut edit = on_call(call, "edit");
        edit["modified_arguments"] = json!({ "path": path, "content": "x" });
        edit
    };
    ide.say(&edit(&asked, "evil.py")).await;
    let frames = ide.until("tool_call").await;
    let second = frames.last().unwrap();
    assert_ne!(second["call_id"], asked["call_id"], "the forbidden one is not handed out: {frames:#?}");
    assert_eq!(ide.find("done").await["status"], "waiting");
    assert_eq!(ide.refused(&result(&asked, "evil.py is written")).await["code"], "already_resolved");

    ide.say(&edit(second, "c.md")).await;
    let frames = ide.until("done").await;
    let handed_out = find_only_frame(&frames, "tool_call");
    assert_eq!(
        (&handed_out["requires_approval"], &handed_out["arguments"]["path"]),
        (&json!(false), &json!("c.md"))
    );
    ide.say(&result(handed_out, "written")).await;
    assert_eq!(ide.find("done").await["status"], "completed");
}

/// If a call is approved while the run is paused, the IDE is asked to run the call when the run resumes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_approved_in_a_pause_is_handed_out_after_it() {
    let (_model, server, mut ide) =
        coding(vec![Scripted::calls([write("a.py")]), Scripted::calls([write("b.py")])]).await;
    let call = ide.next().await;
    ide.next().await;
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    server.post(&format!("/v1/runs/{run}/pause"), &json!({})).await.ok();
    ide.find("done").await;
    ide.say(&on_call(&call, "approve")).await;
    let frames = ide.until("done").await;
    assert_eq!((kinds(&frames), &frames[1]["status"]), (vec!["status", "done"], &json!("paused")));
    server.post(&format!("/v1/runs/{run}/resume"), &json!({})).await.ok();
    let frames = ide.until("done").await;
    assert_eq!(find_only_frame(&frames, "tool_call")["requires_approval"], false);
    ide.say(&result(&call, "written")).await;

    // An IDE runs the call that it approved, and sends the result at once. The server accepts the result, and does not
    // hand the call out again.
    let call = ide.find("tool_call").await;
    ide.next().await;
    server.post(&format!("/v1/runs/{run}/pause"), &json!({})).await.ok();
    ide.find("done").await;
    ide.say(&on_call(&call, "approve")).await;
    ide.find("done").await;
    ide.say(&result(&call, "written")).await;
    ide.find("done").await;
    server.post(&format!("/v1/runs/{run}/resume"), &json!({})).await.ok();
    let frames = ide.until("assistant_message").await;
    assert_eq!(frames.last().unwrap()["content"], "Done.");
    assert!(!kinds(&frames).contains(&"tool_call"), "{frames:#?}");
}

/// Two windows of one session decide at the same time. Only one decision takes effect, and both windows receive the
/// result.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_clients_decide_at_once() {
    let (model, server, mut first) = coding(vec![Scripted::calls([write("a.py")])]).await;
    let call = first.next().await;
    first.next().await;
    let mut second = Ide::connect(&server, "s").await;
    assert_eq!(second.next().await, call);
    let (yes, no) = (on_call(&call, "approve"), on_call(&call, "reject"));
    tokio::join!(first.say(&yes), second.say(&no));
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    let seen = [first.until("status").await, second.until("status").await];
    let outcome = |frames: &[Value]| frames.last().unwrap()["metadata"]["outcome"].clone();
    assert_eq!(outcome(&seen[0]), outcome(&seen[1]));
    assert_eq!(server.events_of(&run, "decision_made").await.len(), 1);
    if outcome(&seen[0]) == "approved" {
        first.say(&result(&call, "ok")).await;
    }
    server.wait_status(&run, &["completed"]).await;
    assert_paired(&model);
}

/// A call for which an agent lacks the permission is refused to the agent, without a question to the person (B13).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_keep_to_what_they_may_do() {
    let (model, server) = served().await;
    let table = [
        ("notes.md", true),
        ("src/a.py", false),
        ("../../x.md", false),
        ("md", false),
        ("docs/PLAN.md", true),
    ];
    let steps: Vec<Scripted> = table.iter().map(|(path, _)| Scripted::calls([write(path)])).collect();
    model.script("architect", [steps, vec![Scripted::text("Done.")]].concat());
    let start = json!({ "type": "switch_agent", "agent_type": "architect", "content": "Design it." });
    let mut frames = post(&server, "s", &start).await;
    let mut asked = Vec::new();
    while let Some(call) = frames.iter().find(|frame| frame["type"] == "tool_call").cloned() {
        asked.push(call["arguments"]["path"].as_str().unwrap().to_owned());
        frames = post(&server, "s", &result(&call, "ok")).await;
    }
    assert_eq!(asked, ["notes.md", "docs/PLAN.md"]);
    let told = conversation(&model).iter().map(Value::to_string).collect::<String>();
    assert_eq!(told.matches("the architect writes .md files and nothing else").count(), 3, "{told}");
    assert_paired(&model);
}

/// A repeated message changes nothing, even after its run has ended or the next run has begun (lesson 9).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeat_is_harmless_whenever_it_comes() {
    let (model, server, mut ide) = coding(vec![Scripted::calls([write("a.py")])]).await;
    let call = ide.next().await;
    ide.next().await;
    let (decision, brought) = (on_call(&call, "approve"), result(&call, "written"));
    ide.say(&decision).await;
    ide.find("done").await;
    ide.say(&brought).await;
    assert_eq!(ide.find("done").await["status"], "completed");
    let repeated = async || {
        let events = server.get("/v1/audit/verify").await.ok()["events"].clone();
        for message in [&decision, &brought] {
            assert_eq!(kinds(&post(&server, "s", message).await), ["done"]);
        }
        for message in [on_call(&call, "reject"), result(&call, "something else")] {
            let body = json!({ "session_id": "s", "message": message });
            super::ide::post_refused(&server, &body).await;
        }
        assert_eq!(server.get("/v1/audit/verify").await.ok()["events"], events);
    };
    repeated().await;
    model.push("coder", Scripted::text("Hello."));
    post(&server, "s", &super::user("Hello?")).await;
    repeated().await;
}

/// Two windows at two nodes send the result of the last open call at the same time. The result is recorded once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_result_at_once_is_taken_once() {
    let model = ScriptedModel::start().await;
    let url = crate::cluster::database().await;
    let node = |name| TestServer::setup().model(&model).database(&url, name).start();
    let nodes = [node("a").await, node("b").await];
    for n in 0..10 {
        model.push("coder", Scripted::calls([write("a.py")]));
        model.push("coder", Scripted::text("Done."));
        let session = format!("s{n}");
        let mut first = Ide::connect(&nodes[0], &session).await;
        let mut second = Ide::connect(&nodes[1], &session).await;
        first.say(&json!({ "type": "switch_agent", "agent_type": "coder", "content": "Write it." })).await;
        let call = second.find("tool_call").await;
        let brought = result(&call, "written");
        tokio::join!(first.say(&brought), second.say(&brought));
        for ide in [&mut first, &mut second] {
            // The first error frame is the response to the message after the result.
            ide.say(&json!({ "type": "shout" })).await;
            let error = ide.find("error").await;
            assert_eq!(error["errors"][0]["pointer"], "/type", "{error}");
        }
    }
}

/// The result of a tool is any JSON value, and the agent receives exactly the JSON that the client wrote.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_keeps_its_digits() {
    let (model, _server, mut ide) = coding(vec![Scripted::calls([read("a"), read("b")])]).await;
    let frames = ide.until("done").await;
    let calls: Vec<&Value> = frames.iter().filter(|frame| frame["type"] == "tool_call").collect();
    let results = [r#"{"mtime_ns": 1763819583123456789}"#, r#"{"a":1,"a":2}"#];
    for (call, result) in calls.iter().zip(results) {
        let message =
            format!(r#"{{"type": "tool_result", "call_id": {}, "result": {result}}}"#, call["call_id"]);
        ide.send(tokio_tungstenite::tungstenite::Message::text(message)).await;
        ide.find("done").await;
    }
    let told = conversation(&model);
    assert_eq!((&told[2]["content"], &told[3]["content"]), (&json!(results[0]), &json!(results[1])));
}

/// A decision names a call by the id of the call or by the id of its interrupt. After the IDE was asked to run a call,
/// no decision on this call is accepted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_decided_on_by_the_request() {
    let calls = [read("a"), write("b"), write("c"), write("d")];
    let (_model, server, mut ide) = coding(vec![Scripted::calls(calls)]).await;
    ide.find("done").await;
    let path = "sessions/s/pending-approvals";
    let pending = get(&server, path).await;
    let asked = |pending: &Value| -> Vec<Value> {
        let calls = pending["pending_approvals"].as_array().unwrap().iter();
        calls.filter(|call| call["requires_approval"] == true).cloned().collect()
    };
    let [b, c, d] = &asked(&pending)[..] else { panic!("three are asked about: {pending}") };
    assert_eq!((&pending["count"], &b["tool_name"]), (&json!(4), &json!("write_file")), "one is handed out");
    let decision = |call: &Value, request: &Value| {
        let mut decision = json!({ "type": "hitl_decision", "decision": "approve" });
        for (key, id) in [("call_id", call), ("request_id", request)] {
            if !id.is_null() {
                decision[key] = id.clone();
            }
        }
        decision
    };
    // If the two ids belong to different calls, the decision is ambiguous.
    for (call, request) in [(b, c), (c, b)] {
        let refused = ide.refused(&decision(&call["call_id"], &request["request_id"])).await;
        assert_eq!(refused["errors"][0]["pointer"], "/request_id", "{refused}");
    }
    assert_eq!(get(&server, path).await, pending);
    let ways = [
        decision(&Value::Null, &b["request_id"]),
        decision(&c["call_id"], &c["request_id"]),
        decision(&d["request_id"], &d["request_id"]),
    ];
    for (n, way) in ways.iter().enumerate() {
        ide.say(way).await;
        let frames = ide.until("done").await;
        assert_eq!(find_only_frame(&frames, "tool_call")["metadata"], json!({ "approved": true }), "{way}");
        let left = get(&server, path).await;
        assert_eq!(
            (&left["count"], asked(&left).len()),
            (&json!(4), 2 - n),
            "it waits for its result: {left}"
        );
    }
    let info = Ide::open(&server, "s").await.next().await;
    assert_eq!(info["pending_approvals"], 0, "{info}");
}

/// An edit must match the schema of its tool, because the IDE runs the edited call. An edit that does not match returns
/// an error frame with a JSON pointer, and the call stays open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_that_no_tool_could_carry_out_leaves_the_call_open() {
    let (_model, server, mut ide) = coding(vec![Scripted::calls([write("a.py")])]).await;
    let call = ide.next().await;
    ide.next().await;
    let mut edit = on_call(&call, "edit");
    for (arguments, place) in [
        (json!({ "path": "", "content": "y" }), "/modified_arguments/path"),
        (json!({ "path": 7, "content": "y" }), "/modified_arguments/path"),
        (json!({ "path": "b.py", "content": null }), "/modified_arguments/content"),
        (json!({ "command": "rm -rf ." }), "/modified_arguments"),
        (json!("b.py"), "/modified_arguments"),
    ] {
        edit["modified_arguments"] = arguments;
        let refused = ide.refused(&edit).await;
        let said = (&refused["code"], refused["errors"][0]["pointer"].as_str().unwrap());
        assert_eq!(said, (&json!("invalid_request"), place), "{refused}");
    }
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!((server.open(&run).await.len(), server.events_of(&run, "decision_made").await.len()), (1, 0));
    edit["modified_arguments"] = json!({ "path": "b.py", "content": "y" });
    ide.say(&edit).await;
    let frames = ide.until("done").await;
    assert_eq!(find_only_frame(&frames, "tool_call")["arguments"], json!({ "path": "b.py", "content": "y" }));
}
