//! Structured answers: the person is asked for the fields of the schema, one line per field. The fields of nested
//! objects are asked separately. If the schema cannot be divided into fields, the answer is typed as JSON, and the
//! prompt shows the shape of the JSON.

use std::collections::VecDeque;

use holdshort_protocol::pointer::{escape, is_within};
use holdshort_protocol::{FieldError, plain};
use serde_json::{Map, Value};

use super::value_kind::{ValueKind, has_null, part, types};
use crate::limits::{FORM_DEPTH, FORM_PARTS};

#[derive(Clone, Debug, PartialEq)]
struct Field {
    /// Path of a form field in the structured answer, as member names from the root. Empty if the whole answer is one
    /// field.
    path: Vec<String>,
    says: String,
    blank: Blank,
    /// Innermost optional object of the answer that contains the field, as an index into [`Filling::objects`].
    within: Option<usize>,
    takes: ValueKind,
}

/// Effect of an empty line that a person types for a form field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blank {
    Needed,
    Absent,
    Null,
}

/// Nested object of a structured answer. In the list of objects, each object precedes the objects that it contains.
#[derive(Clone, Debug, PartialEq)]
struct Object {
    path: Vec<String>,
    blank: Blank,
}

/// Form for a structured answer that a person fills in: the fields, and the values so far.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Filling {
    fields: Vec<Field>,
    objects: Vec<Object>,
    /// Indexes of the form fields that still need values, in order. The first is the current field.
    left: VecDeque<usize>,
    answer: Value,
}

/// Result of a line that a person typed while filling in a form.
#[derive(Debug, PartialEq)]
pub(super) enum Filled {
    /// The form asks for the next field. With a message, the form asks for the same field again.
    On(Option<String>),
    Whole(Value),
}

impl Filling {
    /// Returns the empty form for a JSON schema. Returns `None` if the answer cannot be divided into fields of one line
    /// each.
    pub(super) fn from_schema(schema: &Value) -> Option<Self> {
        let whole = part(schema, schema)?;
        let (fields, objects, left) = (Vec::new(), Vec::new(), VecDeque::new());
        let mut filling = Self { fields, objects, left, answer: Value::Object(Map::new()) };
        if types(whole.schema) == ["object"] {
            filling.object(whole.schema, schema, &[], None, FORM_DEPTH)?;
        } else {
            let says = schema_description(schema)
                .or_else(|| schema_description(whole.schema))
                .unwrap_or("the answer")
                .to_owned();
            let takes = ValueKind::from_schema(whole.schema, schema, FORM_DEPTH)?;
            // A null answer would be rejected. A person without an answer skips the question instead.
            let blank = Blank::Needed;
            filling.fields.push(Field { path: Vec::new(), says, blank, within: None, takes });
        }
        filling.left = (0..filling.fields.len()).collect();
        (1..=FORM_PARTS).contains(&filling.left.len()).then_some(filling)
    }

    /// Removes from the form the values that the server rejected, so that the person is asked for these fields again.
    /// Returns `None` if no field was rejected.
    pub(super) fn refused(mut self, problems: &[FieldError]) -> Option<Self> {
        let place = |field: &Field| {
            field.path.iter().fold("/edit".to_owned(), |place, name| format!("{place}/{}", escape(name)))
        };
        let all = |is_refused: &dyn Fn(&Field, &str) -> bool| -> VecDeque<usize> {
            let told = |field: &Field| problems.iter().any(|problem| is_refused(field, &problem.pointer));
            self.fields.iter().enumerate().filter(|(_, field)| told(field)).map(|(at, _)| at).collect()
        };
        let is_around = |field: &Field, pointer: &str| is_within(&place(field), pointer);
        // The server reports a missing field at the object that should contain the field.
        let is_missing = |field: &Field| at(&self.answer, &field.path).is_none();
        let exactly = all(&|field, pointer| {
            is_within(pointer, &place(field)) || (is_missing(field) && is_around(field, pointer))
        });
        self.left = if exactly.is_empty() { all(&is_around) } else { exactly };
        for place in &self.left {
            take(&mut self.answer, &self.fields[*place].path);
        }
        (!self.left.is_empty()).then_some(self)
    }

    /// Returns the form's current field and its index.
    fn now(&self) -> Option<(usize, &Field)> {
        let place = *self.left.front()?;
        Some((place, self.fields.get(place)?))
    }

