//! Answers in the form of each CLI: exactly one JSON document, or nothing, or exit code 2 with a text.

use holdshort_edges::hooks::{Cli, Printed, Verdict, answer};
use serde_json::{Value, json};

use super::{call, claude, codex, cursor, event, gemini};

fn parsed(printed: &Printed) -> (Value, u8) {
    let is_one_line = printed.stdout.lines().count() <= 1;
    assert!(is_one_line && (printed.exit == 0) == printed.stderr.is_empty(), "{printed:?}");
    (serde_json::from_str(&printed.stdout).unwrap_or(Value::Null), printed.exit)
}

fn deny(reason: &str) -> Verdict {
    Verdict::Deny { reason: reason.to_owned() }
}

#[test]
fn each_cli_gets_its_own_form() {
    let input = json!({"command": "echo edited"});
    let allow = || Verdict::Allow { input: None };
    let edited = || Verdict::Allow { input: Some(input.clone()) };
    let line = json!({"command": "ls"});
    let permission = |mut payload: Value| {
        payload["hook_event_name"] = "PermissionRequest".into();
        payload
    };
    let before = |decision: Value| {
        let mut output = decision;
        output["hookEventName"] = "PreToolUse".into();
        json!({ "hookSpecificOutput": output })
    };
    let asked = |decision: Value| json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}});
    let rows = [
        (
            Cli::Claude,
            claude("Bash", line.clone()),
            allow(),
            before(json!({"permissionDecision": "allow", "permissionDecisionReason": "Holdshort"})),
        ),
        (
            Cli::Claude,
            claude("Bash", line.clone()),
            edited(),
            before(
                json!({"permissionDecision": "allow", "permissionDecisionReason": "Holdshort", "updatedInput": input}),
            ),
        ),
        (
            Cli::Claude,
            claude("Bash", line.clone()),
            deny("not today"),
            before(json!({"permissionDecision": "deny", "permissionDecisionReason": "not today"})),
        ),
        (
            Cli::Claude,
            claude("Bash", line.clone()),
            Verdict::Defer,
            before(json!({"permissionDecision": "defer"})),
        ),
        (Cli::Claude, permission(claude("Bash", line.clone())), allow(), asked(json!({"behavior": "allow"}))),
        (
            Cli::Claude,
            permission(claude("Bash", line.clone())),
            edited(),
            asked(json!({"behavior": "allow", "updatedInput": input})),
        ),
        (
            Cli::Claude,
            permission(claude("Bash", line.clone())),
            deny("no"),
            asked(json!({"behavior": "deny", "message": "no"})),
        ),
        // Codex runs the tool after `allow` alone as after nothing, and keeps its own approval and its sandbox.
        (Cli::Codex, codex("Bash", line.clone()), allow(), Value::Null),
        (
            Cli::Codex,
            codex("Bash", line.clone()),
            edited(),
            before(json!({"permissionDecision": "allow", "updatedInput": input})),
        ),
        (
            Cli::Codex,
            codex("Bash", line.clone()),
            deny(" "),
            before(
                json!({"permissionDecision": "deny", "permissionDecisionReason": "The call was denied, without a reason."}),
            ),
        ),
        (Cli::Codex, permission(codex("Bash", line.clone())), allow(), asked(json!({"behavior": "allow"}))),
        (
            Cli::Codex,
            permission(codex("Bash", line.clone())),
            deny("no"),
            asked(json!({"behavior": "deny", "message": "no"})),
        ),
        (Cli::Gemini, gemini("run_shell_command", line.clone()), allow(), json!({"decision": "allow"})),
        (
            Cli::Gemini,
            gemini("run_shell_command", line.clone()),
            edited(),
            json!({"decision": "allow", "hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": input}}),
        ),
        (
            Cli::Gemini,
            gemini("run_shell_command", line.clone()),
            deny("no"),
            json!({"decision": "deny", "reason": "no"}),
        ),
        (Cli::Cursor, cursor("beforeShellExecution", line.clone()), allow(), json!({"permission": "allow"})),
        (
            Cli::Cursor,
            cursor("beforeShellExecution", line.clone()),
            deny("no"),
            json!({"permission": "deny", "user_message": "no", "agent_message": "no"}),
        ),
        (
            Cli::Cursor,
            cursor("preToolUse", json!({"tool_name": "Shell", "tool_input": line})),
            edited(),
            json!({"permission": "allow", "updated_input": input}),
        ),
    ];
    for (cli, payload, verdict, output) in rows {
        let printed = answer(cli, &event(cli, &payload), &verdict);
        assert_eq!(parsed(&printed), (output, 0), "{cli:?} {verdict:?}");
    }
}

