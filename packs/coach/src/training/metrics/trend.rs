//! Trends of daily measures: the last week is compared with the normal range of the athlete.

use jiff::ToSpan;
use jiff::civil::Date;
use serde::Serialize;

use super::daily::{mean, standard_deviation};
use super::profile::Provenance;
use super::traced::{Caveat, Missing, Need};
use super::{Metric, Outcome};
use crate::training::measure::Measure;
use crate::training::model::Season;

/// Number of days of the recent mean in a trend. At least [`LEAST_WINDOW`] of these days must have a value (Plews et
/// al. 2014).
pub const WINDOW_DAYS: i32 = 7;
pub const LEAST_WINDOW: usize = 3;
/// Number of days of the baseline in a trend, which ends before the last [`WINDOW_DAYS`] days. At least
/// [`LEAST_BASELINE`] of them must have a value.
pub const BASELINE_DAYS: i32 = 60;
pub const LEAST_BASELINE: usize = 14;
/// Minimum number of values for the baseline of a trend without a caveat.
const FULL_BASELINE: usize = 45;
/// Smallest change of a measure that is regarded as meaningful, in standard deviations.
const WORTHWHILE: f64 = 0.5;

/// Position of a measure in the last week relative to the baseline before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrendPosition {
    Below,
    Within,
    Above,
}

impl TrendPosition {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Below => "below",
            Self::Within => "within",
            Self::Above => "above",
        }
    }
}

/// Comparison of a daily measure in the last week with the baseline before it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trend {
    /// Mean of the measure over the last 7 days.
    pub week: f64,
    /// Mean of the measure over the 60 days before the last 7 days.
    pub baseline: f64,
    /// Standard deviation (n − 1) of the measure in the baseline.
    pub deviation: f64,
    /// Lower end of the normal range of the measure: `baseline − 0.5 · deviation`.
    pub from: f64,
    pub to: f64,
    pub against: TrendPosition,
    pub week_days: usize,
    pub baseline_days: usize,
}

/// Compares the athlete's mean of ln rMSSD over 7 days with the mean ± 0.5 SD of the 60 days before.
pub fn hrv(season: &Season, as_of: Date) -> Outcome<Trend> {
    trend(season, as_of, Metric::HrvTrend, Measure::Hrv, f64::ln)
}

/// Compares the athlete's mean resting heart rate over 7 days with the mean ± 0.5 SD of the 60 days before.
pub fn resting_heart_rate(season: &Season, as_of: Date) -> Outcome<Trend> {
    trend(season, as_of, Metric::RestingTrend, Measure::RestingHeartRate, |bpm| bpm)
}

fn trend(
    season: &Season,
    as_of: Date,
    metric: Metric,
    measure: Measure,
    scale: fn(f64) -> f64,
) -> Outcome<Trend> {
    let mut used = Provenance::default();
    let before = |days: i32| as_of.saturating_sub(days.days());
    let mut values = |from: Date, to: Date| -> Vec<f64> {
        let mut found = Vec::new();
        for (date, day) in season.days.range(from..=to) {
            if let Some(measured) = day.sourced_value(measure) {
                used.inputs.day(*date, measured);
                found.push(scale(measured.value));
            }
        }
        found
    };
    let week = values(before(WINDOW_DAYS - 1), as_of);
    let baseline = values(before(WINDOW_DAYS + BASELINE_DAYS - 1), before(WINDOW_DAYS));
    for (found, least, within) in
        [(week.len(), LEAST_WINDOW, WINDOW_DAYS), (baseline.len(), LEAST_BASELINE, BASELINE_DAYS)]
    {
        if found < least {
            let message = format!(
                "{} of at least {least} of the {within} days up to {as_of}; days with a value: {found}",
                measure.name()
            );
            return Err(Missing::new(metric, Need::Days, message));
        }
        if i32::try_from(found).is_ok_and(|found| found < within) {
            used.caveats.insert(Caveat::MissingDays);
        }
    }
    if baseline.len() < FULL_BASELINE {
        used.caveats.insert(Caveat::ShortBaseline);
    }
    let (now, normal, deviation) = (mean(&week), mean(&baseline), standard_deviation(&baseline));
    let (from, to) = (normal - WORTHWHILE * deviation, normal + WORTHWHILE * deviation);
    let against = if now < from {
        TrendPosition::Below
    } else if now > to {
        TrendPosition::Above
    } else {
        TrendPosition::Within
    };
    let (week_days, baseline_days) = (week.len(), baseline.len());
    let trend = Trend { week: now, baseline: normal, deviation, from, to, against, week_days, baseline_days };
    Ok(used.result(metric, trend))
}
