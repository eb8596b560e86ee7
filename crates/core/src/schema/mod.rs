//! JSON Schema (2020-12) checks, with JSON pointers into what was sent.
//!
//! `foreign` says what is taken of a schema from outside, `filled` whether any value can fit it, `work` what a check of one with
//! references or backtracking patterns may cost, `union` where within a union a value fails.

mod filled;
mod foreign;
mod positions;
mod union;
mod work;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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

/// Times that one match of a backtracking pattern may turn back. The patterns that libraries write for numbers and
/// addresses need far fewer on a text that fits. So many take a tenth of a millisecond on a short text, and a third of
/// a second on one of 60 kB where each looks ahead to its end.
const BACKTRACKS: usize = 2_000;

/// A pattern that looks ahead, looks behind or refers back can backtrack; every other one runs in linear time.
/// A match that reaches the limit is decided neither way: the validator refuses a value whose check depends on it.
fn options() -> jsonschema::ValidationOptions<'static> {
    let patterns = jsonschema::PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS);
    jsonschema::options().with_pattern_options(patterns).should_validate_formats(false)
}

/// Whether the linear engine can not run this pattern.
fn backtracks(pattern: &str) -> bool {
    let linear = jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex());
    linear.build(&json!({ "pattern": pattern })).is_err()
}

/// The backtracking patterns of these schemas, of texts and of names.
fn backtracking<'s>(schemas: impl Iterator<Item = &'s Value>) -> BTreeSet<String> {
    let patterns = |schema: &'s Value| {
        let of_texts = schema.get("pattern").and_then(Value::as_str);
        let of_names = schema.get("patternProperties").and_then(Value::as_object);
        of_texts.into_iter().chain(of_names.into_iter().flat_map(|map| map.keys().map(String::as_str)))
    };
    schemas.flat_map(patterns).filter(|pattern| backtracks(pattern)).map(str::to_owned).collect()
}

/// Schemas that stay compiled: those of a few workflows and their tools check every run.
const COMPILED: usize = 64;

#[derive(Debug)]
struct Compiled {
    validator: Validator,
    /// Its patterns that can backtrack.
    backtracking: BTreeSet<String>,
    /// Whether it holds references.
    refers: bool,
}

impl Compiled {
    /// Whether a check may cost more than the lengths of schema and value show.
    fn needs_counting(&self) -> bool {
        self.refers || !self.backtracking.is_empty()
    }
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
    let all = positions::all(schema);
    let refers = all.values().any(|schema| schema.get("$ref").is_some());
    let backtracking = backtracking(all.into_values());
    let compiled = Arc::new(Compiled { validator: options().build(schema)?, backtracking, refers });
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
    if let Some(why) =
        compiled.needs_counting().then(|| work::refuse(schema, value, &compiled.backtracking)).flatten()
    {
        return vec![Problem::new(base, why)];
    }
    let mut errors = compiled.validator.iter_errors(value);
    let problem = |error: &ValidationError<'_>| {
        Problem::new(format!("{base}{}", error.instance_path()), shorten(&told(error)))
    };
    let first: Vec<ValidationError<'_>> = errors.by_ref().take(MAX_PROBLEMS).collect();
    let mut problems: Vec<Problem> = first.iter().flat_map(union::within).map(problem).collect();
    if errors.next().is_some() || problems.len() > MAX_PROBLEMS {
        problems.truncate(MAX_PROBLEMS);
        problems.push(Problem::new(base, format!("holds more problems than these {MAX_PROBLEMS}")));
    }
    problems
}

fn told(error: &ValidationError<'_>) -> String {
    if matches!(error.kind(), ValidationErrorKind::BacktrackLimitExceeded { .. }) {
        return "takes too long to match against the schema's pattern: send something simpler".to_owned();
    }
    without_value(error)
}

/// The reason stands behind the value: of one that is long the beginning is quoted.
fn without_value(error: &ValidationError<'_>) -> String {
    const QUOTED_CHARS: usize = 60;
    let (text, value) = (error.to_string(), error.instance().to_string());
    match value.char_indices().nth(QUOTED_CHARS) {
        Some((at, _)) => {
            let end = if value.starts_with('"') { "…\"" } else { "…" };
            text.replacen(&value, &format!("{}{end}", &value[..at]), 1)
        }
        None => text,
    }
}

fn shorten(message: &str) -> String {
    const MAX_CHARS: usize = 300;
    match message.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &message[..at]),
        None => message.to_owned(),
    }
}
