//! Values that a field of a schema accepts, and the parser that converts a typed line into such a value.

use holdshort_protocol::plain;
use serde_json::Value;

use crate::limits::FORM_DEPTH;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum ValueKind {
    Number,
    Integer,
    Flag,
    /// One of the values that the schema lists.
    Of(Vec<Value>),
    /// List of values of one kind, which a person types separated by commas.
    List(Box<ValueKind>),
    /// Several kinds of values. The first kind for which the typed line is valid applies.
    Either(Vec<ValueKind>),
    Text,
    /// Any JSON value: parsed if the typed line is valid JSON, otherwise text.
    Any,
}

/// Schema of a form field, after references and wrappers have been resolved.
pub(super) struct Part<'s> {
    pub schema: &'s Value,
    /// True if null is a valid value of the form field.
    pub nullable: bool,
}

/// Follows the references in a schema, and unwraps combinations of a single schema, such as `anyOf [integer, null]` or
/// `allOf [one]`.
pub(super) fn part<'s>(schema: &'s Value, whole: &'s Value) -> Option<Part<'s>> {
    let mut part = Part { schema, nullable: false };
    for _ in 0..FORM_DEPTH {
        if let Some(to) = part.schema.get("$ref").and_then(Value::as_str) {
            part.schema = whole.pointer(to.strip_prefix('#')?)?;
            continue;
        }
        let alternatives =
            ["anyOf", "oneOf", "allOf"].into_iter().find_map(|key| part.schema.get(key)?.as_array());
        let Some(alternatives) = alternatives else { return Some(part) };
        let mut others = alternatives.iter().filter(|it| !is_null(it));
        let (first, second) = (others.next()?, others.next());
        part.nullable |= alternatives.iter().any(is_null);
        if second.is_some() {
            return Some(part);
        }
        part.schema = first;
    }
    None
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null") || schema.get("const").is_some_and(Value::is_null)
}

/// Returns the names of a schema's types, without null. Returns an empty list if the schema names no types.
pub(super) fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => {
            several.iter().filter_map(Value::as_str).filter(|it| *it != "null").collect()
        }
        _ if schema.get("properties").is_some() => vec!["object"],
        _ if schema.get("items").is_some() => vec!["array"],
        _ => Vec::new(),
    }
}

pub(super) fn has_null(schema: &Value) -> bool {
    let in_types =
        schema.get("type").and_then(Value::as_array).is_some_and(|all| all.iter().any(|it| it == "null"));
    in_types || schema.get("enum").and_then(Value::as_array).is_some_and(|all| all.contains(&Value::Null))
}

impl ValueKind {
    /// Returns the kind of value that a schema accepts. Returns `None` if a person cannot type the value on one line,
    /// for example because it is an object.
    pub(super) fn from_schema(schema: &Value, whole: &Value, depth: usize) -> Option<Self> {
        let depth = depth.checked_sub(1)?;
        if let Some(value) = schema.get("const") {
            return is_plain(value).then(|| Self::Of(vec![value.clone()]));
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let values: Vec<Value> = values.iter().filter(|value| !value.is_null()).cloned().collect();
            return (!values.is_empty() && values.iter().all(is_plain)).then_some(Self::Of(values));
        }
        if let Some(several) = ["anyOf", "oneOf"].into_iter().find_map(|key| schema.get(key)?.as_array()) {
            let several = several.iter().filter(|it| !is_null(it));
            let each = several.map(|it| Self::from_schema(part(it, whole)?.schema, whole, depth));
            return Self::either(each.collect::<Option<_>>()?);
        }
        let types = types(schema);
        if types.is_empty() {
            let says_more = ["not", "if", "$ref", "allOf"].into_iter().any(|key| schema.get(key).is_some());
            return (!says_more).then_some(Self::Any);
        }
        let each = types.into_iter().map(|kind| {
            Some(match kind {
                "string" => Self::Text,
                "number" => Self::Number,
                "integer" => Self::Integer,
                "boolean" => Self::Flag,
                "array" if schema.get("prefixItems").is_none() => match schema.get("items") {
                    Some(items) => {
                        Self::List(Box::new(Self::from_schema(part(items, whole)?.schema, whole, depth)?))
                    }
                    None => Self::List(Box::new(Self::Any)),
                },
                _ => return None,
            })
        });
        Self::either(each.collect::<Option<_>>()?)
    }

