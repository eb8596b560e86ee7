//! Requests of external agents about their own questions: read and follow decisions, use an approval, withdraw a
//! question.

use axum::Json;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use holdshort_core::digest::Digest;
use holdshort_core::id::InterruptId;
use holdshort_core::run::Input;
use holdshort_protocol::{AgentDecision, Code, Interrupt, List, Note, UseApproval, UsedApproval};
use holdshort_web::app::detached;
use holdshort_web::auth::Caller;
use holdshort_web::body::{Body, read_strict};
use holdshort_web::feed::{decisions, position, sse};
use holdshort_web::idempotency::Idempotency;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{DecisionsQuery, Id, Params, limit};

use super::events::{STREAM, accepts, last_seen};
use super::runs::replayed;
use super::steer::note;
use super::{actions, trials};
use crate::openapi::{ReadsAll, UsesApproval, Withdraws};

/// Read or follow the decisions on your own requests.
///
/// Returns resolved interrupts that the caller opened as an external agent, in the order of their resolution. The
/// default response is a page of JSON that starts with the first decision. With `Accept: text/event-stream`, the
/// response is a stream of server-sent events (event name `decision`, data `AgentDecision`). The stream starts with the
/// decisions that are made after the request. The first event of the stream has the name `position` and contains the
/// start position. Each server-sent event has an `id`: the `position` of the decision. Therefore a client that
/// reconnects misses no decision and gets none twice, even after a restart of the server.
#[utoipa::path(
    get, path = "/v1/agent/decisions", tag = "interrupts", operation_id = "read_agent_decisions",
    params(
        DecisionsQuery,
        ("Last-Event-ID" = Option<String>, Header, description = "For streams: position of the last \
            decision that the client has received. If `cursor` is given too, the stream starts after the later position")
    ),
    responses(
        (status = 200, description = "A page of decisions, or the stream", content((List<AgentDecision> = "application/json"), (String = "text/event-stream"))),
        ReadsAll
    )
)]
pub(crate) async fn list(
    caller: Caller,
    Params(query): Params<DecisionsQuery>,
    headers: HeaderMap,
) -> Answer<Response> {
    let app = caller.app.clone();
    let refuse = |why: &str| Refused::new(Code::InvalidQuery, format!("cursor: {why}"));
    let asked = match &query.cursor {
        Some(text) => Some(position::parse(&app, text, refuse).await?),
        None => None,
    };
    if !accepts(&headers, STREAM) {
        let page = decisions::page(asked.unwrap_or(position::START), &caller, limit(query.limit)?).await?;
        return Ok(Json(page).into_response());
    }
    let refuse = |why: &str| Refused::new(Code::InvalidHeader, format!("Last-Event-ID: {why}"));
    let seen = match last_seen(&headers)? {
        Some(text) => Some(position::parse(&app, text, refuse).await?),
        None => None,
    };
    sse::open_decisions(asked.max(seen).unwrap_or_else(|| position::last(&app)), caller)
}

/// Use an approval.
///
/// Send this request directly before the approved action, with the digest of the action. An approval can be used once:
/// the first request gets 200, and every later request gets 409 `approval_used` with the time of the use. If you repeat
/// the first request with its idempotency key, you get the first response again. If a person edited the action, send
/// the digest of the edited action. Any other digest gets 409 `approval_differs` with the edited action.
///
/// If the server tried the call, send the secret of the trial in `exec`. The response then contains the changes that
/// the trial found and the output of the command. The agent writes the changes itself. Before it writes a file, the
/// agent must check that the file still has the content from before the trial.
#[utoipa::path(
    post, path = "/v1/interrupts/{id}/consume", tag = "interrupts", operation_id = "use_approval",
    params(
        ("id" = String, Path, example = "int_01k6f0000000000000000000cc"),
        ("Idempotency-Key" = Option<String>, Header, description = "A repeat of the same request with the \
            same key gets the first response again and does not use the approval again")
    ),
    request_body = UseApproval,
    responses(
        (status = 200, description = "The approval was used", body = UsedApproval,
         headers(("Idempotency-Replayed" = String, description = "`true`: a request with this key used the approval before"))),
        UsesApproval
    )
)]
pub(crate) async fn consume(
    caller: Caller,
    Id(id): Id<InterruptId>,
    idempotency: Idempotency,
    body: Body,
) -> Answer<Response> {
    let asked = caller.interrupt(&id).await?;
    let value = body.value().await?;
    let UseApproval { digest, exec } = read_strict(&value)?;
    let digest = Digest::try_from(digest).map_err(|why| Refused::invalid_at("/digest", why.to_string()))?;
    let key = idempotency.into_key(&caller.actor, &format!("POST /v1/interrupts/{id}/consume"), &value);
    let is_repeat = match &key {
        Some(key) => caller.app.is_used(key).await?,
        None => false,
    };
    let before = caller.app.run_now(&asked.run).await?;
    let interrupt = before.interrupts.get(&id).ok_or_else(|| Refused::not_found("interrupt"))?;
    trials::check_exec(&caller, interrupt, exec.as_deref(), is_repeat).await?;
    let (app, actor) = (caller.app.clone(), caller.actor.clone());
    let driver = app.driver.clone();
    let (run, input) = (asked.run.clone(), Input::UseApproval { interrupt: id.clone(), digest });
    let sent = detached(async move { driver.send_once(&run, input, key, actor).await }).await?;
    let is_replay = sent.is_replayed();
    let run = match sent.left {
        Some(run) => run,
        None => app.run_now(&asked.run).await?,
    };
    let used: UsedApproval = holdshort_web::view::interrupt::used_approval(&run, &id)
        .ok_or_else(|| Refused::not_found("approval that was used"))?;
    let trial = match run.interrupts.get(&id) {
        Some(interrupt) => trials::released(&caller, &asked, interrupt).await?,
        None => None,
    };
    let used = UsedApproval { trial, ..used };
    Ok(replayed(is_replay, Json(used)))
}

/// Withdraw a question.
///
/// Send this request if you no longer need the decision that you requested. The interrupt is resolved as `cancelled`
/// with the cause `withdrawn`. A run that was started only for the interrupt is cancelled. Withdrawing the question
/// again has no further effect. If the interrupt was already decided, the decision remains.
#[utoipa::path(
    post, path = "/v1/interrupts/{id}/cancel", tag = "interrupts", operation_id = "withdraw_interrupt",
    params(("id" = String, Path, example = "int_01k6f0000000000000000000cc")),
    request_body(content = Option<Note>, description = "Reason for the withdrawal. Optional"),
    responses((status = 200, description = "The current interrupt", body = Interrupt), Withdraws)
)]
pub(crate) async fn withdraw(caller: Caller, Id(id): Id<InterruptId>, body: Body) -> Answer<Json<Interrupt>> {
    let asked = caller.interrupt(&id).await?;
    let Note { text } = note(body).await?;
    actions::done(caller, &asked, Input::Withdraw { interrupt: id, text }).await
}
