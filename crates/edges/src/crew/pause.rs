//! `POST /crew/pause/{task_id}`: a service pauses a task until a person has reviewed the findings (contracts D2, E35).

use std::sync::Arc;

use axum::{Extension, Json};
use holdshort_core::digest::Digest;
use holdshort_core::level::Level;
use holdshort_core::limits::TITLE_BYTES;
use holdshort_core::run::{Hold, Input};
use holdshort_protocol::Code;
use holdshort_web::auth::Caller;
use holdshort_web::body::{Body, read_strict};
use holdshort_web::identity::AuthMethod;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::Id;
use serde::Deserialize;
use serde_json::{Value, json};

use super::guest::Guest;
use super::{Crew, refusals, task};
use crate::limits::CREW_TITLE_CHARS;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PauseRequest {
    findings: Value,
    risk_level: String,
    #[serde(default)]
    regulatory_implications: Vec<String>,
    #[serde(default)]
    details: Option<Value>,
}

pub(super) async fn pause(
    guest: Guest,
    Id(id): Id<String>,
    Extension(crew): Extension<Arc<Crew>>,
    body: Body,
) -> Answer<Json<Value>> {
    let caller = service(guest)?;
    let app = caller.app.clone();
    let id = task::resolve_id(&app, &id).await?;
    let value = body.value().await?;
    let asked: PauseRequest = read_strict(&value)?;
    let hold = hold(asked, &crew)?;
    let already = |review: String| {
        json!({
            "success": false,
            "task_id": id.as_str(),
            "status": "paused",
            "message": format!(
                "Task '{id}' is already paused: your findings were added to its review as a comment"
            ),
            "review_id": review,
        })
    };
    let now = app.run_now(&id).await?;
    let before = now.open_review().map(task::review_id);
    // The findings are compared by digest, because the journal normalizes the order of keys and the spelling of
    // numbers.
    let found = Digest::of_json(&hold.payload);
    let sent = app.send(&id, Input::Hold(Box::new(hold)), caller.actor.clone()).await;
    let run = match sent {
        Ok(run) => run,
        Err(error) => {
            let refused = translate_error(error.into());
            // The state is read again, because the task may have ended in between.
            return Err(match refused.code() {
                Code::RunEnded => refusals::has_ended(
                    id.as_str(),
                    &task::State::from_run(&*app.run_now(&id).await?).lower(),
                ),
                _ => refused,
            });
        }
    };
    let open = run.open_review().map(task::review_id);
    if let Some(review) = before.filter(|before| open.as_ref() == Some(before)) {
        return Ok(Json(already(review)));
    }
    let Some(review) = task::last_review(&run) else { return Err(Refused::from_code(Code::Internal)) };
    if !review.is_open() {
        return Ok(Json(json!({
            "success": false,
            "task_id": id.as_str(),
            "status": "bypassed",
            "message": "HITL_ENABLED is false: the task continues, and the journal records this",
            "review_id": task::review_id(review),
        })));
    }
    // The open review may come from a different request, sent by this service or by a different service. In this case
    // the review shows the findings of that request.
    let is_ours = review.opened.agent.as_deref() == Some(&caller.actor.id)
        && review.content.get("payload").map(Digest::of_json) == Some(found);
    if !is_ours {
        return Ok(Json(already(task::review_id(review))));
    }
    Ok(Json(json!({
        "success": true,
        "task_id": id.as_str(),
        "status": "paused",
        "message": task::waits_for(&run),
        "review_id": task::review_id(review),
        "expires_at": review.opened.expires_at.map(|at| at.to_string()),
    })))
}

/// Converts the field paths of an error about a pause to the client's field names. The whole request body is stored as
/// the findings. If a review of the task is already open, the findings are added to this review as a comment.
fn translate_error(refused: Refused) -> Refused {
    if refused.code() == Code::LimitReached {
        let why = "the review of the task has the maximum number of comments: decide on the review first";
        return Refused::new(Code::LimitReached, why);
    }
    refused.map_field_errors(|error| {
        if error.pointer == "/payload" {
            error.pointer.clear();
            error.message.insert_str(0, "the body ");
        }
    })
}

/// Returns the caller if it is a service: an agent, or a caller with an access key. Rejects people, whatever their role
/// (contract E35).
fn service(guest: Guest) -> Answer<Caller> {
    let refused = || {
        let why = "a task is paused only with a service token, not by a person";
        refusals::forbidden(Refused::new(Code::ForbiddenRole, why))
    };
    let caller = guest.authorize().map_err(|refused_as| {
        if refused_as.code() == Code::ForbiddenRole { refused() } else { refused_as }
    })?;
    let is_service = matches!(caller.principal.how, AuthMethod::Key(_)) || caller.principal.is_agent();
    if is_service { Ok(caller) } else { Err(refused()) }
}

fn hold(asked: PauseRequest, crew: &Crew) -> Answer<Hold> {
    let PauseRequest { findings, risk_level, regulatory_implications, details } = asked;
    if findings.is_boolean() || findings.is_number() {
        let rule = "is not a text, a list or an object: describe what to review";
        return Err(Refused::invalid_at("/findings", rule));
    }
    if !says_something(&findings) {
        return Err(Refused::invalid_at("/findings", "is empty: describe what to review"));
    }
    let risk = match risk_level.to_ascii_lowercase().as_str() {
        "low" => Level::Low,
        "medium" => Level::Medium,
        "high" => Level::High,
        "critical" => Level::Critical,
        _ => return Err(Refused::invalid_at("/risk_level", "is not one of low, medium, high, critical")),
    };
    let first = findings.as_str().and_then(|text| text.trim().lines().next()).unwrap_or_default();
    let title =
        if first.is_empty() { "Compliance review".to_owned() } else { format!("Compliance review: {first}") };
    let mut title: String = title.chars().take(CREW_TITLE_CHARS).collect();
    // A title within the limit of characters can still exceed the limit of bytes, because a character may need several
    // bytes.
    while title.len() > TITLE_BYTES {
        title.pop();
    }
    let mut payload = json!({
        "findings": findings,
        "risk_level": risk_level,
        "regulatory_implications": regulatory_implications,
    });
    if let Some(details) = details {
        payload["details"] = details;
    }
    let expires = u64::try_from(crew.settings.review_expiry.as_millis()).unwrap_or(u64::MAX);
    Ok(Hold { title, message: String::new(), payload, risk, expires_in_ms: Some(expires) })
}

/// Returns true if the findings that a service sent contain something that a person can review.
fn says_something(found: &Value) -> bool {
    match found {
        Value::Null => false,
        Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => items.iter().any(says_something),
        Value::Object(members) => members.values().any(says_something),
    }
}
