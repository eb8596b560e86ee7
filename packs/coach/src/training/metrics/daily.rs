//! Daily loads and the metrics that are computed from them: acute and chronic load, the ratio of the two, fitness,
//! fatigue and form, monotony and strain.

use std::collections::BTreeMap;

use jiff::ToSpan;
use jiff::civil::Date;
use serde::Serialize;

use super::load::{Scale, load};
use super::profile::{Profile, Provenance};
use super::traced::{Caveat, Inputs, Missing, Need};
use super::{Metric, Outcome, Traced};
use crate::training::limits;
use crate::training::model::{Activity, Season};

/// Training load of a day.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DayLoad {
    /// The loads of all activities of the day are known. `load` is the sum of these loads.
    Known { load: f64, activities: Vec<String> },
    /// Day without an activity: a rest day, or a missing recording.
    Rest,
    /// The load of at least one activity of the day is unknown.
    Unknown { activities: Vec<String> },
}

impl DayLoad {
    const fn known_load(&self) -> Option<f64> {
        match self {
            Self::Known { load, .. } => Some(*load),
            Self::Rest => Some(0.0),
            Self::Unknown { .. } => None,
        }
    }
}

/// Loads of all days, from the day of the first activity to the requested day, but at most [`limits::DAYS`] days.
#[derive(Clone, Debug)]
pub struct DailyLoads {
    scale: Scale,
    days: BTreeMap<Date, DayLoad>,
    /// Inputs of the load of each activity, by activity id.
    used: BTreeMap<String, Provenance>,
    /// True if the season has activities before the first day in `days`.
    has_older: bool,
}

/// Number of days of the acute load. [`CHRONIC_DAYS`] is the number of days of the chronic load.
pub const ACUTE_DAYS: u32 = 7;
pub const CHRONIC_DAYS: u32 = 28;
/// Time constant of the fitness (CTL), in days. The time constant of the fatigue (ATL) is [`ATL_DAYS`].
pub const CTL_DAYS: u32 = 42;
pub const ATL_DAYS: u32 = 7;
/// Number of time windows after which the first load contributes less than 1/1000 to an average with exponential
/// weights.
const WARM_WINDOWS: usize = 4;
/// Divisor for the maximum number of days with an unknown load: one day in four. Such days are left out. With more of
/// them, a metric of training load has no result.
const UNKNOWN_SHARE: usize = 4;

impl DailyLoads {
    /// Computes the loads of the last [`limits::DAYS`] days up to the day `as_of`, on one of the scales.
    ///
    /// # Errors
    /// If no activity has a load on this scale, returns the reason for the first activity.
    pub fn compute(season: &Season, profile: &Profile, scale: Scale, as_of: Date) -> Result<Self, Missing> {
        let metric = Metric::AcuteLoad;
        let until: Vec<&Activity> =
            season.activities.iter().filter(|activity| activity.day() <= as_of).collect();
        let Some(first) = until.iter().map(|activity| activity.day()).min() else {
            return Err(Missing::new(metric, Need::Activities, format!("an activity up to {as_of}")));
        };
        // Without this limit, an activity from a device with a wrong clock would create decades of rest days.
        let oldest = as_of.saturating_sub(i64::try_from(limits::DAYS - 1).unwrap_or(i64::MAX).days());
        let first = first.max(oldest);
        let mut loads = Self { scale, days: BTreeMap::new(), used: BTreeMap::new(), has_older: false };
        for date in first.series(1.day()).take_while(|date| *date <= as_of) {
            loads.days.insert(date, DayLoad::Rest);
        }
        let mut reason = None;
        for activity in until {
            let Some(day) = loads.days.get_mut(&activity.day()) else {
                loads.has_older = true;
                continue;
            };
            let load = match load(activity, profile, scale) {
                Ok(Traced { value, inputs, caveats, .. }) => {
                    loads.used.insert(activity.id.clone(), Provenance { inputs, caveats });
                    Some(value)
                }
                Err(missing) => {
                    reason.get_or_insert(missing);
                    None
                }
            };
            day.add(activity.id.clone(), load);
        }
        match reason {
            Some(missing) if loads.used.is_empty() => Err(missing),
            Some(_) | None => Ok(loads),
        }
    }

    pub const fn scale(&self) -> Scale {
        self.scale
    }

    pub const fn days(&self) -> &BTreeMap<Date, DayLoad> {
        &self.days
    }

