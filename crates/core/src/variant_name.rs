//! Names of enum variants as they are serialized: in the journal, on the wire and in traces.

use serde::Serialize;
use serde_json::Value;

/// Returns the name of an enum variant as it is serialized, such as `proceed_with_edit`. The fields of the variant are
/// left out.
pub fn variant_name<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => name,
        // A variant with fields serializes to an object whose key is the name of the variant.
        Ok(Value::Object(fields)) => fields.keys().next().cloned().unwrap_or_default(),
        Ok(_) | Err(_) => String::new(),
    }
}
