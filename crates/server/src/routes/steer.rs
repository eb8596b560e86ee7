//! Steering a run: send a message, pause, resume, interrupt, cancel, stop a command, undo, merge, and finish an
//! external run.

use axum::Json;
use axum::response::Response;
use holdshort_core::id::RunId;
use holdshort_core::limits::TEXT_BYTES;
use holdshort_core::run::Input;
use holdshort_core::trace_parent::TraceParent;
use holdshort_engine::{FollowUp, IdempotencyKey};
use holdshort_protocol::pointer::escape;
use holdshort_protocol::{Finish, MergeChanges, Message, Note, Run, UndoChanges};
use holdshort_web::app::detached;
use holdshort_web::auth::Caller;
use holdshort_web::body::{Body, read_strict};
use holdshort_web::idempotency::Idempotency;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, Ids};
use holdshort_web::trace_context::JoinedTrace;
use holdshort_web::view;
use serde_json::{Value, json};

use super::runs::{created, replayed};
use crate::openapi::{Interrupts, Steers, Stops, Tells, Undoes};

/// Send a message to a run.
///
/// Every running step gets the message with its next model request.
#[utoipa::path(
    post, path = "/v1/runs/{id}/messages", tag = "runs", operation_id = "message_run",
    params(
        ("id" = String, Path, example = "run_01k6f0000000000000000000aa"),
        ("Idempotency-Key" = Option<String>, Header, description = "A repeat of the same request with the same key sends no second message")
    ),
    request_body = Message,
    responses(
        (status = 200, description = "The current run", body = Run,
         headers(("Idempotency-Replayed" = String, description = "`true`: a request with this key sent the message before"))),
        Tells
    )
)]
pub(crate) async fn message(
    caller: Caller,
    Id(id): Id<RunId>,
    idempotency: Idempotency,
    body: Body,
) -> Answer<Response> {
    caller.sees(&id).await?;
    let value = body.value().await?;
    let Message { text } = read_strict(&value)?;
    let key = idempotency.into_key(&caller.actor, &format!("POST /v1/runs/{id}/messages"), &value);
    send_once(caller, id, Input::Message { text }, key).await
}

async fn send_once(caller: Caller, id: RunId, input: Input, key: Option<IdempotencyKey>) -> Answer<Response> {
    let Caller { app, actor, .. } = caller;
    let driver = app.driver.clone();
    let sent = detached(async move { driver.send_once(&id, input, key, actor).await }).await?;
    let shown = view::now::left(&app, &sent).await?;
    Ok(replayed(sent.is_replayed(), Json(shown)))
}

/// Sends a message to a run. HTTP requests and WebSocket frames share this function.
pub(crate) async fn send_message(caller: Caller, id: &RunId, text: String) -> Answer<Run> {
    send(caller, id, Input::Message { text }).await
}

/// Pause a run.
///
/// Work that has started is finished, but no new work starts. The deadlines of interrupts continue to count.
#[utoipa::path(
    post, path = "/v1/runs/{id}/pause", tag = "runs", operation_id = "pause_run",
    params(("id" = String, Path, example = "run_01k6f0000000000000000000aa")),
    responses((status = 200, description = "The current run", body = Run), Steers)
)]
pub(crate) async fn pause(caller: Caller, Id(id): Id<RunId>, body: Body) -> Answer<Json<Run>> {
    caller.sees(&id).await?;
    nothing(body).await?;
    send(caller, &id, Input::Pause).await.map(Json)
}

/// Resume a paused run.
#[utoipa::path(
    post, path = "/v1/runs/{id}/resume", tag = "runs", operation_id = "resume_run",
    params(("id" = String, Path, example = "run_01k6f0000000000000000000aa")),
    responses((status = 200, description = "The current run", body = Run), Steers)
)]
pub(crate) async fn resume(caller: Caller, Id(id): Id<RunId>, body: Body) -> Answer<Json<Run>> {
    caller.sees(&id).await?;
    nothing(body).await?;
    send(caller, &id, Input::Resume).await.map(Json)
}

/// Cancel a run.
///
/// The open interrupts of the run are resolved as cancelled, and its running work is stopped.
#[utoipa::path(
    post, path = "/v1/runs/{id}/cancel", tag = "runs", operation_id = "cancel_run",
    params(("id" = String, Path, example = "run_01k6f0000000000000000000aa")),
    request_body(content = Option<Note>, description = "Optional"),
    responses((status = 200, description = "The current run", body = Run), Steers)
)]
pub(crate) async fn cancel(caller: Caller, Id(id): Id<RunId>, body: Body) -> Answer<Json<Run>> {
    caller.sees(&id).await?;
    let Note { text } = note(body).await?;
    send(caller, &id, Input::Cancel { text }).await.map(Json)
}

