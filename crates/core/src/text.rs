//! Texts for people and models: excerpts of texts, and JSON values in readable form.

use serde_json::Value;

/// Cuts a text to at most `bytes` bytes, at a character boundary. The sign `…` marks the cut and is not counted.
pub(crate) fn clip(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let mut end = bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

/// Renders a value for a person or a model: a string without quotes, and any other value as indented JSON.
pub(crate) fn readable(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            serde_json::to_string_pretty(value).unwrap_or_default()
        }
    }
}
