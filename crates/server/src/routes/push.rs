//! Browsers that receive notifications of the channels of the type `push`. Callers can read and change only the
//! subscriptions of their own browsers.

use axum::Json;
use axum::http::StatusCode;
use holdshort_core::id::PushId;
use holdshort_core::system::System;
use holdshort_core::system::push::Subscribed;
use holdshort_protocol::{PushSubscription, PushSubscriptions, SubscribePush};
use holdshort_web::auth::Caller;
use holdshort_web::body::Body;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::push::Push;
use holdshort_web::query::Id;

use crate::openapi::{Invites, Leaves, Reads};

/// Subscribe a browser to notifications.
///
/// The browser then notifies you of questions for you, and of their results. The channels of the type `push` define
/// which notifications are sent. If you subscribe an endpoint again, the new keys replace its previous keys. An
/// endpoint belongs to the person who subscribed it last. If you have more than ten browsers, your oldest subscription
/// is deleted. A subscription ends when the push service reports that the browser is gone, when you sign out
/// everywhere, or when an admin removes you.
#[utoipa::path(
    post, path = "/v1/me/push", tag = "channels", operation_id = "subscribe_push",
    request_body = SubscribePush,
    responses((status = 201, description = "The browser", body = PushSubscription), Invites)
)]
pub(crate) async fn subscribe(caller: Caller, body: Body) -> Answer<(StatusCode, Json<PushSubscription>)> {
    let new: SubscribePush = body.json().await?;
    let Caller { app, actor, .. } = caller;
    let (id, system) = Push::subscribe(&app, new, actor).await?;
    let known = system.push.get(&id).ok_or_else(|| Refused::not_found("browser of yours"))?;
    Ok((StatusCode::CREATED, Json(render_subscription(&id, known))))
}

/// List the browsers that you have subscribed.
#[utoipa::path(
    get, path = "/v1/me/push", tag = "channels", operation_id = "list_push",
    responses((status = 200, description = "All subscribed browsers of the caller", body = PushSubscriptions), Reads)
)]
pub(crate) async fn list(caller: Caller) -> Answer<Json<PushSubscriptions>> {
    let Caller { app, actor, .. } = caller;
    let system = app.driver.system().await?;
    let key = app.push.key(&app.driver.channels());
    Ok(Json(PushSubscriptions { key, items: all(&system, &actor.id) }))
}

/// Unsubscribe a browser from notifications.
#[utoipa::path(
    delete, path = "/v1/me/push/{id}", tag = "channels", operation_id = "unsubscribe_push",
    params(("id" = String, Path, example = "psh_01k6f0000000000000000000aa")),
    responses((status = 204, description = "The browser gets no more notifications"), Leaves)
)]
pub(crate) async fn unsubscribe(caller: Caller, Id(id): Id<PushId>) -> Answer<StatusCode> {
    let Caller { app, actor, .. } = caller;
    Push::unsubscribe(&app, id, actor).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn all(system: &System, person: &str) -> Vec<PushSubscription> {
    system.push_of(person).map(|(id, known)| render_subscription(id, known)).collect()
}

fn render_subscription(id: &PushId, known: &Subscribed) -> PushSubscription {
    PushSubscription {
        id: id.to_string(),
        host: known.is.host.clone(),
        endpoint_sha256: known.is.endpoint.to_string(),
        since: known.at.to_string(),
    }
}
