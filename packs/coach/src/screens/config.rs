//! `coach.yaml`: the configuration of an athlete, from which the input of a run is made (contract C2, C7, C9).
//!
//! The file has the keys and defaults of garmin-ai-coach, which this pack replaces, and the new keys `data`, `models`
//! and `columns`. A key without effect is accepted with a notice. An unknown key is rejected.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use holdshort_protocol::plain;
use jiff::civil::Date;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::limits::{COACH_CONFIG_BYTES, CONFIG_DAYS};
use crate::training::{AthleteNumber, ColumnMap, Units};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    athlete: Athlete,
    #[serde(default, deserialize_with = "or_usual")]
    context: Context,
    #[serde(default)]
    data: Option<PathBuf>,
    #[serde(default, deserialize_with = "or_usual")]
    extraction: Extraction,
    #[serde(default, deserialize_with = "or_usual")]
    models: Models,
    /// Headers of columns in the athlete's own tables, by the standard headers of these columns.
    #[serde(default, deserialize_with = "or_usual")]
    columns: BTreeMap<String, String>,
    #[serde(default)]
    competitions: Option<Vec<Competition>>,
    current_date: Option<String>,
    week_dates: Option<Value>,
    style_guide: Option<String>,
    #[serde(default, deserialize_with = "or_usual")]
    output: Output,
    /// Credentials in `coach.yaml` with which garmin-ai-coach downloads data. This pack downloads nothing and ignores
    /// them.
    credentials: Option<Value>,
    /// Race calendars from which garmin-ai-coach downloads races. This pack downloads nothing and ignores them.
    outside: Option<Value>,
    bikereg: Option<Value>,
    runreg: Option<Value>,
    trireg: Option<Value>,
    skireg: Option<Value>,
}

