//! Checks of values against JSON Schemas (2020-12). Each problem has a JSON pointer to the value in the request that
//! has the problem.
//!
//! `foreign` accepts or rejects schemas from agents and clients. `filled` detects schemas that no value can satisfy.
//! `work` limits the cost of checks with references or backtracking patterns. `union` finds the relevant error in a
//! union of schemas.

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

/// Problem in a request body, with its location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// JSON pointer (RFC 6901) to the problem, from the root of the request body.
    pub pointer: String,
    pub message: String,
}

impl Problem {
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }
}

/// Maximum number of problems in one report.
const MAX_PROBLEMS: usize = 20;

/// Maximum number of backtracking steps in one match. The limit is chosen for patterns for numbers and addresses that
/// libraries generate. Matching texts need far fewer steps with these patterns. On a short text, this number of steps
/// takes about a tenth of a millisecond. In the worst case, each step looks ahead to the end of a text of 60 kB. Then
/// the steps take a third of a second.
const BACKTRACKS: usize = 2_000;

/// Returns the options of the validator, which limit backtracking to [`BACKTRACKS`] steps. A value is rejected if
/// matching one of its patterns exceeds the limit. Only patterns with lookaround or backreferences can backtrack. All
/// other patterns run in linear time.
fn options() -> jsonschema::ValidationOptions<'static> {
    let patterns = jsonschema::PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS);
    jsonschema::options().with_pattern_options(patterns).should_validate_formats(false)
}

/// Returns true if matching this pattern needs an engine that backtracks.
fn backtracks(pattern: &str) -> bool {
    let linear = jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex());
    linear.build(&json!({ "pattern": pattern })).is_err()
}

/// Returns the patterns in these schemas that can backtrack. Includes patterns for texts and patterns for property
/// names.
fn backtracking<'s>(schemas: impl Iterator<Item = &'s Value>) -> BTreeSet<String> {
    let patterns = |schema: &'s Value| {
        let of_texts = schema.get("pattern").and_then(Value::as_str);
        let of_names = schema.get("patternProperties").and_then(Value::as_object);
        of_texts.into_iter().chain(of_names.into_iter().flat_map(|map| map.keys().map(String::as_str)))
    };
    schemas.flat_map(patterns).filter(|pattern| backtracks(pattern)).map(str::to_owned).collect()
}

/// Maximum number of compiled schemas in the cache. Runs need only the schemas of a few workflows and their tools.
const COMPILED: usize = 64;

#[derive(Debug)]
struct Compiled {
    validator: Validator,
    /// Patterns of the schema whose matching can backtrack.
    backtracking: BTreeSet<String>,
    /// True if the schema contains references (`$ref`).
    refers: bool,
}

impl Compiled {
    /// Returns true if the sizes of the schema and the value do not limit the cost of a check, because of references or
    /// backtracking.
    fn needs_counting(&self) -> bool {
        self.refers || !self.backtracking.is_empty()
    }
}

/// Returns the compiled form of a schema. Compiling costs many times more than checking, so the latest compiled schemas
/// are cached. The cache does not affect results.
fn compiled(schema: &Value) -> Result<Arc<Compiled>, ValidationError<'static>> {
    static KNOWN: Mutex<Vec<(Value, Arc<Compiled>)>> = Mutex::new(Vec::new());
    // A panic cannot leave an incomplete entry in this cache, so a poisoned lock is safe to use.
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

/// Checks a value against a schema. `base` is the JSON pointer of the value. If the schema is invalid, every value is
/// rejected.
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
        Problem::new(format!("{base}{}", error.instance_path()), shorten(&describe_error(error)))
    };
    let first: Vec<ValidationError<'_>> = errors.by_ref().take(MAX_PROBLEMS).collect();
    let mut problems: Vec<Problem> = first.iter().flat_map(union::within).map(problem).collect();
    if errors.next().is_some() || problems.len() > MAX_PROBLEMS {
        problems.truncate(MAX_PROBLEMS);
        problems.push(Problem::new(base, format!("contains more problems than these {MAX_PROBLEMS}")));
    }
    problems
}

fn describe_error(error: &ValidationError<'_>) -> String {
    if matches!(error.kind(), ValidationErrorKind::BacktrackLimitExceeded { .. }) {
        return "takes too long to match against the schema's pattern: send something simpler".to_owned();
    }
    without_value(error)
}

/// Returns the error message of the validator, which quotes the value before the reason. A long value is shortened.
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
