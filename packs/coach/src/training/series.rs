//! Samples as a series of values, each with the seconds for which it is valid.

use crate::training::measure::Measure;
use crate::training::model::Sample;

/// Maximum seconds for which a sample is valid. A longer gap means a pause or a lost sensor.
const HOLD_S: f64 = 30.0;

/// Returns the values, each with its seconds until the next sample, at most [`HOLD_S`]. The last sample only ends the
/// series. Implausible values are left out.
fn held(samples: &[Sample], measure: Measure, value: impl Fn(&Sample) -> Option<f64>) -> Vec<(f64, f64)> {
    let pairs = samples.iter().zip(samples.iter().skip(1));
    let held = pairs.filter_map(|(sample, next)| Some((next.at_s - sample.at_s, value(sample)?)));
    // A sample out of order has no positive duration.
    held.filter(|(seconds, value)| *seconds > 0.0 && measure.is_plausible(*value))
        .map(|(seconds, value)| (seconds.min(HOLD_S), value))
        .collect()
}

pub(crate) fn heart_rates(samples: &[Sample]) -> Vec<(f64, f64)> {
    held(samples, Measure::HeartRateMax, |sample| sample.heart_rate)
}

pub(crate) fn powers(samples: &[Sample]) -> Vec<(f64, f64)> {
    held(samples, Measure::PowerAverage, |sample| sample.power)
}

/// Minimum share of the duration that samples must cover to represent the complete activity.
const COVERED: f64 = 0.8;

/// Returns true if a series covers enough of `duration`. An activity without a duration is covered.
pub(crate) fn covers(series: &[(f64, f64)], duration: Option<f64>) -> bool {
    let seconds = seconds(series);
    seconds > 0.0 && duration.is_none_or(|duration| seconds >= COVERED * duration)
}

/// Returns the total seconds of a series.
pub(crate) fn seconds(series: &[(f64, f64)]) -> f64 {
    series.iter().map(|(seconds, _)| seconds).sum()
}

/// Returns the time-weighted mean, or None for an empty series.
pub(crate) fn mean(series: &[(f64, f64)]) -> Option<f64> {
    let total = seconds(series);
    (total > 0.0).then(|| series.iter().map(|(seconds, value)| seconds * value).sum::<f64>() / total)
}
