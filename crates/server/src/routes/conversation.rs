//! The conversation of a session: send a message, read messages.

use axum::Json;
use axum::response::Response;
use holdshort_core::id::{InterruptId, SessionId};
use holdshort_core::limits::TEXT_BYTES;
use holdshort_core::projection::SessionRow;
use holdshort_core::trace_parent::TraceParent;
use holdshort_engine::{Error, NextRun, Say};
use holdshort_protocol::{Delivered, List, RunConfig, SessionMessage, Utterance};
use holdshort_web::app::{App, detached};
use holdshort_web::auth::Caller;
use holdshort_web::body::{Body, read_strict};
use holdshort_web::idempotency::Idempotency;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, PageQuery, Params, limit, number};
use holdshort_web::trace_context::JoinedTrace;
use holdshort_web::view;
use serde_json::Map;

use super::runs::{adapted, replayed, workflow};
use super::sessions::find_session;
use crate::convert;
use crate::openapi::{ReadsPart, Says};

/// Send a message in a session.
///
/// If `to` names a question, the message answers it. Otherwise the message goes to the front run: the live run that an
/// earlier message started. If there is no front run, the message starts a run of the session's workflow. The new run
/// gets the configuration of the session and the earlier messages. A message answers only questions: it never decides
/// on an approval or on any other interrupt.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/messages", tag = "sessions", operation_id = "message_session",
    params(
        ("id" = String, Path, example = "ses_01k6f0000000000000000000bb"),
        ("Idempotency-Key" = Option<String>, Header, description = "A repeat of the same request with the same key sends no second message"),
        ("traceparent" = Option<String>, Header, description = "Parent of the trace of a run that the message starts (W3C Trace Context)")
    ),
    request_body = SessionMessage,
    responses(
        (status = 200, description = "The recipient of the message", body = Delivered,
         headers(("Idempotency-Replayed" = String, description = "`true`: a request with this key sent the message before"))),
        Says
    )
)]
pub(crate) async fn say(
    caller: Caller,
    Id(id): Id<SessionId>,
    idempotency: Idempotency,
    JoinedTrace(trace): JoinedTrace,
    body: Body,
) -> Answer<Response> {
    let row = find_session(&caller.app, &id).await?;
    let value = body.value().await?;
    let SessionMessage { text, to, agent } = read_strict(&value)?;
    if text.trim().is_empty() {
        return Err(Refused::invalid_at("/text", "is empty"));
    }
    if text.len() > TEXT_BYTES {
        return Err(Refused::invalid_at("/text", format!("is longer than {TEXT_BYTES} bytes")));
    }
    if to.is_some() && agent.is_some() {
        return Err(Refused::invalid_at(
            "/agent",
            "must be omitted if `to` is set, because an answer goes to the agent that asked",
        ));
    }
    let to: Option<InterruptId> = match to {
        Some(to) => Some(to.parse().map_err(|_| Refused::not_found("interrupt"))?),
        None => None,
    };
    let Caller { app, actor, .. } = caller;
    // An answer, or a message to a live run, starts no run. Therefore the error is returned only if the message must
    // start a run.
    let (next, why) = match next_run(&app, &row, trace).await {
        Ok(next) => (next, None),
        Err(refused) => (None, Some(refused)),
    };
    let say = Say {
        text,
        to,
        agent,
        reason: None,
        key: idempotency.into_key(&actor, &format!("POST /v1/sessions/{id}/messages"), &value),
        next,
        session: id.clone(),
    };
    let driver = app.driver.clone();
    let said = match detached(async move { driver.say(&say, &actor).await }).await {
        Err(Error::NothingBegins) => return Err(why.unwrap_or_else(|| Error::NothingBegins.into())),
        said => said?,
    };
    let delivered = Delivered {
        session: id.to_string(),
        run: said.run.to_string(),
        interrupt: said.interrupt.as_ref().map(ToString::to_string),
    };
    Ok(replayed(said.is_replayed(), Json(delivered)))
}

/// Read the messages of a session, oldest first.
///
/// Returns the messages of people, and the questions and answers of agents, in their order. Messages to a run that was
/// not started by a message are missing. Such messages are only in the events of the run that received them.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/conversation", tag = "sessions", operation_id = "read_conversation",
    params(("id" = String, Path, example = "ses_01k6f0000000000000000000bb"), PageQuery),
    responses((status = 200, description = "A page of the conversation", body = List<Utterance>), ReadsPart)
)]
pub(crate) async fn read(
    caller: Caller,
    Id(id): Id<SessionId>,
    Params(query): Params<PageQuery>,
) -> Answer<Json<List<Utterance>>> {
    find_session(&caller.app, &id).await?;
    let after = number("cursor", query.cursor.as_deref())?.unwrap_or(0);
    Ok(Json(view::conversation::page(&caller.app, &id, after, limit(query.limit)?).await?))
}

/// Returns the parameters of the run that the next message in a session would start. Returns `None` if the session was
/// opened without a workflow.
async fn next_run(app: &App, row: &SessionRow, trace: Option<TraceParent>) -> Answer<Option<NextRun>> {
    let Some(name) = &row.workflow else { return Ok(None) };
    let definition = workflow(app, name)?;
    let session = app.driver.session(&row.session).await?;
    let opened_with = view::session::opened_with(app, &session).await?;
    let config: Option<RunConfig> = match opened_with.get("config") {
        Some(config) => Some(serde_json::from_value(config.clone()).map_err(|_| of_another_wire())?),
        None => None,
    };
    let config = convert::config(config, &definition)?;
    let definition = adapted(definition, &config);
    Ok(Some(NextRun { definition, config, input: Map::new(), trace }))
}

/// Returns the error for a message to a session of an edge's client. The configuration of such a session has the format
/// of the edge, so the native API cannot start its runs.
fn of_another_wire() -> Refused {
    Refused::invalid_at(
        "",
        "this session was opened by a client of another protocol; send the message with that client",
    )
}
