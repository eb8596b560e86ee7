//! REST routes that read open requests and plans (contract B12), and routes that pause and resume a plan. Reading never
//! writes to the journal (lesson 5).

use axum::Json;
use holdshort_core::interrupt::{About, Interrupt, Kind};
use holdshort_core::run::{Input, Run};
use holdshort_web::auth::Caller;
use holdshort_web::limits::SESSION_RUNS;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, Ids};
use holdshort_web::view;
use serde_json::{Value, json};

use super::audit::session_id;
use super::person::Person;
use super::session::Session;
use super::{ids, names, open_requests, plan};
use crate::assignment;

/// `GET /sessions/{id}/pending-approvals`: lists the calls that wait for a person's decision, and the calls that a
/// client was asked to run and has not reported a result for. Plans, limits and questions are in separate lists: if
/// this list contained them, the IDE would show no calls at all.
pub(super) async fn pending_approvals(Person(caller): Person, Id(name): Id<String>) -> Answer<Json<Value>> {
    let session = find_session(caller, name).await?;
    let run = session.last().await?;
    let found = |of: fn(&Run, &Interrupt) -> Option<Value>| pending(run.as_deref(), of);
    let calls = found(call);
    Ok(Json(json!({
        "session_id": session.name,
        "count": calls.len(),
        "pending_approvals": calls,
        "pending_plans": found(waiting_plan),
        "pending_questions": found(question),
    })))
}

fn pending(run: Option<&Run>, of: fn(&Run, &Interrupt) -> Option<Value>) -> Vec<Value> {
    let Some(run) = run else { return Vec::new() };
    open_requests::interrupts(run).into_iter().filter_map(|(_, interrupt)| of(run, interrupt)).collect()
}

/// Returns the members that the JSON of all kinds of interrupts has.
fn request(interrupt: &Interrupt, kind: &str, subject: &str) -> Value {
    let opened = &interrupt.opened;
    let reasons: Vec<&str> = opened.risk.reasons.iter().map(|reason| reason.text.as_str()).collect();
    let mut item = json!({
        "request_id": opened.interrupt.as_str(),
        "request_type": kind,
        "subject": subject,
        "reason": reasons.join("; "),
        "created_at": interrupt.opened_at.to_string(),
    });
    if let Some(at) = opened.expires_at {
        item["expires_at"] = json!(at.to_string());
    }
    assign(&mut item, interrupt);
    item
}

/// Adds the approvers and votes of an interrupt to its JSON. Adds nothing if any single operator may decide.
fn assign(item: &mut Value, interrupt: &Interrupt) {
    if let Some(told) = assignment::summarize(interrupt) {
        item["assignment"] = told.data;
    }
}

fn call(run: &Run, interrupt: &Interrupt) -> Option<Value> {
    let opened = &interrupt.opened;
    let (Kind::ToolApproval | Kind::ClientCall, About::Call(id)) = (opened.kind, &opened.about) else {
        return None;
    };
    let call = run.calls.get(id).filter(|_| !open_requests::runs_elsewhere(run, interrupt))?;
    let (tool, asks) = (names::tool(&call.tool), opened.kind == Kind::ToolApproval);
    let mut item = request(interrupt, "tool", tool);
    item["details"] = json!({
        "agent": opened.agent.as_deref().map(names::agent),
        "requires_approval": asks,
        "title": interrupt.content_text("title"),
    });
    item["call_id"] = json!(ids::call(&run.id, id));
    item["tool_name"] = json!(tool);
    item["arguments"] = names::arguments(&call.tool, &call.arguments);
    item["requires_approval"] = json!(asks);
    Some(item)
}

/// Returns an interrupt about a limit, an agent's question, or a call that runs on the server, as JSON. Returns `None`
/// for every other kind of interrupt.
fn question(run: &Run, interrupt: &Interrupt) -> Option<Value> {
    let opened = &interrupt.opened;
    let kind = match opened.kind {
        Kind::Continuation => "limit",
        Kind::Question => "question",
        Kind::ToolApproval if open_requests::runs_elsewhere(run, interrupt) => "approval",
        _ => return None,
    };
    let mut item = request(interrupt, kind, interrupt.content_text("title"));
    item["details"] = json!({ "agent": opened.agent.as_deref().map(names::agent) });
    if kind == "approval" {
        item["details"] = open_requests::about_the_call(run, interrupt);
    }
    let payload = interrupt.content.get("payload").filter(|_| kind == "question");
    for field in ["question", "context", "choices"] {
        if let Some(found) = payload.and_then(|payload| payload.get(field)).filter(|found| !found.is_null()) {
            item["details"][field] = found.clone();
        }
    }
    if kind != "question" {
        item["call_id"] = json!(opened.interrupt.as_str());
    }
    Some(item)
}

