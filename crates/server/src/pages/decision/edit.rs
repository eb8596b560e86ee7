//! The value that a person can edit on the page: the arguments of a call, a plan, an output, or requested input.
//! Converts the value to text for an editor, and the edited text back to a value.

use std::fmt::Write;

use holdshort_core::json;
use holdshort_presentation::card::readable;
use holdshort_protocol::{Interrupt, Kind, plain};
use serde_json::Value;

pub(super) struct Edit {
    pub(super) label: &'static str,
    /// Text of the original value, with which the editor on the decision page starts. Empty for a question, because it
    /// has no answer yet.
    pub(super) text: String,
    /// True if the person edits the value as plain text. Otherwise the person edits JSON.
    pub(super) is_text: bool,
}

impl Edit {
    /// Returns the value of an interrupt that a person can edit. Returns `None` if no option accepts an edit.
    pub(super) fn from_interrupt(interrupt: &Interrupt) -> Option<Self> {
        interrupt.editable()?;
        let label = match interrupt.kind {
            Kind::ToolApproval => "The arguments",
            Kind::PlanApproval => "The plan",
            Kind::Review => "The output",
            Kind::Checkpoint => "The input",
            Kind::Question => "The answer",
            _ => "The details",
        };
        let value = match interrupt.kind {
            Kind::Question => Value::from(""),
            _ => interrupt.draft(),
        };
        let text = readable(&value);
        // A text with invisible characters is edited as JSON, in which each of these characters is escaped.
        let is_text = interrupt.edits_text() && plain::hidden(&text).is_none();
        let text = if is_text || text.is_empty() { text } else { visible(&value) };
        Some(Self { label, text, is_text })
    }

    pub(super) fn read(&self, typed: &str) -> Result<Value, String> {
        if self.is_text {
            return Ok(Value::String(typed.to_owned()));
        }
        if typed.trim().is_empty() {
            return Err("is empty: write it as JSON".to_owned());
        }
        json::parse(typed.as_bytes()).map_err(|error| format!("is not valid JSON: {error}"))
    }

    pub(super) fn is_changed(&self, typed: &str) -> bool {
        typed.trim_end() != self.text.trim_end()
    }
}

/// Formats a value as JSON with all invisible characters escaped.
fn visible(value: &Value) -> String {
    let mut out = String::new();
    for c in serde_json::to_string_pretty(value).unwrap_or_default().chars() {
        if plain::hidden(c.encode_utf8(&mut [0; 4])).is_none() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_can_not_be_seen_is_written_as_what_it_is() {
        let value = json!({"command": "rm \u{202e}txt.a\u{e0041} \u{1b}[2J ü"});
        let text = visible(&value);
        let expected = "{\n  \"command\": \"rm \\u202etxt.a\\udb40\\udc41 \\u001b[2J ü\"\n}";
        assert_eq!(text, expected);
        assert_eq!(json::parse(text.as_bytes()).unwrap(), value);
    }
}
