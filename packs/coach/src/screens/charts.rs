//! The charts of the report: computed weeks and zones, daily measures that analysts received, and series requested with
//! `plot_series`.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use serde_json::Value;

use super::story::Story;
use crate::report::{Bar, Bars, Chart, Lines, Row, Series, Zones};

/// Daily measures that have a chart in the report, with the chart's title.
const DAYS: [(&str, &str); 3] =
    [("hrv", "Heart-rate variability"), ("resting_heart_rate", "Resting heart rate"), ("sleep", "Sleep")];

pub(super) fn from_story(story: &Story) -> Vec<Chart> {
    let last = |metric: &str| story.computed.iter().rev().map(|(_, it)| it).find(|it| it["metric"] == metric);
    let mut charts = Vec::new();
    charts.extend(last("weekly_volume").and_then(weeks));
    charts.extend(last("zones_of_max").or(last("zones_of_reserve")).and_then(|it| zones(it, story)));
    let drawn: BTreeSet<&str> = story.plots.iter().filter_map(|plot| plot["title"].as_str()).collect();
    charts.extend(DAYS.iter().filter(|(_, title)| !drawn.contains(title)).filter_map(|day| days(story, day)));
    charts.extend(story.plots.iter().filter_map(plot));
    charts
}

fn results(computed: &Value) -> impl Iterator<Item = &Value> {
    computed["results"].as_array().into_iter().flatten()
}

fn value(piece: &Value, name: &str) -> Option<f64> {
    let values = piece["values"].as_array()?;
    values.iter().find(|value| value["name"] == name)?["value"].as_f64()
}

/// Makes the report's chart of the training hours per week and sport.
fn weeks(computed: &Value) -> Option<Chart> {
    let mut hours: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
    let mut sports = BTreeSet::new();
    for piece in results(computed) {
        let week = hours.entry(piece["of"]["week"].as_str()?).or_default();
        if let (Some(sport), Some(seconds)) = (piece["of"]["sport"].as_str(), value(piece, "duration")) {
            *week.entry(sport).or_default() += seconds / 3_600.0;
            sports.insert(sport);
        }
    }
    let bar = |(week, of): (&&str, &BTreeMap<&str, f64>)| Bar {
        label: (*week).to_owned(),
        values: sports.iter().map(|sport| Some(of.get(sport).copied().unwrap_or_default())).collect(),
    };
    let bars: Vec<Bar> = hours.iter().map(bar).collect();
    let parts = sports.iter().map(|sport| (*sport).to_owned()).collect();
    (!bars.is_empty())
        .then(|| Chart::Bars(Bars { title: "Hours a week".to_owned(), unit: "h".to_owned(), parts, bars }))
}

/// Makes the report's chart of the completed and the planned hours per week. The latest plan for a week counts.
pub(super) fn planned(story: &Story) -> Vec<Chart> {
    const PARTS: [&str; 2] = ["done", "planned"];
    let mut hours: BTreeMap<&str, [Option<f64>; 2]> = BTreeMap::new();
    for weeks in &story.weeks {
        for (part, name) in PARTS.iter().enumerate() {
            for week in weeks[name].as_array().into_iter().flatten() {
                if let Some(begins) = week["week"].as_str() {
                    hours.entry(begins).or_default()[part] = week["hours"].as_f64();
                }
            }
        }
    }
    let bars: Vec<Bar> = hours
        .into_iter()
        .map(|(week, [done, planned])| {
            // The planned hours of the current week include the completed hours. Therefore only the difference is drawn
            // as planned.
            let left = planned.map(|planned| (planned - done.unwrap_or_default()).max(0.0));
            Bar { label: week.to_owned(), values: vec![done, left] }
        })
        .collect();
    let title = "Hours a week, past and planned".to_owned();
    let parts = PARTS.map(str::to_owned).to_vec();
    let chart = Chart::Bars(Bars { title, unit: "h".to_owned(), parts, bars });
    if story.weeks.is_empty() { Vec::new() } else { vec![chart] }
}

const ZONES: [(&str, &str); 6] = [
    ("below", "below zone 1"),
    ("zone_1", "zone 1"),
    ("zone_2", "zone 2"),
    ("zone_3", "zone 3"),
    ("zone_4", "zone 4"),
    ("zone_5", "zone 5"),
];

/// Returns the local start of an activity that an analyst received. For any other activity, returns the start in UTC
/// with a note.
fn local(id: &str, story: &Story) -> String {
    let given = story.given.iter().flat_map(|given| given["activities"].as_array().into_iter().flatten());
    let start = given.filter(|activity| activity["id"] == id).find_map(|activity| activity["start"].as_str());
    let (start, sport) =
        (start.and_then(|start| start.get(..16)), id.split_once(' ').map(|(_, sport)| sport));
    match (start, sport) {
        (Some(start), Some(sport)) => format!("{} {sport}", start.replace('T', " ")),
        _ => id.replace('T', " ").replace('Z', " UTC"),
    }
}

fn zones(computed: &Value, story: &Story) -> Option<Chart> {
    let row = |piece: &Value| {
        Some(Row {
            label: local(piece["of"]["activity"].as_str()?, story),
            amounts: ZONES.iter().map(|(name, _)| value(piece, name).unwrap_or_default()).collect(),
        })
    };
    let rows: Vec<Row> = results(computed).filter_map(row).collect();
    let zones = ZONES.iter().map(|(_, name)| (*name).to_owned()).collect();
    let title = "Time in heart-rate zones".to_owned();
    (!rows.is_empty()).then(|| Chart::Zones(Zones { title, unit: "s".to_owned(), zones, rows }))
}

/// Makes the report's chart of a daily measure that an analyst received.
fn days(story: &Story, (name, title): &(&str, &str)) -> Option<Chart> {
    let mut unit = String::new();
    let mut points = BTreeMap::new();
    for day in story.given.iter().flat_map(|given| given["days"].as_array().into_iter().flatten()) {
        let date: Date = day["date"].as_str()?.parse().ok()?;
        let measures = day["measures"].as_array().into_iter().flatten();
        for measure in measures.filter(|measure| measure["name"] == *name) {
            measure["unit"].as_str().unwrap_or_default().clone_into(&mut unit);
            points.insert(date, measure["value"].as_f64());
        }
    }
    line(title, &unit, points)
}

fn plot(plot: &Value) -> Option<Chart> {
    let points = plot["points"]
        .as_array()?
        .iter()
        .filter_map(|point| Some((point[0].as_str()?.parse::<Date>().ok()?, point[1].as_f64())));
    line(plot["title"].as_str()?, plot["unit"].as_str()?, points.collect())
}

fn line(title: &str, unit: &str, points: BTreeMap<Date, Option<f64>>) -> Option<Chart> {
    let series = Series { name: title.to_owned(), points: points.into_iter().collect() };
    let (title, unit) = (title.to_owned(), unit.to_owned());
    (!series.points.is_empty())
        .then(|| Chart::Lines(Lines { title, unit, series: vec![series], bands: Vec::new() }))
}
