//! Decision links, with which a person decides on one interrupt without signing in.

use axum::Json;
use axum::http::StatusCode;
use holdshort_core::id::InterruptId;
use holdshort_protocol::{Code, InterruptStatus, Link, LinkRequest};
use holdshort_web::auth::Caller;
use holdshort_web::body::{Body, read_strict};
use holdshort_web::identity::AuthMethod;
use holdshort_web::limits::{LINK_DEFAULT_MS, LINK_MS};
use holdshort_web::links::Claim;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::Id;
use holdshort_web::{decide, view};

use crate::openapi::Links;

/// Create a decision link.
///
/// The link opens a page that shows the interrupt. Opening the link decides nothing: a person decides with the form on
/// the page. Anyone who has the link can decide in the name of the person who created it. The link is valid only for
/// the action that the interrupt shows now. The link becomes invalid when the interrupt is resolved.
#[utoipa::path(
    post, path = "/v1/interrupts/{id}/links", tag = "interrupts", operation_id = "make_decision_link",
    params(("id" = String, Path, example = "int_01k6f0000000000000000000cc")),
    request_body(content = Option<LinkRequest>, description = "Optional"),
    responses((status = 201, description = "The link", body = Link), Links)
)]
pub(crate) async fn make(
    caller: Caller,
    Id(id): Id<InterruptId>,
    body: Body,
) -> Answer<(StatusCode, Json<Link>)> {
    let reader = caller.reader().await?;
    let Caller { app, actor, principal, .. } = caller;
    let key = if let AuthMethod::Key(id) = &principal.how { Some(id.clone()) } else { None };
    let asked = app.find_interrupt(&id).await?;
    let request: LinkRequest =
        body.optional().await?.map(|value| read_strict(&value)).transpose()?.unwrap_or_default();
    let ms = request.expires_in_ms.unwrap_or(LINK_DEFAULT_MS);
    if !(1..=LINK_MS).contains(&ms) {
        let rule = format!("must be between 1 and {LINK_MS}, 30 days");
        return Err(Refused::invalid_at("/expires_in_ms", rule));
    }
    let interrupt = view::now::interrupt(&app, &asked, &reader).await?;
    if interrupt.status == InterruptStatus::Resolved {
        return Err(
            decide::add_resolution(&app, &asked, &reader, Refused::from_code(Code::AlreadyResolved)).await?
        );
    }
    let now = app.now();
    let seq = Some(app.driver.system().await?.seq);
    let expires_at = now.plus_ms(ms);
    let subject = view::interrupt::subject_digest(&app, &asked).await?;
    let claim = Claim {
        interrupt: id,
        person: actor.id,
        subject,
        expires_at,
        key,
        made_at: Some(now),
        seq,
        mailed: None,
        option: None,
        there: None,
        let_in_by: actor.let_in_by,
    };
    let url = format!("{}/d/{}", app.base, app.links.token(&claim));
    Ok((StatusCode::CREATED, Json(Link { url, expires_at: expires_at.to_string() })))
}