    /// Returns the known training loads of the last `count` days, and the inputs of these loads.
    fn window(&self, metric: Metric, count: u32) -> Result<(Vec<f64>, Provenance), Missing> {
        let count = count as usize;
        if self.days.len() < count {
            let message = format!("loads of {count} days; days in the history: {}", self.days.len());
            return Err(Missing::new(metric, Need::History, message));
        }
        let days: Vec<&DayLoad> = self.days.values().rev().take(count).collect();
        let known: Vec<f64> = days.iter().rev().filter_map(|day| day.known_load()).collect();
        let unknown = count - known.len();
        if unknown * UNKNOWN_SHARE > count {
            let message = format!("the loads of {unknown} of {count} days, which are unknown");
            return Err(Missing::new(metric, Need::History, message));
        }
        Ok((known, self.used(&days)))
    }

    /// Returns the activities of these days, and the inputs of the activities' loads.
    fn used(&self, days: &[&DayLoad]) -> Provenance {
        let mut used = Provenance::default();
        for day in days {
            match day {
                DayLoad::Known { activities, .. } => {
                    activities.iter().filter_map(|id| self.used.get(id)).for_each(|each| used.add(each));
                }
                DayLoad::Rest => {
                    used.caveats.insert(Caveat::RestDays);
                }
                DayLoad::Unknown { .. } => {
                    used.caveats.insert(Caveat::UnknownLoads);
                }
            }
        }
        used
    }

    fn rolling(&self, metric: Metric, days: u32) -> Outcome<f64> {
        let (loads, used) = self.window(metric, days)?;
        Ok(used.result(metric, mean(&loads)))
    }

    /// Returns the acute load: the mean of the daily loads of the last 7 days.
    pub fn acute(&self) -> Outcome<f64> {
        self.rolling(Metric::AcuteLoad, ACUTE_DAYS)
    }

    /// Returns the chronic load: the mean of the daily loads of the last 28 days.
    pub fn chronic(&self) -> Outcome<f64> {
        self.rolling(Metric::ChronicLoad, CHRONIC_DAYS)
    }

    /// Returns the ratio of [`Self::acute`] to [`Self::chronic`] load. The last 7 days are also part of the last 28
    /// days ("coupled" ratio). The ratio shows how the load has changed. Researchers disagree if it predicts injuries
    /// (Impellizzeri et al. 2020).
    pub fn ratio(&self) -> Outcome<f64> {
        ratio(Metric::LoadRatio, self.acute(), self.chronic())
    }

    /// Computes the moving average of the daily loads `E = λ·load + (1 − λ)·E of the day before` with `λ = 2/(days +
    /// 1)`. The first `E` is the first load. `E` does not change on a day with an unknown load. Too many such days give
    /// no result.
    fn ewma(&self, metric: Metric, days: u32) -> Outcome<f64> {
        self.window(metric, days)?;
        let lambda = 2.0 / (f64::from(days) + 1.0);
        let known = self.days.values().filter_map(DayLoad::known_load);
        let average = known.reduce(|average, load| lambda * load + (1.0 - lambda) * average);
        let Some(average) = average else {
            return Err(Missing::new(metric, Need::History, "a day with a known load"));
        };
        let mut used = self.used(&self.days.values().collect::<Vec<_>>());
        if self.days.len() < WARM_WINDOWS * days as usize {
            used.caveats.insert(Caveat::WarmingUp);
        }
        if self.has_older {
            used.caveats.insert(Caveat::OlderLoads);
        }
        Ok(used.result(metric, average))
    }

    pub fn acute_ewma(&self) -> Outcome<f64> {
        self.ewma(Metric::AcuteLoadEwma, ACUTE_DAYS)
    }

    pub fn chronic_ewma(&self) -> Outcome<f64> {
        self.ewma(Metric::ChronicLoadEwma, CHRONIC_DAYS)
    }

    /// Returns the ratio of the moving averages [`Self::acute_ewma`] and [`Self::chronic_ewma`].
    pub fn ratio_ewma(&self) -> Outcome<f64> {
        ratio(Metric::LoadRatioEwma, self.acute_ewma(), self.chronic_ewma())
    }

    /// Computes the effect of the daily loads `C + (load − C)·(1 − e^(−1/days))` day by day, where `C` is the value of
    /// the day before (0 at the beginning). `C` does not change on a day with an unknown load. Too many such days among
    /// the last `days` days give no result.
    fn response(&self, metric: Metric, days: u32) -> Outcome<f64> {
        self.window(metric, days)?;
        let rise = 1.0 - (-1.0 / f64::from(days)).exp();
        let known = self.days.values().filter_map(DayLoad::known_load);
        let level = known.fold(0.0, |level, load| level + (load - level) * rise);
        let mut used = self.used(&self.days.values().collect::<Vec<_>>());
        if self.days.len() < WARM_WINDOWS * days as usize {
            used.caveats.insert(Caveat::StartsAtZero);
        }
        if self.has_older {
            used.caveats.insert(Caveat::OlderLoads);
        }
        Ok(used.result(metric, level))
    }

