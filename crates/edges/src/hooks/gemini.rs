//! Hooks of Gemini CLI: `BeforeTool`. Arguments in an answer are merged into the original ones.

use serde_json::{Value, json};

use super::calls::{self, GEMINI, HookCall};
use super::event::{EventKind, Fields, HookEvent, Printed, Unreadable, Verdict, not_blank};

const BEFORE: &str = "BeforeTool";

pub(super) fn read(fields: &Fields) -> Result<HookEvent, Unreadable> {
    let name = fields.need("hook_event_name")?;
    if name != BEFORE {
        return Err(Unreadable::Event(name));
    }
    Ok(HookEvent {
        session: fields.need("session_id")?,
        turn: None,
        cwd: fields.text("cwd"),
        transcript: fields.text("transcript_path"),
        call_id: None,
        permission_mode: None,
        kind: EventKind::Call(call(fields)?.editable(true)),
        name,
    })
}

fn call(fields: &Fields) -> Result<HookCall, Unreadable> {
    let (name, input) = (fields.need("tool_name")?, fields.input("tool_input")?);
    let context = fields.get("mcp_context");
    let of_server = |member: &str| context.and_then(|context| context[member].as_str());
    if let (Some(server), Some(tool)) = (of_server("server_name"), of_server("tool_name")) {
        return Ok(HookCall::other(format!("{server}.{tool}"), &name, input, Some(server.to_owned())));
    }
    let own = |input| calls::own(GEMINI, &name, input, fields.text("cwd").as_deref());
    Ok(calls::mcp(&name, input.clone()).unwrap_or_else(|| own(input)))
}

pub(super) fn answer(_event: &HookEvent, verdict: &Verdict) -> Option<Printed> {
    match verdict {
        Verdict::NoOpinion => Some(Printed::nothing()),
        Verdict::Allow { input } => {
            let mut output = json!({"decision": "allow"});
            if let Some(input) = input {
                output["hookSpecificOutput"] = json!({"hookEventName": BEFORE, "tool_input": input});
            }
            Some(Printed::json(&output))
        }
        Verdict::Deny { reason } => {
            Some(Printed::json(&Value::from_iter([("decision", "deny"), ("reason", not_blank(reason))])))
        }
        Verdict::Defer | Verdict::Content(_) | Verdict::Cancel | Verdict::Tell { .. } => None,
    }
}
