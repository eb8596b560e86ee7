//! Sessions: open, list, read, suspend, resume, close. Also the interrupts, grants and refusals of sessions.

use axum::Json;
use axum::extract::Path;
use axum::response::Response;
use holdshort_core::id::{GrantId, InterruptId, SessionId};
use holdshort_core::projection::SessionRow;
use holdshort_core::session::{End, Open, State};
use holdshort_protocol::{Grant, GrantStatus, Interrupt, List, OpenSession, Refusal, Session, SessionState};
use holdshort_store::{GrantFilter, InterruptFilter, SessionFilter, Tables};
use holdshort_web::app::{App, detached};
use holdshort_web::auth::Caller;
use holdshort_web::body::{Body, read_strict};
use holdshort_web::idempotency::Idempotency;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{GrantsQuery, Id, PageQuery, Params, SessionsQuery, limit};
use holdshort_web::view;
use serde_json::{Value, json};

use super::interrupts::page;
use super::runs::{created, workflow};
use super::steer::nothing;
use crate::convert;
use crate::openapi::{Lists, OpensSession, ReadsOne, ReadsPart, Revokes, SteersSession};

/// Open a session.
///
/// A run that is started without a session creates a session. Use this request if the session needs a name, is to
/// expire, or is for a conversation. If you set `workflow`, messages in the session start runs of this workflow (`POST
/// /v1/sessions/{id}/messages`).
#[utoipa::path(
    post, path = "/v1/sessions", tag = "sessions", operation_id = "open_session",
    params(("Idempotency-Key" = Option<String>, Header, description = "A repeat of the same request with the same key returns the first session")),
    request_body = OpenSession,
    responses(
        (status = 201, description = "The session", body = Session,
         headers(
             ("Location" = String, description = "Path of the session"),
             ("Idempotency-Replayed" = String, description = "`true`: a request with this key opened this session before")
         )),
        OpensSession
    )
)]
pub(crate) async fn open(caller: Caller, idempotency: Idempotency, body: Body) -> Answer<Response> {
    let value = body.value().await?;
    let open: OpenSession = read_strict(&value)?;
    let Caller { app, actor, .. } = caller;
    let definition = match &open.workflow {
        Some(name) => Some(workflow(&app, name)?),
        None => None,
    };
    let config = match (open.config, definition) {
        (None, _) => Value::Null,
        (Some(_), None) => {
            return Err(Refused::invalid_at(
                "/config",
                "needs `workflow`, because `config` configures the runs of that workflow",
            ));
        }
        (Some(config), Some(definition)) => {
            let kept = json!(config);
            convert::config(Some(config), &definition)?;
            kept
        }
    };
    let open = holdshort_engine::OpenSession {
        open: Open { workflow: open.workflow, idle_ms: open.expires_when_idle_ms, name: open.name, config },
        key: idempotency.into_key(&actor, "POST /v1/sessions", &value),
    };
    let driver = app.driver.clone();
    let opened = detached(async move { driver.open_session(open, actor).await }).await?;
    let row = find_session(&app, &opened.session).await?;
    let path = format!("/v1/sessions/{}", opened.session);
    Ok(created(opened.replayed, &path, Json(view::session::session(&app, &row).await?)))
}

/// List sessions, newest first.
#[utoipa::path(
    get, path = "/v1/sessions", tag = "sessions", operation_id = "list_sessions",
    params(SessionsQuery),
    responses((status = 200, description = "A page of sessions", body = List<Session>), Lists)
)]
pub(crate) async fn list(
    caller: Caller,
    Params(query): Params<SessionsQuery>,
) -> Answer<Json<List<Session>>> {
    let app = &caller.app;
    let states = match query.state {
        None => Vec::new(),
        Some(SessionState::Open) => vec![State::Open],
        Some(SessionState::Suspended) => vec![State::Suspended],
        Some(SessionState::Closed) => State::ALL.into_iter().filter(|state| state.is_closed()).collect(),
    };
    let filter = SessionFilter { states: states.into_iter().collect(), workflow: query.workflow };
    let read = |limit| app.journal().sessions(&filter, query.cursor.as_ref(), limit);
    let list = view::page::show(limit(query.limit)?, read, async |row| {
        view::session::session(app, &row).await.map(Some)
    });
    Ok(Json(list.await?))
}

/// Read a session.
#[utoipa::path(
    get, path = "/v1/sessions/{id}", tag = "sessions", operation_id = "read_session",
    params(("id" = String, Path, example = "ses_01k6f0000000000000000000bb")),
    responses((status = 200, description = "The session", body = Session), ReadsOne)
)]
pub(crate) async fn read(caller: Caller, Id(id): Id<SessionId>) -> Answer<Json<Session>> {
    show(&caller.app, &id).await
}

