//! Schemas from outside: what is taken of them, and why one is not. Never checks a value.
//!
//! Libraries write types as definitions that refer to each other (`$ref`, `$defs`). References within the schema are
//! followed; what they could cost is bounded here, where the schema alone shows it, and in `work`, where it takes the
//! value too.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::positions::{self, Applies, KEYWORDS, target};
use super::{Problem, filled, options};

/// Larger schemas cost more to check than a question is worth.
pub const FOREIGN_BYTES: usize = 16 * 1024;

/// Schemas that one value meets, one inside another or behind a reference, before the check goes on to a part of
/// the value: a deeper chain could exhaust the stack.
const CHAIN: usize = 32;

/// Definitions that references lead to.
const DEFINITIONS: usize = 100;

/// The drafts that `$schema` may name, with or without `#` at the end.
const DRAFTS: [&str; 4] = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft-07/schema",
];

/// Keywords that change what a reference means, or need a schema from elsewhere.
const REFUSED: [&str; 7] =
    ["$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$anchor", "$vocabulary", "$id"];

/// What of an agent's schema is not taken; `base` is the pointer of the schema.
pub fn refuse_foreign(schema: &Value, base: &str) -> Vec<Problem> {
    if serde_json::to_string(schema).map_or(0, |text| text.len()) > FOREIGN_BYTES {
        return vec![Problem::new(base, format!("is larger than {FOREIGN_BYTES} bytes"))];
    }
    refuse(schema, base)
}

/// The same of a schema whose size is bounded elsewhere.
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

/// A schema that is nothing but a reference with its definitions, as libraries write a type that holds itself, with
/// what it refers to in its place. Any other is as it was.
pub fn unfolded(schema: Value) -> Value {
    let mut schema = schema;
    // What was refused refers to itself; what was not is through after as many.
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

/// Whether everything that fits is a text.
pub fn is_of_text(schema: &Value) -> bool {
    let schema = unfolded(schema.clone());
    let all_texts =
        |values: &Value| values.as_array().is_some_and(|values| values.iter().all(Value::is_string));
    schema.get("type").is_some_and(|name| name == "string")
        || schema.get("const").is_some_and(Value::is_string)
        || schema.get("enum").is_some_and(all_texts)
}

/// Where the validator says little: a type that there is none of, a pattern that is none.
fn unusable(schema: &Value, at: &str) -> Option<String> {
    let found = schema.pointer(at)?.as_str()?;
    let found = super::shorten(found);
    match at.rsplit('/').next()? {
        "type" => Some(format!("there is no type `{found}`; there are: {}", TYPES.join(", "))),
        "pattern" => Some(format!("the pattern `{found}` is no regular expression that can be read")),
        _ => None,
    }
}

const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "object", "array", "null"];

/// What may stand beside a reference and says nothing about the value.
const BESIDE: [&str; 8] =
    ["$ref", "$defs", "definitions", "$schema", "$id", "title", "description", "default"];

fn keywords(at: &str, schema: &Value, all: &BTreeMap<String, &Value>) -> Vec<Problem> {
    let Value::Object(map) = schema else { return Vec::new() };
    let mut problems = Vec::new();
    let mut problem = |keyword: &str, message: String| {
        problems.push(Problem::new(format!("{at}/{keyword}"), message));
    };
    for keyword in REFUSED {
        // A name for the whole of it changes nothing.
        let is_name = keyword == "$id" && at.is_empty();
        if map.contains_key(keyword) && !is_name {
            problem(keyword, "is not taken: refer to definitions with `$ref`: `#/$defs/NAME`".to_owned());
        }
    }
    match map.get("$schema") {
        None => {}
        Some(_) if !at.is_empty() => {
            problem("$schema", "is taken at the top of a schema only".to_owned());
        }
        Some(draft) => {
            let named = draft.as_str().map(|draft| draft.strip_suffix('#').unwrap_or(draft));
            if !named.is_some_and(|named| DRAFTS.contains(&named)) {
                problem("$schema", format!("is none of those that are read: {}", DRAFTS[..3].join(", ")));
            }
        }
    }
    let Some(reference) = map.get("$ref") else { return problems };
    match reference.as_str() {
        None => problem("$ref", "must be a text: `#/$defs/NAME`".to_owned()),
        Some(text) if !text.starts_with('#') => problem(
            "$ref",
            format!(
                "`{}` is in another document: only references within the schema are followed, such as \
                 `#/$defs/NAME`",
                super::shorten(text)
            ),
        ),
        Some(text) if text.contains('%') || !all.contains_key(&text[1..]) => {
            problem("$ref", format!("`{}` names no schema in here{}", super::shorten(text), defined(all)));
        }
        Some(_) => {}
    }
    problems
}

/// The definitions that there are, for a message.
fn defined(all: &BTreeMap<String, &Value>) -> String {
    let top = |at: &&String| {
        ["/$defs/", "/definitions/"]
            .iter()
            .any(|home| at.strip_prefix(home).is_some_and(|name| !name.contains('/')))
    };
    let names: Vec<String> = all.keys().filter(top).take(10).map(|at| format!("`#{at}`")).collect();
    if names.is_empty() { String::new() } else { format!("; there is {}", names.join(", ")) }
}

/// What makes a schema endless, or too deep to be followed.
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
    // To know what was evaluated the check goes over the same references and patterns again, at each level.
    for (at, schema) in all {
        for keyword in ["unevaluatedProperties", "unevaluatedItems"] {
            if schema.get(keyword).is_some() {
                let message = "is not taken in a schema with `$ref`, or with a pattern that looks around: say \
                               `additionalProperties` where the properties are";
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

/// How many schemas one value meets from each schema on.
struct Chains<'s> {
    all: &'s BTreeMap<String, &'s Value>,
    /// `None` while it is being counted: whoever comes by again goes round.
    known: BTreeMap<String, Option<usize>>,
}

impl Chains<'_> {
    fn length(&mut self, at: &str, steps: usize) -> Result<usize, Problem> {
        match self.known.get(at) {
            Some(Some(length)) => return Ok(*length),
            Some(None) => {
                return Err(Problem::new(
                    at,
                    "refers to itself without going into the value: no check of it would end",
                ));
            }
            None => {}
        }
        let too_deep =
            || Problem::new(at, format!("leads through more than {CHAIN} schemas about one value"));
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

    /// What is applied to the same value.
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
