//! JSON Schemas that agents and clients send. This module accepts or rejects such a schema, and never checks a value
//! against it.
//!
//! Schemas that libraries generate often consist of definitions that refer to each other (`$ref`, `$defs`). This module
//! follows references inside the schema. This module rejects schemas for which every check would cost too much. The
//! module `work` limits costs that also depend on the value.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::positions::{self, Applies, KEYWORDS, target};
use super::{Problem, filled, options};

/// Maximum number of bytes of a schema that an agent sends with a question. Checking values against a larger schema
/// would take too long.
pub const FOREIGN_BYTES: usize = 16 * 1024;

/// Maximum number of schemas that apply to one value through nesting and references. A longer chain could exhaust the
/// stack.
const CHAIN: usize = 32;

/// Maximum number of definitions to which references in a schema may lead.
const DEFINITIONS: usize = 100;

/// Versions of JSON Schema that `$schema` is allowed to name. A final `#` is optional.
const DRAFTS: [&str; 4] = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft-07/schema",
];

/// Keywords that are rejected. Such keywords change the meaning of a reference, or need a schema that is stored
/// elsewhere.
const REFUSED: [&str; 7] =
    ["$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$anchor", "$vocabulary", "$id"];

/// Returns the problems of a schema that an agent sent. `base` is the JSON pointer of the schema.
pub fn refuse_foreign(schema: &Value, base: &str) -> Vec<Problem> {
    if serde_json::to_string(schema).map_or(0, |text| text.len()) > FOREIGN_BYTES {
        return vec![Problem::new(base, format!("is larger than {FOREIGN_BYTES} bytes"))];
    }
    refuse(schema, base)
}

/// Returns the problems of a schema whose size is already checked.
pub fn refuse(schema: &Value, base: &str) -> Vec<Problem> {
    let all = positions::all(schema);
    let mut problems: Vec<Problem> = all.iter().flat_map(|(at, schema)| keywords(at, schema, &all)).collect();
    if problems.is_empty() {
        problems = costs(&all);
    }
    if problems.is_empty()
        && let Err(error) = options().build(schema)
    {
        let at = error.instance_path().as_str().to_owned();
        let message = unusable(schema, &at).unwrap_or_else(|| format!("not a JSON Schema: {error}"));
        problems.push(Problem::new(at, message));
    }
    if problems.is_empty() {
        problems.extend(filled::refuse(&all));
    }
    problems.truncate(super::MAX_PROBLEMS);
    for problem in &mut problems {
        problem.pointer.insert_str(0, base);
    }
    problems
}

/// Replaces a schema that consists only of a reference and definitions by the schema to which it refers. Libraries
/// write recursive types in this form. Returns any other schema unchanged.
pub fn unfolded(schema: Value) -> Value {
    let mut schema = schema;
    // An earlier check rejected chains of references that lead back to themselves. Every other chain ends within
    // `CHAIN` references.
    for _ in 0..CHAIN {
        let Value::Object(map) = &schema else { return schema };
        let Some(target) = map.get("$ref").and_then(Value::as_str).and_then(|text| target(&schema, text))
        else {
            return schema;
        };
        let (Value::Object(target), true) = (target, map.keys().all(|key| BESIDE.contains(&key.as_str())))
        else {
            return schema;
        };
        let mut whole = map.clone();
        whole.remove("$ref");
        whole.extend(target.clone());
        schema = Value::Object(whole);
    }
    schema
}

/// Returns true if the schema accepts only texts.
pub fn is_of_text(schema: &Value) -> bool {
    let schema = unfolded(schema.clone());
    let all_texts =
        |values: &Value| values.as_array().is_some_and(|values| values.iter().all(Value::is_string));
    schema.get("type").is_some_and(|name| name == "string")
        || schema.get("const").is_some_and(Value::is_string)
        || schema.get("enum").is_some_and(all_texts)
}

/// Returns an error message for an unknown type or an invalid pattern in the schema. `None` if there is no such
/// problem.
fn unusable(schema: &Value, at: &str) -> Option<String> {
    let found = schema.pointer(at)?.as_str()?;
    let found = super::shorten(found);
    match at.rsplit('/').next()? {
        "type" => Some(format!("`{found}` is not a type; the types are: {}", TYPES.join(", "))),
        "pattern" => Some(format!("the pattern `{found}` is not a valid regular expression")),
        _ => None,
    }
}

const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "object", "array", "null"];

/// Keywords that may stand next to a reference, because they do not restrict the value.
const BESIDE: [&str; 8] =
    ["$ref", "$defs", "definitions", "$schema", "$id", "title", "description", "default"];

