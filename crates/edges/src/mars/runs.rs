//! `/api/runs/{id}` and `/api/nodes/{id}` (contract A32): graph, history, files, cost and console of a run. All of it is
//! what was told of the run, gathered; a run has the id that it has here, or the task's.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use holdshort_core::id::RunId;
use holdshort_core::run::Run;
use holdshort_protocol::Code;
use holdshort_store::Tables;
use holdshort_web::auth::Caller;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, Params};
use serde::Deserialize;
use serde_json::{Value, json};

use super::config::WORKFLOW;
use super::frame::Frame;
use super::sessions::{NoQuery, person};
use super::start::{self, TaskId};
use super::{graph, retell, steps};
use crate::limits::MARS_HISTORY;
use crate::who::Guest;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryQuery {
    #[expect(dead_code, reason = "read where the caller is let in")]
    token: Option<String>,
    event_type: Option<String>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeQuery {
    #[expect(dead_code, reason = "read where the caller is let in")]
    token: Option<String>,
    run_id: Option<String>,
    #[expect(dead_code, reason = "nothing of a run is internal")]
    include_internal: Option<bool>,
}

/// A run, and what was told of it.
struct Whole {
    run: Arc<Run>,
    frames: Vec<Frame>,
}

impl Whole {
    async fn of(caller: &Caller, id: &str) -> Answer<Self> {
        let (run, frames) = retell::whole(&caller.app, &find(caller, id).await?).await?;
        Ok(Self { run, frames })
    }

    /// The node of the graph that a frame is about.
    fn node(&self, frame: &Frame) -> Option<String> {
        let step = frame.data.get("step_id")?.as_str().filter(|step| !step.is_empty())?;
        Some(steps::node_of(&self.run, step).to_owned())
    }
}

/// The run of this id, or of the caller's task of this id.
async fn find(caller: &Caller, id: &str) -> Answer<RunId> {
    let none = || Refused::not_found("run");
    let Ok(run) = id.parse::<RunId>() else {
        return start::find(&caller.app, &TaskId::of(caller, id)?).await?.ok_or_else(none);
    };
    let row = caller.app.journal().run(&run).await?.filter(|row| row.workflow == WORKFLOW);
    row.map(|row| row.run).ok_or_else(none)
}

/// `GET …/dag`: the graph as it stands; nothing in it where nothing is planned.
pub(super) async fn dag(guest: Guest, Id(id): Id<String>, _: Params<NoQuery>) -> Answer<Json<Value>> {
    let caller = person(guest)?;
    let run = caller.app.run_now(&find(&caller, &id).await?).await?;
    let nothing = || json!({ "run_id": run.id.as_str(), "nodes": [], "edges": [], "levels": 0 });
    Ok(Json(graph::of(&run).unwrap_or_else(nothing)))
}

/// `GET …/history`: what happened, oldest first; of many the newest.
pub(super) async fn history(
    guest: Guest,
    Id(id): Id<String>,
    Params(query): Params<HistoryQuery>,
) -> Answer<Json<Value>> {
    let limit = limit(query.limit)?;
    let whole = Whole::of(&person(guest)?, &id).await?;
    let mut events = events(&whole);
    events.retain(|event| query.event_type.as_ref().is_none_or(|asked| event["event_type"] == *asked));
    let total = events.len();
    let events = events.split_off(total.saturating_sub(limit));
    Ok(Json(json!({ "run_id": whole.run.id.as_str(), "events": events, "total": total })))
}

/// How many of a history are asked for.
pub(super) fn limit(asked: Option<usize>) -> Answer<usize> {
    match asked.unwrap_or(MARS_HISTORY) {
        limit @ 1..=MARS_HISTORY => Ok(limit),
        other => {
            let rule = format!("limit: {other} is not between 1 and {MARS_HISTORY}");
            Err(Refused::new(Code::InvalidQuery, rule))
        }
    }
}

/// `GET …/files`: what file tools wrote, each file once.
pub(super) async fn files(guest: Guest, Id(id): Id<String>, _: Params<NoQuery>) -> Answer<Json<Value>> {
    let whole = Whole::of(&person(guest)?, &id).await?;
    Ok(Json(json!({ "run_id": whole.run.id.as_str(), "files": written(&whole) })))
}

/// `GET …/console-log`: the lines that a client's console shows.
pub(super) async fn console(guest: Guest, Id(id): Id<String>, _: Params<NoQuery>) -> Answer<Json<Value>> {
    let whole = Whole::of(&person(guest)?, &id).await?;
    let lines = whole.frames.iter().filter_map(|frame| Some(format!("{} {}", frame.timestamp, line(frame)?)));
    let content = lines.collect::<Vec<_>>().join("\n");
    let total = content.lines().count();
    Ok(Json(json!({ "run_id": whole.run.id.as_str(), "content": content, "total_lines": total })))
}

/// `GET …/costs`: tokens, by model, agent and step. Prices are not known here.
pub(super) async fn costs(guest: Guest, Id(id): Id<String>, _: Params<NoQuery>) -> Answer<Json<Value>> {
    let whole = Whole::of(&person(guest)?, &id).await?;
    let all = Cost::of(&whole, |_| String::new()).remove("").unwrap_or_default();
    let by = |key: &'static str| Cost::of(&whole, move |data| text(data, key).to_owned());
    let rows = |key: &'static str| {
        let rows = by(key).into_iter().map(move |(name, cost)| cost.row(&json!({ key: name })));
        rows.collect::<Vec<_>>()
    };
    let step = |(number, (id, cost)): (usize, (String, Cost))| {
        let agent = steps::agent(&whole.run, &id);
        cost.row(&json!({ "step_id": id, "step_number": number, "description": agent }))
    };
    let mut answer = json!({
        "run_id": whole.run.id.as_str(), "total_cost": 0.0, "total_cost_usd": 0.0,
        "total_tokens": all.input + all.output, "input_tokens": all.input, "output_tokens": all.output,
        "model_breakdown": rows("model"),
        "step_breakdown": (1..).zip(by("step_id")).map(step).collect::<Vec<_>>(),
    });
    let model = |(agent, cost): (String, Cost)| {
        let model = whole.frames.iter().find(|frame| is_cost(frame) && frame.data["agent"] == *agent);
        cost.row(&json!({ "agent": agent, "model": model.map(|frame| text(&frame.data, "model")) }))
    };
    answer["agent_breakdown"] = by("agent").into_iter().map(model).collect();
    Ok(Json(answer))
}

