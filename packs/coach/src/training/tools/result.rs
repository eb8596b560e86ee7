//! Response to a call that computes a metric: either numbers with names, units and files, or a refusal.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value};

use super::arguments::Parameter;
use crate::training::limits;
use crate::training::metrics::efficiency::Efficiency;
use crate::training::metrics::trend::Trend;
use crate::training::metrics::volume::Volume;
use crate::training::metrics::zones::{Split, Zones};
use crate::training::metrics::{Caveat, Inputs, Metric, Missing, Need, Traced};
use holdshort_tools::named;

/// A number in the result of a metric, with its name and its unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Number {
    pub name: &'static str,
    pub value: f64,
    pub unit: &'static str,
}

/// Formats a number. Smaller numbers get more decimals.
pub fn format_number(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

/// Numbers of a metric that were computed together, with their inputs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Piece {
    /// Subject of the computed numbers: an activity, a week and a sport, or a race.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub of: BTreeMap<&'static str, String>,
    pub values: Vec<Number>,
    /// Words that interpret the numbers, such as the position of a trend.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub words: BTreeMap<&'static str, &'static str>,
    pub inputs: Inputs,
    pub caveats: BTreeSet<Caveat>,
}

/// Response to a call that computes a metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Computed {
    pub metric: Metric,
    /// All parameters of the call that computed the metric, including defaults.
    pub parameters: Map<String, Value>,
    pub results: Vec<Piece>,
    /// Activities and races for which the metric has no result, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
    /// Explanations of the caveats of the metric's results.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub caveats: BTreeMap<&'static str, &'static str>,
}

/// Sentence that advises the caller of a coach's tool what to do after a refusal.
struct Row(&'static str);

named! {
    /// Reason why a call of the coach's tools was refused. Texts and names never change in later versions.
    RefusalCode: Row;
    UnknownMetric "unknown_metric" ("Name a metric that the catalogue lists.")
    BadParameter "bad_parameter" ("Name parameters as the schema of the metric describes them.")
    UnknownActivity "unknown_activity" ("Name an activity by its id in the summary, of a day up to `as_of`.")
    NotComputable "not_computable" ("Ask for the missing input, or leave this number out. Never guess it.")
    TooManyResults "too_many_results" ("Ask for fewer days or weeks.")
}

/// Refusal of a call that computes a metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refusal {
    pub code: RefusalCode,
    /// JSON pointer to the parameter of the call that is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    pub message: String,
    pub what_to_do: &'static str,
    /// Input of the metric that is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<Need>,
}

impl RefusalCode {
    pub const fn what_to_do(self) -> &'static str {
        self.row().0
    }
}

impl Refusal {
    pub(super) fn new(code: RefusalCode, parameter: Option<Parameter>, message: &str) -> Self {
        let field = parameter.map(|parameter| format!("/{}", parameter.name()));
        // The message may quote text of a model, so control characters are replaced.
        let message = message.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c });
        Self { code, field, message: message.collect(), what_to_do: code.what_to_do(), needs: None }
    }
}

impl From<Missing> for Refusal {
    fn from(missing: Missing) -> Self {
        let message = format!("{} needs {}", missing.metric.name(), missing.message);
        Self { needs: Some(missing.needs), ..Self::new(RefusalCode::NotComputable, None, &message) }
    }
}

/// Converts a value to the numbers that the result of a metric contains.
pub(super) trait Numbers {
    fn numbers(&self, metric: Metric) -> Vec<Number>;

    fn interpretations(&self) -> BTreeMap<&'static str, &'static str> {
        BTreeMap::new()
    }
}

impl Numbers for f64 {
    fn numbers(&self, metric: Metric) -> Vec<Number> {
        vec![Number { name: metric.name(), value: *self, unit: metric.unit() }]
    }
}

impl Numbers for Efficiency {
    fn numbers(&self, metric: Metric) -> Vec<Number> {
        vec![Number { name: metric.name(), value: self.per_beat, unit: self.output.unit() }]
    }
}

/// Names of the heart-rate zones, each with the name of the heart rate at which the zone begins.
const ZONES: [(&str, &str); 5] = [
    ("zone_1", "zone_1_begins"),
    ("zone_2", "zone_2_begins"),
    ("zone_3", "zone_3_begins"),
    ("zone_4", "zone_4_begins"),
    ("zone_5", "zone_5_begins"),
];