    /// Combines alternative kinds of values. Text is tried last, because every line is a valid text.
    fn either(mut several: Vec<Self>) -> Option<Self> {
        several.sort_by_key(|it| matches!(it, Self::Text | Self::Any | Self::List(_)));
        several.dedup();
        if several.len() < 2 { several.pop() } else { Some(Self::Either(several)) }
    }

    /// Describes the value that the person has to type for a form field. The description is empty if any text is valid.
    pub(super) fn asks(&self) -> String {
        match self {
            Self::Text | Self::Any => String::new(),
            Self::Number => "a number".to_owned(),
            Self::Integer => "a whole number".to_owned(),
            Self::Flag => "yes or no".to_owned(),
            Self::Of(values) => {
                let shown = values.iter().enumerate();
                let shown: Vec<String> =
                    shown.map(|(n, value)| format!("{} {}", n + 1, text(value))).collect();
                shown.join(", ")
            }
            Self::List(each) => match each.asks() {
                of if of.is_empty() => "values separated by commas".to_owned(),
                of => format!("values separated by commas, each {of}"),
            },
            Self::Either(several) => {
                let each = several.iter().map(|it| match it.asks() {
                    of if of.is_empty() => "text".to_owned(),
                    of => of,
                });
                each.collect::<Vec<_>>().join(" or ")
            }
        }
    }

    pub(super) fn has(&self, line: &str) -> bool {
        match self {
            Self::Of(values) => values.iter().any(|value| text(value) == line),
            Self::Either(several) => several.iter().any(|it| it.has(line)),
            _ => false,
        }
    }

    pub(super) fn is_list(&self) -> bool {
        match self {
            Self::List(_) => true,
            Self::Either(several) => several.iter().any(Self::is_list),
            _ => false,
        }
    }

    pub(super) fn read(&self, typed: &str) -> Result<Value, String> {
        let no = |what: &str| format!("“{}” is not {what}.", plain::line(typed));
        match self {
            Self::Text => Ok(Value::from(typed)),
            Self::Any => Ok(serde_json::from_str(typed).unwrap_or_else(|_| Value::from(typed))),
            Self::Number => match typed.parse::<f64>() {
                Ok(number) if number.is_finite() => serde_json::from_str(typed).or(Ok(Value::from(number))),
                Ok(_) | Err(_) => Err(no("a number")),
            },
            Self::Integer => typed.parse::<i64>().map(Value::from).map_err(|_| no("a whole number")),
            Self::Flag => match &*typed.to_lowercase() {
                "y" | "yes" | "true" => Ok(Value::Bool(true)),
                "n" | "no" | "false" => Ok(Value::Bool(false)),
                _ => Err(no("yes or no")),
            },
            Self::Of(values) => {
                let by_text = values.iter().find(|value| text(value).eq_ignore_ascii_case(typed));
                let by_number = || typed.parse::<usize>().ok().and_then(|n| values.get(n.checked_sub(1)?));
                by_text.or_else(by_number).cloned().ok_or_else(|| no("one of them"))
            }
            Self::List(each) => {
                // A list whose items contain commas must be typed as JSON.
                if let Ok(Value::Array(items)) = serde_json::from_str(typed) {
                    return Ok(Value::Array(items));
                }
                let items = typed.split(',').map(str::trim).filter(|item| !item.is_empty());
                items.map(|item| each.read(item)).collect::<Result<Vec<Value>, _>>().map(Value::Array)
            }
            Self::Either(several) => {
                let found = several.iter().find_map(|it| it.read(typed).ok());
                found.ok_or_else(|| no(&self.asks()))
            }
        }
    }
}

fn is_plain(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => plain::line(text).into_owned(),
        other => other.to_string(),
    }
}
