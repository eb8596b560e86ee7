//! Messages for Slack, made of blocks, with a button that opens the page of the interrupt.
//!
//! Text that an agent or a person wrote is in elements of the type `plain_text`. In these elements, Slack does not
//! interpret mentions, links or formatting.

use serde_json::{Value, json};

use crate::limits::BUTTONS;
use crate::message::{Button, Message, Several, Tone};
use crate::slack::{Call, SlackMessageRef};

pub(super) fn body(message: &Message) -> Value {
    let headline = message.headline();
    let mut blocks = vec![json!({"type": "section", "text": plain(&headline)})];
    if let Some(title) = message.quoted() {
        blocks.push(json!({"type": "section", "text": plain(&title)}));
    }
    let facts = message.facts().into_iter().map(|(label, value)| plain(&format!("{label}: {value}")));
    blocks.push(json!({"type": "context", "elements": facts.collect::<Vec<_>>()}));
    let mut elements: Vec<Value> = (0..).zip(message.buttons.iter().take(BUTTONS)).map(button).collect();
    elements.push(json!({
        "type": "button",
        "action_id": "open",
        "text": plain(message.action()),
        "url": message.page(),
    }));
    blocks.push(json!({"type": "actions", "elements": elements}));
    // `text` is the text of Slack's own notification. Slack interprets formatting in it, so it contains no text from
    // agents or people.
    json!({"text": escaped(&headline), "blocks": blocks})
}

/// Renders a button of a Slack message. The action id of each button is unique within the message.
fn button((n, button): (usize, &Button)) -> Value {
    let mut drawn = json!({
        "type": "button",
        "action_id": format!("decide-{n}"),
        "text": plain(&button.label),
        "value": button.value,
    });
    match button.tone {
        Tone::Go => drawn["style"] = "primary".into(),
        Tone::Stop => drawn["style"] = "danger".into(),
        Tone::Other => {}
    }
    drawn
}

/// Returns the Slack API calls that show a message about an interrupt. The calls update all earlier messages about the
/// interrupt, or post a new message if there are none.
pub(super) fn calls(message: &Message, conversation: &str) -> Vec<Call> {
    let mut body = body(message);
    if message.posted.is_empty() {
        return vec![post(body, conversation)];
    }
    let update = |posted: &SlackMessageRef| {
        body["channel"] = posted.conversation.as_str().into();
        body["ts"] = posted.ts.as_str().into();
        Call { method: "chat.update", body: body.clone() }
    };
    message.posted.iter().map(update).collect()
}

pub(super) fn post(mut body: Value, conversation: &str) -> Call {
    body["channel"] = conversation.into();
    body["unfurl_links"] = false.into();
    Call { method: "chat.postMessage", body }
}

pub(super) fn several(several: Several<'_>) -> Value {
    let headline = several.headline();
    let mut blocks = vec![json!({"type": "section", "text": plain(&headline)})];
    for message in several.listed() {
        blocks.push(json!({"type": "section", "text": plain(&message.entry()), "accessory": {
            "type": "button",
            "action_id": format!("open-{}", message.id),
            "text": plain(message.action()),
            "url": message.page(),
        }}));
    }
    blocks.extend(several.not_listed().map(|more| json!({"type": "section", "text": plain(&more)})));
    json!({"text": escaped(&headline), "blocks": blocks})
}

fn plain(text: &str) -> Value {
    json!({"type": "plain_text", "text": text, "emoji": false})
}

/// Escapes the three characters of a text to which Slack gives a special meaning.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
