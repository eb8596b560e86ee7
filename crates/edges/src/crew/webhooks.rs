//! `/webhooks`: registers channels and reports their deliveries (contracts D4, D7).
//!
//! The engine's outbox (`engine/src/outbox`) decides what is sent, when a delivery is retried and when it fails. This
//! module only converts deliveries to the form of the source system.

use std::collections::BTreeMap;

use axum::Json;
use axum::http::StatusCode;
use holdshort_core::channel::is_own_header;
use holdshort_core::delivery::{Attempt, Delivery, DeliveryState};
use holdshort_core::id::{DeliveryId, RunId, WebhookId};
use holdshort_core::interrupt::Kind;
use holdshort_core::json;
use holdshort_core::limits::URL_CHARS;
use holdshort_core::notice::Notice;
use holdshort_core::system::webhooks::{Registered, Webhook, WebhookKind};
use holdshort_engine::outbox::review_summary;
use holdshort_notify::{LinkAccess, Message, crew_body};
use holdshort_protocol::Code;
use holdshort_protocol::pointer::escape;
use holdshort_store::{DeliveryFilter, Outbox};
use holdshort_web::app::App;
use holdshort_web::auth::Caller;
use holdshort_web::body::Body;
use holdshort_web::deliveries::{find_delivery, retry as retry_delivery};
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::Id;
use holdshort_web::webhooks::{New, WebhookDetails, Webhooks};
use serde::Deserialize;
use serde_json::{Value, json};

use super::guest::Guest;
use super::ids::ReviewId;
use super::{callback, refusals, review};
use crate::limits::{CREW_LIST, CREW_LISTED, CREW_WEBHOOK_BYTES, CREW_WEBHOOK_HEADERS};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RegisterRequest {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    secret: Option<String>,
    #[serde(default)]
    headers: Option<BTreeMap<String, String>>,
    #[serde(default)]
    active: Option<bool>,
}

/// `POST /webhooks/register`: registers a webhook to which notifications about reviews are sent.
pub(super) async fn register(guest: Guest, body: Body) -> Answer<(StatusCode, Json<Value>)> {
    let caller = guest.authorize()?;
    let asked: RegisterRequest = body.json().await?;
    let sent_secret = asked.secret.as_ref().is_some_and(|secret| !secret.is_empty());
    let new = checked(asked)?;
    let is_dropped = sent_secret && new.secret.is_none();
    let id = Webhooks::register(&caller.app, new, caller.actor.clone()).await?;
    let system = caller.app.driver.system().await?;
    let registered = system.webhooks.get(&id).ok_or_else(|| Refused::not_found("webhook"))?;
    let mut made = render_webhook(&caller.app, &id, registered).await?;
    made["success"] = true.into();
    made["message"] = if is_dropped {
        "the webhook receives reviews from now on; its secret is not stored, because only requests to a \
         custom_url are signed"
            .into()
    } else {
        "the webhook receives reviews from now on".into()
    };
    Ok((StatusCode::CREATED, Json(made)))
}