/// `GET /api/nodes/{id}/files?run_id=`.
pub(super) async fn node_files(
    guest: Guest,
    Id(node): Id<String>,
    Params(query): Params<NodeQuery>,
) -> Answer<Json<Value>> {
    let whole = of_node(guest, &query).await?;
    let mut files = written(&whole);
    files.retain(|file| file["node_id"] == *node);
    Ok(Json(json!({ "node_id": node, "files": files })))
}

/// `GET /api/nodes/{id}/events?run_id=`.
pub(super) async fn node_events(
    guest: Guest,
    Id(node): Id<String>,
    Params(query): Params<NodeQuery>,
) -> Answer<Json<Value>> {
    let whole = of_node(guest, &query).await?;
    let mut events = events(&whole);
    events.retain(|event| event["node_id"] == *node);
    Ok(Json(json!({ "node_id": node, "events": events })))
}

/// A node's id is one within its run.
async fn of_node(guest: Guest, query: &NodeQuery) -> Answer<Whole> {
    let caller = person(guest)?;
    let Some(run) = &query.run_id else {
        return Err(Refused::new(Code::InvalidQuery, "run_id: is missing: a node is one of a run"));
    };
    Whole::of(&caller, run).await
}

fn text<'a>(data: &'a Value, key: &str) -> &'a str {
    data.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// What requests of a kind took together.
#[derive(Default)]
struct Cost {
    input: u64,
    output: u64,
    requests: u64,
}

fn is_cost(frame: &Frame) -> bool {
    frame.event_type == "cost_update"
}

impl Cost {
    fn of(whole: &Whole, key: impl Fn(&Value) -> String) -> BTreeMap<String, Self> {
        let mut costs: BTreeMap<String, Self> = BTreeMap::new();
        for frame in whole.frames.iter().filter(|frame| is_cost(frame)) {
            let count = |key: &str| frame.data.get(key).and_then(Value::as_u64).unwrap_or_default();
            let cost = costs.entry(key(&frame.data)).or_default();
            cost.input += count("input_tokens");
            cost.output += count("output_tokens");
            cost.requests += 1;
        }
        costs
    }

    fn row(&self, named: &Value) -> Value {
        let mut row = json!({
            "cost": 0.0, "tokens": self.input + self.output, "input_tokens": self.input,
            "output_tokens": self.output, "call_count": self.requests,
        });
        steps::merge(&mut row, named);
        row
    }
}

