//! Data that each analyst receives: a part of the season, a list of metrics, and parts of the data file.
//!
//! Values are passed on as they were read, with unit and source. Only the weekly volumes are computed here.

use jiff::ToSpan;
use jiff::civil::Date;
use serde::Serialize;
use serde_json::json;

use super::arguments::Subject;
use super::result::Piece;
use super::{Settings, compute};
use crate::training::limits;
use crate::training::measure::Measure;
use crate::training::metrics::Metric;
use crate::training::model::{Activity, AthleteNumber, Season, Source, SourcedValue};
use holdshort_tools::named;

/// Names of the parts of the data file that an analyst receives.
struct Row(&'static [&'static str]);

named! {
    /// A kind of agent that analyses training data. Each analyst receives the same parts of the data file as in
    /// garmin-ai-coach.
    Analyst: Row;
    /// Analyst of training load, of fitness, and of how they change.
    Metrics "metrics" (&["training_load_history", "vo2_max_history", "training_status"])
    /// Analyst of completed activities.
    Activities "activities" (&["recent_activities"])
    /// Analyst of recovery: HRV, resting heart rate, sleep, stress, weight.
    Physiology "physiology" (&["physiological_markers", "body_metrics", "recovery_indicators"])
}

impl Analyst {
    /// Returns the names of the parts of the data file that this analyst receives. [`crate::training::parts`] returns
    /// their content.
    pub const fn parts(self) -> &'static [&'static str] {
        self.row().0
    }

    /// Returns the metrics that this analyst is allowed to request.
    pub fn metrics(self) -> Vec<Metric> {
        let is_own = |metric: &Metric| match (Subject::for_metric(*metric), *metric) {
            (_, Metric::HrvTrend | Metric::RestingTrend) => self == Self::Physiology,
            (Subject::Activity, _) => self == Self::Activities,
            // The intensity split is about load and about activities, so two analysts may request it.
            (Subject::Split, _) => self != Self::Physiology,
            (Subject::Loads | Subject::Day | Subject::Race | Subject::Weeks, _) => self == Self::Metrics,
        };
        Metric::ALL.iter().copied().filter(is_own).collect()
    }

    const fn has_number(self, number: AthleteNumber) -> bool {
        match number {
            AthleteNumber::RestingHeartRate => true,
            AthleteNumber::MaxHeartRate
            | AthleteNumber::ThresholdHeartRate
            | AthleteNumber::ThresholdPower => !matches!(self, Self::Physiology),
        }
    }
}

/// A value in an analyst's data that was read from a file or stated in the configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryValue {
    pub name: &'static str,
    pub value: f64,
    pub unit: &'static str,
    /// File and place of the value in the training data. `None` if the value comes from the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryActivity {
    pub id: String,
    /// Start of the activity in local time, with the offset from UTC.
    pub start: String,
    /// Local day on which the activity started.
    pub day: Date,
    pub sport: String,
    pub measures: Vec<SummaryValue>,
    /// Number of the activity's samples, which metrics can use.
    pub samples: usize,
    pub sources: Vec<Source>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryDay {
    pub date: Date,
    pub measures: Vec<SummaryValue>,
}

/// Training data that an analyst receives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    pub analyst: Analyst,
    pub from: Date,
    pub as_of: Date,
    pub athlete: Vec<SummaryValue>,
    /// Training volumes of the weeks, as the tool `weekly_volume` returns them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weeks: Vec<Piece>,
    /// Newest activities that the analyst receives, sorted by their starts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub activities: Vec<SummaryActivity>,
    /// Number of older activities in the analyst's period that [`limits::TOOL_RESULTS`] excludes.
    #[serde(skip_serializing_if = "is_none")]
    pub more_activities: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<SummaryDay>,
    /// Metrics that the analyst is allowed to request.
    pub metrics: Vec<Metric>,
    /// Names of the parts of the data file that the analyst receives.
    pub parts: &'static [&'static str],
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
const fn is_none(count: &usize) -> bool {
    *count == 0
}

/// Returns the data that an analyst receives from a season.
pub fn summary(season: &Season, settings: &Settings, analyst: Analyst) -> Summary {
    let as_of = settings.as_of;
    let days = match analyst {
        Analyst::Activities => settings.activities_days,
        Analyst::Metrics | Analyst::Physiology => settings.metrics_days,
    };
    let from = as_of.saturating_sub(i64::from(days.saturating_sub(1)).days());
    let mut summary = Summary {
        analyst,
        from,
        as_of,
        athlete: athlete(season, settings, analyst),
        weeks: Vec::new(),
        activities: Vec::new(),
        more_activities: 0,
        days: Vec::new(),
        metrics: analyst.metrics(),
        parts: analyst.parts(),
    };
    match analyst {
        Analyst::Metrics => {
            let weeks = usize::from(days).div_ceil(7).clamp(1, limits::TOOL_WEEKS);
            // The summary has as many weeks as the limit of results allows. For an athlete with hundreds of sports,
            // these are fewer.
            let answered = (1..=weeks).rev().find_map(|weeks| {
                compute(Metric::WeeklyVolume.name(), season, settings, &json!({"weeks": weeks})).ok()
            });
            summary.weeks = answered.map(|computed| computed.results).unwrap_or_default();
        }
        Analyst::Activities => {
            let within = season.activities.iter().filter(|each| (from..=as_of).contains(&each.day()));
            let mut given: Vec<SummaryActivity> = within.map(activity).collect();
            summary.more_activities = given.len().saturating_sub(limits::TOOL_RESULTS);
            summary.activities = given.split_off(summary.more_activities);
        }
        Analyst::Physiology => {
            let within = season.days.range(from.min(as_of)..=as_of);
            let given =
                within.map(|(date, day)| SummaryDay { date: *date, measures: measures(&day.measures) });
            summary.days = given.filter(|day| !day.measures.is_empty()).collect();
        }
    }
    summary
}

fn activity(activity: &Activity) -> SummaryActivity {
    SummaryActivity {
        id: activity.id.clone(),
        start: activity.start.display_with_offset(activity.offset).to_string(),
        day: activity.day(),
        sport: activity.sport.name().to_owned(),
        measures: measures(&activity.measures),
        samples: activity.samples.len(),
        sources: activity.sources.clone(),
    }
}

fn measures(known: &std::collections::BTreeMap<Measure, SourcedValue>) -> Vec<SummaryValue> {
    let plausible = known.iter().filter(|(measure, known)| measure.is_plausible(known.value));
    let given = plausible.map(|(measure, known)| SummaryValue {
        name: measure.name(),
        value: known.value,
        unit: measure.unit(),
        source: Some(known.source.clone()),
    });
    given.collect()
}

/// Returns the facts about the athlete that the analyst's metrics need, as they were stated or read.
fn athlete(season: &Season, settings: &Settings, analyst: Analyst) -> Vec<SummaryValue> {
    let given = |number: &AthleteNumber| {
        let stated = settings.athlete.number(*number);
        let value = stated.or(season.athlete.number(*number)).filter(|value| number.is_plausible(*value))?;
        let source = season.athlete_sources.get(number.name()).filter(|_| stated.is_none()).cloned();
        Some(SummaryValue { name: number.name(), value, unit: number.unit(), source })
    };
    AthleteNumber::ALL.iter().filter(|number| analyst.has_number(**number)).filter_map(given).collect()
}
