//! Steering a run: message, pause, resume, interrupt, cancel, stop of a command, undo, merge, and the finish of an
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
use holdshort_web::joined::Joined;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, Ids};
use holdshort_web::view;
use serde_json::{Value, json};

use super::runs::{created, replayed};
use crate::openapi::{Interrupts, Steers, Stops, Tells, Undoes};

/// Tell a run something.
///
/// Every step at work hears it with its next model request.
#[utoipa::path(
    post, path = "/v1/runs/{id}/messages", tag = "runs", operation_id = "message_run",
    params(
        ("id" = String, Path, example = "run_01k6f0000000000000000000aa"),
        ("Idempotency-Key" = Option<String>, Header, description = "The same request under the same key is told once")
    ),
    request_body = Message,
    responses(
        (status = 200, description = "The run as it is now", body = Run,
         headers(("Idempotency-Replayed" = String, description = "`true`: the key was known, it was told before"))),
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
    let key = idempotency.of(&caller.actor, &format!("POST /v1/runs/{id}/messages"), &value);
    send_once(caller, id, Input::Message { text }, key).await
}

async fn send_once(caller: Caller, id: RunId, input: Input, key: Option<IdempotencyKey>) -> Answer<Response> {
    let Caller { app, actor, .. } = caller;
    let driver = app.driver.clone();
    let sent = detached(async move { driver.send_once(&id, input, key, actor).await }).await?;
    let shown = view::now::left(&app, &sent).await?;
    Ok(replayed(sent.is_replayed(), Json(shown)))
}

/// Tells a run something, whichever way it came.
pub(crate) async fn tell(caller: Caller, id: &RunId, text: String) -> Answer<Run> {
    send(caller, id, Input::Message { text }).await
}

/// Pause a run.
///
/// What is under way comes to its end; nothing else starts. Deadlines of interrupts go on.
#[utoipa::path(
    post, path = "/v1/runs/{id}/pause", tag = "runs", operation_id = "pause_run",
    params(("id" = String, Path, example = "run_01k6f0000000000000000000aa")),
    responses((status = 200, description = "The run as it is now", body = Run), Steers)
)]
pub(crate) async fn pause(caller: Caller, Id(id): Id<RunId>, body: Body) -> Answer<Json<Run>> {
    caller.sees(&id).await?;
    nothing(body).await?;
    send(caller, &id, Input::Pause).await.map(Json)
}

/// Let a paused run go on.
#[utoipa::path(
    post, path = "/v1/runs/{id}/resume", tag = "runs", operation_id = "resume_run",
    params(("id" = String, Path, example = "run_01k6f0000000000000000000aa")),
    responses((status = 200, description = "The run as it is now", body = Run), Steers)
)]
pub(crate) async fn resume(caller: Caller, Id(id): Id<RunId>, body: Body) -> Answer<Json<Run>> {
    caller.sees(&id).await?;
    nothing(body).await?;
    send(caller, &id, Input::Resume).await.map(Json)
}

/// Cancel a run.
///
/// Its open interrupts are resolved as cancelled; what is under way is stopped.
#[utoipa::path(
    post, path = "/v1/runs/{id}/cancel", tag = "runs", operation_id = "cancel_run",
    params(("id" = String, Path, example = "run_01k6f0000000000000000000aa")),
    request_body(content = Option<Note>, description = "May be left out"),
    responses((status = 200, description = "The run as it is now", body = Run), Steers)
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
/// What is at work stops now: a reply of a model, of which what was said is kept (`model_stopped`), and a command, of which
/// what it printed is kept (`tool_stopped`). Calls that have not begun do not begin, what was asked about them is asked no
/// more, and their agent is told (code `interrupted`). Changes that are being written are written to their end. Then the run
/// waits for a person's turn (`turn`, position `interruption`): `submit` with words, `continue`, or `done`; a message to the
/// run is `submit`. With a `text` these words count at once, and the run goes on with them. Interrupting a run that waits for
/// its person's turn changes nothing without a `text`, and with one is `submit`.
#[utoipa::path(
    post, path = "/v1/runs/{id}/interrupt", tag = "runs", operation_id = "interrupt_run",
    params(
        ("id" = String, Path, example = "run_01k6f0000000000000000000aa"),
        ("Idempotency-Key" = Option<String>, Header, description = "The same request under the same key interrupts once")
    ),
    request_body(content = Option<Note>, description = "May be left out"),
    responses(
        (status = 200, description = "The run as it is now", body = Run,
         headers(("Idempotency-Replayed" = String, description = "`true`: the key was known, it was interrupted before"))),
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
    let key = idempotency.of(&caller.actor, &format!("POST /v1/runs/{id}/interrupt"), &value);
    send_once(caller, id, Input::Interrupt { text }, key).await
}

