//! Push messages for browsers, with the headers that the push service reads. The service worker of the web app reads
//! the payload (`ui/public/sw.js`).

use holdshort_core::level::Level;
use holdshort_core::time::Timestamp;
use serde_json::{Value, json};

use crate::limits::{PUSH_BODY_CHARS, PUSH_TITLE_CHARS, PUSH_TTL, PUSH_TTL_LEAST};
use crate::message::{Message, Several, line};

/// Payload of a push message before it is encrypted, with the headers for the push service.
pub(crate) struct Push {
    pub(crate) payload: Value,
    /// Topic of the push message. Of several waiting messages with the same topic, the push service delivers only the
    /// last.
    pub(crate) topic: Option<String>,
    pub(crate) urgency: &'static str,
    /// Time for which the push service keeps the push message while the browser is offline.
    pub(crate) ttl_seconds: u64,
}

pub(super) fn push(message: &Message, now: Timestamp) -> Push {
    let mut facts = message.facts();
    // The last fact is the id of the interrupt. It is left out, because people cannot use it and the link contains it.
    facts.pop();
    let title = message.quoted().into_iter();
    let lines = title.chain(facts.into_iter().map(|(label, value)| format!("{label}: {value}")));
    let topic = message.notice.interrupt.to_string();
    Push {
        payload: payload(&message.headline(), lines.collect(), &message.link, &topic),
        topic: Some(topic),
        urgency: urgency(message),
        ttl_seconds: ttl(message, now),
    }
}

pub(super) fn several(several: Several<'_>, now: Timestamp) -> Push {
    let tag = several.messages.first().map(|message| message.id.clone()).unwrap_or_default();
    let is_high = several.messages.iter().any(|message| urgency(message) == HIGH);
    Push {
        payload: payload(&several.headline(), several.lines(), several.inbox, &tag),
        topic: None,
        urgency: if is_high { HIGH } else { NORMAL },
        ttl_seconds: several.messages.iter().map(|message| ttl(message, now)).max().unwrap_or_default(),
    }
}

/// Builds the payload of a browser notification. A later notification with the same `tag` replaces a shown one.
fn payload(title: &str, lines: Vec<String>, url: &str, tag: &str) -> Value {
    let mut body = String::new();
    let mut left = PUSH_BODY_CHARS;
    for each in lines {
        let each = line(&each, left);
        left = left.saturating_sub(each.chars().count() + 1);
        if !body.is_empty() && !each.is_empty() {
            body.push('\n');
        }
        body.push_str(&each);
        if left == 0 {
            break;
        }
    }
    json!({"title": line(title, PUSH_TITLE_CHARS), "body": body, "url": url, "tag": tag})
}

/// Values of the header `Urgency` of a push message (RFC 8030, 5.3). A message with the urgency `high` is delivered
/// even to a device that is saving battery power.
const HIGH: &str = "high";
const NORMAL: &str = "normal";

fn urgency(message: &Message) -> &'static str {
    let is_high = match message.notice.risk {
        Level::Low | Level::Medium => false,
        Level::High | Level::Critical => true,
    };
    if is_high && message.notice.occasion.asks() { HIGH } else { NORMAL }
}

/// Returns the seconds for which the push service keeps the push message. A message that asks for a decision is kept
/// only until the interrupt expires.
fn ttl(message: &Message, now: Timestamp) -> u64 {
    let asks = message.notice.occasion.asks();
    let ends = message.notice.expires_at.filter(|_| asks).map(|at| at.ms_since(now) / 1_000);
    ends.unwrap_or(PUSH_TTL.as_secs()).clamp(PUSH_TTL_LEAST.as_secs(), PUSH_TTL.as_secs())
}