fn checked(asked: RegisterRequest) -> Answer<New> {
    let RegisterRequest { name, kind, url, secret, headers, active } = asked;
    let Some(kind) = WebhookKind::parse(&kind) else {
        let known: Vec<&str> = WebhookKind::ALL.iter().map(|kind| kind.as_str()).collect();
        return Err(Refused::invalid_at("/type", format!("is not one of {}", known.join(", "))));
    };
    let url = url.unwrap_or_default();
    if url.len() > URL_CHARS {
        return Err(Refused::invalid_at("/url", format!("is longer than {URL_CHARS} bytes")));
    }
    let (host, such_as) = match kind {
        WebhookKind::Email => (domain(&url), "is not an address such as `mailto:anna@example.org`"),
        WebhookKind::CustomUrl | WebhookKind::Slack | WebhookKind::Teams => {
            (host(&url), "is not a URL such as `https://example.org/hook`")
        }
    };
    let host = host.ok_or_else(|| Refused::invalid_at("/url", such_as))?;
    let secret = secret.filter(|secret| !secret.is_empty());
    if let Some(secret) = &secret
        && (secret.len() > CREW_WEBHOOK_BYTES || secret.chars().any(char::is_control))
    {
        return Err(Refused::invalid_at("/secret", "is too long, or contains control characters"));
    }
    // The secret signs only requests to a `custom_url`. For other types the secret is not stored, and the response says
    // so.
    let secret = secret.filter(|_| kind == WebhookKind::CustomUrl);
    let mut headers = headers.unwrap_or_default();
    // Clients of the source system send this header. The header is removed here, because Holdshort always sets
    // `content-type` itself.
    headers.retain(|name, value| {
        !(name.eq_ignore_ascii_case("content-type") && value.trim().eq_ignore_ascii_case("application/json"))
    });
    if kind == WebhookKind::Email && !headers.is_empty() {
        return Err(Refused::invalid_at("/headers", "cannot be set for mails: omit them for type `email`"));
    }
    if headers.len() > CREW_WEBHOOK_HEADERS {
        return Err(Refused::invalid_at("/headers", format!("has more than {CREW_WEBHOOK_HEADERS} headers")));
    }
    for (name, value) in &headers {
        let at = |why: &str| Refused::invalid_at(&format!("/headers/{}", escape(name)), why);
        let is_token = !name.is_empty()
            && name.len() <= 100
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_token {
            return Err(at("is not the name of a header"));
        }
        if is_own_header(name) {
            return Err(at("is set by Holdshort itself"));
        }
        if value.len() > CREW_WEBHOOK_BYTES || value.chars().any(|char| !(' '..='~').contains(&char)) {
            return Err(at("contains characters other than printable ASCII, or is too long"));
        }
    }
    let is = Webhook { name, kind, host, active: active.unwrap_or(true) };
    Ok(New { is, url, secret, headers })
}

/// Returns the host and port of a URL. No other part of the URL is ever included in a response.
fn host(url: &str) -> Option<String> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let authority = rest.split(['/', '\\', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    (!host.is_empty()).then(|| host.to_owned())
}

/// Returns the domain of an e-mail address. The part before the `@` is never included in a response.
fn domain(url: &str) -> Option<String> {
    let (_, domain) = url.strip_prefix("mailto:").unwrap_or(url).rsplit_once('@')?;
    (!domain.is_empty()).then(|| domain.to_owned())
}

/// Returns a webhook's URL with its secret components removed. `scheme` is `None` on a node that has not yet received
/// the webhook's secrets.
fn redact_url(kind: WebhookKind, scheme: Option<&str>, host: &str) -> String {
    if kind == WebhookKind::Email {
        return format!("mailto:…@{host}");
    }
    let scheme = scheme.map(|scheme| format!("{scheme}://")).unwrap_or_default();
    format!("{scheme}{host}/…")
}

/// Returns a webhook as JSON, without its secrets.
async fn render_webhook(app: &App, id: &WebhookId, registered: &Registered) -> Answer<Value> {
    let Registered { is, by, at } = registered;
    let states = app.journal().channel_states().await?;
    let state = states.iter().find(|state| state.channel == id.as_str());
    let WebhookDetails { scheme, headers, is_signed } = app.webhooks.details(id).await;
    Ok(json!({
        "webhook_id": id.as_str(),
        "id": id.as_str(),
        "name": is.name,
        "type": is.kind.as_str(),
        "url": redact_url(is.kind, scheme.as_deref(), &is.host),
        "host": is.host,
        "active": is.active,
        "has_secret": is_signed,
        "headers": headers,
        "created_at": at.to_string(),
        "created_by": by,
        "failing_since": state.map(|state| state.failing_since.to_string()),
        "disabled_at": state.and_then(|state| state.disabled_at).map(|at| at.to_string()),
    }))
}

/// `GET /webhooks`, `GET /webhooks/list`: lists all webhooks without their secrets.
pub(super) async fn list(guest: Guest) -> Answer<Json<Value>> {
    let app = guest.authorize()?.app;
    let system = app.driver.system().await?;
    let mut webhooks = Vec::new();
    for (id, registered) in &system.webhooks {
        webhooks.push(render_webhook(&app, id, registered).await?);
    }
    Ok(Json(json!({ "success": true, "count": webhooks.len(), "webhooks": webhooks })))
}

fn parse_webhook(id: &str) -> Answer<WebhookId> {
    id.parse().map_err(|_| refusals::no_webhook(id))
}

fn parse_delivery(id: &str) -> Answer<DeliveryId> {
    id.parse().map_err(|_| refusals::no_delivery(id))
}

/// `GET /webhooks/{webhook_id}`: returns one webhook without its secrets.
pub(super) async fn read(guest: Guest, Id(id): Id<String>) -> Answer<Json<Value>> {
    let app = guest.authorize()?.app;
    let id = parse_webhook(&id)?;
    let system = app.driver.system().await?;
    let registered = system.webhooks.get(&id).ok_or_else(|| refusals::no_webhook(id.as_str()))?;
    Ok(Json(render_webhook(&app, &id, registered).await?))
}

/// `DELETE /webhooks/{webhook_id}`: removes a webhook.
pub(super) async fn remove(guest: Guest, Id(id): Id<String>) -> Answer<Json<Value>> {
    let Caller { app, actor, .. } = guest.authorize()?;
    let id = parse_webhook(&id)?;
    let removed = Webhooks::remove(&app, id.clone(), actor).await;
    removed.map_err(|refused| match refused.code() {
        Code::NotFound => refusals::no_webhook(id.as_str()),
        _ => refused,
    })?;
    let message = "the webhook is removed; its pending deliveries are not sent";
    Ok(Json(json!({ "success": true, "webhook_id": id.as_str(), "id": id.as_str(), "message": message })))
}

/// Returns the status of a webhook delivery in the spelling that clients expect.
fn status(row: &Delivery) -> &'static str {
    match row.state {
        DeliveryState::Waiting if row.attempts == 0 => "PENDING",
        DeliveryState::Waiting => "RETRYING",
        DeliveryState::Delivered => "DELIVERED",
        DeliveryState::Failed | DeliveryState::Dropped => "FAILED",
    }
}

