//! Messages for Microsoft Teams, sent to a workflow of the type "When a Teams webhook request is received". Each
//! message is an adaptive card.
//!
//! All text is in elements of the type `TextRun`, because Microsoft Teams interprets Markdown in elements of the type
//! `TextBlock`.

use serde_json::{Value, json};

use crate::message::{Message, Several};

pub(super) fn body(message: &Message) -> Value {
    let mut body = vec![text(&message.headline(), "Bolder")];
    if let Some(title) = message.quoted() {
        body.push(text(&title, "Default"));
    }
    for (label, value) in message.facts() {
        body.push(text(&format!("{label}: {value}"), "Default"));
    }
    let app = message.plain.as_ref().map(|_| open(message.phrases().in_app, &message.link));
    let actions: Vec<Value> = std::iter::once(open(message.action(), message.page())).chain(app).collect();
    card(&body, &actions)
}

pub(super) fn several(several: Several<'_>) -> Value {
    let mut body = vec![text(&several.headline(), "Bolder")];
    body.extend(several.lines().iter().map(|line| text(line, "Default")));
    card(&body, &[open(several.phrases().inbox, several.inbox)])
}

fn card(body: &[Value], actions: &[Value]) -> Value {
    let card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
        "actions": actions,
    });
    json!({"type": "message", "attachments": [{
        "contentType": "application/vnd.microsoft.card.adaptive",
        "content": card,
    }]})
}

fn open(title: &str, link: &str) -> Value {
    json!({"type": "Action.OpenUrl", "title": title, "url": link})
}

fn text(text: &str, weight: &str) -> Value {
    json!({"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, "weight": weight}]})
}
