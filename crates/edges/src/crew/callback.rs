//! `/webhooks/callback/{review_id}`: accepts a decision that a reviewer makes from a notification (contract E18).
//!
//! The caller authenticates either with a token, as for `/crew/resume`, or with a link. The token in the link is
//! sealed, and it is valid for one person, one review and one decision only. The link is valid until its expiry or
//! until the review is resolved. A GET request only redirects to the page of the review, and the form on this page
//! sends the decision. A mail scanner that opens the link therefore decides nothing.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::{Extension, Json};
use holdshort_core::id::RunId;
use holdshort_core::interrupt::Kind;
use holdshort_protocol::{Code, InterruptStatus};
use holdshort_web::auth::{AuthState, Caller, LinkBearer};
use holdshort_web::body::{Body, read_strict};
use holdshort_web::identity::AuthMethod;
use holdshort_web::links::Claim;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, Params};
use holdshort_web::view;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::guest::Guest;
use super::ids::ReviewId;
use super::rate::Counted;
use super::resume::{self, DecidingPrincipal, Status};
use super::{Crew, refusals, review, task};
use crate::limits::CREW_LINK_MS;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    link: Option<String>,
    #[expect(dead_code, reason = "read during authentication")]
    token: Option<String>,
}

/// Returns the caller and the query of a review request. Rejects a caller without credentials before the query is
/// checked, because existing clients expect a 401 whatever the query is (contract D10).
fn check_credentials(
    guest: Result<Guest, Refused>,
    query: Result<Params<Query>, Refused>,
) -> Answer<(Result<Guest, Refused>, Query)> {
    match (guest, query) {
        (guest @ Err(_), Ok(Params(query))) if query.link.is_some() => Ok((guest, query)),
        (Err(refused), _) => Err(refused),
        (Ok(guest), Ok(Params(query))) => Ok((Ok(guest), query)),
        (Ok(guest), Err(refused)) => {
            // The permission is also checked before the query.
            guest.authorize()?;
            Err(refused)
        }
    }
}

pub(super) fn parse_review(id: &str) -> Answer<ReviewId> {
    id.parse().map_err(|_| refusals::no_review(id))
}

/// `GET` of a review: redirects a caller with a link to the decision page. Returns the review as JSON to a caller with
/// a token.
pub(super) async fn show(
    State(auth): State<AuthState>,
    guest: Result<Guest, Refused>,
    Id(id): Id<String>,
    query: Result<Params<Query>, Refused>,
) -> Answer<Response> {
    let (guest, query) = check_credentials(guest, query)?;
    if let Some(link) = query.link {
        let id = parse_review(&id)?;
        read_decision_link(&auth, &link, &id).await?;
        return Ok(Redirect::to(&format!("/d/{link}")).into_response());
    }
    let (caller, id) = (guest?.authorize()?, parse_review(&id)?);
    let run = caller.app.run_now(&reviewed(&caller, &id).await?).await?;
    Ok(Json(review::render_for_caller(&caller, &run, &id.0).await?).into_response())
}

/// Reads a link that this server made for a review and that is bound to one decision. Rejects a link that opens a
/// decision page, because that page shows the review and asks the person to confirm the decision.
async fn read_decision_link(auth: &AuthState, link: &str, id: &ReviewId) -> Answer<(LinkBearer, Status)> {
    let holder = auth.authenticate_link(link).await?;
    let is_ours = holder.asked.interrupt == id.0 && holder.once.is_none();
    let status = holder.option.as_deref().filter(|_| is_ours).and_then(Status::of_option);
    Ok((holder, status.ok_or_else(|| refusals::no_review(&id.to_string()))?))
}

/// Returns the id of the task that a review belongs to. Rejects the id of an interrupt that is not a review.
pub(super) async fn reviewed(caller: &Caller, id: &ReviewId) -> Answer<RunId> {
    let none = || refusals::no_review(&id.to_string());
    let row = caller.app.interrupt_row(&id.0).await.map_err(|_| none())?;
    let run = caller.app.run_row(&row.run).await?;
    if row.kind == Kind::Review && task::is_task(&run) { Ok(row.run) } else { Err(none()) }
}

/// `POST` to a review: decides on the review. If the caller has a link, a decision in the body must equal the link's
/// decision.
pub(super) async fn decide(
    State(auth): State<AuthState>,
    guest: Result<Guest, Refused>,
    Extension(crew): Extension<Arc<Crew>>,
    Id(id): Id<String>,
    query: Result<Params<Query>, Refused>,
    headers: HeaderMap,
    body: Body,
) -> Answer<Response> {
    let (guest, query) = check_credentials(guest, query)?;
    let id = parse_review(&id);
    let Some(link) = query.link else {
        let (caller, id) = (guest?.authorize()?, id?);
        let answer = async {
            let run = caller.app.run_now(&reviewed(&caller, &id).await?).await?;
            let said = resume::read(body).await?;
            same(said.review_id.as_ref(), &id)?;
            to_response(resume::decide(&caller, &run, &id.0, &said).await, &run.id, &id)
        };
        return Ok(Box::pin(crew.limits.within(Counted::Resume, &caller, answer)).await);
    };
    let id = id?;
    let (holder, bound) = read_decision_link(&auth, &link, &id).await?;
    auth.count_decision(&holder.actor)?;
    let (who, now) = (format!("with a link of {}", holder.actor.id), holder.app.now().as_millis());
    let is_service = holder.app.links.claim(&link).is_some_and(|claim| claim.key.is_some());
    let answer = by_link(&holder, is_service, bound, &id, &headers, body);
    Ok(Box::pin(crew.limits.within_for_name(Counted::Resume, &who, now, answer)).await)
}

