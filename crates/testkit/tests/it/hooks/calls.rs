//! Calls that rules and people decide, and what reaches the coding agent.

use std::fs;

use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::{Installed, ended, served};

#[tokio::test]
async fn a_person_approves_a_command_and_the_approval_is_used_once() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await;
    let payload =
        hook.payload("Bash", json!({"command": "touch new", "description": "Creates a file"}), "t1");
    let (card, answered) = hook.decided(&payload, &json!({"option": "approve"})).await;
    assert_eq!(answered.decision().0, "allow");
    let shown = |name: &str| card["payload"][name].clone();
    assert_eq!((shown("tool"), shown("client")), (json!("run_command"), json!("Claude Code")));
    assert_eq!(
        (shown("folder"), shown("transcript"), shown("arguments")),
        (json!(hook.root), json!("/home/u/t.jsonl"), json!({"command": "touch new"}))
    );
    let texts = (card["title"].as_str(), card["message"].as_str(), card["agent"].as_str());
    assert_eq!(texts, (Some("Bash: touch new"), Some("Creates a file"), Some("claude-agent")));
    let read = server.interrupt(card["id"].as_str().unwrap()).await;
    assert_eq!(read["approval"]["used"]["by"], "claude-agent", "{read:#}");
    let story = server.story(card["run"].as_str().unwrap()).await;
    let last: Vec<&str> = story.iter().rev().take(3).map(String::as_str).collect();
    assert_eq!(last, ["approval_used", "interrupt_resolved", "decision_made"], "{story:?}");

    // A later identical call has its own request.
    let again = hook.payload("Bash", json!({"command": "touch new", "description": "Creates it"}), "t2");
    let (second, answered) =
        hook.decided(&again, &json!({"option": "reject", "text": "one is enough"})).await;
    assert_ne!(second["id"], card["id"]);
    assert_eq!(second["run"], card["run"], "one run per session of the coding agent");
    let denied = ("deny".to_owned(), "A person rejected this call: one is enough".to_owned());
    assert_eq!(answered.decision(), denied);
}

#[tokio::test]
async fn what_only_reads_in_the_project_runs_and_everything_else_asks() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await.with("timeout_ms", json!(20_000));
    fs::create_dir(hook.root.join("src")).unwrap();
    fs::write(hook.root.join("src/a.rs"), "fn a() {}\n").unwrap();
    std::os::unix::fs::symlink("/etc/hostname", hook.root.join("link")).unwrap();
    let root = hook.root.display();
    let bash = |line: &str| ("Bash", json!({ "command": line }));
    let rows = [
        (bash("ls -la src"), true),
        (bash("git status"), true),
        (bash("grep -n fn src/a.rs"), true),
        // A recursive search reads a file such as `.env` as well.
        (bash("grep -rn fn ."), false),
        (bash("cat src/a.rs | head -1"), true),
        (bash("cat /etc/hostname"), false),
        (bash("cat ../other"), false),
        (bash("cat .env"), false),
        (bash("touch src/b.rs"), false),
        (bash("curl https://example.org"), false),
        (bash("make"), false),
        (bash("$(cat src/a.rs)"), false),
        (("Bash", json!({"command": "ls", "run_in_background": true})), false),
        (("Read", json!({"file_path": format!("{root}/src/a.rs")})), true),
        (("Read", json!({"file_path": "/etc/hostname"})), false),
        (("Read", json!({"file_path": format!("{root}/.env")})), false),
        (("Read", json!({"file_path": format!("{root}/link")})), false),
        (("Grep", json!({"pattern": "fn"})), true),
        (("Grep", json!({"pattern": "fn", "path": "/etc"})), false),
        (("Glob", json!({"pattern": "**/*.rs"})), true),
        (("Glob", json!({"pattern": "/etc/*.conf"})), false),
        (("Glob", json!({"pattern": "/etc/*.conf", "path": root.to_string()})), false),
        (("Grep", json!({"pattern": format!("{root}/x|[a-z]"), "path": "/etc"})), false),
        (("Skill", json!({"command": "deploy"})), false),
        (("ExitPlanMode", json!({"plan": "p"})), false),
        (("TodoWrite", json!({"todos": [{"content": "c", "status": "pending", "activeForm": "f"}]})), true),
        (("Write", json!({"file_path": format!("{root}/src/b.rs"), "content": "x"})), false),
        (("WebFetch", json!({"url": "https://example.org", "prompt": "p"})), false),
        (("mcp__files__read_file", json!({"path": "src/a.rs"})), false),
        (("mcp__shell__run", json!({"command": "ls"})), false),
        (("SomethingNew", json!({"value": 1})), false),
        (("read_file", json!({"path": "src/a.rs"})), false),
    ];
    for (at, ((tool, input), runs)) in rows.into_iter().enumerate() {
        let payload = hook.payload(tool, input, &format!("t{at}"));
        if runs {
            assert_eq!(hook.run(&payload).await.decision().0, "allow", "{payload}");
        } else {
            let (_, answered) = hook.decided(&payload, &json!({"option": "reject"})).await;
            assert_eq!(answered.decision().0, "deny", "{payload}");
        }
    }
}

