//! Notifications for a topic of an ntfy server. A message is published as JSON, at the root URL of the server. The
//! headers of ntfy are not used, because they accept only ASCII.

use holdshort_core::level::Level;
use reqwest::Url;
use serde_json::{Value, json};

use crate::limits::NTFY_BYTES;
use crate::message::{Message, Several};

/// Returns the root URL of the ntfy server: the channel's URL without its last path segment, which is the topic.
pub(super) fn server(url: &Url) -> Url {
    let mut server = url.clone();
    server.set_path(&format!("{}/", split(url).0));
    server
}

pub(super) fn body(url: &Url, message: &Message) -> Value {
    let mut lines: Vec<String> = message.quoted().into_iter().collect();
    lines.extend(message.facts().into_iter().map(|(label, value)| format!("{label}: {value}")));
    json!({
        "topic": split(url).1,
        "title": message.headline(),
        "message": lines.join("\n"),
        "click": message.page(),
        "priority": priority(message),
    })
}

pub(super) fn several(url: &Url, several: Several<'_>) -> Value {
    json!({
        "topic": split(url).1,
        "title": several.headline(),
        "message": several.lines_within(NTFY_BYTES).join("\n"),
        "click": several.inbox,
        "priority": several.messages.iter().map(priority).max().unwrap_or(3),
    })
}

/// Splits the path of an ntfy channel's URL into the path of the server and the topic.
fn split(url: &Url) -> (&str, &str) {
    let path = url.path().trim_end_matches('/');
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Returns the priority with which ntfy shows the message, from 1 to 5 (3 is normal).
fn priority(message: &Message) -> u8 {
    if !message.notice.occasion.asks() {
        return 3;
    }
    match message.notice.risk {
        Level::Low | Level::Medium => 3,
        Level::High => 4,
        Level::Critical => 5,
    }
}