pub(super) async fn note(body: Body) -> Answer<Note> {
    short(body.optional().await?.map(|value| read_strict(&value)).transpose()?.unwrap_or_default())
}

fn short(note: Note) -> Answer<Note> {
    if note.text.as_ref().is_some_and(|text| text.len() > TEXT_BYTES) {
        return Err(Refused::invalid_at("/text", format!("is longer than {TEXT_BYTES} bytes")));
    }
    Ok(note)
}

/// Interrupt a run.
///
/// Stops the current work. The text that a model has produced so far is recorded (`model_stopped`), and so is the
/// output of a command (`tool_stopped`). Calls that have not started are dropped together with their open interrupts.
/// The agent gets the code `interrupted` as the result of each such call. If files are being changed, these changes are
/// completed. After that, the run waits for a person, at an interrupt of the kind `turn` with the position
/// `interruption`. The person chooses `submit` with a text, `continue` or `done`. A message to the run has the effect
/// of `submit`. If this request has a `text`, the run continues immediately with this text. If the run already waits
/// after an earlier interruption, a request without `text` has no effect. A request with `text` has the effect of
/// `submit`.
#[utoipa::path(
    post, path = "/v1/runs/{id}/interrupt", tag = "runs", operation_id = "interrupt_run",
    params(
        ("id" = String, Path, example = "run_01k6f0000000000000000000aa"),
        ("Idempotency-Key" = Option<String>, Header, description = "A repeat of the same request with the same key does not interrupt again")
    ),
    request_body(content = Option<Note>, description = "Optional"),
    responses(
        (status = 200, description = "The current run", body = Run,
         headers(("Idempotency-Replayed" = String, description = "`true`: a request with this key interrupted the run before"))),
        Interrupts
    )
)]
pub(crate) async fn interrupt(
    caller: Caller,
    Id(id): Id<RunId>,
    idempotency: Idempotency,
    body: Body,
) -> Answer<Response> {
    caller.sees(&id).await?;
    let value = body.optional().await?.unwrap_or_else(|| json!({}));
    let Note { text } = short(read_strict(&value)?)?;
    let key = idempotency.into_key(&caller.actor, &format!("POST /v1/runs/{id}/interrupt"), &value);
    send_once(caller, id, Input::Interrupt { text }, key).await
}

/// Stop a command of a run.
///
/// Ends the processes of the command. The run continues. The agent gets the output so far, the `text` of the request,
/// and the information that a person stopped the command. If the command ran in a trial, the workspace is unchanged. If
/// the command ran directly in the workspace, it may have done part of its work. Stopping the command again has no
/// further effect.
#[utoipa::path(
    post, path = "/v1/runs/{id}/calls/{call}/stop", tag = "runs", operation_id = "stop_call",
    params(
        ("id" = String, Path, example = "run_01k6f0000000000000000000aa"),
        ("call" = String, Path, example = "call_1")
    ),
    request_body(content = Option<Note>, description = "Optional"),
    responses((status = 200, description = "The current run", body = Run), Stops)
)]
pub(crate) async fn stop(caller: Caller, Ids(id, call): Ids<RunId, String>, body: Body) -> Answer<Json<Run>> {
    caller.sees(&id).await?;
    let Note { text } = note(body).await?;
    send(caller, &id, Input::StopCall { call, text }).await.map(Json)
}

/// Undo the changes of a run.
///
/// A separate run determines which changes can still be undone, shows them, and waits until a person approves the undo.
/// Paths that something changed again later are listed, and stay as they are.
#[utoipa::path(
    post, path = "/v1/runs/{id}/undo", tag = "runs", operation_id = "undo_run",
    params(
        ("id" = String, Path, example = "run_01k6f0000000000000000000aa"),
        ("Idempotency-Key" = Option<String>, Header, description = "A repeat of the same request with the same key returns the first undo"),
        ("traceparent" = Option<String>, Header, description = "Parent of the undo's trace (W3C Trace Context)")
    ),
    request_body(content = Option<UndoChanges>, description = "Optional"),
    responses(
        (status = 201, description = "The run of the undo", body = Run,
         headers(
             ("Location" = String, description = "Path of the run"),
             ("Idempotency-Replayed" = String, description = "`true`: a request with this key started this run before")
         )),
        Undoes
    )
)]
pub(crate) async fn undo(
    caller: Caller,
    Id(id): Id<RunId>,
    idempotency: Idempotency,
    JoinedTrace(trace): JoinedTrace,
    body: Body,
) -> Answer<Response> {
    let read = |value: &Value| {
        let UndoChanges { to } = read_strict(value)?;
        Ok(FollowUp::Undo { to })
    };
    follow_up(caller, id, "undo", (idempotency, trace), body, read).await
}

