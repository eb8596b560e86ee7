//! Finds values in a JSON value: values whose JSON pointer matches a pattern, and values that contain a hidden text.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cover::SHOWN;

/// Minimum number of characters of a hidden text that is searched in other texts. Shorter texts occur in other texts by
/// chance.
const WORD_CHARS: usize = 4;

/// Returns the JSON pointers of a value that match a pattern. In a pattern, `*` matches any member or element.
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

/// Returns the members or elements of a value, each with its segment of a JSON pointer.
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

/// Removes JSON pointers to values inside another value of the set.
pub(super) fn outermost(places: &BTreeSet<String>) -> BTreeSet<String> {
    if places.contains("") {
        return BTreeSet::from([String::new()]);
    }
    let is_inside =
        |place: &String| place.match_indices('/').skip(1).any(|(end, _)| places.contains(&place[..end]));
    places.iter().filter(|place| !is_inside(place)).cloned().collect()
}

/// Collects the texts and numbers in a hidden value. Such a text or number in another value could reveal the hidden
/// value.
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

/// Collects JSON pointers to values that could reveal a hidden text. These are texts and numbers that contain one of
/// `held`, and objects that have such a member name.
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

/// Returns true if the name of an object field reveals a hidden text. A text of only lower-case letters must be equal
/// to the name, because many names contain such a text by chance.
fn names(name: &str, word: &str) -> bool {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if is_plain { name == word } else { name.contains(word) }
}