/// An answer that a CLI would ignore runs the tool. Such an answer stops it.
#[test]
fn an_answer_that_the_cli_cannot_carry_stops_the_tool() {
    let line = json!({"command": "ls"});
    let mut asked = codex("Bash", line.clone());
    asked["hook_event_name"] = "PermissionRequest".into();
    let mut done = claude("Write", json!({"file_path": "/p/a", "content": ""}));
    done["hook_event_name"] = "PostToolUse".into();
    let edited = || Verdict::Allow { input: Some(json!({})) };
    let rows = [
        (Cli::Codex, codex("Bash", line.clone()), Verdict::Defer),
        (Cli::Codex, asked, edited()),
        (Cli::Gemini, gemini("run_shell_command", line.clone()), Verdict::Defer),
        (Cli::Cursor, cursor("beforeShellExecution", line.clone()), edited()),
        (Cli::Cursor, cursor("beforeShellExecution", line.clone()), Verdict::NoOpinion),
        (Cli::Cursor, cursor("beforeShellExecution", line.clone()), Verdict::Defer),
        (Cli::Claude, claude("Bash", line), Verdict::Content(json!({}))),
        (Cli::Claude, done, Verdict::Allow { input: None }),
    ];
    for (cli, payload, verdict) in rows {
        let printed = answer(cli, &event(cli, &payload), &verdict);
        assert_eq!((printed.stdout.as_str(), printed.exit), ("", 2), "{cli:?} {verdict:?}");
        assert!(!printed.stderr.trim().is_empty());
    }
    assert_eq!(Printed::failure("  ").exit, 2);
    assert!(!Printed::failure("  ").stderr.trim().is_empty());
}

#[test]
fn edited_arguments_go_back_under_the_names_of_the_cli() {
    let write = event(Cli::Claude, &claude("Write", json!({"file_path": "/p/a", "content": "old"})));
    let edited = call(&write).edited(&json!({"path": "/p/a", "content": "new"})).unwrap();
    assert_eq!(edited.original, json!({"file_path": "/p/a", "content": "new"}));

    let bash = event(Cli::Claude, &claude("Bash", json!({"command": "rm a", "description": "Removes a"})));
    let edited = call(&bash).edited(&json!({"command": "rm b"})).unwrap();
    assert_eq!(edited.original, json!({"command": "rm b", "description": "Removes a"}));

    let input = json!({"command": "ls", "dir_path": "web", "timeout": 5});
    let shell = event(Cli::Gemini, &gemini("run_shell_command", input));
    let edited = call(&shell).edited(&json!({"command": "pwd", "timeout": 5})).unwrap();
    assert_eq!(edited.original, json!({"command": "pwd", "dir_path": "web", "timeout": 5}));
    // Gemini CLI merges: the original `timeout` would stay.
    assert_eq!(call(&shell).edited(&json!({"command": "pwd"})), None);
    // The folder is no argument of the card, so a person cannot change it.
    assert_eq!(call(&shell).edited(&json!({"command": "pwd", "timeout": 5, "dir_path": "/"})), None);
    assert_eq!(call(&bash).edited(&json!("rm b")), None);
}

#[test]
fn a_difference_after_a_tool_is_told_to_the_person_and_to_the_agent() {
    let mut payload = claude("Write", json!({"file_path": "/p/a", "content": "x"}));
    payload["hook_event_name"] = "PostToolUse".into();
    payload["tool_response"] = json!({"filePath": "/p/a", "success": true});
    let verdict = Verdict::Tell { text: "it differs".to_owned() };
    let (output, exit) = parsed(&answer(Cli::Claude, &event(Cli::Claude, &payload), &verdict));
    assert_eq!((output["systemMessage"].as_str(), exit), (Some("it differs"), 0));
    assert_eq!(output["hookSpecificOutput"]["additionalContext"], "it differs");
}