/// Body of a request in which a caller with a link decides on a review. Unknown members, which existing clients send,
/// are ignored. The link names the person who decides. `reviewer` has the same meaning as in a decision with a token
/// (contract E29).
#[derive(Default, Deserialize)]
struct WithLink {
    #[serde(default)]
    status: Option<Status>,
    #[serde(default)]
    reviewer: Option<String>,
    #[serde(default)]
    comments: Option<String>,
    #[serde(default, alias = "reviewId")]
    review_id: Option<ReviewId>,
    #[serde(flatten)]
    _more: Map<String, Value>,
}

/// Decides on a review with a link. `bound` is the decision in the link. `is_service` is true if a service made the
/// link with its API key.
async fn by_link(
    holder: &LinkBearer,
    is_service: bool,
    bound: Status,
    id: &ReviewId,
    headers: &HeaderMap,
    body: Body,
) -> Answer<Json<Value>> {
    let LinkBearer { app, actor, asked, .. } = holder;
    let is_form = headers
        .get(axum::http::header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
    let WithLink { status, reviewer, comments, review_id, .. } = if is_form {
        body.form().await?
    } else {
        body.optional().await?.map(|value| read_strict(&value)).transpose()?.unwrap_or_default()
    };
    if status.is_some_and(|said| said != bound) {
        return Err(Refused::invalid_at("/status", "differs from the decision of the link"));
    }
    same(review_id.as_ref(), id)?;
    resume::is_name(reviewer.as_deref())?;
    let who = DecidingPrincipal { id: &actor.id, names: Vec::new(), is_service };
    let named = resume::on_behalf_of(app, &who, reviewer.as_deref()).await?;
    let run = app.run_now(&asked.run).await?;
    let answer = resume::decide_as(app, actor, &run, &id.0, bound, comments.as_deref(), named).await;
    to_response(answer, &run.id, id)
}

/// Rejects a request body that names a different review than the URL.
fn same(named: Option<&ReviewId>, id: &ReviewId) -> Answer<()> {
    match named {
        Some(named) if named != id => {
            Err(Refused::invalid_at("/review_id", "differs from the review in the URL"))
        }
        Some(_) | None => Ok(()),
    }
}

/// Converts the error about a late decision on a review to a 200 response with `success: false` (contract D7).
fn to_response(answer: Answer<Value>, task: &RunId, id: &ReviewId) -> Answer<Json<Value>> {
    match answer {
        Err(refused) if refused.code() == Code::Expired => Ok(Json(json!({
            "success": false,
            "task_id": task.as_str(),
            "review_id": id.to_string(),
            "status": "expired",
            "message": format!("Review {id} has expired without a decision, so the task has failed"),
        }))),
        answer => answer.map(Json),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkRequest {
    decision: String,
    #[serde(default)]
    expires_in_ms: Option<u64>,
}

/// `POST …/links`: makes a link with which the caller can make one decision on a review.
pub(super) async fn make(guest: Guest, Id(id): Id<String>, body: Body) -> Answer<(StatusCode, Json<Value>)> {
    let caller = guest.authorize()?;
    let id = parse_review(&id)?;
    let app = &caller.app;
    reviewed(&caller, &id).await?;
    let LinkRequest { decision, expires_in_ms } = body.json().await?;
    let Some(status) = Status::parse(&decision) else {
        return Err(Refused::invalid_at("/decision", "is not `approved` or `rejected`"));
    };
    let ms = expires_in_ms.unwrap_or(CREW_LINK_MS);
    if !(1..=CREW_LINK_MS).contains(&ms) {
        return Err(Refused::invalid_at(
            "/expires_in_ms",
            format!("is not between 1 and {CREW_LINK_MS} (7 days)"),
        ));
    }
    let asked = app.find_interrupt(&id.0).await?;
    let interrupt = view::now::interrupt(app, &asked, &caller.reader().await?).await?;
    if interrupt.status == InterruptStatus::Resolved {
        return Err(Refused::from_code(Code::AlreadyResolved));
    }
    let now = app.now();
    // The link must not outlive the review.
    let until = interrupt.expires_at.as_deref().and_then(|at| at.parse().ok());
    let expires_at = until.map_or(now.plus_ms(ms), |until| now.plus_ms(ms).min(until));
    let claim = Claim {
        interrupt: id.0.clone(),
        person: caller.actor.id.clone(),
        subject: view::interrupt::subject_digest(app, &asked).await?,
        expires_at,
        key: if let AuthMethod::Key(key) = &caller.principal.how { Some(key.clone()) } else { None },
        made_at: Some(now),
        seq: Some(app.driver.system().await?.seq),
        mailed: None,
        option: Some(status.option().to_owned()),
        there: None,
        let_in_by: caller.actor.let_in_by.clone(),
    };
    let link = app.links.token(&claim);
    let url = format!("{}/edges/crew/api/v1/webhooks/callback/{id}?link={link}", app.base);
    let made = json!({
        "success": true,
        "review_id": id.to_string(),
        "decision": decision,
        "url": url,
        "expires_at": expires_at.to_string(),
    });
    Ok((StatusCode::CREATED, Json(made)))
}
