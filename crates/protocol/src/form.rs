//! Edits and answers that a person sends with a decision. The module determines the value that an edit replaces, the
//! format of the edit (text or JSON), and the draft that an editor shows first. The server validates the edit.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::interrupt::{Interrupt, Kind, Level, Offer};
use crate::plain;
use crate::trial::TrialCard;

/// Maximum depth to which the schema of an answer is followed to build a draft. The limit ends the descent into a
/// recursive schema.
const DEPTH: usize = 6;

impl Interrupt {
    /// Returns the escaped title of an interrupt's card. The title of a question is escaped as prose, and any other
    /// title as an exact value.
    pub fn plain_title(&self) -> Cow<'_, str> {
        if self.kind == Kind::Question { plain::text(&self.title) } else { plain::lines(&self.title) }
    }

    pub fn offer(&self, id: &str) -> Option<&Offer> {
        self.options.iter().find(|offer| offer.id == id)
    }

    /// Returns the value that a person's edit replaces: the arguments, plan, output or input. Without such a value,
    /// returns the whole payload of the interrupt. For a question, returns null, because an answer replaces nothing.
    pub fn replaced(&self) -> &Value {
        let member = match self.kind {
            Kind::ToolApproval => "arguments",
            Kind::PlanApproval => "plan",
            Kind::Review => "content",
            Kind::Checkpoint => "input",
            Kind::Question => return &Value::Null,
            Kind::Error
            | Kind::Choice
            | Kind::Turn
            | Kind::Escalation
            | Kind::Continuation
            | Kind::ClientCall
            | Kind::UnknownOutcome => return &self.payload,
        };
        self.payload.get(member).filter(|member| !member.is_null()).unwrap_or(&self.payload)
    }

    /// Returns the initial content of the editor for an interrupt. For an edit, this is the value that the edit
    /// replaces. For a structured answer, this is an object with the required members of the schema. A member has a
    /// value only if the schema defines one.
    pub fn draft(&self) -> Value {
        match (self.kind, &self.response_schema) {
            (Kind::Question, Some(_)) if self.edits_text() => Value::from(""),
            (Kind::Question, Some(schema)) => blank(schema, schema, DEPTH),
            _ => self.replaced().clone(),
        }
    }

    /// Returns the option of an interrupt with which a person can send an edit of the shown value or, for a question,
    /// the answer.
    pub fn editable(&self) -> Option<&Offer> {
        self.options.iter().find(|option| option.needs_edit && !option.keeps_some())
    }

    /// Returns the option of an interrupt with which a person keeps only some of a trial's changes.
    pub fn keeping(&self) -> Option<&Offer> {
        self.options.iter().find(|option| option.keeps_some())
    }

    /// Returns the paths of a trial's changes as text, one path per line. A person deletes a line to drop the change of
    /// its path.
    pub fn parts_as_lines(&self) -> String {
        let parts = TrialCard::from_payload(&self.payload).into_iter().flat_map(TrialCard::parts);
        // In the trial, a backslash in a path is already written as `\\`. Therefore `
        // ` and `\r` are unambiguous here.
        parts.map(|part| part.replace('\n', "\\n").replace('\r', "\\r")).collect::<Vec<_>>().join("\n")
    }

    /// Returns a sentence with the number of paths of the trial that the list of paths leaves out. Returns `None` if
    /// all paths are listed.
    pub fn parts_not_listed(&self) -> Option<String> {
        let more = TrialCard::from_payload(&self.payload).map_or(0, TrialCard::parts_not_shown);
        match more {
            0 => None,
            1 => Some("1 more path does not fit into the list and is dropped".to_owned()),
            _ => Some(format!("{more} more paths do not fit into the list and are dropped")),
        }
    }

    /// Describes the changes that an option would make although the card of the interrupt does not show them. `edit` is
    /// the person's edit. For an option that keeps only some changes, the description covers only the kept ones.
    pub fn unseen_by(&self, offer: &Offer, edit: &Value) -> Option<String> {
        if !offer.releases() {
            return None;
        }
        match (edit.as_array(), TrialCard::from_payload(&self.payload)) {
            (Some(parts), Some(trial)) if offer.keeps_some() && parts.iter().all(Value::is_string) => {
                let kept: Vec<String> = parts.iter().filter_map(Value::as_str).map(str::to_owned).collect();
                trial.unseen_of(&kept)
            }
            _ => self.unseen.clone(),
        }
    }

    /// Describes the risk of an option that lets risky work continue, as the text of a confirmation. Returns `None` for
    /// every other option.
    pub fn stakes(&self, offer: &Offer) -> Option<String> {
        if !offer.releases() || !self.risk.level.is_risky() {
            return None;
        }
        let level = if self.risk.level == Level::Critical { "CRITICAL" } else { "high" };
        let reasons: Vec<&str> =
            self.risk.reasons.iter().map(|reason| reason.text.trim_end_matches('.')).collect();
        let why = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) };
        Some(format!("the risk is {level}{why}"))
    }

    /// Returns true if a person writes the edit or answer of the interrupt as plain text. Returns false if it is JSON.
    pub fn edits_text(&self) -> bool {
        self.response_schema.as_ref().map_or_else(|| self.replaced().is_string(), is_of_text)
    }

    /// Returns true if a number that a person types may be the answer to the interrupt. A user interface must then let
    /// the person select options by name, because a typed `2` may not mean the second option. This holds for structured
    /// answers, for free text without suggestions, and for suggestions or choices that contain a number.
    pub fn takes_a_number(&self) -> bool {
        let has_a_number = |text: &str| text.chars().any(char::is_numeric);
        match self.kind {
            Kind::Question => {
                let answer = self.options.iter().find(|option| option.id == "answer");
                let suggested = self.suggestions();
                let of_words = suggested.is_empty() || suggested.into_iter().any(has_a_number);
                answer.is_some_and(|answer| answer.needs_edit || (answer.needs_text && of_words))
            }
            Kind::Choice => self.options.iter().any(|option| has_a_number(&option.label)),
            _ => false,
        }
    }

    /// Returns the suggested answers of a question: those of its payload, or the texts that its schema allows.
    pub fn suggestions(&self) -> Vec<&str> {
        let takes_words = self.options.iter().any(|option| option.id == "answer" && option.needs_text);
        if self.kind != Kind::Question || !takes_words {
            return Vec::new();
        }
        let own = self.payload.get("choices").and_then(Value::as_array).filter(|choices| !choices.is_empty());
        let allowed = || self.response_schema.as_ref()?.get("enum")?.as_array();
        own.or_else(allowed).into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

/// Parses a list of paths that a person edited. The person edited the text of [`Interrupt::parts_as_lines`]; the
/// remaining lines are the paths to keep.
pub fn parts_of_lines(text: &str) -> Vec<String> {
    text.split('\n').filter(|line| !line.is_empty()).map(part_of_line).collect()
}

fn part_of_line(line: &str) -> String {
    let mut part = String::with_capacity(line.len());
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, if letter == '\\' { letters.next() } else { None }) {
            (_, Some('n')) => part.push('\n'),
            (_, Some('r')) => part.push('\r'),
            (letter, next) => part.extend([letter].into_iter().chain(next)),
        }
    }
    part
}

