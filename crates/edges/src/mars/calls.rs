//! The calls of a run, and the files that they made, as this wire tells them (contract A28).

use std::collections::BTreeMap;
use std::path::Path;

use holdshort_core::run::{CallEnd, Listed};
use holdshort_core::tool::Precondition;
use serde_json::{Value, json};

use super::projector::Said;
use super::steps::{Steps, merge};

#[derive(Default)]
pub(super) struct Calls(BTreeMap<String, Call>);

struct Call {
    tool: String,
    step: String,
    /// What it would change, as it was found.
    files: Vec<Precondition>,
}

impl Calls {
    /// A reply proposes these; `arguments` one for each.
    pub(super) fn proposed(
        &mut self,
        step: &str,
        calls: &[Listed],
        arguments: Option<&Vec<Value>>,
        steps: &Steps,
    ) -> Vec<Said> {
        let mut said = Vec::new();
        for (i, listed) in calls.iter().enumerate() {
            let call = Call { tool: listed.tool.clone(), step: step.to_owned(), files: Vec::new() };
            self.0.insert(listed.call.clone(), call);
            let proposed = json!({ "arguments": arguments.and_then(|all| all.get(i)) });
            said.extend(self.told(&listed.call, "proposed", &proposed, steps));
        }
        said
    }

    pub(super) fn inspected(&mut self, call: &str, files: &[Precondition]) {
        if let Some(call) = self.0.get_mut(call) {
            call.files = files.to_vec();
        }
    }

    pub(super) fn started(&self, call: &str, attempt: u32, steps: &Steps) -> Vec<Said> {
        self.told(call, "started", &json!({ "attempt": attempt }), steps).into_iter().collect()
    }

    pub(super) fn finished(
        &self,
        call: &str,
        end: CallEnd,
        code: Option<&str>,
        result: &str,
        steps: &Steps,
    ) -> Vec<Said> {
        let ended = json!({ "result": result, "code": code });
        let mut said: Vec<Said> = self.told(call, status(end), &ended, steps).into_iter().collect();
        if end == CallEnd::Done
            && let Some(call) = self.0.get(call)
        {
            said.extend(call.files.iter().map(|file| changed(file, &call.step)));
        }
        said
    }

    pub(super) fn tool(&self, call: &str) -> Option<&str> {
        self.0.get(call).map(|call| call.tool.as_str())
    }

    fn told(&self, id: &str, status: &str, more: &Value, steps: &Steps) -> Option<Said> {
        let call = self.0.get(id)?;
        let mut told = json!({
            "agent": steps.agent(&call.step), "tool_name": call.tool, "call_id": id, "step_id": call.step,
            "status": status,
        });
        merge(&mut told, more);
        Some(("agent_tool_call", told))
    }
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
