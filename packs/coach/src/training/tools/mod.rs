//! The metrics as tools that an agent can call: the catalogue of metrics, one call, and the data for each analyst.
//!
//! A model states a metric and its parameters. The run determines the athlete and the day. Every number in a result has
//! a name, a unit and its source files, so a number in a report can be traced back to files.

mod arguments;
mod result;
mod summary;

use jiff::civil::Date;
use serde::Serialize;
use serde_json::Value;

pub use self::arguments::Parameter;
pub use self::result::{Computed, Number, Piece, Refusal, RefusalCode, format_number};
pub use self::summary::{Analyst, Summary, SummaryActivity, SummaryDay, SummaryValue, summary};

use self::arguments::{Arguments, Subject};
use self::result::CallResults;
use crate::training::limits;
use crate::training::metrics::daily::DailyLoads;
use crate::training::metrics::efficiency::{decoupling, efficiency_factor};
use crate::training::metrics::load::{
    Scale, heart_rate_tss, intensity_factor, power_tss, session_rpe, trimp,
};
use crate::training::metrics::power::normalised_power;
use crate::training::metrics::race::{Prediction, RACES, best_run, prediction};
use crate::training::metrics::zones::{intensity_split, of_max, of_reserve};
use crate::training::metrics::{Metric, Missing, Need, Outcome, Profile, Traced, trend, volume};
use crate::training::model::{Activity, Athlete, Season};

/// Settings that are the same for all calls of the coach's tools in a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Facts about the athlete in the configuration. Facts that are missing here are read from the files.
    pub athlete: Athlete,
    /// Day of the coach's run. Data of later days is not used.
    pub as_of: Date,
    /// Number of days whose activities the activities analyst receives.
    pub activities_days: u16,
    /// Number of days whose weeks and daily measures the other analysts receive.
    pub metrics_days: u16,
}

/// Description of a metric, which a model reads.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    pub name: &'static str,
    pub description: &'static str,
    pub unit: &'static str,
    pub formula: &'static str,
    pub source: &'static str,
    /// JSON Schema of the metric's parameters.
    pub parameters: Value,
}

/// Returns all metrics, in the order of the document `docs/training.md`.
pub fn catalogue() -> Vec<Entry> {
    let entry = |metric: &Metric| Entry {
        name: metric.name(),
        description: metric.description(),
        unit: metric.unit(),
        formula: metric.formula(),
        source: metric.source(),
        parameters: Subject::for_metric(*metric).schema(),
    };
    Metric::ALL.iter().map(entry).collect()
}

/// Computes a metric of a season. `parameters` is an object that matches the schema in [`catalogue`], or null.
///
/// # Errors
/// Returns a refusal if the metric is unknown, a parameter is invalid, or an input is missing.
pub fn compute(
    name: &str,
    season: &Season,
    settings: &Settings,
    parameters: &Value,
) -> Result<Computed, Refusal> {
    let Some(metric) = Metric::from_name(name) else {
        let shown: String = name.chars().take(60).collect();
        return Err(Refusal::new(RefusalCode::UnknownMetric, None, &format!("`{shown}` is not a metric")));
    };
    let arguments = Arguments::parse(Subject::for_metric(metric), parameters, settings.as_of)?;
    let call = Call {
        metric,
        season,
        profile: Profile::from_season(season, &settings.athlete, arguments.as_of),
        arguments,
    };
    let found = call.compute()?;
    found.finish(metric, call.arguments.stated())
}

struct Call<'a> {
    metric: Metric,
    season: &'a Season,
    profile: Profile,
    arguments: Arguments,
}

