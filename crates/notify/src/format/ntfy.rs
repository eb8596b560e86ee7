//! A topic of an ntfy server. It is published as JSON to the root of the server, where headers would take ASCII alone.

use holdshort_core::level::Level;
use reqwest::Url;
use serde_json::{Value, json};

use crate::limits::NTFY_BYTES;
use crate::message::{Message, Several};

/// The address of the server, and what is published. The topic is the last part of the URL's path.
pub(super) fn body(url: &Url, message: &Message) -> (Url, Value) {
    let (server, topic) = split(url);
    let mut lines: Vec<String> = message.quoted().into_iter().collect();
    lines.extend(message.facts().into_iter().map(|(label, value)| format!("{label}: {value}")));
    let body = json!({
        "topic": topic,
        "title": message.headline(),
        "message": lines.join("\n"),
        "click": message.page(),
        "priority": priority(message),
    });
    (server, body)
}

pub(super) fn several(url: &Url, several: Several<'_>) -> (Url, Value) {
    let (server, topic) = split(url);
    let body = json!({
        "topic": topic,
        "title": several.headline(),
        "message": several.lines_within(NTFY_BYTES).join("\n"),
        "click": several.inbox,
        "priority": several.messages.iter().map(priority).max().unwrap_or(3),
    });
    (server, body)
}

/// The address of the server, and the topic.
fn split(url: &Url) -> (Url, &str) {
    let path = url.path().trim_end_matches('/');
    let (before, topic) = path.rsplit_once('/').unwrap_or(("", path));
    let mut server = url.clone();
    server.set_path(&format!("{before}/"));
    (server, topic)
}

/// From 1 to 5; 3 is what a message has by default.
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
