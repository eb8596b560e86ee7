//! JSON Schema (2020-12) checks, with JSON pointers into what was sent.

use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{ValidationError, Validator};
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

/// A schema that somebody else sends: larger ones cost more to check than a question is worth.
const FOREIGN_BYTES: usize = 16 * 1024;

/// Patterns run in linear time.
fn options() -> jsonschema::ValidationOptions<'static> {
    jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex())
}

/// Why a schema from an agent of another framework is not taken. References could make a small schema cost
/// exponential work, so it has none.
pub fn refuse_foreign(schema: &Value) -> Option<&'static str> {
    fn refers(value: &Value) -> bool {
        match value {
            Value::Object(map) => map.iter().any(|(key, value)| {
                matches!(key.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef" | "$schema") || refers(value)
            }),
            Value::Array(items) => items.iter().any(refers),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }
    if serde_json::to_string(schema).map_or(0, |text| text.len()) > FOREIGN_BYTES {
        return Some("is larger than 16384 bytes");
    }
    if refers(schema) {
        return Some("holds `$ref`, `$dynamicRef` or `$schema`: write the schema out");
    }
    (!is_schema(schema)).then_some("is not a JSON Schema (2020-12)")
}

/// Schemas that stay compiled: those of a few workflows and their tools check every run.
const COMPILED: usize = 64;

/// The validator of a schema. To build one costs many times what a check does, so the last ones are kept; which
/// ones are there changes no answer.
fn compiled(schema: &Value) -> Result<Arc<Validator>, ValidationError<'static>> {
    static KNOWN: Mutex<Vec<(Value, Arc<Validator>)>> = Mutex::new(Vec::new());
    // A panic can not leave half an entry behind.
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, validator)) = known().iter().find(|(known, _)| known == schema) {
        return Ok(validator.clone());
    }
    let validator = Arc::new(options().build(schema)?);
    let mut known = known();
    if known.len() == COMPILED {
        known.remove(0);
    }
    known.push((schema.clone(), validator.clone()));
    Ok(validator)
}

/// Checks a value; `base` is the pointer of the value itself. A schema that is none lets nothing through.
pub fn check(schema: &Value, value: &Value, base: &str) -> Vec<Problem> {
    let validator = match compiled(schema) {
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
    options().build(schema).is_ok()
}

fn shorten(message: &str) -> String {
    const MAX_CHARS: usize = 300;
    match message.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &message[..at]),
        None => message.to_owned(),
    }
}
