//! Samples as a series of values that hold for a time.

use crate::training::measure::Measure;
use crate::training::model::Sample;

/// Maximum seconds for which a sample holds. A longer gap is a pause, or a lost sensor.
const HOLD_S: f64 = 30.0;

/// Returns the values with the seconds that each holds: until the next sample, and at most [`HOLD_S`]. The last sample
/// ends the series. Implausible values are left out.
fn held(samples: &[Sample], measure: Measure, value: impl Fn(&Sample) -> Option<f64>) -> Vec<(f64, f64)> {
    let pairs = samples.iter().zip(samples.iter().skip(1));
    let held = pairs.filter_map(|(sample, next)| Some((next.at_s - sample.at_s, value(sample)?)));
    // Samples out of order hold for no time.
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

/// Share of the duration that samples must cover to represent the whole.
const COVERED: f64 = 0.8;

/// Returns true if a series covers enough of an activity of this duration.
pub(crate) fn covers(series: &[(f64, f64)], duration: Option<f64>) -> bool {
    let seconds = seconds(series);
    seconds > 0.0 && duration.is_none_or(|duration| seconds >= COVERED * duration)
}

/// Returns the seconds of a series.
pub(crate) fn seconds(series: &[(f64, f64)]) -> f64 {
    series.iter().map(|(seconds, _)| seconds).sum()
}

/// Returns the mean over time, or None for an empty series.
pub(crate) fn mean(series: &[(f64, f64)]) -> Option<f64> {
    let total = seconds(series);
    (total > 0.0).then(|| series.iter().map(|(seconds, value)| seconds * value).sum::<f64>() / total)
}
