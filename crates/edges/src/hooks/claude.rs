//! Hooks of Claude Code: `PreToolUse`, `PermissionRequest`, `Elicitation` and `PostToolUse`.
//!
//! Claude Code runs a tool after every exit code but 0 and 2, and after output that is not JSON.

use serde_json::{Map, Value, json};

use super::calls::{self, CLAUDE, HookCall};
use super::event::{EventKind, Fields, HookEvent, Printed, Unreadable, Verdict, not_blank};
use super::questions;

const BEFORE: &str = "PreToolUse";
const PERMISSION: &str = "PermissionRequest";
const ELICITATION: &str = "Elicitation";
const AFTER: &str = "PostToolUse";

/// Tool with which the model asks the person.
const ASK: &str = "AskUserQuestion";

pub(super) fn read(fields: &Fields) -> Result<HookEvent, Unreadable> {
    let name = fields.need("hook_event_name")?;
    let kind = match name.as_str() {
        BEFORE => {
            let (tool, input) = (fields.need("tool_name")?, fields.input("tool_input")?);
            match questions::ask_user(&input).filter(|_| tool == ASK) {
                Some(question) => EventKind::Question(question),
                None => EventKind::Call(call(fields)?.editable(false)),
            }
        }
        PERMISSION => EventKind::Permission(call(fields)?.editable(false)),
        AFTER => EventKind::Done(call(fields)?),
        ELICITATION => {
            let (server, message) =
                (fields.need("mcp_server_name")?, fields.text("message").unwrap_or_default());
            let schema = fields.get("requested_schema").unwrap_or(&Value::Null);
            let original = json!({"server": server, "message": message, "requested_schema": schema});
            match questions::elicitation(&server, &message, schema, original) {
                Some(question) => EventKind::Question(question),
                None if fields.text("mode").as_deref() == Some("url") => EventKind::Elsewhere,
                None => return Err(Unreadable::Field("requested_schema")),
            }
        }
        _ => return Err(Unreadable::Event(name)),
    };
    Ok(HookEvent {
        session: fields.need("session_id")?,
        turn: fields.text("prompt_id"),
        cwd: fields.text("cwd"),
        transcript: fields.text("transcript_path"),
        call_id: fields.text("tool_use_id").or_else(|| fields.text("elicitation_id")),
        permission_mode: fields.text("permission_mode"),
        name,
        kind,
    })
}

fn call(fields: &Fields) -> Result<HookCall, Unreadable> {
    let (name, input) = (fields.need("tool_name")?, fields.input("tool_input")?);
    Ok(call_of(&name, input, fields.text("cwd").as_deref()))
}

pub(super) fn call_of(name: &str, input: Map<String, Value>, cwd: Option<&str>) -> HookCall {
    calls::mcp(name, input.clone()).unwrap_or_else(|| calls::own(CLAUDE, name, input, cwd))
}

pub(super) fn answer(event: &HookEvent, verdict: &Verdict) -> Option<Printed> {
    let specific = |mut output: Value| {
        output["hookEventName"] = event.name.as_str().into();
        Some(Printed::json(&json!({ "hookSpecificOutput": output })))
    };
    match (event.name.as_str(), verdict) {
        (_, Verdict::NoOpinion) => Some(Printed::nothing()),
        (BEFORE, Verdict::Allow { input }) => {
            let mut output = json!({"permissionDecision": "allow", "permissionDecisionReason": "Holdshort"});
            if let Some(input) = input {
                output["updatedInput"] = input.clone();
            }
            specific(output)
        }
        (BEFORE, Verdict::Deny { reason }) => {
            specific(json!({"permissionDecision": "deny", "permissionDecisionReason": not_blank(reason)}))
        }
        (BEFORE, Verdict::Defer) => specific(json!({"permissionDecision": "defer"})),
        (PERMISSION, Verdict::Allow { input }) => {
            let mut decision = json!({"behavior": "allow"});
            if let Some(input) = input {
                decision["updatedInput"] = input.clone();
            }
            specific(json!({ "decision": decision }))
        }
        (PERMISSION, Verdict::Deny { reason }) => {
            specific(json!({"decision": {"behavior": "deny", "message": not_blank(reason)}}))
        }
        (ELICITATION, Verdict::Content(content)) => specific(json!({"action": "accept", "content": content})),
        (ELICITATION, Verdict::Deny { .. }) => specific(json!({"action": "decline"})),
        (ELICITATION, Verdict::Cancel) => specific(json!({"action": "cancel"})),
        (AFTER, Verdict::Tell { text }) => {
            let output = json!({"hookEventName": AFTER, "additionalContext": text});
            Some(Printed::json(&json!({"systemMessage": text, "hookSpecificOutput": output})))
        }
        _ => None,
    }
}
