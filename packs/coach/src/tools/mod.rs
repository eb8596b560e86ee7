//! The tools of the coach's agents: data for an analyst, one metric, a chart, and the weeks of a plan.
//!
//! `training` computes all numbers. This module finds the files, and reads facts about the athlete from the input of
//! the run.

mod files;
mod planned;
mod specs;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use holdshort_core::tool::{Outcome, Spec};
use holdshort_tools::{Refusal, Toolset, Work, Workspace, read_arguments};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::{Value, json};

use self::files::{Loaded, load};
use self::planned::PlanWeeks;
use crate::limits;
use crate::training::tools::{Number, Piece, format_number};
use crate::training::{
    Analyst, Athlete, ColumnMap, Computed, Options, Reading, RefusalCode, Settings, Sex, Summary, Units,
    UnreadData, compute, summary,
};

#[derive(Debug)]
pub struct Training;

impl Toolset for Training {
    fn specs(&self) -> Vec<Spec> {
        specs::specs()
    }

    fn read(&self, tool: &str, arguments: &Value) -> Option<Result<Box<dyn Work>, Refusal>> {
        let data = |analyst| read_arguments(arguments).map(|ReadData {}| TrainingCall::Data(analyst));
        let call = match tool {
            "compute_metric" => read_arguments(arguments).map(TrainingCall::Metric),
            "plot_series" => read_arguments(arguments).map(TrainingCall::Plot),
            "plan_weeks" => read_arguments(arguments).map(TrainingCall::Plan),
            "read_load_data" => data(Analyst::Metrics),
            "read_activity_data" => data(Analyst::Activities),
            "read_physiology_data" => data(Analyst::Physiology),
            _ => return None,
        };
        Some(call.map(|call| Box::new(call) as Box<dyn Work>))
    }
}

impl Work for TrainingCall {
    fn run(self: Box<Self>, workspace: &Workspace, input: &Value) -> Result<Outcome, Refusal> {
        run(workspace, input, &self)
    }
}

#[derive(Debug)]
enum TrainingCall {
    Data(Analyst),
    Metric(ComputeMetric),
    Plot(PlotSeries),
    Plan(PlanWeeks),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadData {}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ComputeMetric {
    metric: String,
    #[serde(default)]
    parameters: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlotSeries {
    series: Series,
    title: String,
}

/// Series of values that agents can request as a chart.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Series {
    WeeklyHours,
    HeartRateVariability,
    RestingHeartRate,
    Sleep,
    Weight,
}

const SERIES: [&str; 5] = ["weekly_hours", "heart_rate_variability", "resting_heart_rate", "sleep", "weight"];

/// The athlete, the period and the columns in the input of a run. The tools ignore all other keys of the input.
#[derive(Debug, Deserialize)]
struct RunInput {
    #[serde(default)]
    athlete: Person,
    current_date: Date,
    #[serde(default = "a_week")]
    activities_days: u16,
    #[serde(default = "two_weeks")]
    metrics_days: u16,
    /// Headers of columns in the athlete's own tables, by the standard headers of these columns.
    #[serde(default)]
    columns: BTreeMap<String, String>,
}

/// Default number of days in `activities_days` (contract C2).
const fn a_week() -> u16 {
    7
}

const fn two_weeks() -> u16 {
    14
}

#[derive(Debug, Default, Deserialize)]
struct Person {
    sex: Option<Gender>,
    birth_date: Option<Date>,
    max_heart_rate: Option<f64>,
    resting_heart_rate: Option<f64>,
    threshold_heart_rate: Option<f64>,
    threshold_power: Option<f64>,
    time_zone: Option<String>,
    units: Option<Units>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Gender {
    Female,
    Male,
}

impl From<Gender> for Sex {
    fn from(gender: Gender) -> Self {
        match gender {
            Gender::Female => Self::Female,
            Gender::Male => Self::Male,
        }
    }
}

impl RunInput {
    fn parse(input: &Value) -> Result<Self, Refusal> {
        Self::deserialize(input).map_err(|error| {
            Refusal::new("bad_input", format!("the input of this run does not describe the athlete: {error}"))
        })
    }