fn keywords(at: &str, schema: &Value, all: &BTreeMap<String, &Value>) -> Vec<Problem> {
    let Value::Object(map) = schema else { return Vec::new() };
    let mut problems = Vec::new();
    let mut problem = |keyword: &str, message: String| {
        problems.push(Problem::new(format!("{at}/{keyword}"), message));
    };
    for keyword in REFUSED {
        // At the top of the schema, an `$id` has no effect.
        let is_name = keyword == "$id" && at.is_empty();
        if map.contains_key(keyword) && !is_name {
            problem(keyword, "is not supported: refer to definitions with `$ref`: `#/$defs/NAME`".to_owned());
        }
    }
    match map.get("$schema") {
        None => {}
        Some(_) if !at.is_empty() => {
            problem("$schema", "is supported only at the top of a schema".to_owned());
        }
        Some(draft) => {
            let named = draft.as_str().map(|draft| draft.strip_suffix('#').unwrap_or(draft));
            if !named.is_some_and(|named| DRAFTS.contains(&named)) {
                problem(
                    "$schema",
                    format!("is not a supported draft; supported are: {}", DRAFTS[..3].join(", ")),
                );
            }
        }
    }
    let Some(reference) = map.get("$ref") else { return problems };
    match reference.as_str() {
        None => problem("$ref", "must be a string such as `#/$defs/NAME`".to_owned()),
        Some(text) if !text.starts_with('#') => problem(
            "$ref",
            format!(
                "`{}` is in another document: only references within the schema are followed, such as \
                 `#/$defs/NAME`",
                super::shorten(text)
            ),
        ),
        Some(text) if text.contains('%') || !all.contains_key(&text[1..]) => {
            problem(
                "$ref",
                format!("`{}` names no schema in this document{}", super::shorten(text), defined(all)),
            );
        }
        Some(_) => {}
    }
    problems
}

/// Lists the definitions of the schema for an error message.
fn defined(all: &BTreeMap<String, &Value>) -> String {
    let top = |at: &&String| {
        ["/$defs/", "/definitions/"]
            .iter()
            .any(|home| at.strip_prefix(home).is_some_and(|name| !name.contains('/')))
    };
    let names: Vec<String> = all.keys().filter(top).take(10).map(|at| format!("`#{at}`")).collect();
    if names.is_empty() { String::new() } else { format!("; there is {}", names.join(", ")) }
}

/// Returns a problem if the schema has too many definitions, or if schemas that apply to the same value form a cycle or a
/// chain that is too long. A definition may refer to itself for members and items of the value.
fn costs(all: &BTreeMap<String, &Value>) -> Vec<Problem> {
    let reference =
        |schema: &Value| schema.get("$ref").and_then(Value::as_str).map(|text| text[1..].to_owned());
    let targets: BTreeSet<String> = all.values().filter_map(|schema| reference(schema)).collect();
    let has_backtracking = !super::backtracking(all.values().copied()).is_empty();
    if targets.is_empty() && !has_backtracking {
        return Vec::new();
    }
    if targets.len() > DEFINITIONS {
        return vec![Problem::new("", format!("refers to more than {DEFINITIONS} definitions"))];
    }
    // To determine which parts of the value are evaluated, the validator follows the same references and patterns again
    // at each level.
    for (at, schema) in all {
        for keyword in ["unevaluatedProperties", "unevaluatedItems"] {
            if schema.get(keyword).is_some() {
                let message = "is not supported in a schema with `$ref` or a pattern with look-around: set \
                               `additionalProperties` next to the properties";
                return vec![Problem::new(format!("{at}/{keyword}"), message)];
            }
        }
    }
    let mut chains = Chains { all, known: BTreeMap::new() };
    for at in all.keys() {
        if let Err(problem) = chains.length(at, 0) {
            return vec![problem];
        }
    }
    Vec::new()
}

/// Computes, for each schema, how many schemas apply to the same value as this schema.
struct Chains<'s> {
    all: &'s BTreeMap<String, &'s Value>,
    /// Results of the computation, by JSON pointer of the schema. A result is `None` while it is being computed. The
    /// references form a cycle if such a result is needed for its own computation.
    known: BTreeMap<String, Option<usize>>,
}

impl Chains<'_> {
    fn length(&mut self, at: &str, steps: usize) -> Result<usize, Problem> {
        match self.known.get(at) {
            Some(Some(length)) => return Ok(*length),
            Some(None) => {
                return Err(Problem::new(
                    at,
                    "refers to itself without descending into the value, so its check would never end",
                ));
            }
            None => {}
        }
        let too_deep = || Problem::new(at, format!("applies more than {CHAIN} schemas to one value"));
        if steps > CHAIN {
            return Err(too_deep());
        }
        self.known.insert(at.to_owned(), None);
        let mut longest = 0;
        for next in self.next(at) {
            longest = longest.max(1 + self.length(&next, steps + 1)?);
        }
        if longest > CHAIN {
            return Err(too_deep());
        }
        self.known.insert(at.to_owned(), Some(longest));
        Ok(longest)
    }

    /// Returns the JSON pointers of the schemas that directly apply to the same value as the schema at `at`.
    fn next(&self, at: &str) -> Vec<String> {
        let Some(Value::Object(map)) = self.all.get(at) else { return Vec::new() };
        let within = KEYWORDS
            .iter()
            .filter(|(_, _, applies)| *applies == Applies::Here)
            .filter_map(|(keyword, holds, _)| Some((*keyword, *holds, map.get(*keyword)?)))
            .flat_map(|(keyword, holds, value)| positions::under(keyword, holds, value))
            .map(|(way, _)| format!("{at}{way}"));
        let reference = map.get("$ref").and_then(Value::as_str).map(|text| text[1..].to_owned());
        within.chain(reference).collect()
    }
}
