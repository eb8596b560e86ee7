//! Runs: start, list, read.

use std::sync::Arc;

use axum::Json;
use axum::http::header::LOCATION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use holdshort_core::definition::{Definition, EXTERNAL};
use holdshort_core::id::RunId;
use holdshort_core::run::{Config, Origin};
use holdshort_engine::Error;
use holdshort_protocol::{Code, List, Run, RunLayer, RunResult, StartRun, Work, header};
use holdshort_store::{RunFilter, Tables};
use holdshort_web::app::{App, detached};
use holdshort_web::auth::Caller;
use holdshort_web::body::{Body, read_strict};
use holdshort_web::idempotency::Idempotency;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, Params, RunsQuery, id, limit};
use holdshort_web::trace_context::JoinedTrace;
use holdshort_web::view;

use crate::convert;
use crate::openapi::{Lists, ReadsOne, ReadsResult, Starts};

/// Start a run.
///
/// An agent is allowed to start only runs of the workflow `external`, in which Holdshort executes nothing. The agent
/// asks with `POST /v1/interrupts` and ends the run with `POST /v1/runs/{id}/finish`.
#[utoipa::path(
    post, path = "/v1/runs", tag = "runs", operation_id = "start_run",
    params(
        ("Idempotency-Key" = Option<String>, Header, description = "A repeat of the same request with the same key returns the first run"),
        ("traceparent" = Option<String>, Header, description = "Parent of the run's trace (W3C Trace Context)")
    ),
    request_body = StartRun,
    responses(
        (status = 201, description = "The run", body = Run,
         headers(
             ("Location" = String, description = "Path of the run"),
             ("Idempotency-Replayed" = String, description = "`true`: a request with this key started this run before")
         )),
        Starts
    )
)]
pub(crate) async fn start(
    caller: Caller,
    idempotency: Idempotency,
    JoinedTrace(trace): JoinedTrace,
    body: Body,
) -> Answer<Response> {
    let value = body.value().await?;
    let start: StartRun = read_strict(&value)?;
    caller.starts(&start.workflow)?;
    let session = caller.session(start.session.as_deref()).await?;
    let Caller { app, actor, .. } = caller;
    let definition = workflow(&app, &start.workflow)?;
    let config = convert::config(start.config, &definition)?;
    let definition = adapted(definition, &config);
    let start = holdshort_engine::StartRun {
        config,
        origin: if definition.is_external() { Origin::External } else { Origin::Native },
        definition,
        session,
        input: start.input,
        ask: None,
        key: idempotency.into_key(&actor, "POST /v1/runs", &value),
        front: None,
        trace,
    };
    let driver = app.driver.clone();
    let started = detached(async move { driver.start(start, actor).await }).await;
    let started = started.map_err(unknown_session)?;
    let shown = view::now::left(&app, &started).await?;
    Ok(created(started.is_replayed(), &format!("/v1/runs/{}", shown.id), Json(shown)))
}

/// Returns the workflow of a run: `definition` with the changes that the run's configuration makes.
pub(super) fn adapted(definition: Arc<Definition>, config: &Config) -> Arc<Definition> {
    let own = config.adapts(Definition::clone(&definition));
    if own == *definition { definition } else { Arc::new(own) }
}

/// Returns the workflow with this name. If there is none, the error lists the known workflows.
pub(super) fn workflow(app: &App, name: &str) -> Answer<Arc<Definition>> {
    app.library.get(name).ok_or_else(|| {
        let known: Vec<String> = app.library.names().map(str::to_owned).collect();
        let mut refused =
            Refused::new(Code::UnknownWorkflow, format!("the known workflows are: {}", known.join(", ")));
        refused.0.known = known;
        refused
    })
}

/// Converts an error from the start of a run. `NotFound` becomes `unknown_session`, because a new run refers only to
/// its session.
pub(super) fn unknown_session(error: Error) -> Refused {
    match error {
        Error::NotFound => Refused::from_code(Code::UnknownSession),
        error => error.into(),
    }
}

/// Returns a response with status 201 and the path of the new resource. `is_replay`: see [`replayed`].
pub(super) fn created(is_replay: bool, path: &str, body: impl IntoResponse) -> Response {
    replayed(is_replay, (StatusCode::CREATED, [(LOCATION, path.to_owned())], body))
}