    #[expect(clippy::disallowed_methods, reason = "the time zone that the input states is looked up")]
    fn options(&self) -> Result<Options, Refusal> {
        let zone = self.athlete.time_zone.as_deref().map(|name| {
            let refuse =
                |_| Refusal::new("bad_input", format!("`{}` is not a time zone", name.escape_debug()));
            TimeZone::get(name).map_err(refuse)
        });
        let pairs = self.columns.iter().map(|(name, header)| (&**name, &**header));
        let columns = ColumnMap::new(pairs).map_err(|why| Refusal::new("bad_input", why))?;
        Ok(Options { zone: zone.transpose()?, columns, units: self.athlete.units })
    }
}

/// Returns a summary of the unreadable training data in a folder, for the person who starts a run. `input` is the input
/// of the run.
///
/// # Errors
/// Returns an error if the folder cannot be read, or if the input contains invalid options for reading it.
pub fn not_read(folder: &Path, input: &Value) -> io::Result<UnreadData> {
    let options = RunInput::parse(input).and_then(|stated| stated.options());
    files::not_read(folder, &options.map_err(|refusal| io::Error::other(refusal.message))?)
}

fn run(workspace: &Workspace, input: &Value, request: &TrainingCall) -> Result<Outcome, Refusal> {
    let stated = RunInput::parse(input)?;
    let options = stated.options()?;
    let loaded = load(workspace.path(), workspace.dir(), &options).map_err(|error| {
        Refusal::new("not_readable", format!("the training data cannot be read: {error}"))
    })?;
    let reading = &loaded.reading;
    if reading.files == 0 {
        let endings = "`.fit`, `.tcx`, `.gpx`, `.csv`, `.json` or `.yaml`";
        return Err(Refusal::new(
            "no_data",
            format!("the folder contains no training data, such as {endings}"),
        ));
    }
    let settings = Settings {
        athlete: Athlete {
            sex: stated.athlete.sex.map(Sex::from),
            birth_date: stated.athlete.birth_date,
            max_heart_rate: stated.athlete.max_heart_rate,
            resting_heart_rate: stated.athlete.resting_heart_rate,
            threshold_heart_rate: stated.athlete.threshold_heart_rate,
            threshold_power: stated.athlete.threshold_power,
        },
        as_of: stated.current_date,
        activities_days: stated.activities_days,
        metrics_days: stated.metrics_days,
    };
    match request {
        TrainingCall::Data(analyst) => {
            let given = summary(&reading.season, &settings, *analyst);
            Ok(data(&given, *analyst, &loaded))
        }
        TrainingCall::Metric(call) => metric(reading, &settings, call),
        TrainingCall::Plot(call) => plot(reading, &settings, call),
        TrainingCall::Plan(call) => planned::plan(reading, &settings, call),
    }
}

/// Returns the data for an analyst: a summary, parts of the data files, and a list of unread data. If the text is too
/// large, it lacks the parts and, if necessary, the oldest entries of the summary. The text contains the number of
/// entries that were left out.
fn data(given: &Summary, analyst: Analyst, loaded: &Loaded) -> Outcome {
    const TOO_LARGE: &str = "left out: too large";
    let mut parts = loaded.parts.get(analyst.name()).and_then(Option::as_ref).map(|parts| json!(parts));
    let mut told = json!({ "given": given, "parts": parts.as_ref().unwrap_or(&TOO_LARGE.into()) });
    let not_read = loaded.reading.not_read(limits::TRAINING_PROBLEMS);
    if !not_read.is_empty() {
        told["not_read"] = json!(not_read);
    }
    let mut text = told.to_string();
    if text.len() > limits::TRAINING_BYTES && parts.as_ref().is_some_and(|parts| *parts != json!({})) {
        parts = None;
        told["parts"] = TOO_LARGE.into();
        text = told.to_string();
    }
    for list in ["days", "activities", "weeks"] {
        while text.len() > limits::TRAINING_BYTES {
            let Some(entries) = told["given"][list].as_array_mut().filter(|entries| entries.len() > 1) else {
                break;
            };
            let older = entries.len() / 2;
            entries.drain(..older);
            let before = told["older_left_out"][list].as_u64().unwrap_or_default();
            told["older_left_out"][list] = json!(before + older as u64);
            text = told.to_string();
        }
    }
    // The report needs the numbers that the agent was given. It also lists more unread files than the model is given.
    let mut data = json!({ "given": given, "not_read": loaded.reading.not_read(limits::TRAINING_TOLD) });
    if let Some(parts) = parts {
        data["parts"] = parts;
    }
    Outcome::Done { text, data }
}

fn metric(reading: &Reading, settings: &Settings, call: &ComputeMetric) -> Result<Outcome, Refusal> {
    match compute(&call.metric, &reading.season, settings, &call.parameters) {
        Ok(computed) => {
            Ok(Outcome::Done { text: render_computed(&computed), data: json!({ "computed": computed }) })
        }
        // If a number cannot be computed, the call does not fail. The model gets the reason, and the report lists it.
        Err(refusal) if refusal.code == RefusalCode::NotComputable => {
            let text = format!("{}. {}", refusal.message, refusal.what_to_do);
            Ok(Outcome::Done { text, data: json!({ "metric": call.metric, "refused": refusal }) })
        }
        Err(refusal) => Err(Refusal::new("bad_arguments", json!(refusal).to_string())),
    }
}

/// Renders a computed metric as text for a model, one line per group of numbers. The data of the result has the exact
/// values.
fn render_computed(computed: &Computed) -> String {
    let mut lines: Vec<String> = computed.results.iter().map(|piece| line(computed, piece)).collect();
    lines.extend(computed.missing.iter().map(|missing| format!("no result: {}", missing.message)));
    lines.extend(computed.caveats.values().map(|caveat| format!("Note: {caveat}")));
    lines.join("\n")
}

fn line(computed: &Computed, piece: &Piece) -> String {
    let metric = computed.metric.name();
    let of: Vec<&str> = piece.of.values().map(String::as_str).collect();
    let value = |number: &Number| {
        let quantity = quantity(number.value, number.unit);
        if number.name == metric { quantity } else { format!("{} {quantity}", number.name.replace('_', " ")) }
    };
    let words = piece.words.iter().map(|(what, word)| format!("{what} the usual range: {word}"));
    let values: Vec<String> = piece.values.iter().map(value).chain(words).collect();
    let of = if of.is_empty() { String::new() } else { format!(", {}", of.join(", ")) };
    format!("{}{of}: {}", metric.replace('_', " "), values.join(", "))
}

/// Formats a value of a metric with its unit. A duration of at least one minute is also shown as `4:05`.
fn quantity(value: f64, unit: &str) -> String {
    let number = format_number(value);
    match unit {
        "s" if value >= 60.0 => format!("{number} s ({})", clock(value)),
        "1" => number,
        unit => format!("{number} {unit}"),
    }
}

/// Formats seconds as `1:02:03`, or as `4:05` below an hour.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the seconds of a training fit into the type"
)]
fn clock(seconds: f64) -> String {
    let whole = seconds.round().max(0.0) as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// Returns the points of a series for a chart in the report.
fn plot(reading: &Reading, settings: &Settings, call: &PlotSeries) -> Result<Outcome, Refusal> {
    let (unit, points) = match call.series {
        Series::WeeklyHours => {
            let count = usize::from(settings.metrics_days).div_ceil(7).max(1);
            ("h", weeks(reading, settings, count)?)
        }
        Series::HeartRateVariability => days(reading, settings, "hrv"),
        Series::RestingHeartRate => days(reading, settings, "resting_heart_rate"),
        Series::Sleep => days(reading, settings, "sleep"),
        Series::Weight => days(reading, settings, "weight"),
    };
    if points.is_empty() {
        return Err(Refusal::new(
            "no_data",
            "the training data has no values of this series in the period of the run",
        ));
    }
    let noun = if points.len() == 1 { "point" } else { "points" };
    let text = format!("The report shows this series: {} {noun}, in {unit}.", points.len());
    let points: Vec<Value> = points.into_iter().map(|(day, value)| json!([day, value])).collect();
    Ok(Outcome::Done {
        text,
        data: json!({ "plot": { "title": call.title, "unit": unit, "points": points } }),
    })
}

fn days(reading: &Reading, settings: &Settings, name: &str) -> (&'static str, Vec<(Date, f64)>) {
    let given = summary(&reading.season, settings, Analyst::Physiology);
    let mut unit = "1";
    let mut points = Vec::new();
    for day in given.days {
        for measure in day.measures.iter().filter(|measure| measure.name == name) {
            unit = measure.unit;
            points.push((day.date, measure.value));
        }
    }
    (unit, points)
}

/// Returns the training hours of each of the last `count` weeks, as pairs of the week's first day and the sum over all
/// sports.
fn weeks(reading: &Reading, settings: &Settings, count: usize) -> Result<Vec<(Date, f64)>, Refusal> {
    let computed = compute("weekly_volume", &reading.season, settings, &json!({ "weeks": count }))
        .map_err(|refusal| Refusal::new("no_data", refusal.message))?;
    let mut hours: std::collections::BTreeMap<Date, f64> = std::collections::BTreeMap::new();
    for piece in &computed.results {
        let Some(week) = piece.of.get("week").and_then(|week| week.parse().ok()) else { continue };
        let seconds =
            piece.values.iter().filter(|number| number.name == "duration").map(|number| number.value);
        *hours.entry(week).or_default() += seconds.sum::<f64>() / 3_600.0;
    }
    Ok(hours.into_iter().collect())
}
