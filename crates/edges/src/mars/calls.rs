//! Frames for the calls of a run (contracts A28, A32): one `agent_tool_call` when an agent makes a call, and one frame
//! with the result of the call. After the frame with the result, `files.rs` adds a frame for each file that the call
//! has changed.

use holdshort_core::run::{Call, CallEnd, Run};
use holdshort_web::view::variant_name;
use serde_json::{Value, json};

use super::files;
use super::projector::FrameBody;
use super::steps::{agent, merge};

pub(super) fn proposed(run: &Run, id: &str) -> Option<FrameBody> {
    let call = run.calls.get(id)?;
    let mut told = describe_call(run, id, call);
    merge(&mut told, &json!({ "status": "proposed", "arguments": call.arguments }));
    Some(("agent_tool_call", told))
}

/// Returns the frame with the result of a tool call, and after it the frames for the files that the call changed.
pub(super) fn finished(
    run: &Run,
    id: &str,
    end: CallEnd,
    code: Option<&str>,
    result: &str,
) -> Vec<FrameBody> {
    let Some(call) = run.calls.get(id) else { return Vec::new() };
    let mut told = describe_call(run, id, call);
    let ended = json!({
        "run_id": run.id.as_str(), "status": status(end), "attempt": call.attempt, "arguments": call.arguments,
        "result": result, "error_code": code,
    });
    merge(&mut told, &ended);
    let event_type = match call.argument("command").filter(|_| call.tool == "run_command") {
        Some(command) => {
            merge(&mut told, &json!({ "code": command, "language": "bash" }));
            "code_execution"
        }
        None => "tool_call",
    };
    let files = if end == CallEnd::Done { files::frames_for_call(run, call) } else { Vec::new() };
    std::iter::once((event_type, told)).chain(files).collect()
}

fn describe_call(run: &Run, id: &str, call: &Call) -> Value {
    json!({ "agent": agent(run, &call.step), "tool_name": call.tool, "call_id": id, "step_id": call.step })
}

fn status(end: CallEnd) -> String {
    if end == CallEnd::Done { "completed".to_owned() } else { variant_name(&end) }
}
