//! Enum values of the journal as words of the wire: `proceed_with_edit`, `workflow`, `read_only` …

use serde::Serialize;
use serde_json::Value;

/// Returns the text to which a unit variant serializes.
pub fn variant_name<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        // A variant with fields serializes to an object: its key is the name.
        Ok(Value::Object(map)) => map.keys().next().cloned().unwrap_or_default(),
        Ok(_) | Err(_) => String::new(),
    }
}
