//! Reads `gates.smart`: `on`, `off`, or a mapping with keywords and a model that judges calls.

use holdshort_core::definition::{Judge, Smart};
use holdshort_core::gate::smart;

use crate::bounds;
use crate::item::{Item, Keys};
use crate::problem::Problems;
use crate::yaml::Value;

const KEYS: Keys = Keys { known: &["keywords", "judge"], later: &[] };
const ON_OR_OFF: [(&str, bool); 2] = [("on", true), ("off", false)];

/// Reads the key `smart` of a workflow's gates. A mapping, even an empty one, means `on`.
pub(super) fn read(item: &Item<'_>, problems: &mut Problems) -> Option<Smart> {
    if matches!(item.node.value, Value::Text(_)) {
        return item.one_of(&ON_OR_OFF, problems)?.then(Smart::default);
    }
    let fields = item.fields(&KEYS, problems)?;
    let mut read = Smart::default();
    if let Some(item) = fields.find("keywords") {
        read.keywords = keywords(item, problems);
    }
    if let Some(name) = fields.find("judge").and_then(|item| item.text(bounds::LINE, problems)) {
        read.judge = match name.as_str() {
            "off" => Judge::Off,
            "run" | "on" => Judge::Run,
            _ => Judge::Model(name),
        };
    }
    Some(read)
}

fn keywords(item: &Item<'_>, problems: &mut Problems) -> Vec<String> {
    let mut keywords = Vec::new();
    for (keyword, item) in item.texts(bounds::LIST, bounds::LINE, problems).unwrap_or_default() {
        if smart::is_keyword(&keyword) {
            keywords.push(keyword);
        } else {
            problems.at(&item, format!("`{keyword}` contains no word, so it would never match"));
        }
    }
    keywords
}
