//! Reads typed values from a YAML tree: mappings with known keys, texts, names, counts, lists, JSON.
//!
//! For an invalid value, a method of this module reports a problem and returns `None`. The caller then continues with
//! the next key.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json};

use holdshort_core::json::MAX_INTEGER;

use crate::problem::Problems;
use crate::suggest;
use crate::yaml::{Node, Value};

/// YAML value of a configuration file, with its path in the document.
#[derive(Clone)]
pub(crate) struct Item<'a> {
    pub(crate) node: &'a Node,
    /// Path of the YAML value such as `phases[1].agent`. Empty for the whole document.
    pub(crate) path: String,
}

/// Keys that are allowed in a YAML mapping.
pub(crate) struct Keys {
    pub(crate) known: &'static [&'static str],
    /// Keys of the YAML mapping that this version does not support, but a later version may.
    pub(crate) later: &'static [&'static str],
}

/// YAML mapping whose keys were checked.
pub(crate) struct Fields<'a> {
    owner: Item<'a>,
    entries: BTreeMap<&'a str, Item<'a>>,
    /// Known keys that the YAML mapping lacks, each because an unknown key seems to misspell it. They are not also
    /// reported as missing.
    meant: BTreeSet<&'static str>,
}

impl<'a> Item<'a> {
    pub(crate) fn top(node: &'a Node) -> Self {
        Self { node, path: String::new() }
    }

    /// Returns the value of a key of this YAML mapping, with its path.
    pub(crate) fn under(&self, key: &str, node: &'a Node) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        Self { node, path: format!("{}{dot}{key}", self.path) }
    }

    pub(crate) fn entry(&self, index: usize, node: &'a Node) -> Self {
        Self { node, path: format!("{}[{index}]", self.path) }
    }

    /// Describes the YAML value for an error message, such as `a list`.
    pub(crate) fn found(&self) -> String {
        match &self.node.value {
            Value::Null => "nothing".to_owned(),
            Value::Bool(value) => format!("`{value}`"),
            Value::Number(number) => format!("the number {number}"),
            Value::Text(text) if text.len() <= 40 && !text.contains('\n') => format!("`{text}`"),
            Value::Text(_) => "a longer text".to_owned(),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a mapping".to_owned(),
        }
    }

    pub(crate) fn is_mapping(&self) -> bool {
        matches!(self.node.value, Value::Map(_))
    }

    fn expected(&self, what: &str, problems: &mut Problems) {
        problems.at(self, format!("expected {what}, found {}", self.found()));
    }

    /// Returns the entries of a YAML mapping with any keys as `(name, key, value)`, in order. Entries with duplicate
    /// keys, or with keys that are not texts, are reported and left out.
    pub(crate) fn entries(&self, problems: &mut Problems) -> Option<Vec<(&'a str, Self, Self)>> {
        let Value::Map(entries) = &self.node.value else {
            self.expected("a mapping", problems);
            return None;
        };
        let mut seen = BTreeMap::new();
        let mut read = Vec::new();
        for (key, value) in entries {
            let Value::Text(name) = &key.value else {
                let key = Item { node: key, path: self.path.clone() };
                problems.at(&key, format!("a key must be a text, found {}", key.found()));
                continue;
            };
            let value = self.under(name, value);
            let key = self.under(name, key);
            if let Some(line) = seen.insert(name.as_str(), key.node.place.line) {
                problems.at(&key, format!("the key `{name}` appears twice (first in line {line})"));
                continue;
            }
            read.push((name.as_str(), key, value));
        }
        Some(read)
    }

