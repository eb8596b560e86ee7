//! Hooks of Cursor: `preToolUse`, `beforeShellExecution` and `beforeMCPExecution`. One command sends two events; the
//! program that runs the hook opens one interrupt for both.

use serde_json::{Map, Value, json};

use super::calls::{self, CURSOR, HookCall};
use super::event::{EventKind, Fields, HookEvent, Printed, Unreadable, Verdict, not_blank};

const BEFORE: &str = "preToolUse";
const SHELL: &str = "beforeShellExecution";
const MCP: &str = "beforeMCPExecution";

/// Prefix of the tools of MCP servers in `preToolUse`.
const MCP_PREFIX: &str = "MCP:";

pub(super) fn read(fields: &Fields) -> Result<HookEvent, Unreadable> {
    let name = fields.need("hook_event_name")?;
    let call = match name.as_str() {
        BEFORE => before(fields)?.editable(false),
        SHELL => {
            let input = Map::from_iter([("command".to_owned(), fields.need("command")?.into())]);
            let mut call = calls::own(CURSOR, "Shell", input, None);
            call.folder = fields.text("cwd");
            call
        }
        MCP => {
            let tool = fields.need("tool_name")?;
            let mut call = mcp(tool.strip_prefix(MCP_PREFIX).unwrap_or(&tool), input(fields)?);
            call.server = fields.text("url").or_else(|| fields.text("command"));
            call
        }
        _ => return Err(Unreadable::Event(name)),
    };
    let roots = fields.get("workspace_roots").and_then(Value::as_array);
    let folder = roots.and_then(|roots| roots.first()?.as_str()).map(str::to_owned);
    Ok(HookEvent {
        session: fields.need("conversation_id").or_else(|_| fields.need("session_id"))?,
        turn: fields.text("generation_id"),
        cwd: fields.text("cwd").or(folder),
        transcript: fields.text("transcript_path"),
        call_id: fields.text("tool_use_id"),
        permission_mode: None,
        name,
        kind: EventKind::Call(call),
    })
}

fn before(fields: &Fields) -> Result<HookCall, Unreadable> {
    let (name, input) = (fields.need("tool_name")?, input(fields)?);
    Ok(match name.strip_prefix(MCP_PREFIX) {
        Some(tool) => mcp(tool, input),
        None => calls::own(CURSOR, &name, input, fields.text("cwd").as_deref()),
    })
}

fn mcp(tool: &str, input: Map<String, Value>) -> HookCall {
    HookCall::other(format!("mcp.{tool}"), tool, input, None)
}

/// Returns the arguments, which some events carry as text.
fn input(fields: &Fields) -> Result<Map<String, Value>, Unreadable> {
    match fields.get("tool_input") {
        Some(Value::String(text)) => match holdshort_core::json::parse(text.as_bytes())? {
            Value::Object(input) => Ok(input),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(Unreadable::Field("tool_input"))
            }
        },
        _ => fields.input("tool_input"),
    }
}

pub(super) fn answer(event: &HookEvent, verdict: &Verdict) -> Option<Printed> {
    match verdict {
        Verdict::Allow { input: Some(_) } if event.name != BEFORE => None,
        Verdict::Allow { input } => {
            let mut output = json!({"permission": "allow"});
            if let Some(input) = input {
                output["updated_input"] = input.clone();
            }
            Some(Printed::json(&output))
        }
        Verdict::Deny { reason } => {
            let reason = not_blank(reason);
            let output = json!({"permission": "deny", "user_message": reason, "agent_message": reason});
            Some(Printed::json(&output))
        }
        Verdict::NoOpinion
        | Verdict::Defer
        | Verdict::Content(_)
        | Verdict::Cancel
        | Verdict::Tell { .. } => None,
    }
}
