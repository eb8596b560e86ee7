//! Payloads that are not read. The program denies the call.

use holdshort_edges::hooks::{Cli, read};
use serde_json::{Value, json};

use super::{claude, codex, cursor, gemini};

#[test]
fn what_is_not_the_payload_of_a_call_is_refused() {
    let line = json!({"command": "ls"});
    let without = |mut payload: Value, name: &str| {
        payload.as_object_mut().unwrap().remove(name);
        payload.to_string().into_bytes()
    };
    let with = |mut payload: Value, name: &str, value: Value| {
        payload[name] = value;
        payload.to_string().into_bytes()
    };
    let bash = || claude("Bash", line.clone());
    let nested = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let deep = |depth: usize| {
        bash().to_string().replace("\"command\":\"ls\"", &format!("\"a\":{}", nested(depth))).into_bytes()
    };
    let twice = bash().to_string().replace("\"tool_name\"", "\"tool_name\":\"Read\",\"tool_name\"");
    let rows: Vec<(Cli, Vec<u8>)> = vec![
        (Cli::Claude, Vec::new()),
        (Cli::Claude, b"null".to_vec()),
        (Cli::Claude, b"[]".to_vec()),
        (Cli::Claude, b"ls -la".to_vec()),
        (Cli::Claude, bash().to_string().into_bytes().into_iter().take(60).collect()),
        (Cli::Claude, [bash().to_string().into_bytes(), b"{}".to_vec()].concat()),
        (Cli::Claude, vec![0xff, 0xfe, b'{', b'}']),
        (Cli::Claude, br#"{"hook_event_name": "PreToolUse\ud800"}"#.to_vec()),
        (Cli::Claude, twice.into_bytes()),
        (Cli::Claude, deep(80)),
        (Cli::Claude, deep(200)),
        (Cli::Claude, with(bash(), "number", json!(9_007_199_254_740_993_u64))),
        (Cli::Claude, without(bash(), "session_id")),
        (Cli::Claude, without(bash(), "tool_name")),
        (Cli::Claude, without(bash(), "tool_input")),
        (Cli::Claude, without(bash(), "hook_event_name")),
        (Cli::Claude, with(bash(), "tool_input", json!("ls"))),
        (Cli::Claude, with(bash(), "tool_input", json!(["ls"]))),
        (Cli::Claude, with(bash(), "tool_name", json!(7))),
        (Cli::Claude, with(bash(), "tool_name", json!("  "))),
        (Cli::Claude, with(bash(), "hook_event_name", json!("BeforeTool"))),
        (Cli::Claude, with(bash(), "hook_event_name", json!("SessionStart"))),
        (Cli::Codex, with(codex("Bash", line.clone()), "hook_event_name", json!("PostToolUse"))),
        (Cli::Codex, without(codex("Bash", line.clone()), "session_id")),
        (Cli::Gemini, bash().to_string().into_bytes()),
        (Cli::Gemini, without(gemini("replace", json!({})), "tool_input")),
        (Cli::Cursor, without(cursor("beforeShellExecution", line.clone()), "command")),
        (Cli::Cursor, without(cursor("beforeShellExecution", line.clone()), "conversation_id")),
        (Cli::Cursor, cursor("afterFileEdit", json!({})).to_string().into_bytes()),
        (
            Cli::Cursor,
            cursor("beforeMCPExecution", json!({"tool_name": "t", "tool_input": "{"}))
                .to_string()
                .into_bytes(),
        ),
        (
            Cli::Cursor,
            cursor("beforeMCPExecution", json!({"tool_name": "t", "tool_input": "7"}))
                .to_string()
                .into_bytes(),
        ),
    ];
    for (cli, payload) in rows {
        let shown: String = String::from_utf8_lossy(&payload).chars().take(200).collect();
        let refused = read(cli, &payload).expect_err(&shown);
        assert!(!refused.to_string().trim().is_empty(), "{shown}");
    }
    assert!(read(Cli::Claude, &deep(50)).is_ok(), "nesting within the limit is read");
}