/// Deserializes a section of the configuration `coach.yaml`. An empty section, as in the unfilled template, becomes its
/// default.
fn or_usual<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Athlete {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sex: Option<Sex>,
    #[serde(skip_serializing_if = "Option::is_none")]
    birth_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_zone: Option<String>,
    /// Units in the settings of the account that exported the athlete's tables. Used for tables that do not state their
    /// units.
    #[serde(skip_serializing_if = "Option::is_none")]
    units: Option<Units>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_heart_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resting_heart_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold_heart_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold_power: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Sex {
    Female,
    Male,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Context {
    analysis: Option<String>,
    planning: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Extraction {
    activities_days: u16,
    metrics_days: u16,
    ai_mode: Mode,
    enable_plotting: bool,
    hitl_enabled: bool,
    /// In garmin-ai-coach, true skips the agent for the synthesis. This pack ignores the key: all agents always work.
    skip_synthesis: bool,
}

impl Default for Extraction {
    fn default() -> Self {
        Self {
            activities_days: 7,
            metrics_days: 14,
            ai_mode: Mode::Development,
            enable_plotting: false,
            hitl_enabled: true,
            skip_synthesis: false,
        }
    }
}

/// Value of `mode` in `coach.yaml`, which selects the model (contract E37).
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[serde(alias = "cost_effective")]
    Development,
    #[serde(alias = "standard")]
    Production,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Models {
    production: Option<String>,
    development: Option<String>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Competition {
    name: String,
    /// Day of the race, or any text such as `September 2027`.
    date: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    race_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<Priority>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_time: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
enum Priority {
    A,
    B,
    C,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    directory: Option<PathBuf>,
}

/// Input and settings of a run, made from the configuration `coach.yaml`.
#[derive(Debug)]
pub(super) struct RunSetup {
    pub input: Value,
    /// Path of the folder with the athlete's training data.
    pub data: PathBuf,
    names_data: bool,
    pub output: PathBuf,
    pub model: Option<String>,
    pub asks: bool,
    pub plots: bool,
    /// Notices about keys of the configuration `coach.yaml` that have no effect.
    pub notices: Vec<String>,
}

impl RunSetup {
    /// Checks the folders that the configuration names. A folder in the key `data` must exist, because a typing error
    /// would otherwise look like missing data.
    pub(super) fn check(&self) -> Result<(), String> {
        let data = self.data.display();
        if self.names_data && !self.data.is_dir() {
            return Err(format!("data: folder not found: {data}"));
        }
        if self.output.starts_with(&self.data) {
            return Err(format!(
                "output.directory: {} is inside the data folder {data}; choose another directory",
                self.output.display()
            ));
        }
        Ok(())
    }
}

/// E-mail address that the template of an earlier version contained as an example.
const TEMPLATE_ADDRESS: &str = "you@example.com";

impl Config {
    /// Reads and checks the configuration file `coach.yaml`. Each error message is one line.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
        if !["yaml", "yml", "json"].contains(&&*ending) {
            return Err(format!("{shown}: a configuration must be a .yaml, .yml or .json file"));
        }
        let length = fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?.len();
        if length > COACH_CONFIG_BYTES {
            return Err(format!(
                "{shown} has {length} bytes; a configuration may have at most {COACH_CONFIG_BYTES}"
            ));
        }
        let text = fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
        let config: Self = if ending == "json" { json(&text) } else { yaml(&text) }
            .map_err(|error| format!("{shown}: {error}"))?;
        config.check().map_err(|error| format!("{shown}: {error}"))?;
        Ok(config)
    }

    #[expect(clippy::disallowed_methods, reason = "the time zone that the file states is looked up")]
    fn check(&self) -> Result<(), String> {
        let email = self.athlete.email.as_deref().map(str::trim).unwrap_or_default();
        if email.is_empty() {
            return Err("athlete.email is missing: the answers are stored under this address".to_owned());
        }
        if email == TEMPLATE_ADDRESS {
            return Err(format!(
                "athlete.email is `{email}`, the placeholder of the template: write the athlete's address"
            ));
        }
        if !is_address(email) {
            return Err(format!(
                "athlete.email is `{}`, which is not an e-mail address: write name@example.com",
                plain::line(email)
            ));
        }
        for number in AthleteNumber::ALL {
            let stated = self.athlete.number(*number);
            if let Some(value) = stated.filter(|value| !number.is_plausible(*value)) {
                let ((least, most), unit) = (number.plausible(), number.unit());
                let name = number.name();
                return Err(format!(
                    "athlete.{name} is {value}: it must be between {least} and {most} {unit}"
                ));
            }
        }
        for (key, days) in [
            ("activities_days", self.extraction.activities_days),
            ("metrics_days", self.extraction.metrics_days),
        ] {
            if !(1..=CONFIG_DAYS).contains(&days) {
                return Err(format!("extraction.{key} is {days}: it must be from 1 to {CONFIG_DAYS}"));
            }
        }
        if let Some(zone) = &self.athlete.time_zone
            && jiff::tz::TimeZone::get(zone).is_err()
        {
            return Err(format!("athlete.time_zone is `{zone}`: write a name such as Europe/Berlin"));
        }
        let dates = [("current_date", &self.current_date), ("athlete.birth_date", &self.athlete.birth_date)];
        let named = dates.into_iter().filter_map(|(key, date)| Some((key.to_owned(), date.as_deref()?)));
        let races = self.competitions.iter().flatten().enumerate().filter(|(_, race)| !race.is_blank());
        if let Some((n, _)) = races.clone().find(|(_, race)| race.name.trim().is_empty()) {
            return Err(format!("competitions[{n}].name is empty: write the name of the race"));
        }
        if let Some((n, _)) = races.clone().find(|(_, race)| race.date.trim().is_empty()) {
            return Err(format!("competitions[{n}].date is empty: write a day such as 2026-05-10"));
        }
        let races = races.map(|(n, race)| (format!("competitions[{n}].date"), race.date.as_str()));
        // The date of a race may be free text (contract C9). A text that looks like a day must be an existing day.
        let is_day = |text: &str| text.trim().starts_with(|c: char| c.is_ascii_digit()) && text.contains('-');
        let races = races.filter(|(_, text)| is_day(text));
        for (key, text) in named.chain(races) {
            if text.trim().parse::<Date>().is_err() {
                return Err(format!("{key} is `{text}`: write a day such as 2026-05-10"));
            }
        }
        self.column_map().map(|_| ())
    }

    fn column_map(&self) -> Result<ColumnMap, String> {
        ColumnMap::new(self.columns.iter().map(|(name, header)| (&**name, &**header)))
    }

    /// Adds the table columns from the command line, each written as `NAME=HEADER`. They replace columns of the
    /// configuration with the same name.
    pub(super) fn with_columns<'a>(
        mut self,
        columns: impl IntoIterator<Item = &'a String>,
    ) -> Result<Self, String> {
        for column in columns {
            let Some((name, header)) = column.split_once('=') else {
                return Err(format!(
                    "`{}` is not a valid value of --columns: write NAME=HEADER",
                    plain::line(column)
                ));
            };
            self.columns.insert(name.trim().to_owned(), header.trim().to_owned());
        }
        self.column_map()?;
        Ok(self)
    }

    /// Prepares a run of the coach. `beside` is the folder of the configuration file. `today` is the day of the run if
    /// the configuration sets none.
    pub(super) fn prepare(mut self, beside: &Path, output: Option<&Path>, today: Date) -> RunSetup {
        self.remove_blanks();
        let notices = self.notices();
        let day = self.day(today);
        let task = self.task(day);
        let own = |path: Option<PathBuf>, usual: &str| beside.join(path.unwrap_or_else(|| usual.into()));
        let output = output.map_or_else(|| own(self.output.directory.clone(), "coach"), Path::to_owned);
        let names_data = self.data.is_some();
        let data = own(self.data.clone(), "data");
        let model = match self.extraction.ai_mode {
            Mode::Production => self.models.production,
            Mode::Development => self.models.development,
        };
        let mut input = json!({
            "task": task,
            "subject": self.athlete.email,
            "athlete": self.athlete,
            "current_date": day,
            "activities_days": self.extraction.activities_days,
            "metrics_days": self.extraction.metrics_days,
            "competitions": self.competitions.unwrap_or_default(),
        });
        if !self.columns.is_empty() {
            input["columns"] = json!(self.columns);
        }
        RunSetup {
            input,
            data,
            names_data,
            output,
            model,
            asks: self.extraction.hitl_enabled,
            plots: self.extraction.enable_plotting,
            notices,
        }
    }

    /// Removes values of the configuration that the athlete has not filled in: the template contains empty texts and an
    /// empty race.
    fn remove_blanks(&mut self) {
        let filled = |text: &String| !text.trim().is_empty();
        self.athlete.name = self.athlete.name.take().filter(filled);
        let races = self.competitions.take().into_iter().flatten().filter(|race| !race.is_blank());
        let races = races.map(|race| Competition {
            race_type: race.race_type.filter(filled),
            target_time: race.target_time.filter(filled),
            ..race
        });
        self.competitions = Some(races.collect());
    }

    /// Returns notices about keys of garmin-ai-coach in the configuration that have no effect here and are not empty.
    fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if self.credentials.as_ref().is_some_and(has_content) {
            notices.push(
                "the key `credentials` has no effect, because the training data is read from files: remove \
                the key"
                    .to_owned(),
            );
        }
        if self.extraction.skip_synthesis {
            notices.push(
                "the key `extraction.skip_synthesis` has no effect, because the synthesis is never skipped: \
                remove the key"
                    .to_owned(),
            );
        }
        let calendars = [
            ("outside", &self.outside),
            ("bikereg", &self.bikereg),
            ("runreg", &self.runreg),
            ("trireg", &self.trireg),
            ("skireg", &self.skireg),
        ];
        for (key, calendar) in calendars {
            if calendar.as_ref().is_some_and(has_content) {
                notices.push(format!(
                    "the key `{key}` has no effect: name the races under `competitions` instead"
                ));
            }
        }
        notices
    }

    /// Returns the day of the run, without a time that may follow the date in the configuration.
    fn day(&self, today: Date) -> Date {
        self.current_date.as_deref().and_then(|text| text.trim().parse().ok()).unwrap_or(today)
    }

    /// Builds the task that every agent reads first. The athlete's texts are included unchanged.
    fn task(&self, day: Date) -> String {
        let Self { athlete, context, .. } = self;
        let name = athlete.name.as_deref().unwrap_or("not named");
        let mut task = format!(
            "Analyse an athlete's training, and plan the coming weeks.\n\nAthlete: {name}\nToday: {day}"
        );
        let weeks = self.week_dates.as_ref().map(|dates| match dates {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let parts = [
            ("Days of the weekly plan", weeks.as_ref()),
            ("Notes for the analysts", context.analysis.as_ref()),
            ("Notes for the plan", context.planning.as_ref()),
            ("How to write", self.style_guide.as_ref()),
        ];
        for (label, text) in parts {
            if let Some(text) = text.map(|text| text.trim()).filter(|text| !text.is_empty()) {
                task.extend(["\n\n", label, ":\n", text]);
            }
        }
        let races: Vec<String> = self.competitions.iter().flatten().map(Competition::line).collect();
        if !races.is_empty() {
            task.extend(["\n\nCompetitions:\n", &races.join("\n")]);
        }
        task
    }
}

impl Athlete {
    const fn number(&self, number: AthleteNumber) -> Option<f64> {
        match number {
            AthleteNumber::MaxHeartRate => self.max_heart_rate,
            AthleteNumber::RestingHeartRate => self.resting_heart_rate,
            AthleteNumber::ThresholdHeartRate => self.threshold_heart_rate,
            AthleteNumber::ThresholdPower => self.threshold_power,
        }
    }
}

/// Returns true if the text has the form `name@domain`. Other errors in an address show only when a mail is sent.
fn is_address(text: &str) -> bool {
    let parts = text.split_once('@').filter(|(_, domain)| !domain.contains('@'));
    parts.is_some_and(|(name, domain)| !name.is_empty() && !domain.is_empty())
        && !text.chars().any(|c| c.is_whitespace() || c.is_control())
}

/// Returns true if a value of the configuration contains a number, a boolean or a text that is not blank.
fn has_content(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => items.iter().any(has_content),
        Value::Object(entries) => entries.values().any(has_content),
    }
}

impl Competition {
    /// Returns true for a race that the athlete has not filled in. An unfilled race in the template has a priority.
    fn is_blank(&self) -> bool {
        let texts = [Some(&self.name), Some(&self.date), self.race_type.as_ref(), self.target_time.as_ref()];
        texts.into_iter().flatten().all(|text| text.trim().is_empty())
    }

    fn line(&self) -> String {
        let mut line = format!("- {}, {}", self.name, self.date);
        let priority = self.priority.map(|priority| format!("priority {priority:?}"));
        let parts = [self.race_type.clone(), priority, self.target_time.clone()];
        for part in parts.into_iter().flatten() {
            line.push_str(", ");
            line.push_str(&part);
        }
        line
    }
}

fn json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| reword_yaml_error(&error.to_string()))
}

fn yaml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::Error,
        with_snippet: false,
        emit_comments: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let error = error.without_snippet();
        let told = error.to_string();
        let told = told.lines().next().unwrap_or_default();
        let Some(at) = error.location() else { return reword_yaml_error(told) };
        // The YAML library repeats the location at the end of its message.
        let again = format!(" at line {}, column {}", at.line(), at.column());
        let told = told.strip_suffix(&again).unwrap_or(told);
        format!("line {}: {}", at.line().max(1), reword_yaml_error(told))
    })
}

/// Rewords a message of the YAML library about a key or a value for people who write YAML.
fn reword_yaml_error(told: &str) -> String {
    const WORDS: [(&str, &str); 18] = [
        ("invalid u16", "a whole number is needed"),
        ("invalid f64", "a number is needed"),
        ("missing field `", "missing key `"),
        ("unknown field `", "unknown key `"),
        ("unknown variant `", "unknown value `"),
        ("duplicate field `", "duplicate key `"),
        ("duplicate mapping key: ", "duplicate key "),
        (", set DuplicateKeyPolicy in Options if acceptable", ""),
        (", expected one of ", "; expected one of "),
        (", expected `", "; expected `"),
        ("invalid type: ", "wrong type: "),
        (", expected u16", "; a whole number is needed"),
        (", expected f64", "; a number is needed"),
        (", expected a boolean", "; true or false is needed"),
        (", expected a string", "; text is needed, in quotes if it looks like a number or a date"),
        (", expected a sequence", "; a list is needed"),
        (", expected struct ", "; keys with values are needed: "),
        ("unit value", "nothing"),
    ];
    WORDS.iter().fold(told.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours))
}
