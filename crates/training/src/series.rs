//! Samples as a series of values that hold for a time.

use crate::model::Sample;

/// Seconds for which a sample holds at most: a longer gap is a pause, or a sensor that was lost.
pub(crate) const HOLD_S: f64 = 30.0;

/// The values with the seconds that each holds: until the next sample, and no longer than [`HOLD_S`].
/// The last sample ends the series.
pub(crate) fn held(samples: &[Sample], value: impl Fn(&Sample) -> Option<f64>) -> Vec<(f64, f64)> {
    let pairs = samples.iter().zip(samples.iter().skip(1));
    pairs.filter_map(|(sample, next)| Some(((next.at_s - sample.at_s).min(HOLD_S), value(sample)?))).collect()
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
