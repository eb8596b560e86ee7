//! Form fields for structured answers whose members are plain values: texts, numbers, booleans and choices. A page
//! without scripts shows one form field per member, and this module parses the text that a person types into it. If the
//! schema has another shape, the person types the answer as JSON.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Number, Value};

use crate::answer_text::{label, render_value};
use crate::form::followed;
use crate::pointer::{escape, is_within};

/// Member of a structured answer, shown as one form field.
#[derive(Clone, Debug, PartialEq)]
pub struct Member<'s> {
    pub name: &'s str,
    /// Title of the answer's member in the schema, or the name of the member if it has no title.
    pub label: Cow<'s, str>,
    pub description: Option<&'s str>,
    pub is_required: bool,
    takes: ValueKind,
}

#[derive(Clone, Debug, PartialEq)]
enum ValueKind {
    Text,
    Integer,
    Number,
    OneOf(Vec<Value>),
}

/// Kind of form field for one member of a structured answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    Text,
    Integer,
    Number,
    /// Field with one of these labels as its value. The form sends the index of the chosen label.
    Choice(Vec<String>),
}

/// Keywords that the JSON schema of a structured answer may contain. A schema with any other keyword gets no form.
const OF_OBJECTS: [&str; 12] = [
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "additionalProperties",
    "definitions",
    "description",
    "examples",
    "properties",
    "required",
    "title",
    "type",
];

/// Keywords of JSON schemas that combine or reference other schemas. A member of an answer with such a keyword gets no
/// form field, because its value may be an object or a list.
const COMPOSED: [&str; 9] = ["$dynamicRef", "$ref", "allOf", "anyOf", "else", "if", "not", "oneOf", "then"];

impl<'s> Member<'s> {
    /// Returns the members of a structured answer, required ones first. Returns `None` unless the JSON schema describes
    /// an object of plain values.
    pub fn all(schema: &'s Value) -> Option<Vec<Self>> {
        let object = followed(schema, schema).as_object()?;
        let is_plain = object.keys().all(|key| OF_OBJECTS.contains(&key.as_str()));
        let is_closed = object.get("additionalProperties").is_none_or(Value::is_boolean);
        let is_object = object.get("type").is_none_or(|name| name == "object");
        if !(is_plain && is_closed && is_object) {
            return None;
        }
        let required = object.get("required").and_then(Value::as_array);
        let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = object.get("properties")?.as_object()?;
        // A required member without a schema would accept any value. In this case, no form is possible.
        if properties.is_empty() || required.iter().any(|name| !properties.contains_key(*name)) {
            return None;
        }
        let place = |name: &str| required.iter().position(|each| *each == name);
        let mut members = Vec::new();
        for (name, own) in properties {
            members.push(Self {
                name: name.as_str(),
                label: label(name, own),
                description: own.get("description").and_then(Value::as_str),
                is_required: place(name).is_some(),
                takes: ValueKind::from_schema(followed(schema, own))?,
            });
        }
        members.sort_by_key(|member| place(member.name).unwrap_or(usize::MAX));
        Some(members)
    }

    pub fn input(&self) -> Input {
        match &self.takes {
            ValueKind::Text => Input::Text,
            ValueKind::Integer => Input::Integer,
            ValueKind::Number => Input::Number,
            ValueKind::OneOf(values) => Input::Choice(values.iter().map(render_value).collect()),
        }
    }

    /// Returns true if `pointer` points to this member of a structured answer or into its value. `pointer` is a JSON
    /// pointer into the body of a decision.
    pub fn is_meant_by(&self, pointer: &str) -> bool {
        is_within(pointer, &self.pointer())
    }

    /// Returns the JSON pointer to this member of a structured answer in the body of a decision.
    fn pointer(&self) -> String {
        format!("/edit/{}", escape(self.name))
    }

    /// Parses the text that a person typed for this member of a structured answer. Returns `None` for an empty optional
    /// member.
    fn read(&self, typed: &str) -> Result<Option<Value>, String> {
        let trimmed = typed.trim();
        if trimmed.is_empty() {
            return if self.is_required {
                Err("is required: fill in this field".to_owned())
            } else {
                Ok(None)
            };
        }
        let value = match &self.takes {
            ValueKind::Text => Value::from(typed),
            ValueKind::Integer => {
                trimmed.parse::<i64>().map(Value::from).map_err(|_| "is not a whole number")?
            }
            ValueKind::Number => {
                let number =
                    trimmed.parse::<Number>().map_err(|_| "is not a number: write it as 4 or 4.5")?;
                Value::Number(number)
            }
            ValueKind::OneOf(values) => {
                let place = trimmed.parse::<usize>().ok();
                let value = place.and_then(|place| values.get(place));
                value.cloned().ok_or("is not one of the choices")?
            }
        };
        Ok(Some(value))
    }
}

impl ValueKind {
    fn from_schema(schema: &Value) -> Option<Self> {
        let schema = schema.as_object()?;
        if COMPOSED.iter().any(|key| schema.contains_key(*key)) {
            return None;
        }
        if let Some(value) = schema.get("const") {
            return Some(Self::OneOf(vec![value.clone()]));
        }
        if let Some(values) = schema.get("enum") {
            let values = values.as_array().filter(|values| !values.is_empty())?;
            // If two values are displayed as the same text (`1` and `"1"`), a person cannot tell them apart.
            let words: BTreeSet<String> = values.iter().map(render_value).collect();
            return (words.len() == values.len()).then(|| Self::OneOf(values.clone()));
        }
        Some(match schema.get("type")?.as_str()? {
            "string" => Self::Text,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::OneOf(vec![Value::Bool(true), Value::Bool(false)]),
            _ => return None,
        })
    }
}

/// Builds a structured answer from the text that a person typed for each member. Each error is a JSON pointer with a
/// message.
pub fn answer_of(
    members: &[Member<'_>],
    typed: impl Fn(usize) -> String,
) -> Result<Value, Vec<(String, String)>> {
    let (mut answer, mut problems) = (Map::new(), Vec::new());
    for (at, member) in members.iter().enumerate() {
        match member.read(&typed(at)) {
            Ok(Some(value)) => {
                answer.insert(member.name.to_owned(), value);
            }
            Ok(None) => {}
            Err(problem) => problems.push((member.pointer(), problem)),
        }
    }
    if answer.is_empty() && problems.is_empty() {
        problems.push(("/edit".to_owned(), "is empty: fill in at least one field".to_owned()));
    }
    if problems.is_empty() { Ok(Value::Object(answer)) } else { Err(problems) }
}
