//! Retention of the content of runs: legal holds, and erasure.

use axum::Json;
use holdshort_core::history::SUBJECT_BYTES;
use holdshort_core::id::RunId;
use holdshort_core::run::{self, ErasureReason, Input};
use holdshort_engine::ErasedRuns;
use holdshort_protocol::{Erase, Erasure, Hold, Keeping, PlaceHold};
use holdshort_store::Tables;
use holdshort_web::app::detached;
use holdshort_web::auth::Caller;
use holdshort_web::body::Body;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::Id;
use holdshort_web::view::erased;

use crate::openapi::{Erases, Holds, ReadsOne, Unholds};

/// Read the legal hold of a run, and which content of the run was erased.
#[utoipa::path(
    get, path = "/v1/runs/{id}/hold", tag = "runs", operation_id = "read_hold",
    params(("id" = String, Path, example = "run_01k6f0000000000000000000aa")),
    responses((status = 200, description = "The legal hold and the erasure of the run", body = Keeping), ReadsOne)
)]
pub(crate) async fn read(caller: Caller, Id(id): Id<RunId>) -> Answer<Json<Keeping>> {
    caller.run(&id).await?;
    Ok(render(&*caller.app.driver.load(&id).await?))
}

/// Place a legal hold on a run.
///
/// No content of the run is erased until the hold is lifted. A run has at most one hold. If there are two reasons,
/// write both into one request. If the run is already under a hold, a request with the same reason has no effect, and a
/// request with another reason gets 409 `legal_hold`.
#[utoipa::path(
    post, path = "/v1/runs/{id}/hold", tag = "runs", operation_id = "hold_run",
    params(("id" = String, Path, example = "run_01k6f0000000000000000000aa")),
    request_body = PlaceHold,
    responses((status = 200, description = "The legal hold", body = Keeping), Holds)
)]
pub(crate) async fn hold(caller: Caller, Id(id): Id<RunId>, body: Body) -> Answer<Json<Keeping>> {
    let PlaceHold { reason } = body.json().await?;
    change(caller, id, Input::LegalHold { reason }).await
}

/// Lift the legal hold of a run.
#[utoipa::path(
    delete, path = "/v1/runs/{id}/hold", tag = "runs", operation_id = "lift_hold",
    params(("id" = String, Path, example = "run_01k6f0000000000000000000aa")),
    responses((status = 200, description = "The run without its legal hold", body = Keeping), Unholds)
)]
pub(crate) async fn lift(caller: Caller, Id(id): Id<RunId>) -> Answer<Json<Keeping>> {
    change(caller, id, Input::LiftLegalHold).await
}

async fn change(caller: Caller, id: RunId, input: Input) -> Answer<Json<Keeping>> {
    caller.run(&id).await?;
    Ok(render(&*caller.app.send(&id, input, caller.actor).await?))
}

fn render(run: &run::Run) -> Json<Keeping> {
    let hold = |hold: &run::LegalHold| Hold {
        by: hold.by.clone(),
        at: hold.at.to_string(),
        reason: hold.reason.clone(),
    };
    Json(Keeping {
        run: run.id.to_string(),
        hold: run.held.as_ref().map(hold),
        erased_to: run.erased_to,
        erased: run.erased.as_ref().map(erased::from_erasure),
    })
}

/// Erase the content of a run, or of all runs about a subject.
///
/// Erases the content of the events of these runs: inputs, messages, plans, arguments, results, texts of decisions,
/// answers. The events stay in the journal, with their times, their actors and the digests that link them. Therefore
/// the journal can still be verified. A run that has not ended or is under a legal hold cannot be erased. If the
/// request names a single run, such a run causes an error. If the request names a subject, the other runs are erased,
/// and the response lists the runs that were not.
#[utoipa::path(
    post, path = "/v1/erasures", tag = "runs", operation_id = "erase",
    request_body = Erase,
    responses((status = 200, description = "The result of the erasure", body = Erasure), Erases)
)]
pub(crate) async fn erase(caller: Caller, body: Body) -> Answer<Json<Erasure>> {
    let (driver, actor) = (caller.app.driver.clone(), caller.actor.clone());
    let done = match body.json().await? {
        Erase { run: Some(run), subject: None } => {
            let id: RunId = run.parse().map_err(|_| Refused::not_found("run"))?;
            if caller.app.journal().run(&id).await?.is_none() {
                return Err(Refused::not_found(&format!("run: {id}")));
            }
            let run = id.clone();
            detached(async move { driver.erase_run(&run, ErasureReason::Request, &actor).await }).await?;
            ErasedRuns { erased: vec![id], ..ErasedRuns::default() }
        }
        Erase { run: None, subject: Some(subject) } => {
            let subject = subject.trim().to_owned();
            if subject.is_empty() || subject.len() > SUBJECT_BYTES {
                let message = format!("must be 1 to {SUBJECT_BYTES} bytes, as in `input.subject` of runs");
                return Err(Refused::invalid_at("/subject", message));
            }
            detached(async move { driver.erase_subject(&subject, &actor).await }).await?
        }
        Erase { .. } => return Err(Refused::invalid_at("", "set either `run` or `subject`")),
    };
    // The runs are erased even if the callbacks cannot be deleted. The server never sends a callback of an erased run,
    // and the sweep deletes it later.
    if let Err(refused) = caller.app.callbacks.forget_runs(&caller.app, &done.erased).await {
        let why = refused.0.detail;
        tracing::warn!(why, "the callbacks of erased runs could not be removed now and are removed later");
    }
    let ids = |runs: Vec<RunId>| runs.iter().map(ToString::to_string).collect();
    let ErasedRuns { erased, at_work, held, failed } = done;
    Ok(Json(Erasure { erased: ids(erased), not_ended: ids(at_work), held: ids(held), failed: ids(failed) }))
}
