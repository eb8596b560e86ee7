//! The data file that a program extracts from a training platform, as JSON or YAML. The file has ten parts.
//!
//! Every part may be null or missing. [`parts`] returns the present parts, including parts and keys that this module
//! does not use. A time without an offset is in the athlete's local time.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use serde_json::{Map, Value};
use serde_saphyr::budget::BudgetBreach;

use super::draft::{Draft, DraftDay, Drafts};
use super::{Context, File, Format, Refused, date};
use crate::training::limits;
use crate::training::measure::Measure;
use crate::training::merge::Fact;
use crate::training::model::{AthleteNumber, FileLocation, Sex};
use crate::training::problem::{Code, Problem, Problems};
use crate::training::sport::Sport;

/// Names of the ten parts of a data file.
pub const PARTS: [&str; 10] = [
    "user_profile",
    "daily_stats",
    "recent_activities",
    "all_activities",
    "physiological_markers",
    "body_metrics",
    "recovery_indicators",
    "training_status",
    "vo2_max_history",
    "training_load_history",
];

/// Keys in the `summary` of an activity of the data file, with their measures. The values have the units of these
/// measures.
const SUMMARY: [(&str, Measure); 6] = [
    ("duration", Measure::Duration),
    ("distance", Measure::Distance),
    ("average_hr", Measure::HeartRateAverage),
    ("max_hr", Measure::HeartRateMax),
    ("avg_power", Measure::PowerAverage),
    ("normalized_power", Measure::PowerNormalised),
];

/// Paths of keys in an entry of `recovery_indicators` of the data file, with the measures of their values.
const RECOVERY: [(&[&str], Measure); 4] = [
    (&["sleep", "duration", "total"], Measure::Sleep),
    (&["sleep", "avg_overnight_hrv"], Measure::Hrv),
    (&["sleep", "resting_heart_rate"], Measure::RestingHeartRate),
    (&["stress", "avg_level"], Measure::Stress),
];

/// Paths of keys in `daily_stats` of the data file, with the measures of their values.
const DAILY: [(&[&str], Measure); 3] = [
    (&["resting_heart_rate"], Measure::RestingHeartRate),
    (&["sleeping_hours"], Measure::Sleep),
    (&["average_stress_level"], Measure::Stress),
];

const WEIGHT: [(&[&str], Measure); 1] = [(&["weight"], Measure::Weight)];

/// Returns the parts of a data file by their names. Missing parts and null are left out.
///
/// # Errors
/// Returns an error if the file is too large, is not UTF-8, or is not a valid JSON or YAML file.
pub fn parts(file: &File<'_>) -> Result<BTreeMap<&'static str, Value>, Box<Problem>> {
    let mut problems = Problems::default();
    let context = Context { file: file.name.into(), zone: &TimeZone::UTC, problems: &mut problems };
    let boxed = |Refused(problem): Refused| Box::new(problem);
    let format = Format::from_file_name(file.name);
    if let Some(format) = format {
        format.check(file.bytes, &context).map_err(boxed)?;
    }
    let text = super::text(file.bytes, &context).map_err(boxed)?;
    let value = match format {
        Some(Format::Json) => json(text, &context),
        Some(Format::Yaml) => yaml(text, &context),
        Some(Format::Fit | Format::Tcx | Format::Gpx | Format::Csv) | None => Err(context.refuse(
            Code::UnknownFormat,
            FileLocation::File,
            "the file name has no extension of a data file (.json, .yaml or .yml)",
        )),
    };
    let mut top = top(value.map_err(boxed)?, &context).map_err(boxed)?;
    let found = PARTS.iter().filter_map(|part| Some((*part, top.remove(*part)?)));
    Ok(found.filter(|(_, value)| !value.is_null()).collect())
}

pub(super) fn read_json(text: &str, context: &mut Context<'_>, drafts: &mut Drafts) -> Result<(), Refused> {
    let value = json(text, context)?;
    take(top(value, context)?, context, drafts)
}

pub(super) fn read_yaml(text: &str, context: &mut Context<'_>, drafts: &mut Drafts) -> Result<(), Refused> {
    let value = yaml(text, context)?;
    take(top(value, context)?, context, drafts)
}

fn json(text: &str, context: &Context<'_>) -> Result<Value, Refused> {
    serde_json::from_str(text).map_err(|error| {
        let nested = error.to_string().contains("recursion limit");
        let code = if nested { Code::TooNested } else { Code::DataSyntax };
        context.refuse(code, FileLocation::Line(error.line() as u64), error.to_string())
    })
}

fn yaml(text: &str, context: &Context<'_>) -> Result<Value, Refused> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::Error,
        with_snippet: false,
        emit_comments: false,
        budget: serde_saphyr::budget! {
            max_depth: limits::NESTING,
            max_nodes: limits::YAML_NODES,
            max_total_scalar_bytes: limits::DATA_FILE_BYTES,
        },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let error = error.without_snippet();
        let line = error.location().map_or(1, |place| place.line().max(1));
        let code = match &error {
            serde_saphyr::Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => Code::TooNested,
            // The JSON parser has its own limit for nested brackets.
            _ if error.to_string().starts_with("recursion limit") => Code::TooNested,
            _ => Code::DataSyntax,
        };
        let message = error.to_string().lines().next().unwrap_or_default().to_owned();
        context.refuse(code, FileLocation::Line(line), message)
    })
}

