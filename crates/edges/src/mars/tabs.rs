//! `/api/runs/{id}` and `/api/nodes/{id}` (contract A32): graph, history, files, cost and console of a run. All data is
//! collected from the frames of the run (`replay.rs`), in the form that `history.rs` defines. `{id}` is the id of a run
//! or of a task.

use std::collections::BTreeMap;

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

use super::caller::{NoQuery, person};
use super::cost::Cost;
use super::history::{self, text};
use super::past::PastFrames;
use super::projector::work_dir;
use super::start;
use super::task_id::TaskId;
use super::{files, graph, steps};
use crate::credentials::AuthenticatedCaller;
use crate::limits::MARS_HISTORY;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryQuery {
    #[expect(dead_code, reason = "read during authentication")]
    token: Option<String>,
    event_type: Option<String>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeQuery {
    #[expect(dead_code, reason = "read during authentication")]
    token: Option<String>,
    run_id: Option<String>,
    #[expect(dead_code, reason = "a run has no internal nodes")]
    include_internal: Option<bool>,
}

impl NodeQuery {
    /// Returns the run id in the query about a graph node. The query must name the run, because a node's id is unique
    /// only within its run.
    fn run(&self) -> Answer<&str> {
        let rule = "run_id: is missing: name the run of the node";
        self.run_id.as_deref().ok_or_else(|| Refused::new(Code::InvalidQuery, rule))
    }
}

async fn past(guest: AuthenticatedCaller, id: &str) -> Answer<PastFrames> {
    let caller = person(guest)?;
    PastFrames::open(&caller.app, &find(&caller, id).await?).await
}

/// Returns the id of the run that `id` names: either a run's id or the id of a task of the caller.
async fn find(caller: &Caller, id: &str) -> Answer<RunId> {
    let none = || Refused::not_found("run");
    let Ok(run) = id.parse::<RunId>() else {
        return start::find(&caller.app, &TaskId::new(caller, id)?).await?.ok_or_else(none);
    };
    let row = caller.app.journal().run(&run).await?.ok_or_else(none)?;
    if start::is_visible(&caller.app, &row).await? { Ok(run) } else { Err(none()) }
}

/// `GET …/dag`: returns the current graph of the run. The graph is empty if no step has started.
pub(super) async fn dag(
    guest: AuthenticatedCaller,
    Id(id): Id<String>,
    _: Params<NoQuery>,
) -> Answer<Json<Value>> {
    let caller = person(guest)?;
    let run = caller.app.run_now(&find(&caller, &id).await?).await?;
    Ok(Json(graph::for_run(&run)))
}

/// `GET …/history`: lists the newest entries of the run's history, oldest first.
pub(super) async fn history(
    guest: AuthenticatedCaller,
    Id(id): Id<String>,
    Params(query): Params<HistoryQuery>,
) -> Answer<Json<Value>> {
    let limit = limit(query.limit)?;
    let mut past = past(guest, &id).await?;
    let is_asked =
        |event: &Value| query.event_type.as_ref().is_none_or(|asked| event["event_type"] == *asked);
    let events = past.newest(limit, |run, frame| history::entry(run, frame).filter(is_asked)).await?;
    Ok(past.answer(json!({ "total": events.len(), "events": events })))
}

/// Returns the maximum number of history entries in the response to a request with the parameter `limit`. Rejects a
/// value out of range.
pub(super) fn limit(asked: Option<usize>) -> Answer<usize> {
    match asked.unwrap_or(MARS_HISTORY) {
        limit @ 1..=MARS_HISTORY => Ok(limit),
        other => {
            let rule = format!("limit: {other} is not between 1 and {MARS_HISTORY}");
            Err(Refused::new(Code::InvalidQuery, rule))
        }
    }
}

/// `GET /api/nodes/{id}/events?run_id=`: lists the newest entries of the run's history about one node of the graph.
pub(super) async fn node_events(
    guest: AuthenticatedCaller,
    Id(node): Id<String>,
    Params(query): Params<NodeQuery>,
) -> Answer<Json<Value>> {
    let mut past = past(guest, query.run()?).await?;
    let is_of_it = |event: &Value| event["node_id"] == *node;
    let events = past.newest(MARS_HISTORY, |run, frame| history::entry(run, frame).filter(is_of_it)).await?;
    Ok(past.answer(json!({ "node_id": node, "events": events })))
}

/// `GET …/console-log`: returns the newest console lines of a run.
pub(super) async fn console(
    guest: AuthenticatedCaller,
    Id(id): Id<String>,
    _: Params<NoQuery>,
) -> Answer<Json<Value>> {
    let mut past = past(guest, &id).await?;
    let content = past.newest(usize::MAX, |_, frame| history::line(frame)).await?.join("\n");
    Ok(past.answer(json!({ "total_lines": content.lines().count(), "content": content })))
}

/// `GET …/files`: lists the files that the run has written and that still exist, each of them once.
pub(super) async fn files(
    guest: AuthenticatedCaller,
    Id(id): Id<String>,
    _: Params<NoQuery>,
) -> Answer<Json<Value>> {
    let mut past = past(guest, &id).await?;
    let left = files::left(&past.run);
    let listed = written(&mut past, &left).await?;
    let named = listed.iter().map(|file| text(file, "file_path")).collect();
    let not_told = files::others(&left, &named);
    let mut answer = json!({ "files": in_folder(&past.run, listed) });
    if not_told > 0 {
        answer["not_told"] = not_told.into();
    }
    Ok(past.answer(answer))
}

/// `GET /api/nodes/{id}/files?run_id=`: lists the existing files that one node of the run's graph has written.
pub(super) async fn node_files(
    guest: AuthenticatedCaller,
    Id(node): Id<String>,
    Params(query): Params<NodeQuery>,
) -> Answer<Json<Value>> {
    let mut past = past(guest, query.run()?).await?;
    let left = files::left(&past.run);
    let mut files = written(&mut past, &left).await?;
    files.retain(|file| file["node_id"] == *node);
    Ok(past.answer(json!({ "node_id": node, "files": in_folder(&past.run, files) })))
}

/// Returns files of a run with paths that begin with the task's folder. The client requests the content of a file only
/// by this path, which does not name a run, so the path must be the same for every run (`file_content.rs`).
fn in_folder(run: &Run, mut files: Vec<Value>) -> Vec<Value> {
    let folder = work_dir(run);
    for file in files.iter_mut().filter(|_| !folder.is_empty()) {
        file["file_path"] = format!("{folder}/{}", text(file, "file_path")).into();
    }
    files
}

/// Returns the files that a run has written with their current data, in the order in which they were first written.
/// Deleted files are omitted.
async fn written(past: &mut PastFrames, left: &BTreeMap<String, Option<u64>>) -> Answer<Vec<Value>> {
    let mut files: Vec<Value> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for mut file in past.newest(usize::MAX, history::file).await? {
        let place = *places.entry(text(&file, "file_path").to_owned()).or_insert(files.len());
        match files.get_mut(place) {
            Some(known) => {
                for first in ["id", "created_at"] {
                    file[first] = known[first].take();
                }
                *known = file;
            }
            None => files.push(file),
        }
    }
    files.retain_mut(|file| match left.get(text(file, "file_path")) {
        Some(Some(bytes)) => {
            file["size_bytes"] = (*bytes).into();
            true
        }
        Some(None) => false,
        // Without a changeset it is unknown whether the file still exists, so the file is listed.
        None => true,
    });
    Ok(files)
}

/// `GET …/costs`: returns the tokens and the cost of the run, by model, agent and step.
pub(super) async fn costs(
    guest: AuthenticatedCaller,
    Id(id): Id<String>,
    _: Params<NoQuery>,
) -> Answer<Json<Value>> {
    let mut past = past(guest, &id).await?;
    let mut all = Cost::default();
    let [mut models, mut agents, mut of_steps] = [const { BTreeMap::<String, Cost>::new() }; 3];
    while let Some(frames) = past.next().await? {
        for data in frames.iter().filter(|frame| frame.event_type == "cost_update").map(|frame| &frame.data) {
            all.add(data);
            for (costs, key) in [(&mut models, "model"), (&mut agents, "agent"), (&mut of_steps, "step_id")] {
                costs.entry(text(data, key).to_owned()).or_default().add(data);
            }
        }
    }
    let step = |(number, (id, cost)): (usize, (&String, &Cost))| {
        let agent = steps::agent(&past.run, id);
        cost.row(&json!({ "step_id": id, "step_number": number, "description": agent }))
    };
    let by_model = models.iter().map(|(model, cost)| cost.row(&json!({ "model": model })));
    let by_agent =
        agents.iter().map(|(agent, cost)| cost.row(&json!({ "agent": agent, "model": cost.model })));
    let [tokens, prompts, completions] = all.tokens();
    let mut answer = json!({
        "resolved_run_id": past.run.id.as_str(), "total_cost_usd": all.usd(), "total_tokens": tokens,
        "total_prompt_tokens": prompts, "total_completion_tokens": completions,
        "record_count": all.requests(),
        "model_breakdown": by_model.collect::<Vec<_>>(), "agent_breakdown": by_agent.collect::<Vec<_>>(),
        "step_breakdown": (1..).zip(&of_steps).map(step).collect::<Vec<_>>(),
    });
    steps::merge(&mut answer, &all.paid());
    Ok(past.answer(answer))
}

/// `POST …/branch`: always rejects the request, because runs cannot be branched yet. The client shows the message.
pub(super) async fn branch(guest: AuthenticatedCaller, Id(id): Id<String>) -> Answer<Json<Value>> {
    find(&person(guest)?, &id).await?;
    let why = "this server cannot branch a run yet: start a new task with the changed instructions";
    Err(Refused::new(Code::NotFound, why))
}

/// `POST …/play-from-node`: always rejects the request, because runs cannot be repeated from a node yet. The client
/// shows the message.
pub(super) async fn play_from_node(guest: AuthenticatedCaller, Id(id): Id<String>) -> Answer<Json<Value>> {
    find(&person(guest)?, &id).await?;
    let why = "this server cannot repeat a run from a node yet: start a new task, or undo the run's changes \
               with `holdshort undo RUN` first";
    Err(Refused::new(Code::NotFound, why))
}
