//! Where schemas stand within a schema, as a table of keywords. Never checks a value.
//!
//! A `$ref` under `default`, `enum` or `const` is data, and one under `properties` is the name of a property: only
//! what this table reaches is a schema.

use std::collections::BTreeMap;

use serde_json::Value;

/// What a keyword holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    One,
    List,
    Map,
    /// One schema, or a list of them.
    OneOrList,
}

/// What a schema under a keyword is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applies {
    /// The value that the outer schema is applied to.
    Here,
    /// Parts of that value.
    Below,
    /// Nothing: it waits to be referred to.
    Nowhere,
}

use Applies::{Below, Here, Nowhere};

/// Of the drafts that are read (2020-12, 2019-09, 07).
pub(super) const KEYWORDS: [(&str, Holds, Applies); 22] = [
    ("$defs", Holds::Map, Nowhere),
    ("definitions", Holds::Map, Nowhere),
    ("contentSchema", Holds::One, Nowhere),
    ("allOf", Holds::List, Here),
    ("anyOf", Holds::List, Here),
    ("oneOf", Holds::List, Here),
    ("not", Holds::One, Here),
    ("if", Holds::One, Here),
    ("then", Holds::One, Here),
    ("else", Holds::One, Here),
    ("dependentSchemas", Holds::Map, Here),
    ("dependencies", Holds::Map, Here),
    ("properties", Holds::Map, Below),
    ("patternProperties", Holds::Map, Below),
    ("additionalProperties", Holds::One, Below),
    ("unevaluatedProperties", Holds::One, Below),
    ("propertyNames", Holds::One, Below),
    ("items", Holds::OneOrList, Below),
    ("prefixItems", Holds::List, Below),
    ("additionalItems", Holds::One, Below),
    ("unevaluatedItems", Holds::One, Below),
    ("contains", Holds::One, Below),
];

/// The schemas under a keyword, each with what a JSON pointer adds to reach it.
pub(super) fn under<'s>(keyword: &str, holds: Holds, value: &'s Value) -> Vec<(String, &'s Value)> {
    let is_schema = |value: &Value| value.is_object() || value.is_boolean();
    let one = || vec![(format!("/{keyword}"), value)];
    let list = |items: &'s [Value]| {
        items.iter().enumerate().map(|(i, item)| (format!("/{keyword}/{i}"), item)).collect::<Vec<_>>()
    };
    let found = match (holds, value) {
        (Holds::List | Holds::OneOrList, Value::Array(items)) => list(items),
        (Holds::Map, Value::Object(map)) => {
            map.iter().map(|(name, item)| (format!("/{keyword}/{}", escape(name)), item)).collect()
        }
        (Holds::One | Holds::OneOrList, _) => one(),
        (Holds::List | Holds::Map, _) => Vec::new(),
    };
    found.into_iter().filter(|(_, item)| is_schema(item)).collect()
}

/// Every schema within this one, by JSON pointer, itself included.
pub(super) fn all(root: &Value) -> BTreeMap<String, &Value> {
    let mut found = BTreeMap::new();
    let mut left = vec![(String::new(), root)];
    while let Some((at, schema)) = left.pop() {
        if let Value::Object(map) = schema {
            for (keyword, holds, _) in KEYWORDS {
                let Some(value) = map.get(keyword) else { continue };
                left.extend(
                    under(keyword, holds, value).into_iter().map(|(way, item)| (format!("{at}{way}"), item)),
                );
            }
        }
        found.insert(at, schema);
    }
    found
}

/// A name as one step of a JSON pointer (RFC 6901).
pub(super) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The schema that a reference within `root` leads to. A schema that is checked may hold others: those lead nowhere.
pub(super) fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.pointer(reference.strip_prefix('#')?)
}
