//! Samples as a series of values that hold for a time.

use crate::training::measure::Measure;
use crate::training::model::Sample;

/// Seconds for which a sample holds at most: a longer gap is a pause, or a sensor that was lost.
const HOLD_S: f64 = 30.0;

/// The values with the seconds that each holds: until the next sample, and no longer than [`HOLD_S`].
/// The last sample ends the series. What the measure does not take is no value.
fn held(samples: &[Sample], measure: Measure, value: impl Fn(&Sample) -> Option<f64>) -> Vec<(f64, f64)> {
    let pairs = samples.iter().zip(samples.iter().skip(1));
    let held = pairs.filter_map(|(sample, next)| Some((next.at_s - sample.at_s, value(sample)?)));
    // Samples that are not in the order of time hold for none.
    held.filter(|(seconds, value)| *seconds > 0.0 && measure.takes(*value))
        .map(|(seconds, value)| (seconds.min(HOLD_S), value))
        .collect()
}

pub(crate) fn heart_rates(samples: &[Sample]) -> Vec<(f64, f64)> {
    held(samples, Measure::HeartRateMax, |sample| sample.heart_rate)
}

pub(crate) fn powers(samples: &[Sample]) -> Vec<(f64, f64)> {
    held(samples, Measure::PowerAverage, |sample| sample.power)
}

/// Share of the duration that samples must cover: below it they say nothing of the whole.
const COVERED: f64 = 0.8;

/// Whether a series says something of an activity of so many seconds.
pub(crate) fn covers(series: &[(f64, f64)], duration: Option<f64>) -> bool {
    let seconds = seconds(series);
    seconds > 0.0 && duration.is_none_or(|duration| seconds >= COVERED * duration)
}

/// Seconds of a series.
pub(crate) fn seconds(series: &[(f64, f64)]) -> f64 {
    series.iter().map(|(seconds, _)| seconds).sum()
}

/// The mean over time; none of an empty series.
pub(crate) fn mean(series: &[(f64, f64)]) -> Option<f64> {
    let total = seconds(series);
    (total > 0.0).then(|| series.iter().map(|(seconds, value)| seconds * value).sum::<f64>() / total)
}
