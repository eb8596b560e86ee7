//! Estimates the cost of checking a value against a schema with references or backtracking patterns. The cost is
//! estimated before the check. This module never decides if the value is valid.
//!
//! Definitions that refer to each other can cause exponential cost, even with a small schema and a small value.
//! Backtracking patterns can also cause exponential cost. The module counts the schemas that the check would visit, and
//! stops at a limit.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::positions::target;

/// Maximum number of steps that a check may need. One step is a schema, an entry of a list in a schema, or a piece of a
/// text. A check with this number of steps takes well under a second.
const STEPS: usize = 200_000;

/// Maximum nesting depth of schemas, through parts of the value and through references. A check can recurse to this
/// depth.
const DEPTH: usize = 256;

/// Number of bytes of text that a pattern can match in about the time of one counted step of a check.
const PIECE: usize = 32;

/// Number of steps of a check that are counted for each piece of a text if its pattern can backtrack.
const BACKTRACKING: usize = 50;

/// Returns the reason why checking the value would cost too much. `None` if the value can be checked.
pub(super) fn refuse(schema: &Value, value: &Value, backtracking: &BTreeSet<String>) -> Option<&'static str> {
    let mut walk = Walk { root: schema, backtracking, left: STEPS };
    match walk.visit(schema, value, DEPTH) {
        Ok(()) => None,
        Err(Enough::Steps) => Some("takes too long to check against this schema: send less"),
        Err(Enough::Depth) => Some("is nested too deep to be checked against this schema"),
    }
}

#[derive(Debug)]
enum Enough {
    Steps,
    Depth,
}

struct Walk<'s> {
    root: &'s Value,
    /// Patterns of the schema whose matching can backtrack.
    backtracking: &'s BTreeSet<String>,
    left: usize,
}

impl<'s> Walk<'s> {
    fn pay(&mut self, steps: usize) -> Result<(), Enough> {
        self.left = self.left.checked_sub(steps).ok_or(Enough::Steps)?;
        Ok(())
    }

    fn pay_match(&mut self, pattern: &str, text: &str) -> Result<(), Enough> {
        let costs = self.backtracking.contains(pattern);
        self.pay(if costs { BACKTRACKING * (1 + text.len() / PIECE) } else { 0 })
    }

    fn visit(&mut self, schema: &'s Value, value: &Value, depth: usize) -> Result<(), Enough> {
        let Value::Object(map) = schema else { return self.pay(1) };
        let depth = depth.checked_sub(1).ok_or(Enough::Depth)?;
        self.pay(1 + map.values().map(|each| entries(each) + 1).sum::<usize>() + entries(value))?;
        if ["uniqueItems", "const", "enum"].iter().any(|keyword| map.contains_key(*keyword)) {
            self.whole(value)?;
        }
        if let (Some(Value::String(pattern)), Value::String(text)) = (map.get("pattern"), value) {
            self.pay_match(pattern, text)?;
        }
        if let Some(next) = map.get("$ref").and_then(Value::as_str).and_then(|text| target(self.root, text)) {
            self.visit(next, value, depth)?;
        }
        for (keyword, held) in map {
            match (keyword.as_str(), held) {
                ("allOf" | "anyOf" | "oneOf", Value::Array(items)) => {
                    items.iter().try_for_each(|item| self.visit(item, value, depth))?;
                }
                ("not" | "if" | "then" | "else", item) => self.visit(item, value, depth)?,
                ("dependentSchemas" | "dependencies", Value::Object(items)) => {
                    items.values().try_for_each(|item| self.visit(item, value, depth))?;
                }
                _ => match value {
                    Value::Object(members) => self.members(map, keyword, held, members, depth)?,
                    Value::Array(items) => self.items(keyword, held, items, depth)?,
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
                },
            }
        }
        Ok(())
    }

    fn members(
        &mut self,
        schema: &Map<String, Value>,
        keyword: &str,
        held: &'s Value,
        members: &Map<String, Value>,
        depth: usize,
    ) -> Result<(), Enough> {
        match (keyword, held) {
            ("properties", Value::Object(named)) => {
                for (name, item) in named {
                    if let Some(member) = members.get(name) {
                        self.visit(item, member, depth)?;
                    }
                }
            }
            ("patternProperties", Value::Object(patterns)) => {
                for (pattern, item) in patterns {
                    // Each name counts twice, because `additionalProperties` matches the names a second time.
                    for name in members.keys().chain(members.keys()) {
                        self.pay_match(pattern, name)?;
                    }
                    members.values().try_for_each(|member| self.visit(item, member, depth))?;
                }
            }
            ("additionalProperties", item) => {
                let named = schema.get("properties").and_then(Value::as_object);
                for (name, member) in members {
                    if !named.is_some_and(|named| named.contains_key(name)) {
                        self.visit(item, member, depth)?;
                    }
                }
            }
            ("propertyNames", item) => {
                for name in members.keys() {
                    self.pay(name.len() / PIECE)?;
                    self.visit(item, &Value::from(name.as_str()), depth)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn items(&mut self, keyword: &str, held: &'s Value, items: &[Value], depth: usize) -> Result<(), Enough> {
        match (keyword, held) {
            ("prefixItems" | "items", Value::Array(schemas)) => {
                for (schema, item) in schemas.iter().zip(items) {
                    self.visit(schema, item, depth)?;
                }
            }
            ("items" | "additionalItems" | "contains", schema) => {
                items.iter().try_for_each(|item| self.visit(schema, item, depth))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Counts the steps of a check for a value that is compared as a whole, because of `const`, `enum` or
    /// `uniqueItems`.
    fn whole(&mut self, value: &Value) -> Result<(), Enough> {
        self.pay(1 + entries(value))?;
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.whole(item)),
            Value::Object(map) => map.values().try_for_each(|item| self.whole(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }
}

fn entries(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        Value::Object(map) => map.len(),
        Value::String(text) => text.len() / PIECE,
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
