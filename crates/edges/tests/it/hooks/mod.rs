//! Hooks of coding agents: payloads as the CLIs send them, and the answers that the CLIs read.

mod answers;
mod changes;
mod payloads;
mod refused;

use holdshort_edges::hooks::{Cli, EventKind, HookCall, HookEvent, read};
use serde_json::{Value, json};

/// Payload of Claude Code 2.1.332 before a tool runs.
fn claude(tool: &str, input: Value) -> Value {
    let mut payload = json!({
        "session_id": "0193f1b2-5a77-7d20-8a64-5be3a2d1c001",
        "transcript_path": "/home/u/.claude/projects/-home-u-project/0193f1b2.jsonl",
        "cwd": "/home/u/project",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_use_id": "toolu_01ABCdefGHIjklMNOpqrSTU",
    });
    payload["tool_input"] = input;
    payload
}

/// Payload of Codex 0.171.0 before a tool runs.
fn codex(tool: &str, input: Value) -> Value {
    let mut payload = json!({
        "session_id": "0199a213-81c0-7800-8aa1-bbab2a035a53",
        "turn_id": "0199a213-81c0-7800-8aa1-bbab2a035a54",
        "transcript_path": null,
        "cwd": "/home/u/project",
        "hook_event_name": "PreToolUse",
        "model": "gpt-5.2-codex",
        "permission_mode": "default",
        "tool_name": tool,
        "tool_use_id": "call_AbC123",
    });
    payload["tool_input"] = input;
    payload
}

/// Payload of Gemini CLI before a tool runs.
fn gemini(tool: &str, input: Value) -> Value {
    let mut payload = json!({
        "session_id": "9f0b7c1e-3b0f-4a57-9f22-6d0f7f4a1b11",
        "transcript_path": "/home/u/.gemini/tmp/abc/chats/session.json",
        "cwd": "/home/u/project",
        "hook_event_name": "BeforeTool",
        "timestamp": "2026-11-30T09:00:00.000Z",
        "tool_name": tool,
    });
    payload["tool_input"] = input;
    payload
}

/// Payload of Cursor 2 with the members of one event.
fn cursor(event: &str, members: Value) -> Value {
    let mut payload = json!({
        "conversation_id": "668320d2-2fd8-4888-b33c-2a466fec86e7",
        "generation_id": "490b90b7-a2ce-4c2c-bb76-cb77b125df2f",
        "model": "claude-sonnet-4.5",
        "hook_event_name": event,
        "cursor_version": "2.4.21",
        "workspace_roots": ["/home/u/project"],
        "user_email": null,
    });
    if let Value::Object(members) = members {
        payload.as_object_mut().unwrap().extend(members);
    }
    payload
}

fn event(cli: Cli, payload: &Value) -> HookEvent {
    read(cli, payload.to_string().as_bytes()).unwrap()
}

fn call(event: &HookEvent) -> &HookCall {
    match &event.kind {
        EventKind::Call(call) | EventKind::Permission(call) | EventKind::Done(call) => call,
        EventKind::Question(_) | EventKind::Elsewhere => panic!("no call: {event:?}"),
    }
}
