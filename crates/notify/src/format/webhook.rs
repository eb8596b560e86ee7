//! Messages that are sent as webhooks to any URL (Standard Webhooks 1.0.0). `docs/reference/webhooks.md` describes the
//! payload and contains test vectors.

use holdshort_core::notice::Notice;
use holdshort_core::time::Timestamp;
use serde_json::{Value, json};

use crate::message::{Message, risk_word};
use crate::sign::Secret;

pub(super) fn body(message: &Message) -> Value {
    let Notice {
        occasion: _,
        at,
        run,
        seq,
        session,
        workflow,
        interrupt,
        kind,
        risk,
        people,
        groups,
        operators,
        expires_at,
        outcome,
        by,
        told: _,
        to: _,
    } = &message.notice;
    let mut data = json!({
        "interrupt": interrupt,
        "run": run,
        "seq": seq,
        "session": session,
        "workflow": workflow,
        "kind": kind,
        "risk": risk_word(*risk),
        "people": people,
        "groups": groups,
        "url": message.link,
    });
    if *operators {
        data["operators"] = true.into();
    }
    if let Some(at) = expires_at {
        data["expires_at"] = at.to_string().into();
    }
    if let Some(outcome) = outcome {
        data["outcome"] = json!(outcome);
    }
    if !by.is_empty() {
        data["by"] = json!(by);
    }
    if let Some(title) = &message.title {
        data["title"] = title.as_str().into();
    }
    if let Some(resolution) = &message.resolution {
        data["status"] = "resolved".into();
        data["resolution"] = resolution.clone();
    }
    if let Some(approval) = &message.approval {
        data["approval"] = approval.clone();
    }
    json!({"type": kind_of(message), "timestamp": at.to_string(), "data": data})
}

/// Returns the type of the webhook's event, such as `interrupt.opened`.
fn kind_of(message: &Message) -> String {
    format!("interrupt.{}", message.notice.occasion.as_str())
}

/// Returns the headers of a webhook: those of Standard Webhooks, and further headers that source document 003 and the
/// system in it define.
pub(super) fn headers(
    secrets: &[Secret],
    message: &Message,
    body: &[u8],
    now: Timestamp,
) -> Vec<(String, String)> {
    let event = format!("{}/{}", message.notice.run, message.notice.seq);
    signed(secrets, &HeaderValues { id: &message.id, kind: &kind_of(message), event: &event }, body, now)
}

pub(super) struct HeaderValues<'t> {
    pub(super) id: &'t str,
    pub(super) kind: &'t str,
    /// Id of the event that the webhook's body describes.
    pub(super) event: &'t str,
}

pub(super) fn signed(
    secrets: &[Secret],
    told: &HeaderValues<'_>,
    body: &[u8],
    now: Timestamp,
) -> Vec<(String, String)> {
    let timestamp = now.as_millis().div_euclid(1_000);
    let signatures: Vec<String> =
        secrets.iter().map(|secret| secret.sign(told.id, timestamp, body)).collect();
    let mut headers = vec![
        ("webhook-id", told.id.to_owned()),
        ("webhook-timestamp", timestamp.to_string()),
        ("X-Webhook-ID", told.id.to_owned()),
        ("X-Webhook-Timestamp", timestamp.to_string()),
        ("X-Event-Type", told.kind.to_owned()),
        ("X-Event-ID", told.event.to_owned()),
    ];
    // Without a secret, the request has no signature header. An empty one would be wrong.
    headers.extend((!signatures.is_empty()).then(|| ("webhook-signature", signatures.join(" "))));
    headers.extend(secrets.first().map(|secret| ("X-Webhook-Signature", secret.sign_body(body))));
    headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
