//! The form in Slack. The form contains the card, as far as the reader is allowed to see it, and a text field. All
//! invisible characters are escaped with `plain` before the text is split into blocks.

use holdshort_protocol::{InspectedCall, Interrupt, Offer, Outcome, Resolution, plain};
use serde_json::{Value, json};

use super::{humanize_option_id, is_ours};
use crate::card;

/// Id of the block with the text field in a Slack form, which is part of the path of the typed text.
pub(super) const FIELD: &str = "words";
/// JSON pointer to the text that the person typed, in a request from Slack.
pub(super) const TYPED: &str = "/view/state/values/words/text/value";
/// Label of the submit button of a Slack form if an agent wrote the option. The label that the agent wrote is not used,
/// because Slack rejects empty labels and labels of more than 24 characters.
const TAKE: &str = "Take this option";
/// Maximum number of characters in one block of a Slack form. Slack accepts 3,000.
const BLOCK_CHARS: usize = 2_900;
/// Maximum number of blocks for the card of an interrupt in a Slack form. Slack accepts 100 blocks in one form.
const BLOCKS: usize = 60;
/// Maximum number of characters that a person can type into the text field of a Slack form.
const TYPED_CHARS: usize = 3_000;

/// Returns the Slack form for an option of an interrupt. Slack sends `metadata` back with the submitted form. A form
/// that cannot show the whole card has a link to the inbox instead of an input.
pub(super) fn form(interrupt: &Interrupt, offer: &Offer, inbox: &str, metadata: &str) -> Value {
    let mut blocks: Vec<Value> =
        texts(interrupt).into_iter().take(BLOCKS).map(|text| section(&text)).collect();
    let open = json!({"type": "actions", "elements": [{
        "type": "button", "action_id": "open", "text": plain_text("Open in the inbox"), "url": inbox,
    }]});
    if !shows_all(interrupt, offer) {
        blocks.push(section("This form cannot show the whole request. Decide in the inbox."));
        blocks.push(open);
        return view(&blocks);
    }
    let (id, label) = (plain::line(&offer.id), plain::line(&offer.label));
    let (name, submit) = if is_ours(&offer.id) {
        (humanize_option_id(&offer.id), humanize_option_id(&offer.id))
    } else if offer.label == offer.id {
        (id.into_owned(), TAKE.to_owned())
    } else {
        (format!("{label} ({id})"), TAKE.to_owned())
    };
    blocks.push(section(&format!("{name}: {}", offer.does)));
    blocks.push(json!({
        "type": "input",
        "block_id": FIELD,
        "optional": !offer.needs_text,
        "label": plain_text("Your words"),
        "hint": plain_text("An answer, a reason or a note to the agent."),
        "element": {
            "type": "plain_text_input", "action_id": "text", "multiline": true, "max_length": TYPED_CHARS,
        },
    }));
    blocks.push(open);
    let mut view = view(&blocks);
    view["submit"] = plain_text(&submit);
    view["private_metadata"] = metadata.into();
    view
}

/// Returns true if a form in Slack can show everything to which a decision with this option applies.
pub(super) fn shows_all(interrupt: &Interrupt, offer: &Offer) -> bool {
    let is_whole = !offer.releases() || interrupt.unseen.is_none();
    is_whole && texts(interrupt).len() <= BLOCKS && !is_cut(interrupt)
}

fn is_cut(interrupt: &Interrupt) -> bool {
    card::text(interrupt, InspectedCall::from_interrupt(interrupt).as_ref()).1
}

/// Returns the text of an interrupt's card, split into pieces that fit into blocks of Slack.
fn texts(interrupt: &Interrupt) -> Vec<String> {
    let (parts, _) = card::text(interrupt, InspectedCall::from_interrupt(interrupt).as_ref());
    parts.iter().flat_map(|part| split(&plain::text(part))).collect()
}

fn split(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(BLOCK_CHARS).map(|chunk| chunk.iter().collect()).collect()
}

/// Returns a Slack view that shows a message and has no input.
pub(super) fn message_view(text: &str) -> Value {
    view(&[section(text)])
}

fn view(blocks: &[Value]) -> Value {
    json!({
        "type": "modal",
        "title": plain_text("Holdshort"),
        "close": plain_text("Close"),
        "blocks": blocks,
    })
}

fn section(text: &str) -> Value {
    let text: String = text.chars().take(BLOCK_CHARS).collect();
    json!({"type": "section", "text": plain_text(&text)})
}

fn plain_text(text: &str) -> Value {
    json!({"type": "plain_text", "text": plain::text(text), "emoji": false})
}

pub(super) fn has_field(payload: &Value) -> bool {
    payload.pointer("/view/state/values/words").is_some()
}

/// Returns a sentence that describes the resolution of the interrupt.
pub(super) fn standing(interrupt: &Interrupt) -> String {
    match &interrupt.resolution {
        Some(resolution) => format!("The request is already decided. {}", end(resolution)),
        None => "The request is already decided.".to_owned(),
    }
}

pub(super) fn end(resolution: &Resolution) -> String {
    let outcome = match resolution.outcome {
        Outcome::Approved => "Approved",
        Outcome::Rejected => "Rejected",
        Outcome::Answered => "Answered",
        Outcome::Expired => "Expired",
        Outcome::Cancelled => "No longer needed",
        Outcome::Superseded => "Replaced",
    };
    if resolution.by.is_empty() {
        return format!("{outcome}, {}.", resolution.at);
    }
    format!("{outcome} by {}, {}.", resolution.describe_deciders(), resolution.at)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// Hostile texts are shown in the Slack form as they are shown in the terminal, the app and the channels. The tests
    /// of those interfaces use the same table of texts. Each hostile text is used as a title, a command, a path and a
    /// message.
    #[test]
    fn hostile_texts_are_written_in_the_form_as_anywhere_else() {
        let rows: Vec<Value> =
            serde_json::from_str(include_str!("../../../protocol/tests/hostile.json")).unwrap();
        for row in &rows {
            let one = |key: &str| row[key].as_str();
            let given = one("given").unwrap();
            let interrupt = Interrupt::deserialize(json!({
                "id": "int_1", "run": "run_1", "session": "ses_1", "kind": "tool_approval", "origin": "native",
                "agent": "pair", "status": "open", "title": given, "message": format!("- {given} -"),
                "payload": {"tool": given, "command": given, "cwd": given},
                "options": [{"id": "approve", "label": "Allow", "effect": "proceed"}],
                "risk": {"level": "low", "reasons": []},
                "assignment": {"approvers": [], "quorum": {"required": 1}},
                "on_expiry": "reject", "version": 1, "created_at": "2026-01-31T09:30:00.000Z",
            }))
            .unwrap();
            let texts = texts(&interrupt).join("\n");
            let as_lines = one("as_lines").or(one("as_line")).unwrap();
            for (place, shown) in [
                ("title", format!("Tool call: {as_lines}")),
                ("command", format!("Command:\n{as_lines}").trim_end().to_owned()),
                ("path", format!("Directory: {}", one("as_line").unwrap())),
                ("message", format!("- {} -", one("as_text").unwrap())),
            ] {
                assert!(texts.contains(&shown), "{}: {place}: {shown:?} is not in {texts:?}", row["name"]);
            }
            assert_eq!(plain::hidden(&texts), None, "{texts:?}");
        }
    }
}