#[tokio::test]
async fn a_rule_a_grant_a_refusal_and_a_freeze_count() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules.yaml");
    super::private(
        &rules,
        "rules:\n  - {tools: [run_command], commands: ['git push *'], do: forbid, reason: Pushes are for people.}\n",
    );
    let setup = TestServer::setup().argument("--rules").argument(rules.to_str().unwrap());
    let server = setup.start().await;
    let hook = Installed::new(&server, "codex").await;
    let denied = hook.run(&hook.line("git push origin main", "t1")).await;
    assert_eq!(denied.decision().1, "A rule of the installation forbids this call: Pushes are for people.");

    // Codex carries no edit for a patch, but an approval for the session is on offer.
    let (card, answered) =
        hook.decided(&hook.line("touch a", "t2"), &json!({"option": "approve_session"})).await;
    let offered: Vec<&str> =
        card["options"].as_array().unwrap().iter().map(|option| option["id"].as_str().unwrap()).collect();
    assert_eq!(offered, ["approve", "approve_session", "edit", "respond", "reject"]);
    assert_eq!((answered.code, answered.out.as_str(), answered.err.as_str()), (0, "", ""));
    let granted = hook.run(&hook.line("touch a", "t3")).await;
    assert_eq!((granted.code, granted.out.as_str()), (0, ""), "{granted:?}");
    let patch = "*** Begin Patch\n*** Add File: n\n+x\n*** End Patch";
    let patch = hook.payload("apply_patch", json!({ "command": patch }), "t4");
    let (card, _) = hook.decided(&patch, &json!({"option": "reject"})).await;
    assert!(card["options"].as_array().unwrap().iter().all(|option| option["id"] != "edit"), "{card:#}");
    assert_eq!(card["payload"]["diff"]["added"], 1, "{:#}", card["payload"]);

    server.post("/v1/system/freeze", &json!({"reason": "an incident"})).await.ok();
    let child = hook.start(hook.line("touch a", "t5").to_string()).await;
    let card = hook.open().await;
    assert!(card["frozen"].is_object(), "{card:#}");
    server.choose(&card, "reject").await;
    assert_eq!(ended(child).await.decision().0, "deny");
}

#[tokio::test]
async fn an_edit_reaches_the_tool_and_is_checked_again() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await;
    let payload = hook.line("rm a b", "t1");
    let edit = json!({"option": "edit", "edit": {"command": "rm a"}});
    let (card, answered) = hook.decided(&payload, &edit).await;
    let output = answered.json()["hookSpecificOutput"].clone();
    assert_eq!(
        (output["permissionDecision"].as_str(), &output["updatedInput"]),
        (Some("allow"), &json!({"command": "rm a"}))
    );
    let read = server.interrupt(card["id"].as_str().unwrap()).await;
    assert_eq!(read["approval"]["approved"]["arguments"]["command"], "rm a");

    let edit = json!({"option": "edit", "edit": {"command": "cat .claude/settings.json"}});
    let (_, answered) = hook.decided(&hook.line("rm c", "t2"), &edit).await;
    assert!(answered.decision().1.contains("is protected"), "{answered:?}");

    let gemini = Installed::new(&server, "gemini").await;
    let edit = json!({"option": "edit", "edit": {"command": "rm a"}});
    let (_, answered) = gemini.decided(&gemini.line("rm a b", ""), &edit).await;
    let expected = json!({"decision": "allow",
        "hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"command": "rm a"}}});
    assert_eq!(answered.json(), expected);
}

#[tokio::test]
async fn a_card_shows_the_change_of_a_file_and_an_approval_is_for_that_change() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await;
    let file = hook.root.join("a.txt");
    fs::write(&file, "one\ntwo\n").unwrap();
    let input = json!({"file_path": file, "old_string": "two", "new_string": "zwei"});
    let (card, answered) =
        hook.decided(&hook.payload("Edit", input.clone(), "t1"), &json!({"option": "approve"})).await;
    assert_eq!(answered.decision().0, "allow");
    assert_eq!(
        (&card["payload"]["diff"]["added"], &card["payload"]["diff"]["removed"]),
        (&json!(1), &json!(1))
    );

    // The file changes while the person decides.
    let child = hook.start(hook.payload("Edit", input, "t2").to_string()).await;
    let card = hook.open().await;
    fs::write(&file, "two\nother\n").unwrap();
    server.choose(&card, "approve").await;
    let (decision, reason) = ended(child).await.decision();
    assert_eq!(decision, "deny");
    assert!(reason.contains("The file changed after the request"), "{reason}");
    let read = server.interrupt(card["id"].as_str().unwrap()).await;
    assert_eq!(read["approval"]["used"], Value::Null);
}

