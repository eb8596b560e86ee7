//! Compares the file that a tool has written with the approved content.

use std::fs;

use serde_json::{Value, json};

use super::{Installed, served};

fn done(payload: &Value) -> Value {
    let mut payload = payload.clone();
    payload["hook_event_name"] = "PostToolUse".into();
    payload["tool_response"] = json!({"success": true});
    payload
}

#[tokio::test]
async fn a_file_that_differs_from_what_was_approved_is_an_incident() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await;
    let file = hook.root.join("a.txt");
    let write = |id: &str| hook.payload("Write", json!({"file_path": file, "content": "approved\n"}), id);

    hook.decided(&write("t1"), &json!({"option": "approve"})).await;
    fs::write(&file, "approved\n").unwrap();
    let same = hook.run(&done(&write("t1"))).await;
    assert_eq!((same.code, same.out.as_str(), same.err.as_str()), (0, "", ""));

    let (card, _) = hook.decided(&write("t2"), &json!({"option": "approve"})).await;
    fs::write(&file, "something else\n").unwrap();
    let told = hook.run(&done(&write("t2"))).await.json();
    let incident = hook.open().await;
    let page = format!("{}/inbox/{}", server.base(), incident["id"].as_str().unwrap());
    let text = told["systemMessage"].as_str().unwrap();
    assert!(text.contains(&page) && text.contains("a.txt is not what was approved"), "{text}");
    assert_eq!(told["hookSpecificOutput"]["additionalContext"], text);
    let shown = |name: &str| incident["payload"][name].clone();
    assert_eq!((incident["kind"].as_str(), shown("approved_in")), (Some("escalation"), card["id"].clone()));
    assert_eq!(shown("path"), json!(file));
    assert_ne!(shown("approved_sha256"), shown("found_sha256"));
    // A second report about the same call changes nothing.
    let again = hook.run(&done(&write("t2"))).await;
    assert_eq!((again.code, again.out.as_str()), (0, ""));

    // The session continues while the incident is open. A person can end it.
    assert_eq!(hook.run(&hook.line("ls", "t3")).await.decision().0, "allow");
    server.choose(&incident, "abort").await;
    let (decision, reason) = hook.run(&hook.line("ls", "t4")).await.decision();
    assert_eq!(decision, "deny");
    assert!(reason.contains("ended this session"), "{reason}");
}

#[tokio::test]
async fn an_accepted_incident_lets_the_session_go_on() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await;
    let file = hook.root.join("a.txt");
    let write = hook.payload("Write", json!({"file_path": file, "content": "approved\n"}), "t1");
    hook.decided(&write, &json!({"option": "approve"})).await;
    let told = hook.run(&done(&write)).await.json();
    assert!(told["systemMessage"].is_string(), "the file was not written: {told}");
    server.choose(&hook.open().await, "continue").await;
    assert_eq!(hook.run(&hook.line("ls", "t2")).await.decision().0, "allow");
}
