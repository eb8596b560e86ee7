//! Serialised names of enum variants, as the journal, responses and traces contain them.

use serde::Serialize;
use serde_json::Value;

/// Returns the serialised name of an enum variant, such as `proceed_with_edit`, without the fields of the variant.
pub fn variant_name<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => name,
        // A variant with fields is serialised as an object whose key is the name of the variant.
        Ok(Value::Object(fields)) => fields.keys().next().cloned().unwrap_or_default(),
        Ok(_) | Err(_) => String::new(),
    }
}
