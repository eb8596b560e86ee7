//! The calls of a run, and the files that they made, as this wire tells them (contracts A28, A32): one `agent_tool_call`
//! when a call is made, and one frame with what came of it.

use std::ffi::OsStr;
use std::path::Path;

use holdshort_core::run::{Call, CallEnd, Run};
use holdshort_core::tool::{Category, Precondition};
use holdshort_web::view::word;
use serde_json::{Value, json};

use super::projector::Said;
use super::steps::{agent, merge, node_of};

pub(super) fn proposed(run: &Run, id: &str) -> Option<Said> {
    let call = run.calls.get(id)?;
    let mut told = named(run, id, call);
    merge(&mut told, &json!({ "status": "proposed", "arguments": call.arguments }));
    Some(("agent_tool_call", told))
}

/// What came of it, and then its files.
pub(super) fn finished(run: &Run, id: &str, end: CallEnd, code: Option<&str>, result: &str) -> Vec<Said> {
    let Some(call) = run.calls.get(id) else { return Vec::new() };
    let mut told = named(run, id, call);
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
    let mut said = vec![(event_type, told)];
    let files = written(call).filter(|_| end == CallEnd::Done).map(|file| changed(file, call));
    said.extend(files);
    if said.len() > 1 {
        let told = json!({
            "run_id": run.id.as_str(), "node_id": node_of(run, &call.step), "step_id": call.step,
            "files_tracked": said.len() - 1,
        });
        said.push(("files_updated", told));
    }
    said
}

fn named(run: &Run, id: &str, call: &Call) -> Value {
    json!({ "agent": agent(run, &call.step), "tool_name": call.tool, "call_id": id, "step_id": call.step })
}

/// Files that a file tool relies on are those that it writes. What a command does to files is not seen.
fn written(call: &Call) -> impl Iterator<Item = &Precondition> {
    let look = call.look.iter().filter(|look| look.category == Category::FileWrite);
    look.flat_map(|look| &look.preconditions).filter(|file| !file.path.ends_with('/'))
}

/// A file that was not there before was created.
fn changed(file: &Precondition, call: &Call) -> Said {
    let path = Path::new(&file.path);
    let part = |part: Option<&OsStr>| part.map(OsStr::to_string_lossy).unwrap_or_default().into_owned();
    let told = json!({
        "file_path": file.path, "filename": part(path.file_name()), "file_type": part(path.extension()),
        "size_bytes": call.outcome.get("bytes").and_then(Value::as_u64).unwrap_or_default(),
        "agent": call.agent, "step_id": call.step,
    });
    (if file.sha256.is_none() { "file_created" } else { "file_updated" }, told)
}

fn status(end: CallEnd) -> String {
    if end == CallEnd::Done { "completed".to_owned() } else { word(&end) }
}
