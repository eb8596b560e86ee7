//! Converts the samples of an activity to a series of values, each with the seconds for which it counts.
//!
//! The sum of these seconds is never greater than the duration of the activity. A load is therefore computed only for
//! the time in which the timer ran (contract C10).

use crate::training::measure::Measure;
use crate::training::model::{Activity, Sample};

/// Maximum number of seconds for which a sample of an activity counts. A longer gap means a pause or a lost sensor.
const HOLD_S: f64 = 30.0;

/// Minimum share of an activity's duration that samples must cover to represent the whole activity.
const COVERED: f64 = 0.8;
/// Minimum share of an activity's duration that samples must cover to need no caveat about the gap.
const COMPLETE: f64 = 0.99;
/// Number of uncovered seconds of an activity that need no caveat, because it is unknown how long the last sample
/// counts.
const LAST_SAMPLE_S: f64 = 10.0;

/// Returns, for each sample of the activity except the last, the seconds for which it counts. A sample counts until the
/// next sample, without pauses, and for at most [`HOLD_S`].
///
/// If the sum exceeds the stated duration, the file contains pauses without timer events. The longest gaps are then
/// shortened to one length, so that the sum equals the duration.
fn valid_seconds(activity: &Activity) -> Vec<f64> {
    let samples = &activity.samples;
    let running = samples.iter().zip(samples.iter().skip(1)).map(|(sample, next)| {
        let seconds = next.at_s - sample.at_s - paused(&activity.pauses, sample.at_s, next.at_s);
        // If a sample is out of order or has no finite time, it has no duration.
        if seconds > 0.0 { seconds.min(HOLD_S) } else { 0.0 }
    });
    let mut seconds: Vec<f64> = running.collect();
    if let Some(most) = activity.measure(Measure::Duration).and_then(|all| longest_gap(&seconds, all)) {
        for each in &mut seconds {
            *each = each.min(most);
        }
    }
    seconds
}

/// Returns the number of seconds of an activity's pauses between two times.
pub(crate) fn paused(pauses: &[(f64, f64)], from: f64, to: f64) -> f64 {
    let first = pauses.partition_point(|(_, ends)| *ends <= from);
    let within = pauses.iter().skip(first).take_while(|(begins, _)| *begins < to);
    within.map(|(begins, ends)| ends.min(to) - begins.max(from)).sum()
}

/// Returns the length to which the longest gaps between samples must be shortened to make the sum `all`. Returns `None`
/// if the sum is already at most `all`.
#[expect(clippy::cast_precision_loss, reason = "a count of samples")]
fn longest_gap(seconds: &[f64], all: f64) -> Option<f64> {
    if seconds.iter().sum::<f64>() <= all {
        return None;
    }
    let mut sorted = seconds.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut left = all;
    for (at, each) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - at) as f64;
        if *each > share {
            return Some(share);
        }
        left -= each;
    }
    None
}

/// Returns the plausible values of a measure in the samples of an activity, each with the seconds for which it counts.
fn held(activity: &Activity, measure: Measure, value: impl Fn(&Sample) -> Option<f64>) -> Vec<(f64, f64)> {
    let pairs = activity.samples.iter().zip(valid_seconds(activity));
    let held = pairs.filter_map(|(sample, seconds)| Some((seconds, value(sample)?)));
    held.filter(|(seconds, value)| *seconds > 0.0 && measure.is_plausible(*value)).collect()
}

pub(crate) fn heart_rates(activity: &Activity) -> Vec<(f64, f64)> {
    held(activity, Measure::HeartRateMax, |sample| sample.heart_rate)
}

pub(crate) fn powers(activity: &Activity) -> Vec<(f64, f64)> {
    held(activity, Measure::PowerAverage, |sample| sample.power)
}

/// Output and heart rate of the athlete at the same time, with the seconds for which both count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effort {
    pub(crate) seconds: f64,
    /// Output of the athlete: power in W, or speed in m/s.
    pub(crate) output: f64,
    /// Heart rate of the athlete in bpm.
    pub(crate) heart_rate: f64,
}

/// Returns the heart rates of an activity, each with the power at the same time.
pub(crate) fn efforts_of_power(activity: &Activity) -> Vec<Effort> {
    let power = |sample: &Sample, _: &Sample, _: f64| {
        sample.power.filter(|watts| Measure::PowerAverage.is_plausible(*watts))
    };
    efforts(activity, power)
}

/// Returns the heart rates of an activity, each with the speed at the same time. A sample without a speed gets the
/// distance to the next sample divided by the seconds for which it counts, if these are fewer than [`HOLD_S`].
pub(crate) fn efforts_of_speed(activity: &Activity) -> Vec<Effort> {
    let most = activity.sport.speed_limit();
    let speed = |sample: &Sample, next: &Sample, seconds: f64| {
        let from_distance =
            || (seconds < HOLD_S).then(|| Some((next.distance? - sample.distance?) / seconds))?;
        sample.speed.or_else(from_distance).filter(|speed| (0.0..=most).contains(speed))
    };
    efforts(activity, speed)
}

fn efforts(activity: &Activity, output: impl Fn(&Sample, &Sample, f64) -> Option<f64>) -> Vec<Effort> {
    let samples = &activity.samples;
    let triples = samples.iter().zip(samples.iter().skip(1)).zip(valid_seconds(activity));
    let found = triples.filter(|(_, seconds)| *seconds > 0.0).filter_map(|((sample, next), seconds)| {
        let heart_rate = sample.heart_rate.filter(|bpm| Measure::HeartRateMax.is_plausible(*bpm))?;
        Some(Effort { seconds, output: output(sample, next, seconds)?, heart_rate })
    });
    found.collect()
}

/// Returns true if a series of samples covers enough of `duration` to represent the activity, or if the duration is
/// unknown.
pub(crate) fn covers(series: &[(f64, f64)], duration: Option<f64>) -> bool {
    is_covered(seconds(series), duration)
}

/// Returns true if these seconds are enough of an activity's `duration` to represent the activity.
pub(crate) fn is_covered(seconds: f64, duration: Option<f64>) -> bool {
    seconds > 0.0 && duration.is_none_or(|duration| seconds >= COVERED * duration)
}

/// Returns true if a caveat must say that a series of samples covers only a part of `duration`.
pub(crate) fn has_gap(series: &[(f64, f64)], duration: Option<f64>) -> bool {
    let covered = seconds(series);
    duration.is_some_and(|all| covered < COMPLETE * all && covered + LAST_SAMPLE_S < all)
}

pub(crate) fn seconds(series: &[(f64, f64)]) -> f64 {
    series.iter().map(|(seconds, _)| seconds).sum()
}

/// Returns the mean of the values in a series, weighted by their seconds. Returns `None` for an empty series.
pub(crate) fn mean(series: &[(f64, f64)]) -> Option<f64> {
    let total = seconds(series);
    (total > 0.0).then(|| series.iter().map(|(seconds, value)| seconds * value).sum::<f64>() / total)
}
