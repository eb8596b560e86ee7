//! Names of enum values of the journal as clients see them, such as `proceed_with_edit`, `workflow` or `read_only`.

use serde::Serialize;
use serde_json::Value;

/// Returns the name of the variant as it is serialized.
pub fn variant_name<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        // A variant with fields serializes to an object whose key is the name of the variant.
        Ok(Value::Object(map)) => map.keys().next().cloned().unwrap_or_default(),
        Ok(_) | Err(_) => String::new(),
    }
}
