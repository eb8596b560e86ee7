//! Describes the form of an answer that a person has to type as JSON: `{"day": text, "hours": number, "tags"?: [text,
//! …]}`.

use holdshort_protocol::plain;
use serde_json::Value;

use super::value_kind::{part, types};
use crate::limits::{FORM_DEPTH, SHAPE_CHARS};

pub(super) fn shape(schema: &Value) -> String {
    let shape = describe_schema(schema, schema, FORM_DEPTH);
    let shown: String = shape.chars().take(SHAPE_CHARS).collect();
    if shown.len() < shape.len() { format!("{shown} …") } else { shown }
}

fn describe_schema(schema: &Value, whole: &Value, depth: usize) -> String {
    let Some(depth) = depth.checked_sub(1) else { return "…".to_owned() };
    let Some(found) = part(schema, whole) else { return "…".to_owned() };
    let shape = plain_shape(found.schema, whole, depth);
    if found.nullable { format!("{shape} or null") } else { shape }
}

fn plain_shape(schema: &Value, whole: &Value, depth: usize) -> String {
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let shown: Vec<String> = values.iter().map(ToString::to_string).collect();
        return shown.join(" | ");
    }
    if let Some(several) = ["anyOf", "oneOf"].into_iter().find_map(|key| schema.get(key)?.as_array()) {
        let shown: Vec<String> = several.iter().map(|it| describe_schema(it, whole, depth)).collect();
        return shown.join(" or ");
    }
    let each = types(schema).into_iter().map(|kind| match kind {
        "object" => object(schema, whole, depth),
        "array" => match schema.get("items") {
            Some(items) => format!("[{}, …]", describe_schema(items, whole, depth)),
            None => "[…]".to_owned(),
        },
        "string" => "text".to_owned(),
        "boolean" => "true or false".to_owned(),
        "integer" => "whole number".to_owned(),
        kind => plain::line(kind).into_owned(),
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() { "any JSON".to_owned() } else { each.join(" or ") }
}

fn object(schema: &Value, whole: &Value, depth: usize) -> String {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return "{…}".to_owned();
    };
    let required = schema.get("required").and_then(Value::as_array);
    let is_needed = |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
    let parts = properties.iter().map(|(name, part)| {
        let optional = if is_needed(name) { "" } else { "?" };
        format!("\"{}\"{optional}: {}", plain::line(name), describe_schema(part, whole, depth))
    });
    format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
}
