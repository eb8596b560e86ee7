//! Answers that a hook gives before the coding agent stops waiting, and decisions that people make later.

use std::sync::{Arc, Mutex};

use holdshort_testkit::server::{TestServer, eventually};
use serde_json::{Value, json};

use super::proxy::start;
use super::{Installed, LONG_MS, ended, served};

/// Time-out that leaves the hook enough time to ask on a busy machine.
const SHORT_MS: u64 = 6_000;

#[tokio::test]
async fn a_late_approval_releases_the_next_identical_call_once() {
    let (server, _rules) = served().await;
    for cli in ["claude", "codex", "gemini", "cursor"] {
        let hook = Installed::new(&server, cli).await.with("timeout_ms", json!(SHORT_MS));
        let late = hook.run(&hook.line("touch a", "t1")).await;
        assert!(late.stops(), "{cli}: {late:?}");
        let card = hook.open().await;
        let id = card["id"].as_str().unwrap();
        assert!(late.out.contains(&format!("{}/inbox/{id}", server.base())), "{late:?}");
        assert!(!late.out.contains("hs_key_") && !late.out.contains("token"), "{late:?}");

        let hook = hook.with("timeout_ms", json!(LONG_MS));
        // An identical call attaches to the open request.
        let again = hook.start(hook.line("touch a", "t2").to_string()).await;
        server.choose(&card, "approve").await;
        let again = ended(again).await;
        assert!(again.code == 0 && !again.stops(), "{cli}: {again:?}");
        let read = server.interrupt(id).await;
        assert!(read["approval"]["used"].is_object(), "{read:#}");
        // Once: the next call asks. Cursor's second event of the turn is a part of the call before.
        let (next, answered) = hook.decided(&hook.line("touch a", "t3"), &json!({"option": "reject"})).await;
        assert_ne!(next["id"], card["id"]);
        assert!(answered.stops(), "{answered:?}");
    }
}

#[tokio::test]
async fn a_decision_while_nobody_waits_counts_for_the_next_identical_call() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await.with("timeout_ms", json!(SHORT_MS));
    for (at, (option, decision)) in [("approve", "allow"), ("reject", "deny")].into_iter().enumerate() {
        let line = format!("touch {option}");
        assert!(hook.run(&hook.line(&line, &format!("a{at}"))).await.stops());
        server.choose(&hook.open().await, option).await;
        assert_eq!(hook.run(&hook.line(&line, &format!("b{at}"))).await.decision().0, decision);
    }
    // Another call does not get the approval, nor does another session.
    assert!(hook.run(&hook.line("touch c", "c1")).await.stops());
    let card = hook.open().await;
    server.choose(&card, "approve").await;
    let mut other = hook.line("touch c", "c2");
    other["session_id"] = "s-2".into();
    for payload in [hook.line("touch c d", "c3"), other] {
        let (asked, answered) = hook.decided(&payload, &json!({"option": "reject"})).await;
        assert_ne!(asked["id"], card["id"]);
        assert!(answered.stops());
    }
    let read = server.interrupt(card["id"].as_str().unwrap()).await;
    assert_eq!(read["approval"]["used"], Value::Null);
}

#[tokio::test]
async fn an_approval_of_a_change_does_not_count_for_another_change() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await.with("timeout_ms", json!(SHORT_MS));
    let file = hook.root.join("a.txt");
    std::fs::write(&file, "one two\n").unwrap();
    let input = json!({"file_path": file, "old_string": "two", "new_string": "zwei"});
    assert!(hook.run(&hook.payload("Edit", input.clone(), "t1")).await.stops());
    let card = hook.open().await;
    server.choose(&card, "approve").await;
    std::fs::write(&file, "two three\n").unwrap();
    let (second, _) = hook.decided(&hook.payload("Edit", input, "t2"), &json!({"option": "reject"})).await;
    assert_ne!(second["id"], card["id"]);
}

/// A hook is killed after it has asked. A repeated call does not ask a second time.
#[tokio::test]
async fn a_killed_hook_leaves_one_request() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "codex").await;
    let mut killed = hook.start(hook.line("touch a", "t1").to_string()).await;
    let card = hook.open().await;
    let state = hook.config_file().with_file_name("state");
    let recorded = async || {
        let mut files = std::fs::read_dir(&state).ok()?.flatten();
        let holds = |text: String| text.contains(card["id"].as_str().unwrap());
        files.any(|file| std::fs::read_to_string(file.path()).is_ok_and(holds)).then_some(())
    };
    eventually("the request is recorded", recorded).await;
    killed.kill().await.unwrap();
    let again = hook.start(hook.line("touch a", "t2").to_string()).await;
    server.choose(&card, "approve").await;
    assert_eq!(ended(again).await.code, 0);
    assert_eq!(hook.interrupts().await.len(), 1);
}

#[tokio::test]
async fn claude_code_without_a_terminal_defers_if_that_stops_the_tool() {
    let (server, _rules) = served().await;
    let mut hook = Installed::new(&server, "claude").await.with("timeout_ms", json!(SHORT_MS));
    let rows = [
        (true, "sdk-cli", "default", "defer"),
        (false, "sdk-cli", "default", "deny"),
        (true, "cli", "default", "deny"),
        // If the model calls several tools at once, a deferral is ignored and the tool runs in these modes.
        (true, "sdk-cli", "bypassPermissions", "deny"),
        (true, "sdk-cli", "acceptEdits", "deny"),
    ];
    for (at, (flag, entry, mode, decision)) in rows.into_iter().enumerate() {
        hook.flags = if flag { vec!["--defer"] } else { Vec::new() };
        hook.env = vec![("CLAUDE_CODE_ENTRYPOINT", entry)];
        let mut payload = hook.line(&format!("touch {at}"), &format!("t{at}"));
        payload["permission_mode"] = mode.into();
        assert_eq!(hook.run(&payload).await.decision().0, decision, "{flag} {entry} {mode}");
    }
    // The resumed session calls the hook again, with the same id.
    let interrupts = hook.interrupts().await;
    server.choose(&interrupts[0], "approve").await;
    let mut payload = hook.line("touch 0", "t0");
    payload["permission_mode"] = "default".into();
    assert_eq!(hook.run(&payload).await.decision().0, "allow");
}

#[tokio::test]
async fn the_hook_waits_while_the_server_restarts() {
    let (mut server, _rules) = served().await;
    let address = |server: &TestServer| server.base().trim_start_matches("http://").to_owned();
    let target = Arc::new(Mutex::new(address(&server)));
    let proxy = start(&target, None).await;
    let hook = Installed::new(&server, "claude").await.with("server", json!(proxy));
    let child = hook.start(hook.line("touch a", "t1").to_string()).await;
    let card = hook.open().await;
    let folder = hook.folder;
    server.kill();
    server.start().await;
    *target.lock().unwrap() = address(&server);
    server.choose(&card, "approve").await;
    assert_eq!(ended(child).await.decision().0, "allow");
    drop(folder);
}