impl Call<'_> {
    fn compute(&self) -> Result<CallResults, Refusal> {
        let profile = &self.profile;
        let as_of = self.arguments.as_of;
        match self.metric {
            Metric::Trimp => self.activities(|activity| Ok(trimp(activity, profile)?.into())),
            Metric::HeartRateTss => self.activities(|activity| Ok(heart_rate_tss(activity, profile)?.into())),
            Metric::NormalisedPower => self.activities(|activity| Ok(normalised_power(activity)?.into())),
            Metric::PowerTss => self.activities(|activity| Ok(power_tss(activity, profile)?.into())),
            Metric::IntensityFactor => {
                self.activities(|activity| Ok(intensity_factor(activity, profile)?.into()))
            }
            Metric::EfficiencyFactor => self.activities(|activity| Ok(efficiency_factor(activity)?.into())),
            Metric::Decoupling => self.activities(|activity| Ok(decoupling(activity)?.into())),
            Metric::SessionRpe => self.activities(|activity| Ok(session_rpe(activity)?.into())),
            Metric::ZonesOfMax => self.activities(|activity| Ok(of_max(activity, profile)?.into())),
            Metric::ZonesOfReserve => self.activities(|activity| Ok(of_reserve(activity, profile)?.into())),
            Metric::AcuteLoad => Ok(self.loads(DailyLoads::acute)),
            Metric::ChronicLoad => Ok(self.loads(DailyLoads::chronic)),
            Metric::LoadRatio => Ok(self.loads(DailyLoads::ratio)),
            Metric::AcuteLoadEwma => Ok(self.loads(DailyLoads::acute_ewma)),
            Metric::ChronicLoadEwma => Ok(self.loads(DailyLoads::chronic_ewma)),
            Metric::LoadRatioEwma => Ok(self.loads(DailyLoads::ratio_ewma)),
            Metric::Ctl => Ok(self.loads(DailyLoads::ctl)),
            Metric::Atl => Ok(self.loads(DailyLoads::atl)),
            Metric::Tsb => Ok(self.loads(DailyLoads::tsb)),
            Metric::Monotony => Ok(self.loads(DailyLoads::monotony)),
            Metric::Strain => Ok(self.loads(DailyLoads::strain)),
            Metric::IntensitySplit => {
                let activities = self.recent()?;
                Ok(CallResults::one(intensity_split(activities, profile).map(Piece::from)))
            }
            Metric::HrvTrend => Ok(CallResults::one(trend::hrv(self.season, as_of).map(Piece::from))),
            Metric::RestingTrend => {
                Ok(CallResults::one(trend::resting_heart_rate(self.season, as_of).map(Piece::from)))
            }
            Metric::Riegel => Ok(self.races(|race| race.riegel)),
            Metric::VdotTime => Ok(self.races(|race| race.vdot_time)),
            Metric::Vdot => {
                let best = best_run(self.season, as_of);
                Ok(CallResults::one(
                    best.map(|(run, vdot)| Piece::from(vdot).with_subject("activity", &run.id)),
                ))
            }
            Metric::WeeklyVolume => Ok(self.weeks()),
        }
    }

    /// Returns the activities of the days that the call requests, or a refusal if there are none.
    fn recent(&self) -> Result<Vec<&Activity>, Refusal> {
        let (from, to) = self.arguments.window();
        let within = |activity: &&Activity| (from..=to).contains(&activity.day());
        let found: Vec<&Activity> = self.season.activities.iter().filter(within).collect();
        if found.is_empty() {
            let missing =
                Missing::new(self.metric, Need::Activities, format!("an activity from {from} to {to}"));
            return Err(missing.into());
        }
        if found.len() > limits::TOOL_RESULTS {
            let message = format!("{} activities from {from} to {to}", found.len());
            return Err(Refusal::new(RefusalCode::TooManyResults, Some(Parameter::Days), &message));
        }
        Ok(found)
    }

    /// Returns one result per activity of the requested days, or one result for the activity that the call names.
    fn activities(&self, of: impl Fn(&Activity) -> Result<Piece, Missing>) -> Result<CallResults, Refusal> {
        let activities = match &self.arguments.activity {
            None => self.recent()?,
            Some(id) => {
                let found = self.season.activities.iter().find(|activity| activity.id == *id);
                let shown: String = id.chars().take(60).collect();
                let refusal = || {
                    let message = format!("no activity has the id `{shown}`");
                    Refusal::new(RefusalCode::UnknownActivity, Some(Parameter::Activity), &message)
                };
                vec![found.filter(|activity| activity.day() <= self.arguments.as_of).ok_or_else(refusal)?]
            }
        };
        let piece = |activity: &Activity| Ok(of(activity)?.with_subject("activity", &activity.id));
        Ok(activities.into_iter().map(piece).collect())
    }

    fn loads(&self, of: fn(&DailyLoads) -> Outcome<f64>) -> CallResults {
        let scale = self.arguments.scale;
        let loads = DailyLoads::compute(self.season, &self.profile, scale, self.arguments.as_of);
        let outcome = loads.and_then(|loads| of(&loads)).map_err(|missing| missing.for_metric(self.metric));
        CallResults::one(outcome.map(|traced| Piece::from(traced).measured_in(unit(self.metric, scale))))
    }

    fn races(&self, of: fn(Prediction) -> Traced<f64>) -> CallResults {
        let asked = self.arguments.distance_m.map(|distance_m| ("as asked", distance_m));
        let races = asked.map_or_else(|| RACES.to_vec(), |race| vec![race]);
        let piece = |(name, distance_m): (&'static str, f64)| {
            let race = prediction(self.season, self.arguments.as_of, name, distance_m)
                .map_err(|missing| missing.for_metric(self.metric))?;
            let distance = Number { name: "distance", value: distance_m, unit: "m" };
            Ok(Piece::from(of(race)).with_subject("race", name).with(distance))
        };
        races.into_iter().map(piece).collect()
    }

    fn weeks(&self) -> CallResults {
        let weeks = match volume::weekly(self.season, self.arguments.as_of) {
            Ok(weeks) => weeks,
            Err(missing) => return CallResults::one(Err(missing)),
        };
        let first = weeks.len().saturating_sub(self.arguments.weeks);
        let mut found = Vec::new();
        for (begins, sports) in weeks.into_iter().skip(first) {
            let begins = begins.to_string();
            if sports.is_empty() {
                found.push(Ok(Piece::nothing_done().with_subject("week", &begins)));
            }
            for (sport, volume) in sports {
                found.push(Ok(Piece::from(volume)
                    .with_subject("week", &begins)
                    .with_subject("sport", sport.name())));
            }
        }
        found.into_iter().collect()
    }
}

const fn unit(metric: Metric, scale: Scale) -> &'static str {
    match (metric, scale) {
        (Metric::LoadRatio | Metric::LoadRatioEwma | Metric::Monotony, _) => "1",
        (Metric::Strain, Scale::Tss) => "TSS",
        (Metric::Strain, Scale::Trimp | Scale::SessionRpe) => "AU",
        (_, Scale::Tss) => "TSS/day",
        (_, Scale::Trimp | Scale::SessionRpe) => "AU/day",
    }
}
