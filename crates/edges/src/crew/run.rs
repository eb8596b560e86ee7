//! `POST /crew/run`: starts a crew. With `async_execution`, the response is sent at once. Without it, the response is
//! sent as soon as the run has ended or waits for a person.

use std::sync::Arc;

use axum::response::Response;
use axum::{Extension, Json};
use holdshort_core::channel::Channel;
use holdshort_core::id::RunId;
use holdshort_core::interrupt::Kind;
use holdshort_core::run::{Config, Origin, Run};
use holdshort_core::trace_parent::TraceParent;
use holdshort_engine::real::REHEARSAL;
use holdshort_engine::{IdempotencyKey, StartRun, StartedRun};
use holdshort_protocol::Code;
use holdshort_web::app::{App, detached};
use holdshort_web::auth::Caller;
use holdshort_web::body::{Body, read_strict};
use holdshort_web::idempotency::Idempotency;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::trace_context::JoinedTrace;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::case::{self, Case};
use super::guest::Guest;
use super::rate::Counted;
use super::task::{self, State};
use super::{Crew, crews};
use crate::limits::CREW_SYNC_TIME;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunRequest {
    crew_name: String,
    #[serde(default)]
    inputs: Map<String, Value>,
    #[serde(default)]
    async_execution: bool,
}

pub(super) async fn run(
    guest: Guest,
    Extension(crew): Extension<Arc<Crew>>,
    idempotency: Idempotency,
    joined: JoinedTrace,
    body: Body,
) -> Answer<Response> {
    let caller = guest.authorize()?;
    let answer = begin(&caller, &crew, idempotency, joined, body);
    Ok(Box::pin(crew.limits.within(Counted::Run, &caller, answer)).await)
}

async fn begin(
    caller: &Caller,
    crew: &Crew,
    idempotency: Idempotency,
    JoinedTrace(trace): JoinedTrace,
    body: Body,
) -> Answer<Json<Value>> {
    let value = body.value().await?;
    let RunRequest { crew_name, inputs, async_execution } = read_strict(&value)?;
    let key = idempotency.into_key(&caller.actor, "POST /edges/crew/run", &value);
    // The number of waiting requests is limited. The permit to wait is acquired before the start, so that a refused
    // request starts no task.
    let permit = (!async_execution).then(|| caller.app.polls.try_acquire()).transpose();
    let _permit = permit.map_err(|_| Refused::from_code(Code::TooManyStreams))?;
    // A repeated request returns the same task, even if the crew or the case has changed since the first request.
    let known = caller.app.driver.find_started_run(key.as_ref()).await?;
    let started = match known {
        Some(known) => known,
        None => Box::pin(start(caller, crew, &crew_name, inputs, key, trace)).await?,
    };
    let run = if async_execution {
        caller.app.run_now(&started.run).await?
    } else {
        wait_until_settled(caller, &started.run).await?
    };
    Ok(Json(render_response(&crew_name, &run, async_execution)))
}

async fn start(
    caller: &Caller,
    crew: &Crew,
    crew_name: &str,
    inputs: Map<String, Value>,
    key: Option<IdempotencyKey>,
    trace: Option<TraceParent>,
) -> Answer<StartedRun> {
    let found = crews::find(&caller.app, crew_name)?;
    let tells =
        |channel: &Channel| channel.rule.kinds.is_empty() || channel.rule.kinds.contains(&Kind::Review);
    if crew.settings.hitl_enabled && !caller.app.driver.channels().iter().any(tells) {
        // A missing channel is not an error: the task is paused for its review and is listed as paused (contract E20).
        tracing::warn!(
            crew = crew_name,
            "no channel notifies reviewers: register a webhook, or check /crew/reviews"
        );
    }
    let subject = inputs.get(crews::SUBJECT).cloned();
    let (workspace, inputs) = if found.works_on_files() {
        let Case { folder, inputs } = case::open(&crew.settings, crew.read_case, inputs).await?;
        (Some(folder), inputs)
    } else {
        (None, inputs)
    };
    let mut definition = crews::as_crew(&found, &crew.settings);
    let mut input = crews::input(&mut definition, inputs);
    crews::record_subject(&mut input, subject)?;
    let start = StartRun {
        config: Config {
            workspace,
            model: rehearsal(&caller.app, &definition.name),
            unreviewed: !crew.settings.hitl_enabled,
            ..Config::default()
        },
        definition: Arc::new(definition),
        session: None,
        input,
        origin: Origin::Native,
        ask: None,
        key,
        front: None,
        trace,
    };
    let (driver, actor) = (caller.app.driver.clone(), caller.actor.clone());
    let started = detached(async move { driver.start(start, actor).await }).await;
    started.map_err(|error| translate_error(error.into()))
}

/// Returns the name of the rehearsal model if no real model is configured and the workflow has a script for rehearsals.
/// Every response about a rehearsed task has the member `rehearsal`.
fn rehearsal(app: &App, workflow: &str) -> Option<String> {
    let plays = app.model.rehearsal && app.library.has_rehearsal(workflow);
    plays.then(|| REHEARSAL.to_owned())
}

/// Converts the field paths of an error about starting a crew to the client's field names.
fn translate_error(refused: Refused) -> Refused {
    refused.map_field_errors(|error| {
        if let Some(rest) = error.pointer.strip_prefix("/input") {
            error.pointer = format!("/inputs{rest}");
        } else if error.pointer == "/config/workspace" {
            "/inputs/case".clone_into(&mut error.pointer);
        }
    })
}

/// Waits until a run has ended or waits for a person, and returns the run. If the time limit passes first, returns the
/// run in its current state. The time limit does not stop the run.
async fn wait_until_settled(caller: &Caller, id: &RunId) -> Answer<Arc<Run>> {
    let app = &caller.app;
    // Subscribe before the first read, so that no commit in between is missed.
    let mut commits = app.driver.watch(id);
    let over = tokio::time::sleep(CREW_SYNC_TIME);
    let ended = caller.ended();
    tokio::pin!(over, ended);
    loop {
        let run = app.run_now(id).await?;
        match State::from_run(&run) {
            State::Paused | State::Completed | State::Failed => return Ok(run),
            State::Pending | State::Running => {}
        }
        tokio::select! {
            biased;
            // The caller's access has ended, so the response contains no state from after this moment.
            () = &mut ended => return Ok(run),
            Ok(()) = commits.changed() => {}
            () = &mut over => return Ok(run),
            () = app.stopped() => return Ok(run),
            else => return Ok(run),
        }
    }
}

/// Returns the body of the response to the start of a crew. All members are always present, and a missing value is null
/// (contract D9).
fn render_response(crew_name: &str, run: &Run, is_async: bool) -> Value {
    let state = State::from_run(run);
    let result = match state {
        State::Completed => task::result(run),
        State::Failed => Value::Null,
        State::Paused => json!({
            "status": "paused",
            "message": task::waits_for(run),
            "review_id": run.open_review().map(task::review_id),
        }),
        State::Pending | State::Running if is_async => Value::Null,
        State::Pending | State::Running => json!({
            "status": "running",
            "message": "The task is still running: /crew/status shows its result",
        }),
    };
    let mut told = json!({
        "success": state != State::Failed,
        "crew_name": crew_name,
        "task_id": run.id.as_str(),
        "status": state.lower(),
        "result": result,
        "error": task::error(run),
    });
    task::mark_exceptional(run, &mut told);
    told
}