/// Suspend a session.
///
/// The runs of the session are suspended. No run of the session starts or resumes until the session is resumed. The
/// deadlines of interrupts continue to count.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/suspend", tag = "sessions", operation_id = "suspend_session",
    params(("id" = String, Path, example = "ses_01k6f0000000000000000000bb")),
    responses((status = 200, description = "The current session", body = Session), SteersSession)
)]
pub(crate) async fn suspend(caller: Caller, Id(id): Id<SessionId>, body: Body) -> Answer<Json<Session>> {
    find_session(&caller.app, &id).await?;
    nothing(body).await?;
    let Caller { app, actor, .. } = caller;
    let (driver, session) = (app.driver.clone(), id.clone());
    detached(async move { driver.suspend_session(&session, actor).await }).await?;
    show(&app, &id).await
}

/// Resume a suspended session.
///
/// The runs of the session continue. A run that was paused separately stays paused.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/resume", tag = "sessions", operation_id = "resume_session",
    params(("id" = String, Path, example = "ses_01k6f0000000000000000000bb")),
    responses((status = 200, description = "The current session", body = Session), SteersSession)
)]
pub(crate) async fn resume(caller: Caller, Id(id): Id<SessionId>, body: Body) -> Answer<Json<Session>> {
    find_session(&caller.app, &id).await?;
    nothing(body).await?;
    let Caller { app, actor, .. } = caller;
    let (driver, session) = (app.driver.clone(), id.clone());
    detached(async move { driver.resume_session(&session, actor).await }).await?;
    show(&app, &id).await
}

/// Close a session.
///
/// Live runs of the session are cancelled, and no new run can start in it. A closed session cannot be reopened.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/close", tag = "sessions", operation_id = "close_session",
    params(("id" = String, Path, example = "ses_01k6f0000000000000000000bb")),
    responses((status = 200, description = "The current session", body = Session), SteersSession)
)]
pub(crate) async fn close(caller: Caller, Id(id): Id<SessionId>, body: Body) -> Answer<Json<Session>> {
    find_session(&caller.app, &id).await?;
    nothing(body).await?;
    let Caller { app, actor, .. } = caller;
    let (driver, session) = (app.driver.clone(), id.clone());
    detached(async move { driver.close_session(&session, End::Completed, actor).await }).await?;
    show(&app, &id).await
}

/// List the interrupts of a session.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/interrupts", tag = "sessions", operation_id = "list_session_interrupts",
    params(("id" = String, Path, example = "ses_01k6f0000000000000000000bb"), PageQuery),
    responses((status = 200, description = "A page of interrupts", body = List<Interrupt>), ReadsPart)
)]
pub(crate) async fn interrupts(
    caller: Caller,
    Id(id): Id<SessionId>,
    Params(query): Params<PageQuery>,
) -> Answer<Json<List<Interrupt>>> {
    find_session(&caller.app, &id).await?;
    let filter = InterruptFilter { session: Some(id), ..InterruptFilter::default() };
    Ok(Json(page(&caller, &filter, query.cursor, limit(query.limit)?).await?))
}

/// List the grants of a session, including revoked ones.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/grants", tag = "sessions", operation_id = "list_session_grants",
    params(("id" = String, Path, example = "ses_01k6f0000000000000000000bb"), PageQuery),
    responses((status = 200, description = "A page of grants", body = List<Grant>), ReadsPart)
)]
pub(crate) async fn grants(
    caller: Caller,
    Id(id): Id<SessionId>,
    Params(query): Params<PageQuery>,
) -> Answer<Json<List<Grant>>> {
    find_session(&caller.app, &id).await?;
    let after: Option<GrantId> = holdshort_web::query::id("cursor", query.cursor.as_deref())?;
    let session = caller.app.driver.session(&id).await?;
    // Grants are sorted by id, which is also the order of their creation.
    let following =
        session.grants.values().filter(|grant| after.as_ref().is_none_or(|after| grant.id > *after));
    let limit = limit(query.limit)?;
    let mut items: Vec<Grant> =
        following.take(limit + 1).map(|grant| view::session::grant(&id, grant)).collect();
    let more = items.len() > limit;
    items.truncate(limit);
    let next_cursor = items.last().filter(|_| more).map(|grant| grant.id.clone());
    Ok(Json(List { items, next_cursor }))
}

