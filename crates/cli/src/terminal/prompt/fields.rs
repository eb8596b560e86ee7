//! An answer of data, part by part: what the schema of a question asks for, one line each. Schemas that do not come to
//! a list of plain parts are answered as JSON.

use holdshort_protocol::plain;
use serde_json::{Map, Value};

use crate::limits::{FORM_DEPTH, FORM_PARTS};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    name: String,
    says: String,
    required: bool,
    takes: Takes,
}

#[derive(Clone, Debug, PartialEq)]
enum Takes {
    Text,
    Number,
    Integer,
    Flag,
    /// One of these.
    Of(Vec<Value>),
}

/// The parts so far.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Filling {
    fields: Vec<Field>,
    at: usize,
    values: Map<String, Value>,
}

/// What a line does to a form.
#[derive(Debug, PartialEq)]
pub(super) enum Filled {
    /// On to the next part, or the same again with this said.
    On(Option<String>),
    Whole(Value),
}

impl Filling {
    /// The form of a schema: an object of texts, numbers, flags and choices.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        let object = followed(schema, schema)?;
        if object.get("type").and_then(Value::as_str) != Some("object") {
            return None;
        }
        let required: Vec<&str> = object
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = object.get("properties")?.as_object()?;
        let field = |(name, part): (&String, &Value)| {
            let part = followed(part, schema)?;
            let says = ["description", "title"].into_iter().find_map(|key| part.get(key)?.as_str());
            Some(Field {
                name: name.clone(),
                says: says.unwrap_or(name).to_owned(),
                required: required.contains(&name.as_str()),
                takes: Takes::of(part)?,
            })
        };
        let mut fields: Vec<Field> = properties.iter().map(field).collect::<Option<_>>()?;
        // What has to be there comes first, in the order of the schema's own list.
        fields
            .sort_by_key(|field| required.iter().position(|name| *name == field.name).unwrap_or(usize::MAX));
        let fits = (1..=FORM_PARTS).contains(&fields.len());
        fits.then_some(Self { fields, at: 0, values: Map::new() })
    }

    /// What is asked for now.
    pub(super) fn ask(&self) -> String {
        let Some(field) = self.fields.get(self.at) else { return String::new() };
        let takes = match &field.takes {
            Takes::Text => String::new(),
            Takes::Number => " (a number)".to_owned(),
            Takes::Integer => " (a whole number)".to_owned(),
            Takes::Flag => " (yes or no)".to_owned(),
            Takes::Of(values) => {
                let shown = values.iter().enumerate();
                let shown: Vec<String> =
                    shown.map(|(n, value)| format!("{} {}", n + 1, text(value))).collect();
                format!(" ({})", shown.join(", "))
            }
        };
        let optional = if field.required { "" } else { " [Enter leaves it out]" };
        format!("  {} of {}: {}{takes}{optional}", self.at + 1, self.fields.len(), plain::line(&field.says))
    }

    /// Whether the part that is asked for has this value: then it is no key.
    pub(super) fn takes(&self, line: &str) -> bool {
        let of = self.fields.get(self.at).map(|field| &field.takes);
        matches!(of, Some(Takes::Of(values)) if values.iter().any(|value| text(value) == line))
    }

    pub(super) fn line(&mut self, line: &str) -> Filled {
        let Some(field) = self.fields.get(self.at) else { return Filled::Whole(self.values.clone().into()) };
        match (line.trim(), field.required) {
            ("", true) => return Filled::On(Some("  That part is needed.".to_owned())),
            ("", false) => {}
            (typed, _) => match field.takes.read(typed) {
                Ok(value) => {
                    self.values.insert(field.name.clone(), value);
                }
                Err(why) => return Filled::On(Some(format!("  {why}"))),
            },
        }
        self.at += 1;
        if self.at == self.fields.len() {
            Filled::Whole(self.values.clone().into())
        } else {
            Filled::On(None)
        }
    }
}

impl Takes {
    fn of(part: &Value) -> Option<Self> {
        if let Some(values) = part.get("enum").and_then(Value::as_array) {
            let are_plain = values.iter().all(|value| !value.is_object() && !value.is_array());
            return are_plain.then(|| Self::Of(values.clone()));
        }
        Some(match part.get("type").and_then(Value::as_str)? {
            "string" => Self::Text,
            "number" => Self::Number,
            "integer" => Self::Integer,
            "boolean" => Self::Flag,
            _ => return None,
        })
    }

    fn read(&self, typed: &str) -> Result<Value, String> {
        let no = |what: &str| format!("“{}” is not {what}.", plain::line(typed));
        match self {
            Self::Text => Ok(Value::from(typed)),
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
        }
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => plain::line(text).into_owned(),
        other => other.to_string(),
    }
}

/// What a reference within the schema leads to.
fn followed<'s>(part: &'s Value, whole: &'s Value) -> Option<&'s Value> {
    let mut part = part;
    for _ in 0..FORM_DEPTH {
        let Some(to) = part.get("$ref").and_then(Value::as_str) else { return Some(part) };
        part = whole.pointer(to.strip_prefix('#')?)?;
    }
    None
}