fn top(value: Value, context: &Context<'_>) -> Result<Map<String, Value>, Refused> {
    match value {
        Value::Object(top) => Ok(top),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(context.refuse(Code::DataShape, FileLocation::File, "the top level is not a mapping"))
        }
    }
}

fn take(top: Map<String, Value>, context: &mut Context<'_>, drafts: &mut Drafts) -> Result<(), Refused> {
    for name in top.keys().filter(|name| !PARTS.contains(&&***name)) {
        let shown: String = name.chars().take(60).collect();
        context.warn(
            Code::DataUnknownPart,
            FileLocation::Pointer(String::new()),
            format!("the part `{shown}`"),
        );
    }
    let top = Value::Object(top);
    let root = LocatedValue { value: &top, pointer: String::new() };
    athlete(&root, context, drafts);
    let mut before = BTreeSet::new();
    // `recent_activities` is read first. `all_activities` repeats these activities with less detail.
    for part in ["recent_activities", "all_activities"] {
        let mut here = BTreeSet::new();
        for activity in root.key(part).items(context) {
            let id = activity.key("activity_id").value.to_string();
            if id != "null" && !here.insert(id.clone()) {
                let message = format!("the activity_id {id} occurs twice in the list");
                context.warn(Code::DuplicateActivity, activity.location(), message);
            } else if !before.contains(&id) && activity.is_mapping(context) {
                recorded(&activity, context, drafts)?;
            }
        }
        here.remove("null");
        before.extend(here);
    }
    days(&root.key("daily_stats"), &DAILY, context, drafts)?;
    for entry in root.key("recovery_indicators").items(context) {
        days(&entry, &RECOVERY, context, drafts)?;
    }
    let body = root.key("body_metrics");
    let weight = body.key("weight");
    if body.is_mapping(context) && weight.is_mapping(context) {
        for entry in weight.key("data").items(context) {
            days(&entry, &WEIGHT, context, drafts)?;
        }
    }
    Ok(())
}

/// JSON value of the data file with its JSON pointer. A missing value is null.
struct LocatedValue<'a> {
    value: &'a Value,
    pointer: String,
}

impl<'a> LocatedValue<'a> {
    fn key(&self, key: &str) -> LocatedValue<'a> {
        LocatedValue {
            value: self.value.get(key).unwrap_or(&Value::Null),
            pointer: format!("{}/{key}", self.pointer),
        }
    }

    /// Follows a path of keys in the data file. Returns null for a missing key. A value on the path that is not a
    /// mapping is reported.
    fn path(&self, path: &[&str], context: &mut Context<'_>) -> LocatedValue<'a> {
        let this = LocatedValue { value: self.value, pointer: self.pointer.clone() };
        path.iter().fold(this, |at, key| {
            at.is_mapping(context);
            at.key(key)
        })
    }

    fn location(&self) -> FileLocation {
        FileLocation::Pointer(self.pointer.clone())
    }

    fn wrong(&self, wanted: &str, context: &mut Context<'_>) {
        let shown: String = self.value.to_string().chars().take(60).collect();
        context.warn(Code::DataValue, self.location(), format!("`{shown}` is not a {wanted}"));
    }

    /// Returns true if the value in the data file is a mapping. Any other value except null is reported.
    fn is_mapping(&self, context: &mut Context<'_>) -> bool {
        if !self.value.is_object() && !self.value.is_null() {
            self.wrong("mapping", context);
        }
        self.value.is_object()
    }

    fn items(&self, context: &mut Context<'_>) -> Vec<LocatedValue<'a>> {
        match self.value {
            Value::Null => Vec::new(),
            Value::Array(items) => {
                let at =
                    |(index, value)| LocatedValue { value, pointer: format!("{}/{index}", self.pointer) };
                items.iter().enumerate().map(at).collect()
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                self.wrong("list", context);
                Vec::new()
            }
        }
    }

    fn number(&self, context: &mut Context<'_>) -> Option<f64> {
        match self.value {
            Value::Null => None,
            Value::Number(number) => number.as_f64(),
            Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                self.wrong("number", context);
                None
            }
        }
    }

    fn text(&self, context: &mut Context<'_>) -> Option<&'a str> {
        match self.value {
            Value::Null => None,
            Value::String(text) => Some(text),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                self.wrong("text", context);
                None
            }
        }
    }
}

