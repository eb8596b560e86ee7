//! Reads the JSON Schema for the input of a workflow, or for the parameters of a tool. This module only checks the
//! schema itself.

use holdshort_core::schema;
use serde_json::{Value, json};

use crate::item::Item;
use crate::problem::Problems;
use crate::yaml;

/// Returns the schema of a workflow's input if the workflow states none: a task as text.
pub(super) fn default() -> Value {
    json!({"type": "object", "properties": {"task": {"type": "string"}}, "required": ["task"]})
}

pub(super) fn read(item: &Item<'_>, problems: &mut Problems) -> Option<Value> {
    object(item, "the input of a run", problems)
}

/// Reads a JSON Schema of a workflow whose type is `object`.
pub(super) fn object(item: &Item<'_>, of: &str, problems: &mut Problems) -> Option<Value> {
    let before = problems.len();
    let schema = item.json(problems)?;
    if problems.len() > before {
        return None;
    }
    let not_one = || format!("{of} is an object: the schema needs `type: object`");
    if !schema.is_object() {
        problems.at(item, not_one());
        return None;
    }
    let refused = schema::refuse(&schema, "");
    for problem in &refused {
        problems.at(&find(item, &problem.pointer), describe_problem(problem));
    }
    if !refused.is_empty() {
        return None;
    }
    let schema = schema::unfolded(schema);
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        problems.at(item, not_one());
        return None;
    }
    Some(schema)
}

/// Returns the message for a problem in a schema. It names a rejected keyword that begins with `$`, because the
/// reported position shows only the keyword's value.
fn describe_problem(problem: &schema::Problem) -> String {
    match problem.pointer.rsplit('/').next() {
        Some(keyword) if keyword.starts_with('$') => format!("`{keyword}` {}", problem.message),
        Some(_) | None => problem.message.clone(),
    }
}

/// Returns the YAML value at a JSON pointer. If the value is missing, returns the last existing value on the path.
fn find<'a>(item: &Item<'a>, pointer: &str) -> Item<'a> {
    let mut found = item.clone();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        let next = match &found.node.value {
            yaml::Value::Map(entries) => entries
                .iter()
                .find(|(key, _)| matches!(&key.value, yaml::Value::Text(text) if *text == part))
                .map(|(_, value)| found.under(&part, value)),
            yaml::Value::List(items) => {
                part.parse::<usize>().ok().and_then(|index| Some(found.entry(index, items.get(index)?)))
            }
            yaml::Value::Null | yaml::Value::Bool(_) | yaml::Value::Number(_) | yaml::Value::Text(_) => None,
        };
        match next {
            Some(next) => found = next,
            None => break,
        }
    }
    found
}
