//! The calls of a run, and the files that they made, as this wire tells them (contract A28).

use std::path::Path;

use holdshort_core::run::{CallEnd, Run};
use holdshort_core::tool::Precondition;
use serde_json::{Value, json};

use super::projector::Said;
use super::steps::{agent, merge};

pub(super) fn proposed(run: &Run, id: &str) -> Option<Said> {
    told(run, id, "proposed", &json!({ "arguments": run.calls.get(id)?.arguments }))
}

pub(super) fn started(run: &Run, id: &str, attempt: u32) -> Option<Said> {
    told(run, id, "started", &json!({ "attempt": attempt }))
}

pub(super) fn finished(run: &Run, id: &str, end: CallEnd, code: Option<&str>, result: &str) -> Vec<Said> {
    let ended = json!({ "result": result, "code": code });
    let mut said: Vec<Said> = told(run, id, status(end), &ended).into_iter().collect();
    if let Some(call) = run.calls.get(id).filter(|_| end == CallEnd::Done) {
        let files = call.look.iter().flat_map(|look| &look.preconditions);
        said.extend(files.map(|file| changed(file, &call.step)));
    }
    said
}

fn told(run: &Run, id: &str, status: &str, more: &Value) -> Option<Said> {
    let call = run.calls.get(id)?;
    let mut told = json!({
        "agent": agent(run, &call.step), "tool_name": call.tool, "call_id": id, "step_id": call.step,
        "status": status,
    });
    merge(&mut told, more);
    Some(("agent_tool_call", told))
}

/// A file that was not there before was created.
fn changed(file: &Precondition, step: &str) -> Said {
    let part = |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
    let path = Path::new(&file.path);
    let told = json!({
        "file_path": file.path, "filename": part(path.file_name()), "file_type": part(path.extension()),
        "step_id": step,
    });
    (if file.sha256.is_none() { "file_created" } else { "file_updated" }, told)
}

fn status(end: CallEnd) -> &'static str {
    match end {
        CallEnd::Done => "completed",
        CallEnd::Failed => "failed",
        CallEnd::Refused => "refused",
        CallEnd::Answered => "answered",
        CallEnd::Skipped => "skipped",
        CallEnd::Cancelled => "cancelled",
        CallEnd::Unknown => "unknown",
    }
}