/// Stop a command of a run.
///
/// Its processes are ended, and the run goes on: its agent reads what was printed until then, that a person stopped it, and
/// the `text`. Of a command that is tried nothing has changed; one that runs in the workspace may have done a part of its
/// work. Stopping twice is the same as once.
#[utoipa::path(
    post, path = "/v1/runs/{id}/calls/{call}/stop", tag = "runs", operation_id = "stop_call",
    params(
        ("id" = String, Path, example = "run_01k6f0000000000000000000aa"),
        ("call" = String, Path, example = "call_1")
    ),
    request_body(content = Option<Note>, description = "May be left out"),
    responses((status = 200, description = "The run as it is now", body = Run), Stops)
)]
pub(crate) async fn stop(caller: Caller, Ids(id, call): Ids<RunId, String>, body: Body) -> Answer<Json<Run>> {
    caller.sees(&id).await?;
    let Note { text } = note(body).await?;
    send(caller, &id, Input::StopCall { call, text }).await.map(Json)
}

/// Take back what a run changed.
///
/// A run of its own works out which of the changes still stand, shows them, and waits until a person releases them. What
/// somebody else has changed since is left as it is, path by path, and told.
#[utoipa::path(
    post, path = "/v1/runs/{id}/undo", tag = "runs", operation_id = "undo_run",
    params(
        ("id" = String, Path, example = "run_01k6f0000000000000000000aa"),
        ("Idempotency-Key" = Option<String>, Header, description = "The same request under the same key begins one undo"),
        ("traceparent" = Option<String>, Header, description = "The undo's trace is a part of this one (W3C Trace Context)")
    ),
    request_body(content = Option<UndoChanges>, description = "May be left out"),
    responses(
        (status = 201, description = "The run that takes them back", body = Run,
         headers(("Idempotency-Replayed" = String, description = "`true`: the key was known, this is its run"))),
        Undoes
    )
)]
pub(crate) async fn undo(
    caller: Caller,
    Id(id): Id<RunId>,
    idempotency: Idempotency,
    Joined(trace): Joined,
    body: Body,
) -> Answer<Response> {
    let read = |value: &Value| {
        let UndoChanges { to } = read_strict(value)?;
        Ok(FollowUp::Undo { to })
    };
    follow_up(caller, id, "undo", (idempotency, trace), body, read).await
}

/// Put ignored files that a run has written into its workspace.
///
/// New ignored files of a tried command are kept for the run, apart from the workspace. A run of its own works out
/// how these files differ from the workspace, shows them, and waits until a person releases them.
#[utoipa::path(
    post, path = "/v1/runs/{id}/merge", tag = "runs", operation_id = "merge_run",
    params(
        ("id" = String, Path, example = "run_01k6f0000000000000000000aa"),
        ("Idempotency-Key" = Option<String>, Header, description = "The same request under the same key begins one merge"),
        ("traceparent" = Option<String>, Header, description = "The merge's trace is a part of this one (W3C Trace Context)")
    ),
    request_body(content = Option<MergeChanges>, description = "May be left out"),
    responses(
        (status = 201, description = "The run that merges them", body = Run,
         headers(("Idempotency-Replayed" = String, description = "`true`: the key was known, this is its run"))),
        Undoes
    )
)]
pub(crate) async fn merge(
    caller: Caller,
    Id(id): Id<RunId>,
    idempotency: Idempotency,
    Joined(trace): Joined,
    body: Body,
) -> Answer<Response> {
    let read = |value: &Value| {
        let MergeChanges { paths } = read_strict(value)?;
        Ok(FollowUp::Merge { paths })
    };
    follow_up(caller, id, "merge", (idempotency, trace), body, read).await
}

/// Begins a follow-up run. `verb` is the last part of the path; `read` reads the purpose of the run from the body.
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
    let key = idempotency.of(&caller.actor, &format!("POST /v1/runs/{id}/{verb}"), &value);
    let Caller { app, actor, .. } = caller;
    let driver = app.driver.clone();
    let begun = detached(async move { driver.follow_up(&id, purpose, key, trace, actor).await }).await?;
    let shown = view::now::left(&app, &begun).await?;
    Ok(created(begun.is_replayed(), Json(shown)))
}

/// End a run of another framework's agent.
#[utoipa::path(
    post, path = "/v1/runs/{id}/finish", tag = "runs", operation_id = "finish_run",
    params(("id" = String, Path, example = "run_01k6f0000000000000000000aa")),
    request_body = Finish,
    responses((status = 200, description = "The run as it is now", body = Run), Steers)
)]
pub(crate) async fn finish(caller: Caller, Id(id): Id<RunId>, body: Body) -> Answer<Json<Run>> {
    caller.sees(&id).await?;
    let Finish { result } = body.json().await?;
    send(caller, &id, Input::Finish { result }).await.map(Json)
}

async fn send(caller: Caller, id: &RunId, input: Input) -> Answer<Run> {
    let run = caller.app.send(id, input, caller.actor).await?;
    view::run::of_run(&run)
}

/// No body, or an empty object: a field that is sent must mean something.
pub(super) async fn nothing(body: Body) -> Answer<()> {
    match body.optional().await? {
        None => Ok(()),
        Some(value) if value.as_object().is_some_and(serde_json::Map::is_empty) => Ok(()),
        Some(value) => {
            let field = value.as_object().and_then(|fields| fields.keys().next());
            let pointer = field.map(|field| format!("/{}", escape(field)));
            Err(Refused::invalid_at(&pointer.unwrap_or_default(), "nothing is expected here"))
        }
    }
}
