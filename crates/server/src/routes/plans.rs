//! Plans: read plans and their progress, replace a part of a plan, lay out a plan. Also lists the model calls of a run,
//! and reads their requests.

use axum::Json;
use holdshort_core::id::{RunId, SessionId};
use holdshort_core::run::Input;
use holdshort_protocol::{List, ModelCall, ModelRequest, Plan, PlanDraft, PlanLayout, Replan};
use holdshort_store::{RunFilter, Tables};
use holdshort_web::auth::Caller;
use holdshort_web::body::Body;
use holdshort_web::limits::LAYOUT_SUBTASKS;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, Ids, PageQuery, Params, limit, number};
use holdshort_web::view;

use super::sessions::find_session;
use crate::openapi::{LaysOut, ReadsOne, ReadsPart, Replans};

/// List the plans of a run.
///
/// A planning phase that has produced a plan has one entry. Each subtask of a plan has its status and its place in the
/// drawing.
#[utoipa::path(
    get, path = "/v1/runs/{id}/plans", tag = "plans", operation_id = "list_run_plans",
    params(("id" = String, Path, example = "run_01k6f0000000000000000000aa")),
    responses((status = 200, description = "The plans", body = List<Plan>), ReadsOne)
)]
pub(crate) async fn list_for_run(caller: Caller, Id(id): Id<RunId>) -> Answer<Json<List<Plan>>> {
    caller.run(&id).await?;
    let run = caller.app.driver.load(&id).await?;
    Ok(Json(List { items: view::plan::from_run(&run), next_cursor: None }))
}

/// List the plans of a session. The plans of the newest run come first.
///
/// A page contains the plans of at most `limit` runs. Most runs have one plan or none.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/plans", tag = "plans", operation_id = "list_session_plans",
    params(("id" = String, Path, example = "ses_01k6f0000000000000000000bb"), PageQuery),
    responses((status = 200, description = "A page of plans", body = List<Plan>), ReadsPart)
)]
pub(crate) async fn of_session(
    caller: Caller,
    Id(id): Id<SessionId>,
    Params(query): Params<PageQuery>,
) -> Answer<Json<List<Plan>>> {
    let app = &caller.app;
    find_session(app, &id).await?;
    let filter = RunFilter { session: Some(id), ..RunFilter::default() };
    let page = app.journal().runs(&filter, query.cursor.as_ref(), limit(query.limit)?).await?;
    let mut items = Vec::new();
    for row in page.items {
        items.extend(view::plan::from_run(&*app.driver.load(&row.run).await?));
    }
    Ok(Json(List { items, next_cursor: page.next }))
}

/// Replace the part of a plan that has not started.
///
/// Subtasks that have started do not change. If plans need approval, the new version needs approval too. No further
/// subtask starts until a person has decided on the new version.
#[utoipa::path(
    put, path = "/v1/runs/{id}/plans/{phase}", tag = "plans", operation_id = "replace_plan",
    params(
        ("id" = String, Path, example = "run_01k6f0000000000000000000aa"),
        ("phase" = String, Path, description = "The planning phase", example = "plan"),
    ),
    request_body = Replan,
    responses((status = 200, description = "The current plans", body = List<Plan>), Replans)
)]
pub(crate) async fn replace(
    caller: Caller,
    Ids(id, phase): Ids<RunId, String>,
    body: Body,
) -> Answer<Json<List<Plan>>> {
    caller.run(&id).await?;
    let Replan { plan, version } = body.json().await?;
    let version = version.map(|version| usize::try_from(version).unwrap_or(usize::MAX));
    let run = caller.app.send(&id, Input::Replan { phase, version, plan }, caller.actor).await?;
    Ok(Json(List { items: view::plan::from_run(&run), next_cursor: None }))
}

/// Lay out a plan.
///
/// Returns the place of each subtask of a draft in the drawing, so that every client draws the same graph. The draft is
/// not stored. The server checks only the form of the draft. Subtasks that depend on each other in a cycle are put into
/// the first column.
#[utoipa::path(
    post, path = "/v1/plans/layout", tag = "plans", operation_id = "lay_out_plan",
    request_body = PlanDraft,
    responses((status = 200, description = "The places", body = PlanLayout), LaysOut)
)]
pub(crate) async fn layout(_: Caller, body: Body) -> Answer<Json<PlanLayout>> {
    let draft: PlanDraft = body.json().await?;
    if draft.subtasks.len() > LAYOUT_SUBTASKS {
        return Err(Refused::invalid_at(
            "/subtasks",
            format!("contains more than {LAYOUT_SUBTASKS} subtasks"),
        ));
    }
    Ok(Json(view::plan::layout(draft)))
}

/// List the model calls of a run.
///
/// Returns the model calls in the order of their start, with usage and cost. For each page, the server reads the
/// whole run.
#[utoipa::path(
    get, path = "/v1/runs/{id}/model-requests", tag = "runs", operation_id = "list_model_requests",
    params(("id" = String, Path, example = "run_01k6f0000000000000000000aa"), PageQuery),
    responses((status = 200, description = "A page of calls", body = List<ModelCall>), ReadsPart)
)]
pub(crate) async fn model_calls(
    caller: Caller,
    Id(id): Id<RunId>,
    Params(query): Params<PageQuery>,
) -> Answer<Json<List<ModelCall>>> {
    caller.run(&id).await?;
    let after = number("cursor", query.cursor.as_deref())?.unwrap_or(0);
    let limit = limit(query.limit)?;
    let mut calls = caller.app.driver.model_calls(&id, after, limit + 1).await?;
    let more = calls.len() > limit;
    calls.truncate(limit);
    let next_cursor = calls.last().filter(|_| more).map(|call| call.n.to_string());
    Ok(Json(List { items: calls.into_iter().map(view::usage::model_call).collect(), next_cursor }))
}

/// Read the request of a model call.
///
/// The server rebuilds the request from the journal, exactly as it was sent. `n` is the number of the model call in the
/// run, counted from 1.
#[utoipa::path(
    get, path = "/v1/runs/{id}/model-requests/{n}", tag = "runs", operation_id = "read_model_request",
    params(
        ("id" = String, Path, example = "run_01k6f0000000000000000000aa"),
        ("n" = u64, Path, example = 1),
    ),
    responses((status = 200, description = "The request", body = ModelRequest), ReadsOne)
)]
pub(crate) async fn model_request(caller: Caller, Ids(id, n): Ids<RunId, u64>) -> Answer<Json<ModelRequest>> {
    caller.run(&id).await?;
    let found = caller.app.driver.model_request(&id, n).await?.filter(|_| n > 0);
    let (step, request) = found.ok_or_else(|| Refused::not_found("model request"))?;
    Ok(Json(view::plan::model_request(id.as_str(), n, step, request)))
}
