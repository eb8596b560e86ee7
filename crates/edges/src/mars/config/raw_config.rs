//! Untyped values of a config, each with its canonical key and its JSON pointer.

use std::collections::BTreeMap;

use holdshort_core::schema::Problem;
use holdshort_protocol::pointer::escape;
use holdshort_web::limits::EXPIRY_MS;
use serde_json::{Map, Value};

use super::mode;
use crate::limits::{MARS_COUNT, MARS_TEXT_BYTES};

/// Aliases of config keys, each with the canonical key. Some aliases are spellings of the web UI.
const ALIASES: [(&str, &str); 7] = [
    ("max_attempts", "max_n_attempts"),
    ("workspace", "work_dir"),
    ("tool_approvals", "tool_approval"),
    ("plan_instructions", "planner_instructions"),
    ("session", "session_id"),
    ("active_session_id", "session_id"),
    ("copilot_session_id", "session_id"),
];

pub(super) struct Item {
    pub(super) pointer: String,
    pub(super) value: Value,
}

/// Values of a config by canonical key. If a value is null or an empty text, the user left the form field empty, and
/// the key is omitted.
#[derive(Default)]
pub(super) struct RawConfig(BTreeMap<String, Item>);

impl RawConfig {
    pub(super) fn from_map(map: &Map<String, Value>, base: &str, problems: &mut Vec<Problem>) -> Self {
        let mut given = BTreeMap::new();
        for (key, value) in map.iter().filter(|(_, value)| !value.is_null() && *value != "") {
            let pointer = format!("{base}/{}", escape(key));
            let name = canonical(key);
            let item = Item { pointer: pointer.clone(), value: value.clone() };
            if let Some(other) = given.insert(name, item).filter(|other: &Item| other.value != *value) {
                problems.push(Problem::new(pointer, format!("repeats {}: omit one of them", other.pointer)));
            }
        }
        Self(given)
    }

    /// Reads a config that was already checked and accepted. If the value is not an object, the result has no keys.
    pub(super) fn from_accepted(config: &Value) -> Self {
        config.as_object().map(|config| Self::from_map(config, "", &mut Vec::new())).unwrap_or_default()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Item> {
        self.0.get(key)
    }

    pub(super) fn items(&self) -> impl Iterator<Item = (&str, &Item)> {
        self.0.iter().map(|(key, item)| (key.as_str(), item))
    }
}

/// Returns the canonical name of a config key: `max_plan_steps` for `maxPlanSteps` and `max-plan-steps`.
pub(super) fn canonical(key: &str) -> String {
    let mut name = String::new();
    for c in key.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
        name.push(if c == '-' { '_' } else { c.to_ascii_lowercase() });
    }
    ALIASES.iter().find(|(other, _)| *other == name).map_or(name, |(_, of)| (*of).to_owned())
}

/// Reader of the config values that apply to one phase. A key in the config of the phase has precedence over the same
/// key in the config of the run. A key in the config of the run is read only if this type of phase has the key.
pub(super) struct Reader<'a> {
    pub(super) own: &'a RawConfig,
    pub(super) top: Option<&'a RawConfig>,
    pub(super) keys: &'a [&'static str],
    pub(super) problems: &'a mut Vec<Problem>,
}

impl<'a> Reader<'a> {
    pub(super) fn item(&self, key: &str) -> Option<&'a Item> {
        self.own.get(key).or_else(|| self.top.filter(|_| self.keys.contains(&key))?.get(key))
    }

    pub(super) fn refuse(&mut self, item: &Item, why: impl Into<String>) {
        self.problems.push(Problem::new(&item.pointer, why));
    }

    pub(super) fn refuse_key(&mut self, key: &str, why: impl Into<String>) {
        if let Some(item) = self.item(key) {
            self.refuse(item, why);
        }
    }

    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        let item = self.item(key)?;
        let flag = item.value.as_bool();
        if flag.is_none() {
            self.refuse(item, "is not `true` or `false`");
        }
        flag
    }

    /// Reports a problem if a flag of the config differs from `value`, the only value that Holdshort supports.
    pub(super) fn only(&mut self, key: &str, value: bool, why: &str) {
        let item = self.item(key);
        if self.flag(key).is_some_and(|flag| flag != value)
            && let Some(item) = item
        {
            self.refuse(item, format!("can only be {value}: {why}"));
        }
    }

    pub(super) fn count(&mut self, key: &str, least: u32) -> Option<u32> {
        let item = self.item(key)?;
        let count = item.value.as_u64().filter(|count| (least.into()..=MARS_COUNT).contains(count));
        if count.is_none() {
            self.refuse(item, format!("is not a whole number from {least} to {MARS_COUNT}"));
        }
        count.and_then(|count| u32::try_from(count).ok())
    }

    /// Reads a duration in seconds from the config, with an optional fraction. Returns milliseconds.
    pub(super) fn time_ms(&mut self, key: &str) -> Option<u64> {
        let item = self.item(key)?;
        let ms = item.value.as_f64().map(|seconds| seconds * 1_000.0);
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
        let ms = ms.filter(|ms| (1.0..=EXPIRY_MS as f64).contains(ms));
        if ms.is_none() {
            self.refuse(item, format!("is not a time in seconds, above 0 and up to {}", EXPIRY_MS / 1_000));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range above")]
        ms.map(|ms| ms.round() as u64)
    }

    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        let item = self.item(key)?;
        let is_line = |text: &&str| {
            !text.trim().is_empty() && text.len() <= MARS_TEXT_BYTES && !text.chars().any(|c| c == '\0')
        };
        let text = item.value.as_str().filter(is_line).map(str::to_owned);
        if text.is_none() {
            self.refuse(item, format!("is not a text of 1 to {MARS_TEXT_BYTES} bytes"));
        }
        text
    }

    /// Reads a value of the config that must be one of `words`. In the value, `-` and `_` are equivalent.
    pub(super) fn one_of<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> Option<T> {
        let item = self.item(key)?;
        let said = item.value.as_str().map(mode::canonical);
        let found = words.iter().find(|(word, _)| Some(*word) == said.as_deref()).map(|(_, means)| *means);
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.refuse(item, format!("is {}, expected one of: {}", item.value, known.join(", ")));
        }
        found
    }
}
