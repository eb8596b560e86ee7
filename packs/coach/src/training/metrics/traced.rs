//! A computed number together with its inputs, or the reason why it could not be computed.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::civil::Date;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::Metric;
use crate::training::model::{Activity, SourcedValue};
use holdshort_tools::named;

/// Inputs of a computed number, which a reader can look up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Inputs {
    /// Ids of the activities that the computation used.
    pub activities: BTreeSet<String>,
    /// Days whose daily measures the computation used.
    pub days: BTreeSet<Date>,
    /// Names of the facts about the athlete that the computation used, as in [`crate::training::Athlete`].
    pub athlete: BTreeSet<&'static str>,
    /// Names of the files that contain the inputs of the computation. A value from the configuration has no file.
    pub files: BTreeSet<Arc<str>>,
}

impl Inputs {
    pub(crate) fn activity(activity: &Activity) -> Self {
        let files = activity.sources.iter().map(|source| Arc::clone(&source.file)).collect();
        Self { activities: BTreeSet::from([activity.id.clone()]), files, ..Self::default() }
    }

    pub(crate) fn day(&mut self, date: Date, measured: &SourcedValue) {
        self.days.insert(date);
        self.files.insert(Arc::clone(&measured.source.file));
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.activities.extend(other.activities.iter().cloned());
        self.days.extend(&other.days);
        self.athlete.extend(&other.athlete);
        self.files.extend(other.files.iter().cloned());
    }
}

/// Sentence that explains the caveat of a computed number to the reader.
struct Row(&'static str);

named! {
    /// Caveat about a computed number. Texts and names are stable: later versions do not change them.
    Caveat: Row;
    AverageHeartRate "average_heart_rate" ("Computed from the average heart rate: samples are missing or cover less than 80 % of the duration. Intervals are underestimated.")
    AveragePower "average_power" ("Computed from the average power: samples are missing or cover less than 80 % of the duration. Intervals are underestimated.")
    DevicePower "device_power" ("The normalised power comes from the device: samples are missing or cover less than 80 % of the duration.")
    PartialSamples "partial_samples" ("Heart-rate samples cover less than 99 % of the duration. The rest of the time is in no zone.")
    ScaledSamples "scaled_samples" ("Samples cover 80 to 99 % of the duration. The rest of the time is treated like the covered time.")
    ShortPower "short_power" ("Normalised power was designed for efforts of at least 20 minutes.")
    EstimatedMax "estimated_max_heart_rate" ("The maximal heart rate is estimated from the age; its standard error is about 7 to 11 bpm.")
    RestingOfDays "resting_of_days" ("The resting heart rate is the mean of the last 28 days.")
    BeyondMax "beyond_max_heart_rate" ("Some heart rates exceed the maximal heart rate, which is probably too low. The maximum is used for them.")
    RestDays "rest_days" ("Days without an activity are treated as rest days. A missing recording looks the same.")
    UnknownLoads "unknown_loads" ("Days with an activity of unknown load were left out.")
    WarmingUp "warming_up" ("The history is shorter than four times the window, so the first load still affects the result.")
    StartsAtZero "starts_at_zero" ("The history is shorter than four times the time constant. The average starts at 0, so it is still too low.")
    OlderLoads "older_loads" ("Activities more than 15000 days ago were left out: a clock was probably not set.")
    MissingDays "missing_days" ("Days without a value were left out.")
    ShortBaseline "short_baseline" ("Fewer than 45 of the 60 baseline days have a value.")
    OutsideRange "outside_range" ("The time is outside the range of the formula, 3.5 to 230 minutes.")
    TrainingRun "training_run" ("The fastest recorded run is used as a race result. A real race would be faster.")
    UnknownIntensity "unknown_intensity" ("Activities whose heart-rate samples are missing or cover less than 80 % of the duration are not in the split.")
    UnknownDistances "unknown_distances" ("Activities without a distance are counted by duration only.")
}

impl Caveat {
    pub const fn text(self) -> &'static str {
        self.row().0
    }
}

/// A computed value with its unit. Its description, its formula and the source of the formula are in [`Metric`].
#[derive(Clone, Debug, PartialEq)]
pub struct Traced<T> {
    pub metric: Metric,
    pub value: T,
    pub inputs: Inputs,
    pub caveats: BTreeSet<Caveat>,
}

impl<T> Traced<T> {
    pub(crate) fn new(metric: Metric, value: T, inputs: Inputs) -> Self {
        Self { metric, value, inputs, caveats: BTreeSet::new() }
    }

    pub(crate) fn with(mut self, caveats: impl IntoIterator<Item = Caveat>) -> Self {
        self.caveats.extend(caveats);
        self
    }
}

impl<T: Serialize> Serialize for Traced<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut traced = serializer.serialize_struct("Traced", 5)?;
        traced.serialize_field("metric", &self.metric)?;
        traced.serialize_field("value", &self.value)?;
        traced.serialize_field("unit", self.metric.unit())?;
        traced.serialize_field("inputs", &self.inputs)?;
        traced.serialize_field("caveats", &self.caveats)?;
        traced.end()
    }
}

/// Data that is missing for a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    Sex,
    MaxHeartRate,
    RestingHeartRate,
    ThresholdHeartRate,
    ThresholdPower,
    HeartRate,
    Power,
    Exertion,
    Activities,
    /// More days with known training loads are needed.
    History,
    /// More days on which the measure has a value are needed.
    Days,
    /// Training loads that differ between days are needed.
    Variation,
    /// A run that is long enough, and short enough, for the formulas is needed.
    Run,
}

/// Reason why a metric could not be computed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Missing {
    pub metric: Metric,
    pub needs: Need,
    /// Sentence for a person about the input that is missing for the metric.
    pub message: String,
}

impl Missing {
    pub(crate) fn new(metric: Metric, needs: Need, message: impl Into<String>) -> Self {
        Self { metric, needs, message: message.into() }
    }

    /// Returns the reason for another metric, which depends on the metric of this reason.
    pub(crate) fn for_metric(mut self, metric: Metric) -> Self {
        self.metric = metric;
        self
    }
}

pub type Outcome<T> = Result<Traced<T>, Missing>;
