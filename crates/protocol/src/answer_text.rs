//! Renders a structured answer for people: each member with its label.

use std::borrow::Cow;

use serde_json::Value;

use crate::form::followed;

/// Returns the members of a JSON object as pairs of label and value. Any other value becomes one pair with an empty
/// label. `schema` is the JSON Schema of the answer, which contains the labels.
pub fn labelled_members(schema: Option<&Value>, data: &Value) -> Vec<(String, String)> {
    let Value::Object(members) = data else { return vec![(String::new(), render_value(data))] };
    let properties = schema.and_then(|schema| followed(schema, schema).get("properties")?.as_object());
    let own = |name: &str| properties.and_then(|properties| properties.get(name)).unwrap_or(&Value::Null);
    members.iter().map(|(name, value)| (label(name, own(name)).into_owned(), render_value(value))).collect()
}

/// Returns the members of a structured answer, one line each: `how it felt: as planned`.
pub fn labelled_lines(schema: Option<&Value>, data: &Value) -> Vec<String> {
    let line = |(label, text): (String, String)| match &*label {
        "" => text,
        label => format!("{label}: {text}"),
    };
    labelled_members(schema, data).into_iter().map(line).collect()
}

/// Returns the title of an answer's member from its JSON schema. Without a title, returns the name of the member with
/// spaces for underscores. A `$ref` is not followed, because the title of the referenced schema is the name of a type.
pub(crate) fn label<'s>(name: &'s str, schema: &'s Value) -> Cow<'s, str> {
    let title = schema.get("title").and_then(Value::as_str).map(str::trim).filter(|title| !title.is_empty());
    title.map_or_else(|| name.replace('_', " ").into(), Cow::Borrowed)
}

pub(crate) fn render_value(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