fn waiting_plan(run: &Run, interrupt: &Interrupt) -> Option<Value> {
    let found = interrupt.plan()?;
    let (_, metadata) = plan::waiting(run, interrupt, &found);
    let mut item = json!(metadata);
    item["session_id"] = json!(session_id(run));
    item["is_approved"] = json!(false);
    item["created_at"] = json!(interrupt.opened_at.to_string());
    assign(&mut item, interrupt);
    Some(item)
}

/// `GET /sessions/{id}/pending-plans`: lists the plans that wait for a person's decision.
pub(super) async fn pending_plans(Person(caller): Person, Id(name): Id<String>) -> Answer<Json<Value>> {
    let session = find_session(caller, name).await?;
    let items = pending(session.last().await?.as_deref(), waiting_plan);
    Ok(Json(json!({ "session_id": session.name, "count": items.len(), "pending_plans": items })))
}

/// `GET /sessions/{id}/plans`: lists all plans of the session. Each plan has its subtasks, their status, their
/// dependencies, and a layout in layers.
pub(super) async fn plans(Person(caller): Person, Id(name): Id<String>) -> Answer<Json<Value>> {
    let session = find_session(caller, name).await?;
    let mut items = Vec::new();
    for run in session.runs().await?.iter().rev().take(SESSION_RUNS) {
        let run = session.load(run).await?;
        for shown in view::plan::from_run(&run) {
            let subtasks: Vec<Value> = shown
                .subtasks
                .iter()
                .map(|subtask| {
                    let mut item = json!({
                        "id": subtask.id,
                        "description": subtask.description,
                        "agent": subtask.agent.as_deref().or(shown.agent.as_deref()).map(names::agent),
                        "dependencies": subtask.depends_on,
                        "status": plan::status(run.progress(&shown.phase, &subtask.id)),
                        "layer": subtask.layer,
                        "row": subtask.row,
                    });
                    if let Some(time) = plan::estimate(subtask.estimated_time.as_deref()) {
                        item["estimated_time"] = json!(time);
                    }
                    item
                })
                .collect();
            items.push(json!({
                "plan_id": plan::id(&run, &shown.phase),
                "session_id": session.name,
                "run_id": run.id.as_str(),
                "original_task": run.task(),
                "is_approved": shown.settled,
                "is_complete": run.ended.is_some(),
                "paused": run.paused,
                "subtasks": subtasks,
            }));
        }
    }
    Ok(Json(json!({ "session_id": session.name, "count": items.len(), "plans": items })))
}

/// `POST /sessions/{id}/plans/{plan_id}/pause`: pauses the run of a plan. Running work completes, and no new work
/// starts.
pub(super) async fn pause(
    Person(caller): Person,
    Ids(name, plan): Ids<String, String>,
) -> Answer<Json<Value>> {
    steer(caller, name, &plan, Input::Pause).await
}

/// `POST /sessions/{id}/plans/{plan_id}/resume`: resumes the paused run of a plan.
pub(super) async fn resume(
    Person(caller): Person,
    Ids(name, plan): Ids<String, String>,
) -> Answer<Json<Value>> {
    steer(caller, name, &plan, Input::Resume).await
}

async fn steer(caller: Caller, name: String, id: &str, input: Input) -> Answer<Json<Value>> {
    let session = find_session(caller, name).await?;
    let run = session.last().await?.ok_or_else(|| Refused::not_found("plan"))?;
    let is_of_run = run.plans.keys().any(|planning| plan::id(&run, planning) == id)
        || run.interrupts.keys().any(|interrupt| ids::plan(interrupt) == id);
    if !is_of_run {
        return Err(Refused::not_found("plan"));
    }
    let run = session.send(&run.id, input).await?;
    Ok(Json(json!({ "plan_id": id, "session_id": session.name, "status": run.status().as_str() })))
}

/// Returns the caller's session with this name. For an unknown or invalid name, returns a 404 error.
async fn find_session(caller: Caller, name: String) -> Answer<Session> {
    let session = Session::from_name(caller, name).map_err(|_| Refused::not_found("session"))?;
    session.require_id().await?;
    Ok(session)
}