    /// Returns the chronic training load (CTL), a measure of the athlete's fitness.
    pub fn ctl(&self) -> Outcome<f64> {
        self.response(Metric::Ctl, CTL_DAYS)
    }

    /// Returns the acute training load (ATL), a measure of the athlete's fatigue.
    pub fn atl(&self) -> Outcome<f64> {
        self.response(Metric::Atl, ATL_DAYS)
    }

    /// Returns the training stress balance (TSB): [`Self::ctl`] minus [`Self::atl`] of the day before. It measures the
    /// form in which the athlete begins the day.
    pub fn tsb(&self) -> Outcome<f64> {
        const METRIC: Metric = Metric::Tsb;
        let mut before = self.clone();
        before.days.pop_last();
        let fitness = before.ctl().map_err(|missing| missing.for_metric(METRIC))?;
        let fatigue = before.atl().map_err(|missing| missing.for_metric(METRIC))?;
        let mut used = Provenance { inputs: fitness.inputs, caveats: fitness.caveats };
        used.add(&Provenance { inputs: fatigue.inputs, caveats: fatigue.caveats });
        Ok(used.result(METRIC, fitness.value - fatigue.value))
    }

    /// Returns the training monotony: [`monotony_of`] for the daily loads of the last 7 days. A rest day has the load
    /// 0.
    pub fn monotony(&self) -> Outcome<f64> {
        const METRIC: Metric = Metric::Monotony;
        let (loads, used) = self.window(METRIC, ACUTE_DAYS)?;
        let monotony = monotony_of(&loads);
        let monotony =
            monotony.ok_or_else(|| Missing::new(METRIC, Need::Variation, "days with different loads"))?;
        Ok(used.result(METRIC, monotony))
    }

    /// Returns the training strain: the sum of the loads of the last 7 days times [`Self::monotony`]. Days with an
    /// unknown load are left out.
    pub fn strain(&self) -> Outcome<f64> {
        const METRIC: Metric = Metric::Strain;
        let monotony = self.monotony().map_err(|missing| missing.for_metric(METRIC))?;
        let (loads, used) = self.window(METRIC, ACUTE_DAYS)?;
        Ok(used.result(METRIC, strain_of(&loads, monotony.value)))
    }
}

impl DayLoad {
    /// Adds an activity to the load of the day. The load of the day is known only if the loads of all its activities
    /// are known.
    fn add(&mut self, id: String, load: Option<f64>) {
        let (before, mut activities) = match std::mem::replace(self, Self::Rest) {
            Self::Rest => (Some(0.0), Vec::new()),
            Self::Known { load, activities } => (Some(load), activities),
            Self::Unknown { activities } => (None, activities),
        };
        activities.push(id);
        *self = match before.zip(load) {
            Some((before, load)) => Self::Known { load: before + load, activities },
            None => Self::Unknown { activities },
        };
    }
}

fn ratio(metric: Metric, acute: Outcome<f64>, chronic: Outcome<f64>) -> Outcome<f64> {
    let acute = acute.map_err(|missing| missing.for_metric(metric))?;
    let chronic = chronic.map_err(|missing| missing.for_metric(metric))?;
    if chronic.value <= 0.0 {
        return Err(Missing::new(metric, Need::History, "a day with a load above zero"));
    }
    let mut inputs: Inputs = acute.inputs;
    inputs.add(&chronic.inputs);
    let caveats = acute.caveats.into_iter().chain(chronic.caveats).collect();
    Ok(Provenance { inputs, caveats }.result(metric, acute.value / chronic.value))
}

/// Returns the training strain: the sum of the loads times the monotony.
pub fn strain_of(loads: &[f64], monotony: f64) -> f64 {
    loads.iter().sum::<f64>() * monotony
}

/// Returns the training monotony: the mean of the loads divided by their standard deviation. Returns `None` if all
/// loads are equal.
///
/// The deviation has the divisor n and not n − 1, as the example in Foster et al. 2001, table 5, shows.
#[expect(clippy::cast_precision_loss, reason = "counts of days")]
pub fn monotony_of(loads: &[f64]) -> Option<f64> {
    let count = loads.len() as f64;
    let mean = loads.iter().sum::<f64>() / count;
    let squares: f64 = loads.iter().map(|load| (load - mean).powi(2)).sum();
    let deviation = (squares / count).sqrt();
    (deviation > f64::EPSILON * mean).then(|| mean / deviation)
}

#[expect(clippy::cast_precision_loss, reason = "counts of days")]
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the standard deviation of a sample (n − 1), or 0 for a single value.
#[expect(clippy::cast_precision_loss, reason = "counts of days")]
pub(super) fn standard_deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}