    fn object(
        &mut self,
        object: &Value,
        whole: &Value,
        path: &[String],
        within: Option<usize>,
        depth: usize,
    ) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let required = object.get("required").and_then(Value::as_array);
        let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
        let place = |name: &str| required.iter().position(|each| *each == name);
        let mut properties: Vec<(&String, &Value)> = object.get("properties")?.as_object()?.iter().collect();
        // Required properties come first, in the order of the schema's `required` list.
        properties.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
        for (name, schema) in properties {
            let found = part(schema, whole)?;
            let nullable = found.nullable || has_null(found.schema);
            let blank = match (place(name).is_some(), nullable) {
                (false, _) => Blank::Absent,
                (true, true) => Blank::Null,
                (true, false) => Blank::Needed,
            };
            let path: Vec<String> = path.iter().chain([name]).cloned().collect();
            if types(found.schema) == ["object"] {
                self.objects.push(Object { path: path.clone(), blank });
                let own = (blank != Blank::Needed).then(|| self.objects.len() - 1);
                self.object(found.schema, whole, &path, own.or(within), depth)?;
            } else {
                let says = schema_description(schema).or_else(|| schema_description(found.schema));
                let says = says.map_or_else(|| path.join(" · "), str::to_owned);
                let takes = ValueKind::from_schema(found.schema, whole, FORM_DEPTH)?;
                self.fields.push(Field { path, says, blank, within, takes });
            }
            if self.fields.len() > FORM_PARTS {
                return None;
            }
        }
        Some(())
    }

    /// Returns the line that asks the person for the value of the form's current field.
    pub(super) fn ask(&self) -> String {
        let Some((place, field)) = self.now() else { return String::new() };
        let takes = match field.takes.asks() {
            asks if asks.is_empty() => asks,
            asks => format!(" ({asks})"),
        };
        let optional = if self.may_be_left_out(field) { " [Enter leaves it out]" } else { "" };
        let says = plain::line(&field.says);
        if self.fields.len() == 1 {
            return format!("  {says}{takes}{optional}");
        }
        format!("  {} of {}: {says}{takes}{optional}", place + 1, self.fields.len())
    }

    /// Returns true if the typed line is a valid value of the form's current field. Such a line is not interpreted as a
    /// key.
    pub(super) fn accepts_value(&self, line: &str) -> bool {
        self.now().is_some_and(|(_, field)| field.takes.has(line))
    }

    fn may_be_left_out(&self, field: &Field) -> bool {
        field.blank != Blank::Needed || self.open_object(field).is_some()
    }

    /// Returns the optional object that an empty line for this field omits from the answer. Returns `None` if the
    /// object already has a value in the answer.
    fn open_object(&self, field: &Field) -> Option<&Object> {
        let object = self.objects.get(field.within?)?;
        at(&self.answer, &object.path).is_none().then_some(object)
    }

    pub(super) fn line(&mut self, line: &str) -> Filled {
        let Some(field) = self.now().map(|(_, field)| field.clone()) else {
            return Filled::Whole(self.answer.clone());
        };
        let mut done = 1;
        match (line.trim(), field.blank) {
            ("", Blank::Needed) => {
                let Some(object) = self.open_object(&field) else {
                    return Filled::On(Some("  This part is required.".to_owned()));
                };
                let rest = self.left.iter().take_while(|it| self.fields[**it].path.starts_with(&object.path));
                done = rest.count();
            }
            ("", Blank::Null) => put(&mut self.answer, &field.path, Value::Null),
            ("", Blank::Absent) => {}
            (typed, _) => match field.takes.read(typed) {
                Ok(value) => put(&mut self.answer, &field.path, value),
                Err(why) => return Filled::On(Some(format!("  {why}"))),
            },
        }
        self.left.drain(..done);
        if !self.left.is_empty() {
            return Filled::On(None);
        }
        self.settle();
        Filled::Whole(self.answer.clone())
    }

    /// Adds the required objects in which no field has a value to the answer, as empty objects or null.
    fn settle(&mut self) {
        for object in &self.objects {
            let parent = &object.path[..object.path.len().saturating_sub(1)];
            let is_missing = at(&self.answer, parent).is_some() && at(&self.answer, &object.path).is_none();
            let value = match object.blank {
                Blank::Absent => continue,
                Blank::Null => Value::Null,
                Blank::Needed => Value::Object(Map::new()),
            };
            if is_missing {
                put(&mut self.answer, &object.path, value);
            }
        }
    }

    /// Returns true if a typed line of JSON is the complete answer, and not the value of the form's current field.
    pub(super) fn is_whole(&self, line: &str) -> bool {
        let is_list = self.now().is_some_and(|(_, field)| field.takes.is_list());
        line.starts_with('{') || (line.starts_with('[') && self.fields.len() == 1 && !is_list)
    }
}

fn schema_description(schema: &Value) -> Option<&str> {
    ["description", "title"].into_iter().find_map(|key| schema.get(key)?.as_str())
}

fn at<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

/// Removes the field at `path` from a structured answer.
fn take(answer: &mut Value, path: &[String]) {
    let Some((name, around)) = path.split_last() else {
        *answer = Value::Object(Map::new());
        return;
    };
    let around = around.iter().try_fold(answer, |value, name| value.get_mut(name));
    if let Some(Value::Object(object)) = around {
        object.remove(name);
    }
}

fn put(answer: &mut Value, path: &[String], value: Value) {
    let mut place = answer;
    for name in path {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        let Some(object) = place.as_object_mut() else { return };
        place = object.entry(name.clone()).or_insert(Value::Null);
    }
    *place = value;
}