/// List the refusals of a session, including revoked ones.
///
/// If an agent repeats a refused call in the same session, a person is asked, even if a grant or a rule allows the
/// call. The card of the new interrupt has `refused_before`.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/refusals", tag = "sessions", operation_id = "list_session_refusals",
    params(("id" = String, Path, example = "ses_01k6f0000000000000000000bb"), PageQuery),
    responses((status = 200, description = "A page of refusals", body = List<Refusal>), ReadsPart)
)]
pub(crate) async fn refusals(
    caller: Caller,
    Id(id): Id<SessionId>,
    Params(query): Params<PageQuery>,
) -> Answer<Json<List<Refusal>>> {
    find_session(&caller.app, &id).await?;
    let after: Option<InterruptId> = holdshort_web::query::id("cursor", query.cursor.as_deref())?;
    let session = caller.app.driver.session(&id).await?;
    let following = session
        .refusals
        .values()
        .filter(|refusal| after.as_ref().is_none_or(|after| refusal.interrupt > *after));
    let limit = limit(query.limit)?;
    let mut items: Vec<Refusal> =
        following.take(limit + 1).map(|refusal| view::session::refusal(&id, refusal)).collect();
    let more = items.len() > limit;
    items.truncate(limit);
    let next_cursor = items.last().filter(|_| more).map(|refusal| refusal.interrupt.clone());
    Ok(Json(List { items, next_cursor }))
}

/// Revoke a refusal.
///
/// After that, a grant or a rule can allow the same call without asking a person. Revoking the refusal again has no
/// further effect.
#[utoipa::path(
    delete, path = "/v1/sessions/{id}/refusals/{interrupt}", tag = "sessions", operation_id = "revoke_refusal",
    params(
        ("id" = String, Path, example = "ses_01k6f0000000000000000000bb"),
        ("interrupt" = String, Path, example = "int_01k6f0000000000000000000cc")
    ),
    responses((status = 200, description = "The revoked refusal", body = Refusal), Revokes)
)]
pub(crate) async fn revoke_refusal(
    caller: Caller,
    Path((id, interrupt)): Path<(String, String)>,
) -> Answer<Json<Refusal>> {
    let id: SessionId = id.parse().map_err(|_| Refused::not_found("session"))?;
    let interrupt: InterruptId = interrupt.parse().map_err(|_| Refused::not_found("refusal"))?;
    find_session(&caller.app, &id).await?;
    let Caller { app, actor, .. } = caller;
    let (driver, of, refused) = (app.driver.clone(), id.clone(), interrupt.clone());
    let session = detached(async move { driver.revoke_refusal(&of, &refused, actor).await }).await?;
    let refusal = session.refusals.get(&interrupt).ok_or_else(|| Refused::not_found("refusal"))?;
    Ok(Json(view::session::refusal(&id, refusal)))
}

/// List the grants of all sessions, newest first.
#[utoipa::path(
    get, path = "/v1/grants", tag = "sessions", operation_id = "list_grants",
    params(GrantsQuery),
    responses((status = 200, description = "A page of grants", body = List<Grant>), Lists)
)]
pub(crate) async fn all_grants(
    caller: Caller,
    Params(query): Params<GrantsQuery>,
) -> Answer<Json<List<Grant>>> {
    let app = &caller.app;
    let filter = GrantFilter { revoked: query.status.map(|status| status == GrantStatus::Revoked) };
    let (only_active, now) = (query.status == Some(GrantStatus::Active), app.now());
    let read = |limit| app.journal().grants(&filter, query.cursor.as_ref(), limit);
    let list = view::page::show(limit(query.limit)?, read, async |row| {
        let session = app.driver.session(&row.session).await?;
        let grant = session.grants.get(&row.grant).filter(|grant| !only_active || grant.is_active(now));
        Ok(grant.map(|grant| view::session::grant(&row.session, grant)))
    });
    Ok(Json(list.await?))
}

/// Revoke a grant.
///
/// Calls that start after the revocation cannot use the grant. Revoking the grant again has no further effect.
#[utoipa::path(
    delete, path = "/v1/grants/{id}", tag = "sessions", operation_id = "revoke_grant",
    params(("id" = String, Path, example = "gra_01k6f0000000000000000000dd")),
    responses((status = 200, description = "The revoked grant", body = Grant), Revokes)
)]
pub(crate) async fn revoke(caller: Caller, Id(id): Id<GrantId>) -> Answer<Json<Grant>> {
    let Caller { app, actor, .. } = caller;
    let row = app.journal().grant(&id).await?.ok_or_else(|| Refused::not_found("grant"))?;
    let (driver, grant) = (app.driver.clone(), id.clone());
    let of = row.session.clone();
    let session = detached(async move { driver.revoke(&of, &grant, actor).await }).await?;
    let grant = session.grants.get(&id).ok_or_else(|| Refused::not_found("grant"))?;
    Ok(Json(view::session::grant(&row.session, grant)))
}

async fn show(app: &App, id: &SessionId) -> Answer<Json<Session>> {
    let row = find_session(app, id).await?;
    Ok(Json(view::session::session(app, &row).await?))
}

/// Returns the session, or an error if it does not exist.
pub(super) async fn find_session(app: &App, id: &SessionId) -> Answer<SessionRow> {
    app.journal().session(id).await?.ok_or_else(|| Refused::not_found("session"))
}