fn athlete(root: &LocatedValue<'_>, context: &mut Context<'_>, drafts: &mut Drafts) {
    let profile = root.key("user_profile");
    let markers = root.key("physiological_markers");
    if profile.is_mapping(context) {
        let sex = profile.key("gender");
        let text = sex.text(context).map(str::to_lowercase);
        let known = match text.as_deref() {
            Some("male") => Some(Sex::Male),
            Some("female") => Some(Sex::Female),
            // A sex for which the formulas have no constants is left out. Metrics that need the sex then report it as
            // missing.
            Some(_) => {
                let shown: String = sex.value.to_string().chars().take(60).collect();
                context.warn(
                    Code::DataValue,
                    sex.location(),
                    format!("`{shown}` is neither male nor female"),
                );
                None
            }
            None => None,
        };
        drafts.facts.extend(known.map(|known| (Fact::Sex(known), sex.location())));
        let born = profile.key("birth_date");
        if let Some(text) = born.text(context) {
            match date(text) {
                Ok(date) => drafts.facts.push((Fact::BirthDate(date), born.location())),
                Err(code) => context.warn(code, born.location(), format!("`{text}`")),
            }
        }
        let threshold = profile.key("lactate_threshold_heart_rate");
        athlete_number(&threshold, AthleteNumber::ThresholdHeartRate, context, drafts);
    }
    if markers.is_mapping(context) {
        let resting = markers.key("resting_heart_rate");
        athlete_number(&resting, AthleteNumber::RestingHeartRate, context, drafts);
    }
}

fn athlete_number(
    at: &LocatedValue<'_>,
    number: AthleteNumber,
    context: &mut Context<'_>,
    drafts: &mut Drafts,
) {
    let Some(value) = at.number(context) else { return };
    if number.is_plausible(value) {
        drafts.facts.push((Fact::Number(number, value), at.location()));
    } else {
        context.warn(Code::Implausible, at.location(), number.implausible(value));
    }
}

/// Reads one activity of the data file. For a multisport activity, reads its parts, which are listed among its laps.
fn recorded(
    activity: &LocatedValue<'_>,
    context: &mut Context<'_>,
    drafts: &mut Drafts,
) -> Result<(), Refused> {
    let kind = activity.key("activity_type");
    let laps = activity.key("laps");
    let is_whole = kind.value.as_str() == Some("multisport") && laps.value.is_array();
    if !is_whole {
        return put(activity, &kind, &activity.key("start_time"), context, drafts);
    }
    context.warn(Code::SeveralSports, activity.location(), "a multisport activity is read as its parts");
    for part in laps.items(context) {
        if part.is_mapping(context) {
            put(&part, &part.key("activityType"), &part.key("startTime"), context, drafts)?;
        }
    }
    Ok(())
}

fn put(
    activity: &LocatedValue<'_>,
    kind: &LocatedValue<'_>,
    starts: &LocatedValue<'_>,
    context: &mut Context<'_>,
    drafts: &mut Drafts,
) -> Result<(), Refused> {
    let Some(text) = starts.text(context) else {
        if starts.value.is_null() {
            starts.wrong("text", context);
        }
        return Ok(());
    };
    let (start, clock) = match Draft::parse_start(text, &starts.location(), context) {
        Ok(found) => found,
        Err(code) => {
            let shown: String = text.chars().take(60).collect();
            context.warn(code, starts.location(), format!("`{shown}`"));
            return Ok(());
        }
    };
    let summary = activity.key("summary");
    summary.is_mapping(context);
    let measures = SUMMARY.iter().filter_map(|(key, measure)| {
        let at = summary.key(key);
        Some((*measure, at.number(context)?, at.location()))
    });
    let measures = measures.collect();
    let sport = Sport::from_name(kind.text(context).unwrap_or_default());
    let place = activity.location();
    let draft = Draft { start, clock, sport, measures, samples: Vec::new(), pauses: Vec::new(), place };
    drafts.activity(draft, context)
}

fn days(
    entry: &LocatedValue<'_>,
    measures: &[(&[&str], Measure)],
    context: &mut Context<'_>,
    drafts: &mut Drafts,
) -> Result<(), Refused> {
    if !entry.is_mapping(context) {
        return Ok(());
    }
    let mut found = Vec::new();
    for (path, measure) in measures {
        let at = entry.path(path, context);
        found.extend(at.number(context).map(|value| (*measure, value, at.location())));
    }
    let day = entry.key("date");
    let date = match day.text(context).map(|text| date(text).map_err(|code| (code, text))) {
        Some(Ok(date)) => date,
        Some(Err((code, text))) => {
            let shown: String = text.chars().take(60).collect();
            context.warn(code, day.location(), format!("`{shown}`"));
            return Ok(());
        }
        None => {
            if day.value.is_null() && !found.is_empty() {
                day.wrong("text", context);
            }
            return Ok(());
        }
    };
    for (measure, value, place) in found {
        drafts.day(DraftDay { date, measure, value, place }, context)?;
    }
    Ok(())
}