/// Merge the files in the layer of a run into the workspace of the run.
///
/// The layer is a separate folder for files that Git ignores and that commands in a trial create. A separate run
/// compares these files with the workspace, shows the differences, and waits until a person approves the merge.
#[utoipa::path(
    post, path = "/v1/runs/{id}/merge", tag = "runs", operation_id = "merge_run",
    params(
        ("id" = String, Path, example = "run_01k6f0000000000000000000aa"),
        ("Idempotency-Key" = Option<String>, Header, description = "A repeat of the same request with the same key returns the first merge"),
        ("traceparent" = Option<String>, Header, description = "Parent of the merge's trace (W3C Trace Context)")
    ),
    request_body(content = Option<MergeChanges>, description = "Optional"),
    responses(
        (status = 201, description = "The run of the merge", body = Run,
         headers(
             ("Location" = String, description = "Path of the run"),
             ("Idempotency-Replayed" = String, description = "`true`: a request with this key started this run before")
         )),
        Undoes
    )
)]
pub(crate) async fn merge(
    caller: Caller,
    Id(id): Id<RunId>,
    idempotency: Idempotency,
    JoinedTrace(trace): JoinedTrace,
    body: Body,
) -> Answer<Response> {
    let read = |value: &Value| {
        let MergeChanges { paths } = read_strict(value)?;
        Ok(FollowUp::Merge { paths })
    };
    follow_up(caller, id, "merge", (idempotency, trace), body, read).await
}

/// Starts a follow-up run: an undo or a merge of an earlier run's changes. `verb` is the last segment of the request
/// path. `read` converts the request body to the purpose of the follow-up run.
async fn follow_up(
    caller: Caller,
    id: RunId,
    verb: &str,
    (idempotency, trace): (Idempotency, Option<TraceParent>),
    body: Body,
    read: impl FnOnce(&Value) -> Answer<FollowUp>,
) -> Answer<Response> {
    caller.sees(&id).await?;
    let value = body.optional().await?.unwrap_or_else(|| json!({}));
    let purpose = read(&value)?;
    let key = idempotency.into_key(&caller.actor, &format!("POST /v1/runs/{id}/{verb}"), &value);
    let Caller { app, actor, .. } = caller;
    let driver = app.driver.clone();
    let begun = detached(async move { driver.follow_up(&id, purpose, key, trace, actor).await }).await?;
    let shown = view::now::left(&app, &begun).await?;
    Ok(created(begun.is_replayed(), &format!("/v1/runs/{}", shown.id), Json(shown)))
}

/// End a run of an external agent.
#[utoipa::path(
    post, path = "/v1/runs/{id}/finish", tag = "runs", operation_id = "finish_run",
    params(("id" = String, Path, example = "run_01k6f0000000000000000000aa")),
    request_body = Finish,
    responses((status = 200, description = "The current run", body = Run), Steers)
)]
pub(crate) async fn finish(caller: Caller, Id(id): Id<RunId>, body: Body) -> Answer<Json<Run>> {
    caller.sees(&id).await?;
    let Finish { result } = body.json().await?;
    send(caller, &id, Input::Finish { result }).await.map(Json)
}

async fn send(caller: Caller, id: &RunId, input: Input) -> Answer<Run> {
    let run = caller.app.send(id, input, caller.actor).await?;
    view::run::from_run(&run)
}

/// Accepts an empty body or an empty JSON object. Rejects any field, because the client could believe that it has an
/// effect.
pub(super) async fn nothing(body: Body) -> Answer<()> {
    match body.optional().await? {
        None => Ok(()),
        Some(value) if value.as_object().is_some_and(serde_json::Map::is_empty) => Ok(()),
        Some(value) => {
            let field = value.as_object().and_then(|fields| fields.keys().next());
            let pointer = field.map(|field| format!("/{}", escape(field)));
            Err(Refused::invalid_at(
                &pointer.unwrap_or_default(),
                "must be omitted: this request has no body",
            ))
        }
    }
}