#[tokio::test]
async fn a_large_call_is_bound_to_what_the_card_cannot_show() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await;
    let content = "line\n".repeat(200_000);
    let input = json!({"file_path": hook.root.join("big"), "content": content});
    let (card, answered) =
        hook.decided(&hook.payload("Write", input, "t1"), &json!({"option": "approve"})).await;
    assert_eq!(answered.decision().0, "allow");
    let shown = &card["payload"]["arguments"]["content"];
    assert_eq!((&shown["bytes"], shown["sha256"].as_str().map(str::len)), (&json!(1_000_000), Some(64)));
    assert!(card["options"].as_array().unwrap().iter().all(|option| option["id"] != "edit"));
}

/// Cursor sends two events for one command, in either order. A person is asked only once about both.
#[tokio::test]
async fn two_events_of_cursor_have_one_interrupt() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "cursor").await;
    let shell = |line: &str, turn: &str| {
        json!({"conversation_id": "c-1", "generation_id": turn, "hook_event_name": "beforeShellExecution",
            "workspace_roots": [hook.root], "command": line, "cwd": hook.root})
    };
    let allowed = json!({"permission": "allow"});
    let (_, first) = hook.decided(&hook.line("touch a", "g1"), &json!({"option": "approve"})).await;
    let second = hook.run(&shell("touch a", "g1")).await;
    assert_eq!((first.json(), second.json()), (allowed.clone(), allowed.clone()));

    let (_, first) = hook.decided(&shell("touch b", "g1"), &json!({"option": "reject", "text": "no"})).await;
    let second = hook.run(&hook.line("touch b", "g1")).await;
    assert!(first.stops() && second.stops(), "{first:?} {second:?}");

    // Both at the same time.
    let pre = hook.start(hook.line("touch c", "g1").to_string()).await;
    let card = hook.open().await;
    let before = hook.start(shell("touch c", "g1").to_string()).await;
    server.choose(&card, "approve").await;
    let (pre, before) = tokio::join!(ended(pre), ended(before));
    assert_eq!((pre.json(), before.json()), (allowed.clone(), allowed.clone()));
    assert_eq!(hook.interrupts().await.len(), 3);

    // An edit reaches the second event as well.
    let edit = json!({"option": "edit", "edit": {"command": "touch e"}});
    let (_, first) = hook.decided(&hook.line("touch d", "g1"), &edit).await;
    assert_eq!(first.json()["updated_input"], json!({"command": "touch e"}));
    assert_eq!(hook.run(&shell("touch e", "g1")).await.json(), allowed);
    // The next command of another turn asks.
    let (_, third) = hook.decided(&shell("touch e", "g2"), &json!({"option": "reject"})).await;
    assert!(third.stops());
}

/// The prompt of a coding agent follows its own rules. An approval of a person answers this prompt. An approval by
/// a rule does not.
#[tokio::test]
async fn the_own_rules_of_the_coding_agent_keep_their_effect() {
    let (server, _rules) = served().await;
    for cli in ["claude", "codex"] {
        let hook = Installed::new(&server, cli).await;
        let permission = |line: &str| {
            let mut payload = hook.line(line, "");
            payload["hook_event_name"] = "PermissionRequest".into();
            payload.as_object_mut().unwrap().remove("tool_use_id");
            payload
        };
        let allowed = json!({"hookSpecificOutput":
            {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}});
        hook.decided(&hook.line("touch a", "t1"), &json!({"option": "approve"})).await;
        assert_eq!(hook.run(&permission("touch a")).await.json(), allowed, "approved by a person");

        let by_rule = hook.run(&hook.line("ls", "t2")).await;
        assert_eq!(by_rule.code, 0, "{by_rule:?}");
        let (card, answered) = hook.decided(&permission("ls"), &json!({"option": "reject"})).await;
        assert!(answered.stops(), "{answered:?}");
        assert_eq!(card["message"], "The rules of the coding agent itself require a person.");
        let (_, answered) = hook.decided(&permission("touch b"), &json!({"option": "approve"})).await;
        assert_eq!(answered.json(), allowed, "without a call before");
    }
}
