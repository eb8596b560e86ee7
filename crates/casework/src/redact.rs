//! Words of a case out of a text: what a person asks may name people, and agents are told of numbers alone.

use serde_json::{Map, Value};

use crate::case::Case;
use crate::findings::Subject;

/// Shorter words stand in other words.
const LEAST_BYTES: usize = 4;

/// The text with numbers in the place of the names, ids, accounts and birth dates of the case, whatever their case.
pub fn redact(case: &Case, text: &str) -> String {
    in_place(&words(case), text)
}

/// The same of all that a value holds: its texts, the names of its members, and a number that is an account.
pub fn redact_members(case: &Case, members: Map<String, Value>) -> Map<String, Value> {
    in_members(&words(case), members)
}

/// Each word and what stands in its place, the longest first: a longer name may hold a shorter one.
fn words(case: &Case) -> Vec<(String, String)> {
    let mut words: Vec<(String, String)> = Vec::new();
    for (at, customer) in case.customers.iter().enumerate() {
        let subject = Subject::Customer(at + 1).to_string();
        let born = customer.birth_date.map(|date| date.to_string()).unwrap_or_default();
        let own = [customer.name.clone(), customer.id.clone(), customer.account.clone(), born];
        words.extend(own.map(|word| (word, subject.clone())));
    }
    for (at, party) in case.parties.iter().enumerate() {
        words.push((party.name.clone(), Subject::Party(at + 1).to_string()));
    }
    for entry in &case.watched {
        let row = format!("row {} of the watch list", entry.row);
        words.extend(entry.written.iter().map(|name| (name.clone(), row.clone())));
    }
    words.retain(|(word, _)| word.len() >= LEAST_BYTES);
    words.sort_by(|one, other| (other.0.len(), &one.0).cmp(&(one.0.len(), &other.0)));
    words
}

fn in_place(words: &[(String, String)], text: &str) -> String {
    let mut text = text.to_owned();
    for (word, instead) in words {
        text = replaced(&text, word, instead);
    }
    text
}

fn in_members(words: &[(String, String)], members: Map<String, Value>) -> Map<String, Value> {
    let mut kept = Map::new();
    for (name, value) in members {
        let mut name = in_place(words, &name);
        // Two names of one customer are two members still.
        while kept.contains_key(&name) {
            name.push('\'');
        }
        kept.insert(name, in_value(words, value));
    }
    kept
}

fn in_value(words: &[(String, String)], value: Value) -> Value {
    match value {
        Value::String(text) => in_place(words, &text).into(),
        Value::Number(number) => {
            let written = number.to_string();
            let told = in_place(words, &written);
            if told == written { Value::Number(number) } else { told.into() }
        }
        Value::Array(items) => items.into_iter().map(|item| in_value(words, item)).collect(),
        Value::Object(members) => in_members(words, members).into(),
        value @ (Value::Null | Value::Bool(_)) => value,
    }
}

fn replaced(text: &str, word: &str, instead: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((at, len)) = find(rest, word) {
        out.push_str(&rest[..at]);
        out.push_str(instead);
        rest = &rest[at + len..];
    }
    out.push_str(rest);
    out
}

/// Where a text holds a word, in any case, and how many bytes that takes.
fn find(text: &str, word: &str) -> Option<(usize, usize)> {
    let wanted: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
    text.char_indices().find_map(|(at, _)| {
        let mut left = wanted.iter();
        let mut next = left.next();
        for (offset, c) in text[at..].char_indices() {
            for lower in c.to_lowercase() {
                if next != Some(&lower) {
                    return None;
                }
                next = left.next();
            }
            if next.is_none() {
                return Some((at, offset + c.len_utf8()));
            }
        }
        None
    })
}
