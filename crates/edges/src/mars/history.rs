//! History entries and console lines of a run (contract A32). `describe_frame` defines the history entry and the
//! console line for each type of frame.

use holdshort_core::run::Run;
use serde_json::{Value, json};

use super::frame::Frame;
use super::steps;

/// Entry of a run's history for a frame, and the console line for this frame.
struct HistoryEntry {
    event_type: &'static str,
    subtype: &'static str,
    inputs: Value,
    outputs: Value,
    line: Option<String>,
}

impl HistoryEntry {
    fn new(
        event_type: &'static str,
        subtype: &'static str,
        inputs: Value,
        outputs: Value,
        line: String,
    ) -> Self {
        Self { event_type, subtype, inputs, outputs, line: Some(line) }
    }
}

/// Types of frames that only update a drawing in the client, so the run's history has no entry for them.
const PICTURES: [&str; 8] = [
    "agent_tool_call",
    "cost_update",
    "dag_created",
    "dag_node_status_changed",
    "dag_updated",
    "files_updated",
    "result",
    "workflow_state_changed",
];

fn describe_frame(frame: &Frame) -> Option<HistoryEntry> {
    let data = &frame.data;
    let field = |key: &str| text(data, key);
    let agent = field("agent");
    let plain = |line| HistoryEntry {
        event_type: frame.event_type,
        subtype: "",
        inputs: json!({}),
        outputs: json!({}),
        line,
    };
    let said = |line| Some(plain(Some(line)));
    match frame.event_type {
        "agent_message" => {
            let kind = if field("role") == "handoff" { "handoff" } else { "agent_call" };
            let (by, whole) = (json!({ "role": data["role"] }), json!({ "full_content": data["message"] }));
            Some(HistoryEntry::new(kind, "message", by, whole, format!("[{agent}] {}", field("message"))))
        }
        "tool_call" => {
            // The client shows the arguments as text, and crashes on an object (contract A33).
            let given = json!({ "tool": data["tool_name"], "args": data["arguments"].to_string() });
            let line = format!("[{agent}] {}: {}", field("tool_name"), field("result"));
            Some(HistoryEntry::new("tool_call", "invoked", given, json!({ "result": data["result"] }), line))
        }
        "code_execution" => {
            let given = json!({ "language": data["language"], "code": data["code"] });
            let line = format!("[{agent}] $ {}\n{}", field("code"), field("result"));
            Some(HistoryEntry::new("code_exec", "executed", given, json!({ "result": data["result"] }), line))
        }
        "file_created" | "file_updated" => Some(HistoryEntry {
            event_type: "file_gen",
            subtype: &frame.event_type["file_".len()..],
            outputs: json!({ "file_path": data["file_path"] }),
            ..plain(None)
        }),
        "workflow_started" => said(format!("workflow started: {}", field("task_description"))),
        "workflow_paused" => said("workflow paused".to_owned()),
        "workflow_resumed" => said("workflow resumed".to_owned()),
        "workflow_completed" => said(format!("workflow completed: {}", field("reason"))),
        "workflow_failed" => said(format!("workflow failed: {}", field("error"))),
        "workflow_cancelled" => said(format!("workflow cancelled: {}", field("message"))),
        "phase_change" => said(format!("phase {}: {}", field("phase"), field("status"))),
        "step_started" => said(format!("step {} started by {agent}", field("step_id"))),
        "step_completed" => said(format!("step {} completed", field("step_id"))),
        "step_failed" => said(format!("step {} failed: {}", field("step_id"), field("error"))),
        "approval_requested" => said(format!("approval requested: {}", field("description"))),
        "approval_received" => said(format!("approval {}: {}", field("approval_status"), field("feedback"))),
        "error_occurred" => said(format!("error: {}", field("message"))),
        "output" => said(field("data").to_owned()),
        other => (!PICTURES.contains(&other)).then(|| plain(None)),
    }
}

/// Returns the entry of the run's history for a frame. Returns `None` if the frame only updates a drawing in the
/// client.
pub(super) fn entry(run: &Run, frame: &Frame) -> Option<Value> {
    let HistoryEntry { event_type, subtype, inputs, outputs, line } = describe_frame(frame)?;
    let data = &frame.data;
    let error =
        ["error", "final_error"].map(|key| text(data, key)).into_iter().find(|error| !error.is_empty());
    Some(json!({
        "id": frame.id, "timestamp": frame.timestamp, "event_type": event_type, "event_subtype": subtype,
        "node_id": node(run, frame), "agent_name": data.get("agent"), "description": line,
        "status": data.get("status").and_then(Value::as_str).unwrap_or("completed"),
        "inputs": inputs, "outputs": outputs, "error_message": error,
        "meta": { "step_id": data.get("step_id") }, "duration_ms": null,
    }))
}

/// Returns the console line for a frame, with the timestamp of the frame. Returns `None` if frames of this type have no
/// console line.
pub(super) fn line(frame: &Frame) -> Option<String> {
    Some(format!("{} {}", frame.timestamp, describe_frame(frame)?.line?))
}

/// Returns the entry in a run's list of files for a frame that reports a written file.
pub(super) fn file(run: &Run, frame: &Frame) -> Option<Value> {
    let data = &frame.data;
    matches!(frame.event_type, "file_created" | "file_updated").then(|| {
        json!({
            "id": frame.id, "file_path": data["file_path"], "file_name": data["filename"],
            "file_type": data["file_type"], "size_bytes": data["size_bytes"],
            "node_id": node(run, frame).unwrap_or_default(), "agent_name": data["agent"],
            "created_at": frame.timestamp,
        })
    })
}

/// Returns the id of the node in the run's graph that a frame is about.
fn node<'r>(run: &'r Run, frame: &'r Frame) -> Option<&'r str> {
    let step = frame.data.get("step_id")?.as_str().filter(|step| !step.is_empty())?;
    Some(steps::node_of(run, step))
}

pub(super) fn text<'a>(data: &'a Value, key: &str) -> &'a str {
    data.get(key).and_then(Value::as_str).unwrap_or_default()
}
