//! Arguments of a tool call, as a provider of models sent them: a JSON object that was parsed strictly, or an invalid
//! text.
//!
//! Invalid arguments are never repaired. A text that two parsers could read differently is invalid.

use holdshort_core::json;
use holdshort_core::message::Arguments;
use serde_json::{Map, Value};

/// Parses the text of a tool call's arguments. An empty text is read as no arguments, because many servers send it for
/// a tool without parameters.
pub(crate) fn of_text(raw: String) -> Arguments {
    if raw.trim().is_empty() {
        return Arguments::Json(Value::Object(Map::new()));
    }
    match json::parse(raw.as_bytes()) {
        Ok(value @ Value::Object(_)) => Arguments::Json(value),
        Ok(_) | Err(_) => Arguments::Malformed(raw),
    }
}

/// Checks the arguments of a tool call that the provider library has parsed. A string is a text that the library could
/// not parse.
pub(crate) fn of_value(value: Value) -> Arguments {
    match value {
        Value::String(raw) => of_text(raw),
        value => of_text(value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_strict_object_counts() {
        assert_eq!(of_text(r#"{"a":1}"#.into()), Arguments::Json(json!({"a": 1})));
        assert_eq!(of_text(" ".into()), Arguments::Json(json!({})));
        for raw in [
            r#"{"a":1"#,
            r#"{"a":1}{"b":2}"#,
            r#"{"a":1,"a":2}"#,
            r#"{"a":9007199254740993}"#,
            "[1]",
            "null",
            "\"{}\"",
        ] {
            assert_eq!(of_text(raw.into()), Arguments::Malformed(raw.into()));
        }
    }

    #[test]
    fn a_value_is_checked_like_its_text() {
        assert_eq!(of_value(json!({"a": [1]})), Arguments::Json(json!({"a": [1]})));
        assert_eq!(of_value(json!("{\"a\":")), Arguments::Malformed("{\"a\":".into()));
        assert_eq!(of_value(json!([1])), Arguments::Malformed("[1]".into()));
        assert_eq!(
            of_value(json!({"a": u64::MAX})),
            Arguments::Malformed(r#"{"a":18446744073709551615}"#.into())
        );
    }
}
