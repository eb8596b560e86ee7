//! Finds places in a JSON value: places that match a pattern, and places that contain hidden words.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cover::SHOWN;

/// Minimum number of characters of a hidden word that is looked for in other texts. Shorter words occur in many texts
/// by chance.
const WORD_CHARS: usize = 4;

/// Returns the places in a value that match a pattern.
pub(super) fn find_matching(value: &Value, pattern: &str) -> Vec<String> {
    let Some(rest) = pattern.strip_prefix('/') else { return Vec::new() };
    let mut found = vec![(String::new(), value)];
    for segment in rest.split('/') {
        found = found.into_iter().flat_map(|(at, value)| below(&at, value, segment)).collect();
    }
    found.into_iter().map(|(at, _)| at).collect()
}

fn below<'v>(at: &str, value: &'v Value, segment: &str) -> Vec<(String, &'v Value)> {
    if segment == "*" {
        return children(value).into_iter().map(|(name, child)| (format!("{at}/{name}"), child)).collect();
    }
    let pointer = format!("/{segment}");
    value.pointer(&pointer).map(|child| (format!("{at}{pointer}"), child)).into_iter().collect()
}

/// Returns the members or elements of a value. Each comes with its segment of a JSON pointer.
fn children(value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::Object(members) => members.iter().map(|(name, child)| (escaped(name), child)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(i, child)| (i.to_string(), child)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Removes places that lie inside another place of the set.
pub(super) fn outermost(places: &BTreeSet<String>) -> BTreeSet<String> {
    if places.contains("") {
        return BTreeSet::from([String::new()]);
    }
    let is_inside =
        |place: &String| place.match_indices('/').skip(1).any(|(end, _)| places.contains(&place[..end]));
    places.iter().filter(|place| !is_inside(place)).cloned().collect()
}

/// Collects the words of a hidden value. Such a word in another text could reveal the value.
pub(super) fn collect_words(value: &Value, found: &mut BTreeSet<String>) {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => String::new(),
    };
    if text.chars().count() >= WORD_CHARS {
        found.insert(text);
    }
    for (_, child) in children(value) {
        collect_words(child, found);
    }
}

/// Collects the places of texts and numbers that contain one of these words, and the places of objects that have a
/// member whose name contains one of these words.
pub(super) fn holding(at: &str, value: &Value, held: &BTreeSet<String>, found: &mut BTreeSet<String>) {
    let holds = match value {
        Value::String(text) => held.iter().any(|word| text.contains(word)),
        Value::Number(number) => held.contains(&number.to_string()),
        Value::Object(members) => {
            // Holdshort defines the top-level names of a card, so these names reveal nothing.
            let is_ours = |name: &str| at.is_empty() && SHOWN.contains(&name);
            members.keys().any(|name| !is_ours(name) && held.iter().any(|word| names(name, word)))
        }
        Value::Null | Value::Bool(_) | Value::Array(_) => false,
    };
    if holds {
        found.insert(at.to_owned());
    }
    for (name, child) in children(value) {
        holding(&format!("{at}/{name}"), child, held, found);
    }
}

/// Returns true if the name of an object field reveals a hidden word. A word of only lower-case letters must be equal
/// to the name, because many names contain it by chance.
fn names(name: &str, word: &str) -> bool {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if is_plain { name == word } else { name.contains(word) }
}
