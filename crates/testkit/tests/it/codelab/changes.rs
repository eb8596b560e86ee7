//! Calls of tools that run on the server, in a custom workflow. A client sees the changes of these calls, but never
//! runs them.

use std::fs;

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::ide::{Ide, find_only_frame, get, kinds, post};
use super::{WORKFLOW, served_with, user};

/// Starts a server that runs commands itself and tries each command first. Returns the model, the server and the
/// session.
async fn tried() -> (ScriptedModel, TestServer, String) {
    let tools = "tools: [read_file, list_files, search_files, create_plan, ask_human]";
    let more = tools.replace("ask_human", "ask_human, run_command");
    let workflow = WORKFLOW.replacen(tools, &more, 1).replacen("gates:\n", "gates:\n  trial: on\n", 1);
    let (model, server) = served_with(&workflow).await;
    fs::write(server.workspace().join("old.txt"), "old\n").unwrap();
    let opened = json!({ "workflow": "codelab_ide", "config": { "workspace": server.workspace() } });
    let session = server.post("/v1/sessions", &opened).await.ok()["id"].as_str().unwrap().to_owned();
    (model, server, session)
}

fn command(line: &str) -> Scripted {
    Scripted::call("run_command", json!({ "command": line }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_was_tried_is_asked_about_with_its_change() {
    let (model, server, session) = tried().await;
    model.push("orchestrator", command("rm old.txt && echo new > new.txt"));
    model.push("orchestrator", Scripted::text("Moved."));
    let mut ide = Ide::connect(&server, &session).await;
    ide.say(&user("Move it.")).await;
    let frames = ide.until("done").await;
    assert!(!kinds(&frames).contains(&"tool_call"), "a client may run what it approves: {frames:#?}");
    let asked = find_only_frame(&frames, "assistant_message");
    let about = &asked["metadata"];
    let request = about["request_id"].as_str().unwrap();
    let content = asked["content"].as_str().unwrap();
    let answer = format!("\"call_id\": \"{request}\", \"decision\": \"approve\"");
    for part in ["rm old.txt", "1 file changed, 1 deleted", "old.txt: deleted", "+new", &answer] {
        assert!(content.contains(part), "{part} in {content}");
    }
    assert_eq!((&about["approval"], &about["tool_name"]), (&json!(true), &json!("run_command")));
    let paths = |change: &Value| {
        let files = change["files"].as_array().unwrap().iter();
        files.map(|file| file["file_path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(paths(&about["change"]), ["old.txt", "new.txt"]);
    assert!(server.workspace().join("old.txt").exists(), "nothing has happened yet");

    // A client without a stream finds the request in a list that is separate from the calls that clients run.
    let pending = get(&server, &format!("sessions/{session}/pending-approvals")).await;
    assert_eq!(pending["count"], 0);
    let item = &pending["pending_questions"][0];
    assert_eq!((&item["request_type"], &item["call_id"]), (&json!("approval"), &json!(request)));
    assert_eq!(paths(&item["details"]["change"]), ["old.txt", "new.txt"]);
    // A client that connects later also receives the request.
    let mut later = Ide::connect(&server, &session).await;
    assert_eq!(later.next().await["metadata"]["request_id"], request);

    ide.say(&json!({ "type": "hitl_decision", "call_id": request, "decision": "approve" })).await;
    let frames = ide.until("done").await;
    assert!(!kinds(&frames).contains(&"tool_call"), "{frames:#?}");
    assert_eq!(find_only_frame(&frames, "status")["status"], "request_resolved");
    assert!(!server.workspace().join("old.txt").exists() && server.lines("new.txt") == 1);
}

/// Clients of the session receive no frame of an undo, and the conversation continues.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_is_no_part_of_the_conversation() {
    let (model, server, session) = tried().await;
    model.push("orchestrator", command("echo new > new.txt"));
    model.push("orchestrator", Scripted::text("Made."));
    let mut ide = Ide::connect(&server, &session).await;
    ide.say(&user("Make it.")).await;
    let frames = ide.until("done").await;
    let request = find_only_frame(&frames, "assistant_message")["metadata"]["request_id"].clone();
    ide.say(&json!({ "type": "hitl_decision", "call_id": request, "decision": "approve" })).await;
    ide.until("done").await;
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    let undo = server.post(&format!("/v1/runs/{run}/undo"), &json!({})).await.ok();
    let undo = undo["id"].as_str().unwrap();
    let asked = server.wait_one(undo).await;
    assert_eq!(
        get(&server, &format!("sessions/{session}/pending-approvals")).await["pending_questions"],
        json!([])
    );
    model.push("orchestrator", Scripted::text("Hello."));
    let frames = post(&server, &session, &user("Hello?")).await;
    assert_eq!(
        (find_only_frame(&frames, "assistant_message")["content"].as_str(), frames.len()),
        (Some("Hello."), 2)
    );
    server.choose(&asked, "approve").await;
    server.wait_status(undo, &["completed"]).await;
    assert!(!server.workspace().join("new.txt").exists());
    // The connection receives the next message of the conversation, and no frame of the undo.
    let frames = ide.until("done").await;
    assert_eq!(kinds(&frames), ["assistant_message", "done"]);
    model.push("orchestrator", Scripted::text("Still here."));
    ide.say(&user("And now?")).await;
    assert_eq!(ide.next().await["content"], "Still here.");
}
