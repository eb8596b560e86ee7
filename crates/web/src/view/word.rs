//! Enum values of the journal as the words of the wire: `proceed_with_edit`, `workflow`, `read_only` …

use serde::Serialize;
use serde_json::Value;

/// The text that a unit variant is written as.
pub fn word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        // A variant that carries something: its name.
        Ok(Value::Object(map)) => map.keys().next().cloned().unwrap_or_default(),
        Ok(_) | Err(_) => String::new(),
    }
}