/// Converts `body` to a response. If `is_replay` is true, a header says that the result belongs to an earlier request
/// with the same idempotency key.
pub(super) fn replayed(is_replay: bool, body: impl IntoResponse) -> Response {
    let mut response = body.into_response();
    if is_replay {
        response.headers_mut().insert(header::IDEMPOTENCY_REPLAYED, HeaderValue::from_static("true"));
    }
    response
}

/// List runs, newest first.
///
/// An agent sees only the runs that it started.
#[utoipa::path(
    get, path = "/v1/runs", tag = "runs", operation_id = "list_runs",
    params(RunsQuery),
    responses((status = 200, description = "A page of runs", body = List<Run>), Lists)
)]
pub(crate) async fn list(caller: Caller, Params(query): Params<RunsQuery>) -> Answer<Json<List<Run>>> {
    let app = &caller.app;
    let only_external = !caller.reaches_all();
    let filter = RunFilter {
        status: query.status.map(convert::status),
        workflow: if only_external { Some(EXTERNAL.to_owned()) } else { query.workflow.clone() },
        session: id("session", query.session.as_deref())?,
    };
    if only_external && query.workflow.is_some_and(|workflow| workflow != EXTERNAL) {
        return Ok(Json(List { items: Vec::new(), next_cursor: None }));
    }
    let read = |limit| app.journal().runs(&filter, query.cursor.as_ref(), limit);
    let list = view::page::show(limit(query.limit)?, read, async |row| {
        if caller.reaches(&row).await? { view::run::from_row(app, &row).await.map(Some) } else { Ok(None) }
    });
    Ok(Json(list.await?))
}

/// Read a run.
#[utoipa::path(
    get, path = "/v1/runs/{id}", tag = "runs", operation_id = "read_run",
    params(("id" = String, Path, example = "run_01k6f0000000000000000000aa")),
    responses((status = 200, description = "The run", body = Run), ReadsOne)
)]
pub(crate) async fn read(caller: Caller, Id(id): Id<RunId>) -> Answer<Json<Run>> {
    caller.sees(&id).await?;
    Ok(Json(view::now::run(&caller.app, &id).await?))
}

/// Read which agents and people a run is waiting for or working with.
///
/// Lists every step that runs or waits, and every phase that has not started. Each entry names the agent or person, the
/// reason for waiting, and the time at which the running or waiting began. The list is empty if the run has ended, or
/// if an external agent executes it.
#[utoipa::path(
    get, path = "/v1/runs/{id}/work", tag = "runs", operation_id = "list_run_work",
    params(("id" = String, Path, example = "run_01k6f0000000000000000000aa")),
    responses((status = 200, description = "Work of the run, in the order of its phases", body = List<Work>), ReadsOne)
)]
pub(crate) async fn work(caller: Caller, Id(id): Id<RunId>) -> Answer<Json<List<Work>>> {
    caller.run(&id).await?;
    let run = caller.app.driver.load(&id).await?;
    Ok(Json(List { items: view::work::from_run(&run), next_cursor: None }))
}

/// Count the files in the layer of a run.
///
/// The layer is a separate folder for files that Git ignores and that commands in a trial create. `POST
/// /v1/runs/{id}/merge` copies them into the workspace. With PostgreSQL, each node has its own layer of a run. The
/// response describes only the layer on the node that sends it.
#[utoipa::path(
    get, path = "/v1/runs/{id}/layer", tag = "runs", operation_id = "read_run_layer",
    params(("id" = String, Path, example = "run_01k6f0000000000000000000aa")),
    responses((status = 200, description = "Files that can be merged", body = RunLayer), ReadsOne)
)]
pub(crate) async fn layer(caller: Caller, Id(id): Id<RunId>) -> Answer<Json<RunLayer>> {
    caller.run(&id).await?;
    let files = caller.app.driver.unmerged(&id).await?;
    Ok(Json(RunLayer { files }))
}

/// Read the result of a run.
#[utoipa::path(
    get, path = "/v1/runs/{id}/result", tag = "runs", operation_id = "read_run_result",
    params(("id" = String, Path, example = "run_01k6f0000000000000000000aa")),
    responses((status = 200, description = "The result of the run", body = RunResult), ReadsResult)
)]
pub(crate) async fn result(caller: Caller, Id(id): Id<RunId>) -> Answer<Json<RunResult>> {
    let row = caller.run(&id).await?;
    Ok(Json(view::run::result(&caller.app, &row).await?))
}