/// Returns the body that the webhook `custom_url` received (contract D7), made again from the stored notification. If
/// the notification is about an interrupt that is not a review, returns the notification itself. Returns `None` if this
/// notification has expired.
async fn payload(app: &App, row: &Delivery) -> Answer<Option<Value>> {
    let notice = json::from_slice::<Notice>(row.notice.as_bytes()).ok();
    let Some(notice) = notice.filter(|notice| notice.kind == Kind::Review) else {
        return Ok(serde_json::from_str(&row.notice).ok());
    };
    let is_webhook = row.channel.parse::<WebhookId>().is_ok() && app.webhooks.has_summaries();
    let summary = if is_webhook { review_summary(&app.driver, &row.interrupt).await? } else { None };
    Ok(Some(crew_body(&Message {
        id: row.delivery.to_string(),
        link: format!("{}/inbox/{}", app.base, row.interrupt),
        notice,
        title: summary,
        plain: None,
        way: LinkAccess::SignIn,
        reader: None,
        buttons: Vec::new(),
        posted: Vec::new(),
        resolution: None,
        approval: None,
    })))
}

async fn render_delivery(app: &App, row: &Delivery) -> Answer<Value> {
    let tried = app.journal().attempts(&row.delivery).await?;
    let last = tried.last();
    // A delivery that reports a checkpoint of the journal has neither a task nor a review.
    let (task, review) = row.subject().unzip();
    Ok(json!({
        "delivery_id": row.delivery.as_str(),
        "id": row.delivery.as_str(),
        "webhook_id": row.channel,
        "review_id": review.map(|review| ReviewId(review.clone()).to_string()),
        "task_id": task.map(RunId::as_str),
        "event": row.occasion.as_str(),
        "event_id": row.delivery.as_str(),
        "status": status(row),
        "payload": payload(app, row).await?,
        "attempts": row.attempts,
        "last_attempt": last.map(|attempt| attempt.at.to_string()),
        "next_attempt": row.next_at.map(|at| at.to_string()),
        "response_code": last.map_or(row.status, |attempt| attempt.status),
        "response_body": last.and_then(|attempt| attempt.answer.clone()),
        "error": row.error,
        "created_at": row.created_at.to_string(),
        "history": tried.iter().map(attempt).collect::<Vec<_>>(),
    }))
}

