//! Finds the schemas that are nested in a schema, by a table of keywords. This module never checks a value.
//!
//! Not every field of a schema contains a schema. For example, `$ref` under `default`, `enum` or `const` is plain data,
//! and `$ref` under `properties` is the name of a property. The table lists the keywords whose values contain schemas.

use std::collections::BTreeMap;

use serde_json::Value;

/// Form in which the value of a JSON Schema keyword contains nested schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    One,
    List,
    Map,
    /// The value of the keyword is one schema, or a list of schemas.
    OneOrList,
}

/// Part of the checked value to which the nested schemas of a JSON Schema keyword apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applies {
    /// The nested schemas apply to the same value as the outer schema.
    Here,
    /// The nested schemas apply to members or items of the value to which the outer schema applies.
    Below,
    /// The nested schemas apply to no value by themselves. They are used only through references.
    Nowhere,
}

use Applies::{Below, Here, Nowhere};

/// Keywords of the supported JSON Schema drafts (2020-12, 2019-09, 07).
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

/// Returns the nested schemas of a keyword, each with a JSON pointer that is relative to the outer schema.
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

/// Returns this schema and every schema inside it. The key is the JSON pointer of the schema.
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

/// Escapes a name for use as one segment of a JSON pointer (RFC 6901).
pub(super) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Returns the target of a reference within `root`. `None` if the reference leads outside of `root`.
pub(super) fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.pointer(reference.strip_prefix('#')?)
}