impl Numbers for Zones {
    fn numbers(&self, _metric: Metric) -> Vec<Number> {
        let below = Number { name: "below", value: self.below_s, unit: "s" };
        let times = ZONES.iter().zip(self.zones_s);
        let times = times.map(|((name, _), value)| Number { name, value, unit: "s" });
        let begins = ZONES.iter().zip(self.begin_bpm);
        let begins = begins.map(|((_, name), value)| Number { name, value, unit: "bpm" });
        [below].into_iter().chain(times).chain(begins).collect()
    }
}

impl Numbers for Split {
    fn numbers(&self, metric: Metric) -> Vec<Number> {
        let share = |name: &'static str, value: f64| Number { name, value, unit: metric.unit() };
        vec![
            share("easy", self.easy),
            share("moderate", self.moderate),
            share("hard", self.hard),
            Number { name: "duration", value: self.seconds, unit: "s" },
        ]
    }
}

impl Numbers for Trend {
    fn numbers(&self, metric: Metric) -> Vec<Number> {
        let of = |name: &'static str, value: f64| Number { name, value, unit: metric.unit() };
        vec![
            of("week", self.week),
            of("baseline", self.baseline),
            of("deviation", self.deviation),
            of("from", self.from),
            of("to", self.to),
            counted("week_days", self.week_days, "days"),
            counted("baseline_days", self.baseline_days, "days"),
        ]
    }

    fn interpretations(&self) -> BTreeMap<&'static str, &'static str> {
        BTreeMap::from([("against", self.against.name())])
    }
}

impl Numbers for Volume {
    fn numbers(&self, _metric: Metric) -> Vec<Number> {
        let of = |name, value, unit| Number { name, value, unit };
        let distance = self.distance_m.map(|metres| of("distance", metres, "m"));
        let done = [counted("activities", self.activities, "1"), of("duration", self.duration_s, "s")];
        done.into_iter().chain(distance).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of days and activities")]
const fn counted(name: &'static str, count: usize, unit: &'static str) -> Number {
    Number { name, value: count as f64, unit }
}

impl<T: Numbers> From<Traced<T>> for Piece {
    fn from(traced: Traced<T>) -> Self {
        Self {
            of: BTreeMap::new(),
            values: traced.value.numbers(traced.metric),
            words: traced.value.interpretations(),
            inputs: traced.inputs,
            caveats: traced.caveats,
        }
    }
}

impl Piece {
    pub(super) fn with_subject(mut self, what: &'static str, name: &str) -> Self {
        self.of.insert(what, name.to_owned());
        self
    }

    pub(super) fn with(mut self, number: Number) -> Self {
        self.values.push(number);
        self
    }

    pub(super) fn measured_in(mut self, unit: &'static str) -> Self {
        self.values.iter_mut().for_each(|number| number.unit = unit);
        self
    }

    /// Returns the numbers of a training week without any activity.
    pub(super) fn nothing_done() -> Self {
        Traced::new(Metric::WeeklyVolume, Volume::default(), Inputs::default()).into()
    }
}

/// Results of a call that computes a metric, collected while the call is computed.
#[derive(Default)]
pub(super) struct CallResults {
    results: Vec<Piece>,
    missing: Vec<Missing>,
}

impl CallResults {
    pub(super) fn one(outcome: Result<Piece, Missing>) -> Self {
        [outcome].into_iter().collect()
    }

    /// Returns the response to the call. Returns a refusal if no number could be computed and there is a reason.
    pub(super) fn finish(self, metric: Metric, parameters: Map<String, Value>) -> Result<Computed, Refusal> {
        let Self { results, missing } = self;
        if let (true, Some(first)) = (results.is_empty(), missing.first()) {
            return Err(first.clone().into());
        }
        if results.len() > limits::TOOL_RESULTS {
            let message = format!("{} results; at most {} are returned", results.len(), limits::TOOL_RESULTS);
            return Err(Refusal::new(RefusalCode::TooManyResults, None, &message));
        }
        let caveats = results.iter().flat_map(|piece| &piece.caveats);
        let caveats = caveats.map(|caveat| (caveat.name(), caveat.text())).collect();
        Ok(Computed { metric, parameters, results, missing, caveats })
    }
}

impl FromIterator<Result<Piece, Missing>> for CallResults {
    fn from_iter<I: IntoIterator<Item = Result<Piece, Missing>>>(outcomes: I) -> Self {
        let mut found = Self::default();
        for outcome in outcomes {
            match outcome {
                Ok(piece) => found.results.push(piece),
                Err(missing) => found.missing.push(missing),
            }
        }
        found
    }
}
