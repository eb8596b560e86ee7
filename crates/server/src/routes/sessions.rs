//! Sessions, what is open in them, and the grants that people gave in them.

use axum::Json;
use holdshort_core::id::{GrantId, SessionId};
use holdshort_protocol::{Grant, GrantStatus, Interrupt, List, Session};
use holdshort_store::{GrantFilter, InterruptFilter, Journal, Page, RunFilter};

use super::interrupts::page;
use crate::app::{App, detached};
use crate::auth::Operator;
use crate::limits::SESSION_RUNS;
use crate::openapi::{Lists, ReadsOne, ReadsPart, Revokes};
use crate::problem::{Answer, Refused};
use crate::query::{GrantsQuery, Id, PageQuery, Params, limit};
use crate::view;

/// Read a session.
#[utoipa::path(
    get, path = "/v1/sessions/{id}", tag = "sessions", operation_id = "read_session",
    params(("id" = String, Path, example = "ses_01k6f0000000000000000000bb")),
    responses((status = 200, description = "The session", body = Session), ReadsOne),
    security(("operator" = []))
)]
pub(crate) async fn read(operator: Operator, Id(id): Id<SessionId>) -> Answer<Json<Session>> {
    let app = &operator.app;
    let runs = known(app, &id, SESSION_RUNS).await?;
    let session = app.driver.session(&id).await?;
    Ok(Json(Session {
        id: id.to_string(),
        runs,
        grants: session.standing().map(|grant| grant.id.to_string()).collect(),
    }))
}

/// List the interrupts of a session.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/interrupts", tag = "sessions", operation_id = "list_session_interrupts",
    params(("id" = String, Path, example = "ses_01k6f0000000000000000000bb"), PageQuery),
    responses((status = 200, description = "A page of interrupts", body = List<Interrupt>), ReadsPart),
    security(("operator" = []))
)]
pub(crate) async fn interrupts(
    operator: Operator,
    Id(id): Id<SessionId>,
    Params(query): Params<PageQuery>,
) -> Answer<Json<List<Interrupt>>> {
    known(&operator.app, &id, 1).await?;
    let filter = InterruptFilter { session: Some(id), ..InterruptFilter::default() };
    Ok(Json(page(&operator.app, &filter, query.cursor, limit(query.limit)?).await?))
}

/// List the grants of a session, revoked ones too.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/grants", tag = "sessions", operation_id = "list_session_grants",
    params(("id" = String, Path, example = "ses_01k6f0000000000000000000bb"), PageQuery),
    responses((status = 200, description = "A page of grants", body = List<Grant>), ReadsPart),
    security(("operator" = []))
)]
pub(crate) async fn grants(
    operator: Operator,
    Id(id): Id<SessionId>,
    Params(query): Params<PageQuery>,
) -> Answer<Json<List<Grant>>> {
    known(&operator.app, &id, 1).await?;
    let after: Option<GrantId> = crate::query::id("cursor", query.cursor.as_deref())?;
    let session = operator.app.driver.session(&id).await?;
    // By id, and so by age.
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

/// List the grants of all sessions, newest first.
#[utoipa::path(
    get, path = "/v1/grants", tag = "sessions", operation_id = "list_grants",
    params(GrantsQuery),
    responses((status = 200, description = "A page of grants", body = List<Grant>), Lists),
    security(("operator" = []))
)]
pub(crate) async fn all_grants(
    operator: Operator,
    Params(query): Params<GrantsQuery>,
) -> Answer<Json<List<Grant>>> {
    let app = &operator.app;
    let filter = GrantFilter { revoked: query.status.map(|status| status == GrantStatus::Revoked) };
    let read = |limit| app.journal().grants(&filter, query.cursor.as_ref(), limit);
    let list = view::page::show(limit(query.limit)?, read, async |row| {
        let session = app.driver.session(&row.session).await?;
        Ok(session.grants.get(&row.grant).map(|grant| view::session::grant(&row.session, grant)))
    });
    Ok(Json(list.await?))
}

/// Take a grant back.
///
/// From the next start on it holds no longer. Taking it back twice is the same as once.
#[utoipa::path(
    delete, path = "/v1/grants/{id}", tag = "sessions", operation_id = "revoke_grant",
    params(("id" = String, Path, example = "gra_01k6f0000000000000000000dd")),
    responses((status = 200, description = "The grant, revoked", body = Grant), Revokes),
    security(("operator" = []))
)]
pub(crate) async fn revoke(operator: Operator, Id(id): Id<GrantId>) -> Answer<Json<Grant>> {
    let Operator { app, actor } = operator;
    let row = app.journal().grant(&id).await?.ok_or_else(|| Refused::not_found("grant"))?;
    let (driver, grant) = (app.driver.clone(), id.clone());
    let of = row.session.clone();
    let session = detached(async move { driver.revoke(&of, &grant, actor).await }).await?;
    let grant = session.grants.get(&id).ok_or_else(|| Refused::not_found("grant"))?;
    Ok(Json(view::session::grant(&row.session, grant)))
}

/// The newest runs of a session. One without a run is not there.
pub(super) async fn known(app: &App, id: &SessionId, limit: usize) -> Answer<Vec<String>> {
    let filter = RunFilter { session: Some(id.clone()), ..RunFilter::default() };
    let Page { items, .. } = app.journal().runs(&filter, None, limit).await?;
    if items.is_empty() {
        return Err(Refused::not_found("session"));
    }
    Ok(items.into_iter().map(|row| row.run.to_string()).collect())
}
