//! Notifications for clients of the crew edge (contracts D4, D7), with a flat payload and a signature over its bytes.
//! In this file, *source system* means the earlier system whose clients use the crew edge.

use data_encoding::{BASE64, HEXLOWER};
use holdshort_core::interrupt::Outcome;
use holdshort_core::notice::Occasion;
use holdshort_core::time::Timestamp;
use serde_json::{Value, json};

use super::webhook;
use crate::channel::{Channel, Encoding};
use crate::message::{Message, risk_word};

/// URL path at which the crew edge accepts decisions.
const CALLBACK: &str = "/edges/crew/api/v1/webhooks/callback/";

pub fn body(message: &Message) -> Value {
    let notice = &message.notice;
    let review = review_id(message);
    let base = message.link.split_once("/inbox/").map_or("", |(base, _)| base);
    let mut body = json!({
        "event_type": event_type(message),
        "event_id": message.id,
        "timestamp": notice.at.to_string(),
        "task_id": notice.run,
        "review_id": review,
        "crew_name": notice.workflow,
        // If there is no summary, this field contains the title or the headline. The headline says only what kind of
        // request it is.
        "summary": message.title.clone().unwrap_or_else(|| message.headline()),
        "risk_level": risk_word(notice.risk),
        "status": status(message),
        "expires_at": notice.expires_at.map(|at| at.to_string()),
        "review_url": message.link,
        "callback_url": format!("{base}{CALLBACK}{review}"),
    });
    if !notice.by.is_empty() {
        body["reviewers"] = json!(notice.by);
    }
    body
}

/// Returns the id of the review in the format of the earlier system whose clients use the crew edge.
fn review_id(message: &Message) -> String {
    let id = message.notice.interrupt.as_str();
    format!("REV-{}", id.strip_prefix("int_").unwrap_or(id).to_ascii_uppercase())
}

/// Returns the event type of a notice for clients of the crew edge. The document of the earlier system defines only the
/// type of the first notice of a review. Holdshort defines the others.
fn event_type(message: &Message) -> &'static str {
    match (message.notice.occasion, message.notice.outcome) {
        (Occasion::Opened, _) => "compliance_review",
        (Occasion::Asked | Occasion::Reminded, _) => "compliance_review_reminder",
        (Occasion::Escalated, _) => "compliance_review_escalated",
        (Occasion::Expired, _) => "compliance_review_expired",
        (Occasion::Resolved, Some(Outcome::Approved | Outcome::Answered)) => "compliance_review_approved",
        (Occasion::Resolved, Some(Outcome::Rejected)) => "compliance_review_rejected",
        // A notice about a review never has the occasion `Checkpoint`.
        (Occasion::Resolved | Occasion::Checkpoint, _) => "compliance_review_cancelled",
    }
}

fn status(message: &Message) -> &'static str {
    match event_type(message) {
        "compliance_review_approved" => "APPROVED",
        "compliance_review_rejected" => "REJECTED",
        "compliance_review_expired" => "EXPIRED",
        "compliance_review_cancelled" => "CANCELLED",
        _ => "PENDING",
    }
}

/// Returns the headers of Standard Webhooks, and those of the earlier system. There, `X-Webhook-ID` is the id of the
/// webhook, and `X-Event-ID` is the id of the event.
pub(super) fn headers(
    channel: &Channel,
    message: &Message,
    body: &[u8],
    now: Timestamp,
) -> Vec<(String, String)> {
    const OWN: [&str; 4] = ["X-Webhook-ID", "X-Event-Type", "X-Event-ID", "X-Webhook-Signature"];
    let mut headers = webhook::headers(&channel.secrets, message, body, now);
    headers.retain(|(name, _)| !OWN.contains(&name.as_str()));
    let mut put = |name: &str, value: String| headers.push((name.to_owned(), value));
    put(OWN[0], channel.definition.name.clone());
    put(OWN[1], event_type(message).to_owned());
    put(OWN[2], message.id.clone());
    if let Some(secret) = channel.secrets.first() {
        let signature = secret.digest_of_body(body);
        let encoded = match channel.encoding {
            Encoding::Hex => HEXLOWER.encode(&signature),
            Encoding::Base64 => BASE64.encode(&signature),
        };
        put(OWN[3], encoded);
    }
    headers
}
