//! JSON Schema (2020-12) checks, with JSON pointers into what was sent.
//!
//! `foreign` says what is taken of a schema from outside, `work` what a check of one with references may cost.

mod foreign;
mod positions;
mod work;

use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{ValidationError, Validator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use foreign::{FOREIGN_BYTES, is_of_text, refuse, refuse_foreign, unfolded};

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

/// Patterns run in linear time.
fn options() -> jsonschema::ValidationOptions<'static> {
    jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex())
}

/// Schemas that stay compiled: those of a few workflows and their tools check every run.
const COMPILED: usize = 64;

#[derive(Debug)]
struct Compiled {
    validator: Validator,
    /// A check of it may cost more than its length shows.
    refers: bool,
}

/// The validator of a schema. To build one costs many times what a check does, so the last ones are kept; which
/// ones are there changes no answer.
fn compiled(schema: &Value) -> Result<Arc<Compiled>, ValidationError<'static>> {
    static KNOWN: Mutex<Vec<(Value, Arc<Compiled>)>> = Mutex::new(Vec::new());
    // A panic can not leave half an entry behind.
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, compiled)) = known().iter().find(|(known, _)| known == schema) {
        return Ok(compiled.clone());
    }
    let refers = positions::all(schema).values().any(|schema| schema.get("$ref").is_some());
    let compiled = Arc::new(Compiled { validator: options().build(schema)?, refers });
    let mut known = known();
    if known.len() == COMPILED {
        known.remove(0);
    }
    known.push((schema.clone(), compiled.clone()));
    Ok(compiled)
}

/// Checks a value; `base` is the pointer of the value itself. A schema that is none lets nothing through.
pub fn check(schema: &Value, value: &Value, base: &str) -> Vec<Problem> {
    let compiled = match compiled(schema) {
        Ok(compiled) => compiled,
        Err(error) => return vec![Problem::new(base, format!("the schema itself is not valid: {error}"))],
    };
    if let Some(why) = compiled.refers.then(|| work::refuse(schema, value)).flatten() {
        return vec![Problem::new(base, why)];
    }
    compiled
        .validator
        .iter_errors(value)
        .take(MAX_PROBLEMS)
        .map(|error| Problem::new(format!("{base}{}", error.instance_path()), shorten(&error.to_string())))
        .collect()
}

fn shorten(message: &str) -> String {
    const MAX_CHARS: usize = 300;
    match message.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &message[..at]),
        None => message.to_owned(),
    }
}
