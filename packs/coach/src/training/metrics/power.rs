//! Normalised power.

use super::profile::Provenance;
use super::traced::{Caveat, Missing, Need};
use super::{Metric, Outcome};
use crate::training::measure::Measure;
use crate::training::model::Activity;
use crate::training::series;

/// Length of the moving mean with which the normalised power is computed, in seconds.
const WINDOW: usize = 30;
/// Minimum duration of an activity in seconds. The normalised power of a shorter activity has no meaning.
const LEAST_S: f64 = 20.0 * 60.0;

/// Computes the normalised power of an activity `(mean of p⁴)^¼` in W, where `p` is the moving mean of the power over
/// 30 seconds, second by second.
///
/// The samples are converted to one value per second. A sample counts until the next one, but for at most 30 s. Pauses
/// are excluded. If the samples cover less than 80 % of the duration, the value of the device is used, or else the
/// average power. A caveat then says which value was used.
pub fn normalised_power(activity: &Activity) -> Outcome<f64> {
    const METRIC: Metric = Metric::NormalisedPower;
    let mut used = Provenance::from_activity(activity);
    let duration = activity.measure(Measure::Duration);
    if duration.is_some_and(|seconds| seconds < LEAST_S) {
        used.caveats.insert(Caveat::ShortPower);
    }
    let powers = series::powers(activity);
    if series::covers(&powers, duration)
        && let Some(power) = of_seconds(&seconds(&powers))
    {
        if series::has_gap(&powers, duration) {
            used.caveats.insert(Caveat::ScaledSamples);
        }
        return Ok(used.result(METRIC, power));
    }
    let device = activity.measure(Measure::PowerNormalised).map(|power| (power, Caveat::DevicePower));
    let average = || activity.measure(Measure::PowerAverage).map(|power| (power, Caveat::AveragePower));
    let message = format!("the power of {}", activity.id);
    let (power, caveat) =
        device.or_else(average).ok_or_else(|| Missing::new(METRIC, Need::Power, message))?;
    used.caveats.insert(caveat);
    Ok(used.result(METRIC, power))
}

/// Returns the power in each second in which the timer of the device ran.
fn seconds(powers: &[(f64, f64)]) -> Vec<f64> {
    let mut seconds = Vec::new();
    // Rest of the previous sample, in seconds, because a sample may end within a second.
    let mut rest = 0.0;
    for (held, watts) in powers {
        rest += held;
        while rest >= 1.0 {
            seconds.push(*watts);
            rest -= 1.0;
        }
    }
    seconds
}

/// Returns the normalised power of one value per second. Returns `None` for less than 30 seconds.
fn of_seconds(watts: &[f64]) -> Option<f64> {
    let mut fourths = 0.0;
    let mut count = 0_u32;
    for window in watts.windows(WINDOW) {
        #[expect(clippy::cast_precision_loss, reason = "30 is exact")]
        let mean = window.iter().sum::<f64>() / WINDOW as f64;
        fourths += mean.powi(4);
        count += 1;
    }
    (count > 0).then(|| (fourths / f64::from(count)).powf(0.25))
}
