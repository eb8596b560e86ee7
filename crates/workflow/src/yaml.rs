//! Reads YAML into a tree in which each key and each value has its line and column. This module knows nothing about
//! workflows.
//!
//! Scalars follow YAML 1.2. Only `true` and `false` are booleans. Therefore `off` and `no` are texts, even without
//! quotes. Merge keys (`<<`) and application tags are rejected. Anchors and aliases are allowed up to a limit.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Error, Location, Options, Spanned, UserMessageFormatter};

use crate::bounds;

/// Line and column in a YAML document, both from 1. The column is in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) line: u64,
    pub(crate) column: u64,
    /// True if the position is in the workflow that the file extends, and not in the file.
    pub(crate) inherited: bool,
}

impl Position {
    pub(crate) const START: Self = Self { line: 1, column: 1, inherited: false };
}

impl From<Location> for Position {
    /// Converts a location of the YAML parser. An unknown location (0:0, as in an empty document) becomes line 1,
    /// column 1.
    fn from(location: Location) -> Self {
        Self { line: location.line().max(1), column: location.column().max(1), inherited: false }
    }
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) place: Position,
}

#[derive(Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    /// Entries of a YAML mapping with keys of any type, in order. Duplicate keys are kept, so that the reader of the
    /// mapping can report them.
    Map(Vec<(Node, Node)>),
}

impl Node {
    pub(crate) fn nothing() -> Self {
        Self { value: Value::Null, place: Position::START }
    }

    /// Marks all positions of the YAML tree as positions in the extended workflow. The recursion is at most
    /// [`bounds::DEPTH`] deep.
    pub(crate) fn inherit(&mut self) {
        self.place.inherited = true;
        match &mut self.value {
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
            Value::List(items) => items.iter_mut().for_each(Self::inherit),
            Value::Map(entries) => entries.iter_mut().for_each(|(key, value)| {
                key.inherit();
                value.inherit();
            }),
        }
    }
}

/// Error for a text that is not valid YAML or exceeds a limit of the reader.
pub(crate) struct Unreadable {
    pub(crate) place: Position,
    pub(crate) message: String,
}

/// Parses a text that must be one YAML document.
pub(crate) fn parse(text: &str, max_bytes: usize) -> Result<Node, Unreadable> {
    parse_large(text, max_bytes, bounds::NODES)
}

/// Parses a text that must be one YAML document. `max_nodes` limits the number of scalars, lists and mappings.
pub(crate) fn parse_large(text: &str, max_bytes: usize, max_nodes: usize) -> Result<Node, Unreadable> {
    if text.len() > max_bytes {
        let message = format!("the file has {} bytes; at most {max_bytes} are read", text.len());
        return Err(Unreadable { place: Position::START, message });
    }
    serde_saphyr::from_str_with_options(text, options(max_bytes, max_nodes)).map_err(|error| {
        let error = error.without_snippet();
        let place = error.location().map_or(Position::START, Position::from);
        Unreadable { place, message: format!("not readable as YAML: {}", explain(error)) }
    })
}

fn explain(error: &Error) -> String {
    match error {
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => {
            format!("nested deeper than {} levels", bounds::DEPTH)
        }
        Error::Budget { .. } => "too large or too complex".to_owned(),
        Error::MultipleDocuments { .. } => "a file may contain only one YAML document".to_owned(),
        error => bare(&error.render_with_formatter(&UserMessageFormatter)).to_owned(),
    }
}

/// Returns the first line of a YAML parser's message without the position, which [`Unreadable`] already contains.
fn bare(message: &str) -> &str {
    let line = message.lines().next().unwrap_or_default();
    line.split(" at line ").next().unwrap_or(line).trim_end_matches([' ', '.', ','])
}

fn options(max_bytes: usize, max_nodes: usize) -> Options {
    serde_saphyr::options! {
        strict_booleans: true,
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        merge_keys: MergeKeyPolicy::Error,
        reject_unsupported_tags: true,
        with_snippet: false,
        emit_comments: false,
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: bounds::ALIAS_EVENTS,
        },
        budget: serde_saphyr::budget! {
            max_depth: bounds::DEPTH,
            max_nodes: max_nodes,
            // Each scalar is one event. Each list and each mapping is a start event and an end event.
            max_events: 2 * max_nodes + bounds::ALIAS_EVENTS,
            max_total_scalar_bytes: max_bytes,
        },
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self { value: spanned.value, place: spanned.referenced.into() })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number must be finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Value::Map(entries))
    }
}
