//! The table in the report with every number that a tool computed, its formula and its inputs.

use std::collections::BTreeMap;

use serde_json::Value;

use super::story::Story;
use crate::limits::REPORT_ROWS;
use crate::report::{Computed, NotComputed};
use crate::training::tools::format_number;

/// Returns one row of the report's table per computed value, in the order of the computations. Calls with equal results
/// are listed once.
pub(super) fn from_story(story: &Story) -> Vec<Computed> {
    let entries = crate::training::catalogue();
    let mut seen: Vec<&Value> = Vec::new();
    let mut rows = Vec::new();
    for (_, computed) in &story.computed {
        if seen.contains(&computed) {
            continue;
        }
        seen.push(computed);
        let metric = computed["metric"].as_str().unwrap_or_default();
        let how = entries.iter().find(|entry| entry.name == metric);
        let how = how.map(|entry| format!("{} ({})", entry.formula, entry.source)).unwrap_or_default();
        for piece in computed["results"].as_array().into_iter().flatten() {
            rows.extend(piece_rows(metric, piece, &how, rows.len()));
        }
    }
    let more = rows.len().saturating_sub(REPORT_ROWS);
    rows.truncate(REPORT_ROWS);
    if more > 0 {
        rows.push(Computed {
            id: format!("n{}", REPORT_ROWS + 1),
            label: "more numbers, listed in summary.json".to_owned(),
            value: more.to_string(),
            unit: String::new(),
            how: String::new(),
            inputs: String::new(),
            named: Vec::new(),
        });
    }
    rows
}

fn piece_rows(metric: &str, piece: &Value, how: &str, before: usize) -> Vec<Computed> {
    let of = piece["of"].as_object().into_iter().flatten();
    let of: Vec<String> = of.filter_map(|(_, name)| Some(name.as_str()?.to_owned())).collect();
    let values: Vec<&Value> = piece["values"].as_array().into_iter().flatten().collect();
    let inputs = inputs(piece);
    let row = |(at, value): (usize, &&Value)| {
        let name = value["name"].as_str().unwrap_or_default();
        let mut label = metric.replace('_', " ");
        if name != metric {
            label = format!("{label}: {}", name.replace('_', " "));
        }
        if !of.is_empty() {
            label = format!("{label} ({})", of.join(", "));
        }
        Computed {
            id: format!("n{}", before + at + 1),
            label,
            value: format_number(value["value"].as_f64().unwrap_or_default()),
            unit: value["unit"].as_str().filter(|unit| *unit != "1").unwrap_or_default().to_owned(),
            how: how.to_owned(),
            inputs: inputs.clone(),
            // Only the first row of a result lists the names of the inputs.
            named: if at == 0 { input_names(piece) } else { Vec::new() },
        }
    };
    values.iter().enumerate().map(row).collect()
}

/// Describes the inputs of a computed number: `6 activities, 7 days, 4 files; resting of days`.
fn inputs(piece: &Value) -> String {
    let count = |key: &str, one: &str, many: &str| {
        let count = piece["inputs"][key].as_array().map_or(0, Vec::len);
        match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{count} {many}")),
        }
    };
    let counted = [
        count("activities", "activity", "activities"),
        count("days", "day", "days"),
        count("files", "file", "files"),
    ];
    let mut text = counted.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let caveats = piece["caveats"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let caveats: Vec<String> = caveats.map(spaced).collect();
    if !caveats.is_empty() {
        text.extend(["; ", &caveats.join(", ")]);
    }
    text
}

/// Returns the names of a computed number's inputs: activities, days, facts about the athlete, files.
fn input_names(piece: &Value) -> Vec<String> {
    let list = |key: &str| piece["inputs"][key].as_array().into_iter().flatten().filter_map(Value::as_str);
    let plain = ["activities", "days"].into_iter().flat_map(list).map(str::to_owned);
    plain.chain(list("athlete").map(spaced)).chain(list("files").map(str::to_owned)).collect()
}

fn spaced(name: &str) -> String {
    name.replace('_', " ")
}

/// Returns the explanations of all caveats of the computed numbers, without duplicates.
pub(super) fn caveats(story: &Story) -> BTreeMap<String, String> {
    let of_all = story.computed.iter().filter_map(|(_, computed)| computed["caveats"].as_object()).flatten();
    of_all.filter_map(|(name, text)| Some((spaced(name), text.as_str()?.to_owned()))).collect()
}

/// Returns the numbers that no tool could compute, without duplicates. An entry is about a whole call or one activity
/// in a call.
pub(super) fn missing(story: &Story) -> Vec<NotComputed> {
    let mut rows = Vec::new();
    let mut push = |metric: &Value, why: &Value| {
        let label = spaced(metric.as_str().unwrap_or_default());
        let row = NotComputed { label, why: why.as_str().unwrap_or_default().to_owned() };
        if !rows.contains(&row) && rows.len() < REPORT_ROWS {
            rows.push(row);
        }
    };
    for refused in &story.refused {
        push(&refused["metric"], &refused["refused"]["message"]);
    }
    for (_, computed) in &story.computed {
        for missing in computed["missing"].as_array().into_iter().flatten() {
            push(
                &missing["metric"],
                &Value::from(format!("It needs {}.", missing["message"].as_str().unwrap_or("more"))),
            );
        }
    }
    rows
}
