//! JSON Schema (2020-12) checks, with JSON pointers into what was sent.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One thing that is wrong with a body, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// RFC 6901, from the root of the body.
    pub pointer: String,
    pub message: String,
}

impl Problem {
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }
}

/// At most this many problems are told at once.
const MAX_PROBLEMS: usize = 20;

/// Checks a value; `base` is the pointer of the value itself. A schema that is none lets nothing through.
pub fn check(schema: &Value, value: &Value, base: &str) -> Vec<Problem> {
    let validator = match jsonschema::options().build(schema) {
        Ok(validator) => validator,
        Err(error) => return vec![Problem::new(base, format!("the schema itself is not valid: {error}"))],
    };
    validator
        .iter_errors(value)
        .take(MAX_PROBLEMS)
        .map(|error| Problem::new(format!("{base}{}", error.instance_path()), shorten(&error.to_string())))
        .collect()
}

/// Whether a text is a schema that can be checked against.
pub fn is_schema(schema: &Value) -> bool {
    jsonschema::options().build(schema).is_ok()
}

fn shorten(message: &str) -> String {
    const MAX_CHARS: usize = 300;
    match message.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &message[..at]),
        None => message.to_owned(),
    }
}