/// Returns true if the JSON schema of an answer accepts only text.
fn is_of_text(schema: &Value) -> bool {
    let schema = followed(schema, schema);
    let all_texts =
        |values: &Value| values.as_array().is_some_and(|values| values.iter().all(Value::is_string));
    schema.get("type").is_some_and(|name| name == "string")
        || schema.get("const").is_some_and(Value::is_string)
        || schema.get("enum").is_some_and(all_texts)
}

/// Follows the `$ref` references of a JSON schema, and returns the schema at their end. `root` is the schema that
/// contains the referenced definitions.
pub(crate) fn followed<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let mut schema = schema;
    for _ in 0..DEPTH {
        let reference = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
        match reference.and_then(|pointer| root.pointer(pointer)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

/// Builds a draft of an answer with the required members of its schema. A member without a default or constant is null.
/// The person must replace each null, because the editor rejects it.
fn blank(root: &Value, schema: &Value, depth: usize) -> Value {
    let given = |schema: &Value| schema.get("default").or_else(|| schema.get("const")).cloned();
    if let Some(value) = given(schema) {
        return value;
    }
    let schema = followed(root, schema);
    if let Some(value) = given(schema) {
        return value;
    }
    let Some(depth) = depth.checked_sub(1) else { return Value::Null };
    let one_of = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)?.as_array()?.first());
    if let Some(first) = one_of {
        return blank(root, first, depth);
    }
    if schema.get("type").is_none_or(|name| name != "object") {
        return Value::Null;
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let member = |name: &str| {
        let value = properties.and_then(|all| all.get(name)).map(|each| blank(root, each, depth));
        (name.to_owned(), value.unwrap_or(Value::Null))
    };
    Value::Object(required.filter_map(Value::as_str).map(member).collect::<Map<_, _>>())
}
