//! What a client reads without a stream (contract B12), and a plan's pause. Reads write nothing (lesson 5).

use axum::Json;
use holdshort_core::interrupt::{About, Interrupt, Kind};
use holdshort_core::run::{Input, Run};
use holdshort_web::auth::Caller;
use holdshort_web::limits::SESSION_RUNS;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, Ids};
use holdshort_web::view;
use serde_json::{Value, json};

use super::person::Person;
use super::session::Session;
use super::{ids, open, plan};

/// `GET /sessions/{id}/pending-approvals`.
pub(super) async fn pending_approvals(Person(caller): Person, Id(name): Id<String>) -> Answer<Json<Value>> {
    let session = known(caller, name).await?;
    let run = session.last().await?;
    let open = run.as_deref().map(open::interrupts).unwrap_or_default();
    let items: Vec<Value> =
        open.into_iter().filter_map(|(_, interrupt)| approval(run.as_deref()?, interrupt)).collect();
    Ok(Json(json!({ "session_id": session.name, "count": items.len(), "pending_approvals": items })))
}

/// What a person must decide: a call, a limit, a plan, a question. What is to run is handed out to whoever connects.
fn approval(run: &Run, interrupt: &Interrupt) -> Option<Value> {
    let opened = &interrupt.opened;
    let mut item = json!({
        "request_id": opened.interrupt.as_str(),
        "created_at": interrupt.opened_at.to_string(),
        "reason": opened.risk.reasons.iter().map(|reason| reason.text.as_str()).collect::<Vec<_>>().join("; "),
    });
    if let Some(at) = opened.expires_at {
        item["expires_at"] = json!(at.to_string());
    }
    match (opened.kind, &opened.about) {
        (Kind::ToolApproval, About::Call(id)) => {
            let call = run.calls.get(id)?;
            item["request_type"] = json!("tool");
            item["subject"] = json!(call.tool);
            item["details"] = json!({
                "agent": opened.agent,
                "requires_approval": true,
                "title": interrupt.content_text("title"),
            });
            item["call_id"] = json!(ids::call(&run.id, id));
            item["tool_name"] = json!(call.tool);
            item["arguments"] = call.arguments.clone();
        }
        (Kind::Continuation, _) => {
            item["request_type"] = json!("limit");
            item["subject"] = json!(interrupt.content_text("title"));
            item["details"] = json!({ "agent": opened.agent });
            item["call_id"] = json!(opened.interrupt.as_str());
        }
        (Kind::Question, _) => {
            item["request_type"] = json!("question");
            item["subject"] = json!(interrupt.content_text("title"));
            item["details"] = json!({ "agent": opened.agent });
            for field in ["question", "context", "choices"] {
                let found = interrupt.content.get("payload").and_then(|payload| payload.get(field));
                if let Some(found) = found.filter(|found| !found.is_null()) {
                    item["details"][field] = found.clone();
                }
            }
        }
        (Kind::PlanApproval, _) => {
            let plan = interrupt.plan()?;
            item["request_type"] = json!("plan");
            item["subject"] = json!(ids::plan(&opened.interrupt));
            item["details"] = json!({
                "plan_id": ids::plan(&opened.interrupt),
                "subtask_count": plan.subtasks.len(),
                "plan_summary": plan.text(),
            });
        }
        _ => return None,
    }
    Some(item)
}

/// `GET /sessions/{id}/pending-plans`.
pub(super) async fn pending_plans(Person(caller): Person, Id(name): Id<String>) -> Answer<Json<Value>> {
    let session = known(caller, name).await?;
    let run = session.last().await?;
    let open = run.as_deref().map(open::interrupts).unwrap_or_default();
    let items: Vec<Value> = open
        .into_iter()
        .filter_map(|(id, interrupt)| {
            let run = run.as_deref()?;
            let found = interrupt.plan()?;
            let mut item = json!({
                "plan_id": ids::plan(id),
                "approval_request_id": id.as_str(),
                "session_id": session.name,
                "original_task": run.task(),
                "subtask_count": found.subtasks.len(),
                "subtasks": plan::subtasks(run, plan::phase(interrupt), &found),
                "requires_approval": true,
                "is_approved": false,
                "created_at": interrupt.opened_at.to_string(),
            });
            if let Some(at) = interrupt.opened.expires_at {
                item["expires_at"] = json!(at.to_string());
            }
            Some(item)
        })
        .collect();
    Ok(Json(json!({ "session_id": session.name, "count": items.len(), "pending_plans": items })))
}

/// `GET /sessions/{id}/plans`: every plan of the session with its dependencies, laid out in layers, and what became
/// of each subtask.
pub(super) async fn plans(Person(caller): Person, Id(name): Id<String>) -> Answer<Json<Value>> {
    let session = known(caller, name).await?;
    let mut items = Vec::new();
    for run in session.runs().await?.iter().rev().take(SESSION_RUNS) {
        let run = session.load(run).await?;
        for shown in view::plan::of_run(&run) {
            let subtasks: Vec<Value> = shown
                .subtasks
                .iter()
                .map(|subtask| {
                    json!({
                        "id": subtask.id,
                        "description": subtask.description,
                        "agent": subtask.agent.as_deref().or(shown.agent.as_deref()),
                        "dependencies": subtask.depends_on,
                        "status": plan::status(run.progress(&shown.phase, &subtask.id)),
                        "layer": subtask.layer,
                        "row": subtask.row,
                    })
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

/// `POST /sessions/{id}/plans/{plan_id}/pause`: what is under way comes to its end, nothing else starts.
pub(super) async fn pause(
    Person(caller): Person,
    Ids(name, plan): Ids<String, String>,
) -> Answer<Json<Value>> {
    steer(caller, name, &plan, Input::Pause).await
}

/// `POST /sessions/{id}/plans/{plan_id}/resume`.
pub(super) async fn resume(
    Person(caller): Person,
    Ids(name, plan): Ids<String, String>,
) -> Answer<Json<Value>> {
    steer(caller, name, &plan, Input::Resume).await
}

async fn steer(caller: Caller, name: String, id: &str, input: Input) -> Answer<Json<Value>> {
    let session = known(caller, name).await?;
    let run = session.last().await?.ok_or_else(|| Refused::not_found("plan"))?;
    let is_of_run = run.plans.keys().any(|planning| plan::id(&run, planning) == id)
        || run.interrupts.keys().any(|interrupt| ids::plan(interrupt) == id);
    if !is_of_run {
        return Err(Refused::not_found("plan"));
    }
    let run = session.send(&run.id, input).await?;
    Ok(Json(json!({ "plan_id": id, "session_id": session.name, "status": run.status().as_str() })))
}

/// A session that is not there is a 404, whatever it is called.
async fn known(caller: Caller, name: String) -> Answer<Session> {
    let session = Session::of(caller, name).map_err(|_| Refused::not_found("session"))?;
    session.known().await?;
    Ok(session)
}
