//! Detects JSON Schemas that no finite value can satisfy, because each value would have to contain a value of the same
//! schema.
//!
//! If a problem is reported, the schema is certainly not satisfiable. Some impossible schemas are not detected, because
//! ranges, patterns, conditions and listed values are not examined.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::Problem;
use super::positions::{self, Holds};

/// Returns the reason why no value satisfies the schema. `None` if the search finds no reason.
pub(super) fn refuse(all: &BTreeMap<String, &Value>) -> Option<Problem> {
    let mut schemas = Schemas { all, fitting: BTreeSet::new() };
    // In the order of JSON pointers, inner schemas come after outer schemas. The reverse order therefore finds most
    // satisfiable schemas in one pass.
    loop {
        let known = schemas.fitting.len();
        for at in all.keys().rev() {
            if !schemas.fitting.contains(at) && schemas.lack(at).is_none() {
                schemas.fitting.insert(at.clone());
            }
        }
        if schemas.fitting.len() == known {
            break;
        }
    }
    let mut way = Vec::new();
    let mut at = String::new();
    while let Some(next) = schemas.lack(&at) {
        if next == at {
            return Some(Problem::new(at, "no value is valid here, but a value is required"));
        }
        way.push(at);
        if way.contains(&next) {
            let message = "no value is valid: it is required and contains itself; make it optional, or \
                           allow `null` or an empty list";
            return way.pop().map(|last| Problem::new(last, message));
        }
        at = next;
    }
    None
}

struct Schemas<'s> {
    all: &'s BTreeMap<String, &'s Value>,
    /// JSON pointers of the schemas that have been shown to be satisfiable.
    fitting: BTreeSet<String>,
}

impl Schemas<'_> {
    fn is_lacking(&self, at: &str) -> bool {
        self.all.contains_key(at) && !self.fitting.contains(at)
    }

    /// Returns the JSON pointer of a schema on which the schema at `at` depends and which has not been shown to be
    /// satisfiable. Returns `at` itself if no value can satisfy the schema at `at`. `None` if the schema at `at`
    /// depends on no such schema.
    fn lack(&self, at: &str) -> Option<String> {
        let map = match self.all.get(at)? {
            Value::Bool(false) => return Some(at.to_owned()),
            Value::Object(map) => map,
            Value::Bool(true) | Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return None;
            }
        };
        if map.contains_key("enum") || map.contains_key("const") {
            return None;
        }
        let reference = map.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
        let mut every = reference.map(str::to_owned).into_iter().chain(parts(at, map, "allOf"));
        if let Some(lacking) = every.find(|part| self.is_lacking(part)) {
            return Some(lacking);
        }
        for union in ["anyOf", "oneOf"] {
            let members = parts(at, map, union);
            if members.iter().all(|part| self.is_lacking(part))
                && let Some(first) = members.into_iter().next()
            {
                return Some(first);
            }
        }
        let lack = |name: &str| match name {
            "object" => self.lack_of_object(at, map),
            "array" => self.lack_of_array(at, map),
            _ => None,
        };
        match map.get("type") {
            Some(Value::String(name)) => lack(name),
            Some(Value::Array(names)) => {
                let lacks: Option<Vec<String>> =
                    names.iter().map(|name| name.as_str().and_then(lack)).collect();
                lacks.and_then(|lacks| lacks.into_iter().next())
            }
            Some(_) | None => None,
        }
    }

    /// Returns the JSON pointer to the schema of a required member, if this schema has not yet been shown to be
    /// satisfiable.
    fn lack_of_object(&self, at: &str, map: &Map<String, Value>) -> Option<String> {
        let required = map.get("required").and_then(Value::as_array)?;
        let named = map.get("properties").and_then(Value::as_object);
        let has_patterns = map.contains_key("patternProperties");
        required.iter().filter_map(Value::as_str).find_map(|name| {
            let part = if named.is_some_and(|named| named.contains_key(name)) {
                format!("{at}/properties/{}", positions::escape(name))
            } else if has_patterns {
                return None;
            } else {
                format!("{at}/additionalProperties")
            };
            self.is_lacking(&part).then_some(part)
        })
    }

    /// Returns the JSON pointer to the schema of a required item, if this schema has not yet been shown to be
    /// satisfiable.
    fn lack_of_array(&self, at: &str, map: &Map<String, Value>) -> Option<String> {
        let least = |keyword: &str| map.get(keyword).and_then(Value::as_u64);
        if map.contains_key("contains") && least("minContains") != Some(0) {
            let part = format!("{at}/contains");
            if self.is_lacking(&part) {
                return Some(part);
            }
        }
        let least = usize::try_from(least("minItems")?).unwrap_or(usize::MAX);
        // First come items at fixed positions, then the items after them. Draft 07 has other keywords for both.
        let (placed, behind) = match map.get("items") {
            Some(Value::Array(_)) => (parts(at, map, "items"), "additionalItems"),
            Some(_) | None => (parts(at, map, "prefixItems"), "items"),
        };
        let rest = (least > placed.len()).then(|| format!("{at}/{behind}"));
        placed.into_iter().take(least).chain(rest).find(|part| self.is_lacking(part))
    }
}

/// Returns the JSON pointers of the schemas that a keyword lists, such as `anyOf`.
fn parts(at: &str, map: &Map<String, Value>, keyword: &str) -> Vec<String> {
    let list = map.get(keyword).filter(|value| value.is_array());
    let under = list.map(|list| positions::under(keyword, Holds::List, list)).unwrap_or_default();
    under.into_iter().map(|(way, _)| format!("{at}{way}")).collect()
}
