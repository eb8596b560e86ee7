//! Hooks of Codex: `PreToolUse` and `PermissionRequest`.
//!
//! Codex runs the tool after nearly every mistake, also after `allow` without new arguments. For `PreToolUse`, the hook
//! therefore prints nothing to let a call pass unchanged. Codex then continues with its own approval and its sandbox.

use serde_json::{Value, json};

use super::calls::{self, CODEX, CallKind, HookCall};
use super::event::{EventKind, Fields, HookEvent, Printed, Unreadable, Verdict, not_blank};

const BEFORE: &str = "PreToolUse";
const PERMISSION: &str = "PermissionRequest";

/// Tool under which Codex asks for network access of a command.
const NETWORK: &str = "NetworkAccess";

pub(super) fn read(fields: &Fields) -> Result<HookEvent, Unreadable> {
    let name = fields.need("hook_event_name")?;
    let kind = match name.as_str() {
        BEFORE => {
            let call = call(fields)?;
            // Codex rewrites a command line. For other tools it is unknown whether Codex uses new arguments.
            let is_command = call.kind == CallKind::Command;
            EventKind::Call(if is_command { call.editable(false) } else { call })
        }
        PERMISSION => EventKind::Permission(call(fields)?),
        _ => return Err(Unreadable::Event(name)),
    };
    Ok(HookEvent {
        session: fields.need("session_id")?,
        turn: fields.text("turn_id"),
        cwd: fields.text("cwd"),
        transcript: fields.text("transcript_path"),
        call_id: fields.text("tool_use_id"),
        permission_mode: fields.text("permission_mode"),
        name,
        kind,
    })
}

fn call(fields: &Fields) -> Result<HookCall, Unreadable> {
    let (name, mut input) = (fields.need("tool_name")?, fields.input("tool_input")?);
    if name == NETWORK {
        // Not the command itself: rules on commands must not release the network.
        if let Some(line) = input.remove("command") {
            input.insert("for_command".to_owned(), line);
        }
        return Ok(HookCall::other("network_access".to_owned(), &name, input, None));
    }
    let own = |input| calls::own(CODEX, &name, input, fields.text("cwd").as_deref());
    Ok(calls::mcp(&name, input.clone()).unwrap_or_else(|| own(input)))
}

pub(super) fn answer(event: &HookEvent, verdict: &Verdict) -> Option<Printed> {
    let specific = |mut output: Value| {
        output["hookEventName"] = event.name.as_str().into();
        Some(Printed::json(&json!({ "hookSpecificOutput": output })))
    };
    match (event.name.as_str(), verdict) {
        (_, Verdict::NoOpinion) | (BEFORE, Verdict::Allow { input: None }) => Some(Printed::nothing()),
        (BEFORE, Verdict::Allow { input: Some(input) }) => {
            specific(json!({"permissionDecision": "allow", "updatedInput": input}))
        }
        (BEFORE, Verdict::Deny { reason }) => {
            specific(json!({"permissionDecision": "deny", "permissionDecisionReason": not_blank(reason)}))
        }
        (PERMISSION, Verdict::Allow { input: None }) => specific(json!({"decision": {"behavior": "allow"}})),
        (PERMISSION, Verdict::Deny { reason }) => {
            specific(json!({"decision": {"behavior": "deny", "message": not_blank(reason)}}))
        }
        _ => None,
    }
}