    /// Reads a YAML mapping whose keys must be in `keys`. Reports unknown keys.
    pub(crate) fn fields(&self, keys: &Keys, problems: &mut Problems) -> Option<Fields<'a>> {
        let mut fields = Fields { owner: self.clone(), entries: BTreeMap::new(), meant: BTreeSet::new() };
        for (name, key, value) in self.entries(problems)? {
            if keys.known.contains(&name) {
                fields.entries.insert(name, value);
            } else if keys.later.contains(&name) {
                problems.at(&key, format!("`{name}` is not supported yet by this version"));
            } else {
                let known = keys.known.iter().copied();
                fields.meant.extend(suggest::nearest(name, known.clone()));
                problems.unknown(&key, name, format!("unknown key `{name}`"), known);
            }
        }
        Some(fields)
    }

    /// Reads a YAML list with at most `max` entries.
    pub(crate) fn list(&self, max: usize, problems: &mut Problems) -> Option<Vec<Self>> {
        let Value::List(items) = &self.node.value else {
            self.expected("a list", problems);
            return None;
        };
        if items.len() > max {
            problems.at(self, format!("{} entries; at most {max} are allowed", items.len()));
            return None;
        }
        Some(items.iter().enumerate().map(|(index, node)| self.entry(index, node)).collect())
    }

    /// Reads a YAML list of different texts. Returns each text with its item. Invalid entries are reported and left
    /// out.
    pub(crate) fn texts(
        &self,
        max: usize,
        max_chars: usize,
        problems: &mut Problems,
    ) -> Option<Vec<(String, Self)>> {
        let mut texts: Vec<(String, Self)> = Vec::new();
        for item in self.list(max, problems)? {
            let Some(text) = item.text(max_chars, problems) else { continue };
            if texts.iter().any(|(known, _)| *known == text) {
                problems.at(&item, format!("`{text}` is listed twice"));
            } else {
                texts.push((text, item));
            }
        }
        Some(texts)
    }

    /// Reads a YAML value that must be a text with at least one visible character.
    pub(crate) fn text(&self, max_chars: usize, problems: &mut Problems) -> Option<String> {
        let Value::Text(text) = &self.node.value else {
            self.expected("a text", problems);
            return None;
        };
        let chars = text.chars().count();
        if text.trim().is_empty() {
            problems.at(self, "the text is empty");
        } else if chars > max_chars {
            problems.at(self, format!("the text has {chars} characters; at most {max_chars} are allowed"));
        } else {
            return Some(text.clone());
        }
        None
    }

    pub(crate) fn flag(&self, problems: &mut Problems) -> Option<bool> {
        if let Value::Bool(value) = self.node.value {
            return Some(value);
        }
        self.expected("`true` or `false`", problems);
        None
    }

    /// Reads a YAML value that must be a whole number from 1 to `max`.
    pub(crate) fn count(&self, max: u64, problems: &mut Problems) -> Option<u64> {
        let Value::Number(number) = &self.node.value else {
            self.expected("a whole number", problems);
            return None;
        };
        match number.as_u64() {
            Some(count) if (1..=max).contains(&count) => Some(count),
            _ => {
                self.expected(&format!("a whole number from 1 to {max}"), problems);
                None
            }
        }
    }

    pub(crate) fn one_of<T: Copy>(&self, words: &[(&str, T)], problems: &mut Problems) -> Option<T> {
        let Value::Text(text) = &self.node.value else {
            self.expected(&either(words), problems);
            return None;
        };
        let found = words.iter().find(|(word, _)| word == text);
        if found.is_none() {
            let message = format!("expected {}, found {}", either(words), self.found());
            problems.unknown(self, text, message, words.iter().map(|(word, _)| *word));
        }
        found.map(|(_, value)| *value)
    }

    /// Reads any YAML value as JSON. Keys must be texts, and whole numbers must be within ±(2^53−1).
    pub(crate) fn json(&self, problems: &mut Problems) -> Option<Json> {
        Some(match &self.node.value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Text(text) => Json::String(text.clone()),
            Value::Number(number) => {
                #[expect(clippy::cast_precision_loss, reason = "2^53 is exact in f64")]
                let is_exact =
                    number.as_f64().is_some_and(|n| n.fract() != 0.0 || n.abs() <= MAX_INTEGER as f64);
                if !is_exact {
                    problems
                        .at(self, "a whole number beyond 2^53-1 is not exact in JSON; write it as a text");
                    return None;
                }
                Json::Number(number.clone())
            }
            Value::List(items) => {
                let items = items.iter().enumerate();
                Json::Array(items.filter_map(|(i, node)| self.entry(i, node).json(problems)).collect())
            }
            Value::Map(_) => {
                let mut map = Map::new();
                for (name, _, value) in self.entries(problems)? {
                    map.insert(name.to_owned(), value.json(problems)?);
                }
                Json::Object(map)
            }
        })
    }
}

fn either<T>(words: &[(&str, T)]) -> String {
    let words: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => "nothing".to_owned(),
    }
}

impl<'a> Fields<'a> {
    pub(crate) fn find(&self, key: &str) -> Option<&Item<'a>> {
        self.entries.get(key)
    }

    /// Returns true if an unknown key of the YAML mapping seems to be a misspelling of `key`.
    pub(crate) fn was_meant(&self, key: &str) -> bool {
        self.meant.contains(key)
    }

    /// Returns the value of a required key of the YAML mapping. Reports a problem if the key is missing.
    pub(crate) fn need(&self, key: &str, problems: &mut Problems) -> Option<&Item<'a>> {
        let found = self.entries.get(key);
        if found.is_none() && !self.was_meant(key) {
            let missing = self.owner.under(key, self.owner.node);
            problems.at(&missing, format!("the key `{key}` is missing"));
        }
        found
    }
}