fn attempt(attempt: &Attempt) -> Value {
    json!({
        "number": attempt.number,
        "timestamp": attempt.at.to_string(),
        "took_ms": attempt.took_ms,
        "response_code": attempt.status,
        "error": attempt.error,
        "body_sha256": attempt.digest,
    })
}

/// `GET /webhooks/status/{review_id}`: returns the review and all deliveries of notifications about the review.
pub(super) async fn of_review(guest: Guest, Id(id): Id<String>) -> Answer<Json<Value>> {
    let caller = guest.authorize()?;
    let id = callback::parse_review(&id)?;
    let app = &caller.app;
    let run = app.run_now(&callback::reviewed(&caller, &id).await?).await?;
    let mut shown = review::render_for_caller(&caller, &run, &id.0).await?;
    let filter = DeliveryFilter { interrupt: Some(id.0.clone()), ..DeliveryFilter::default() };
    let (mut deliveries, mut cursor) = (Vec::new(), None);
    loop {
        let page = app.journal().deliveries(&filter, cursor.as_ref(), CREW_LIST).await?;
        for row in &page.items {
            deliveries.push(render_delivery(app, row).await?);
        }
        cursor = page.next;
        if cursor.is_none() || deliveries.len() >= CREW_LISTED {
            shown["count"] = deliveries.len().into();
            shown["deliveries"] = deliveries.into();
            return Ok(Json(shown));
        }
    }
}

/// `GET /webhooks/delivery/{delivery_id}`: returns one delivery of a notification.
pub(super) async fn delivery(guest: Guest, Id(id): Id<String>) -> Answer<Json<Value>> {
    let app = guest.authorize()?.app;
    let row = find(&app, &parse_delivery(&id)?).await?;
    render_delivery(&app, &row).await.map(Json)
}

/// Returns the delivery with this id. Returns an error in the words of the crew edge if there is none.
async fn find(app: &App, id: &DeliveryId) -> Answer<Delivery> {
    find_delivery(app, id).await.map_err(|refused| match refused.code() {
        Code::NotFound => refusals::no_delivery(id.as_str()),
        _ => refused,
    })
}

/// `POST /webhooks/retry/{delivery_id}`: retries a delivery immediately, and does not change its id. If the delivery
/// cannot be retried, nothing is changed. The response then has `success: false` and the reason (contract D10).
pub(super) async fn retry(guest: Guest, Id(id): Id<String>) -> Answer<Json<Value>> {
    let caller = guest.authorize()?;
    let id = parse_delivery(&id)?;
    find(&caller.app, &id).await?;
    let (row, why_not) = match retry_delivery(&caller, &id).await {
        Ok(row) => (row, None),
        Err(refused) if refused.code() == Code::NotRetriable => {
            (find(&caller.app, &id).await?, Some(refused.0.detail))
        }
        Err(refused) => return Err(refused),
    };
    let mut told = render_delivery(&caller.app, &row).await?;
    told["success"] = why_not.is_none().into();
    if let Some(why) = why_not {
        told["message"] = why.into();
    }
    Ok(Json(told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_url_its_host_is_told_and_nothing_that_lets_in() {
        let table = [
            ("https://hooks.example.org/T0/B0/secret", Some("hooks.example.org")),
            ("http://127.0.0.1:8080/hook?token=x", Some("127.0.0.1:8080")),
            ("https://user:pass@example.org/", Some("example.org")),
            (r"https://example.org\@other.example/", Some("example.org")),
            ("ftp://example.org/", None),
            ("https:///x", None),
            ("", None),
        ];
        for (url, expected) in table {
            assert_eq!(host(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn of_an_address_its_domain_is_told() {
        let table = [
            ("mailto:anna@example.org", Some("example.org")),
            ("anna@example.org", Some("example.org")),
            ("mailto:anna@", None),
            ("https://example.org", None),
            ("", None),
        ];
        for (url, expected) in table {
            assert_eq!(domain(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn a_url_is_shown_as_text_also_where_its_scheme_is_not_known() {
        let table = [
            (WebhookKind::Slack, Some("https"), "https://example.org/…"),
            (WebhookKind::Slack, None, "example.org/…"),
            (WebhookKind::Email, None, "mailto:…@example.org"),
        ];
        for (kind, scheme, shown) in table {
            assert_eq!(redact_url(kind, scheme, "example.org"), shown);
        }
    }
}
