//! Values of the training data that analysts received, with file and place. The report lists them as the sources of
//! numbers that no tool computed.

use serde_json::Value;

use super::story::Story;
use super::unread;
use crate::report::TrainingValue;

/// Returns the values of the training data without duplicates, which exist because several analysts receive the same
/// values.
pub(super) fn from_story(story: &Story) -> Vec<TrainingValue> {
    let mut all = Vec::new();
    for given in &story.given {
        let of_part = |part: &str, name: fn(&Value) -> String| {
            let each = given[part].as_array().into_iter().flatten();
            each.map(|it| (name(it), &it["measures"])).collect::<Vec<_>>()
        };
        let activity = |it: &Value| format!("{} of {}", text(&it["sport"]), text(&it["day"]));
        let parts = [
            vec![(String::new(), &given["athlete"])],
            of_part("activities", activity),
            of_part("days", |it| text(&it["date"]).to_owned()),
        ];
        for (of, measures) in parts.iter().flatten() {
            all.extend(measures.as_array().into_iter().flatten().filter_map(|measure| value(of, measure)));
        }
    }
    let key = |given: &TrainingValue| (given.place.clone(), given.label.clone(), given.value.to_bits());
    all.sort_by_cached_key(key);
    all.dedup_by_key(|given| key(given));
    all
}

/// Converts a value of the training data. Returns `None` for a value from the input of the run, which has no file.
fn value(of: &str, measure: &Value) -> Option<TrainingValue> {
    let file = measure["source"]["file"].as_str()?;
    let name = text(&measure["name"]).replace('_', " ");
    Some(TrainingValue {
        label: if of.is_empty() { name } else { format!("{of}, {name}") },
        value: measure["value"].as_f64()?,
        unit: text(&measure["unit"]).to_owned(),
        place: format!("{file}{}", unread::format_place(&measure["source"]["place"])),
    })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
