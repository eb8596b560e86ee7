//! An incoming webhook of Slack: blocks with a button that leads to the page.
//!
//! Everything that is not ours stands in plain text: no mention, no link and no format of Slack is read there.

use serde_json::{Value, json};

use crate::message::{Message, Several};

pub(super) fn body(message: &Message) -> Value {
    let headline = message.headline();
    let mut blocks = vec![json!({"type": "section", "text": plain(&headline)})];
    if let Some(title) = &message.title {
        blocks.push(json!({"type": "section", "text": plain(&format!("“{title}”"))}));
    }
    let facts = message.facts().into_iter().map(|(label, value)| plain(&format!("{label}: {value}")));
    blocks.push(json!({"type": "context", "elements": facts.collect::<Vec<_>>()}));
    blocks.push(json!({"type": "actions", "elements": [{
        "type": "button",
        "action_id": "open",
        "text": plain(message.action()),
        "url": message.link,
    }]}));
    // What a notification shows. Slack reads formats in it, so it holds what is ours alone.
    json!({"text": escaped(&headline), "blocks": blocks})
}

pub(super) fn several(several: Several<'_>) -> Value {
    let headline = several.headline();
    let mut blocks = vec![json!({"type": "section", "text": plain(&headline)})];
    for message in several.listed() {
        blocks.push(json!({"type": "section", "text": plain(&message.entry()), "accessory": {
            "type": "button",
            "action_id": format!("open-{}", message.id),
            "text": plain(message.action()),
            "url": message.link,
        }}));
    }
    blocks.extend(several.not_listed().map(|more| json!({"type": "section", "text": plain(&more)})));
    json!({"text": escaped(&headline), "blocks": blocks})
}

fn plain(text: &str) -> Value {
    json!({"type": "plain_text", "text": text, "emoji": false})
}

/// The three characters that Slack reads.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