/// As they are now; a file that was written again is where it was first.
fn written(whole: &Whole) -> Vec<Value> {
    let mut files: Vec<Value> = Vec::new();
    for frame in &whole.frames {
        if !matches!(frame.event_type, "file_created" | "file_updated") {
            continue;
        }
        let data = &frame.data;
        let known = files.iter_mut().find(|file| file["file_path"] == data["file_path"]);
        let id = known.as_ref().map_or_else(|| json!(frame.id), |known| known["id"].clone());
        let file = json!({
            "id": id, "file_path": data["file_path"], "file_name": data["filename"],
            "file_type": data["file_type"], "size_bytes": data["size_bytes"],
            "node_id": whole.node(frame).unwrap_or_default(), "agent_name": data["agent"],
            "created_at": known.as_ref().map_or_else(|| json!(frame.timestamp), |known| known["created_at"].clone()),
        });
        match known {
            Some(known) => *known = file,
            None => files.push(file),
        }
    }
    files
}

/// What happened, in the words of a client's history: what only moves its pictures is left out.
fn events(whole: &Whole) -> Vec<Value> {
    let event = |frame: &Frame| {
        let data = &frame.data;
        let (kind, subtype, inputs, outputs) = match frame.event_type {
            "agent_message" if data["role"] == "handoff" => ("handoff", "message", json!({}), json!({})),
            "agent_message" => {
                let said = json!({ "full_content": data["message"] });
                ("agent_call", "message", json!({ "role": data["role"] }), said)
            }
            "tool_call" => {
                let given = json!({ "tool": data["tool_name"], "args": data["arguments"] });
                ("tool_call", "invoked", given, json!({ "result": data["result"] }))
            }
            "code_execution" => {
                let given = json!({ "language": data["language"], "code": data["code"] });
                ("code_exec", "executed", given, json!({ "result": data["result"] }))
            }
            "file_created" | "file_updated" => {
                ("file_gen", &frame.event_type[5..], json!({ "file": data["file_path"] }), json!({}))
            }
            "agent_tool_call"
            | "cost_update"
            | "files_updated"
            | "dag_created"
            | "dag_updated"
            | "dag_node_status_changed"
            | "workflow_state_changed"
            | "result" => return None,
            other => (other, "", json!({}), json!({})),
        };
        let status = data.get("status").and_then(Value::as_str).unwrap_or("completed");
        let error =
            ["error", "final_error"].iter().map(|key| text(data, key)).find(|error| !error.is_empty());
        Some(json!({
            "id": frame.id, "timestamp": frame.timestamp, "event_type": kind, "event_subtype": subtype,
            "node_id": whole.node(frame), "agent_name": data.get("agent"), "description": line(frame),
            "status": status, "inputs": inputs, "outputs": outputs, "error_message": error,
            "meta": { "step_id": data.get("step_id") }, "duration_ms": null,
        }))
    };
    whole.frames.iter().filter_map(event).collect()
}

/// The line of a console for what happened, if it has one.
fn line(frame: &Frame) -> Option<String> {
    let field = |key: &str| text(&frame.data, key);
    let agent = field("agent");
    Some(match frame.event_type {
        "workflow_started" => format!("workflow started: {}", field("task_description")),
        "workflow_paused" => "workflow paused".to_owned(),
        "workflow_resumed" => "workflow resumed".to_owned(),
        "workflow_completed" => format!("workflow completed: {}", field("reason")),
        "workflow_failed" => format!("workflow failed: {}", field("error")),
        "workflow_cancelled" => format!("workflow cancelled: {}", field("message")),
        "phase_change" => format!("phase {}: {}", field("phase"), field("status")),
        "step_started" => format!("step {} started by {agent}", field("step_id")),
        "step_completed" => format!("step {} completed", field("step_id")),
        "step_failed" => format!("step {} failed: {}", field("step_id"), field("error")),
        "agent_message" => format!("[{agent}] {}", field("message")),
        "tool_call" => format!("[{agent}] {}: {}", field("tool_name"), field("result")),
        "code_execution" => format!("[{agent}] $ {}\n{}", field("code"), field("result")),
        "approval_requested" => format!("approval requested: {}", field("description")),
        "approval_received" => format!("approval {}: {}", field("approval_status"), field("feedback")),
        "error_occurred" => format!("error: {}", field("message")),
        "output" => field("data").to_owned(),
        _ => return None,
    })
}
