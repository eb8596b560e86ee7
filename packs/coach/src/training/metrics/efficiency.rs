//! Output per heartbeat: the efficiency factor, and how much of it is lost within an activity (decoupling).

use serde::Serialize;

use super::power::normalised_power;
use super::profile::Provenance;
use super::traced::{Missing, Need};
use super::{Metric, Outcome};
use crate::training::measure::Measure;
use crate::training::model::Activity;
use crate::training::series::{self, Effort};
use crate::training::sport::Sport;

/// Kind of the athlete's output: power, or speed of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputMeasure {
    Power,
    /// Speed of a run, without regard to hills.
    Speed,
}

impl OutputMeasure {
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Power => "W/bpm",
            Self::Speed => "m/min/bpm",
        }
    }
}

/// Output of the athlete for each heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Efficiency {
    /// Output per heartbeat, in the unit of [`OutputMeasure::unit`].
    pub per_beat: f64,
    pub output: OutputMeasure,
}

/// Computes the efficiency factor: the normalised power divided by the average heart rate. A run without power uses the
/// mean speed in m/min instead.
pub fn efficiency_factor(activity: &Activity) -> Outcome<Efficiency> {
    const METRIC: Metric = Metric::EfficiencyFactor;
    let message = format!("the average heart rate of {}", activity.id);
    let bpm = activity
        .measure(Measure::HeartRateAverage)
        .ok_or_else(|| Missing::new(METRIC, Need::HeartRate, message))?;
    let (efficiency, used) = match (normalised_power(activity), metres_per_minute(activity)) {
        (Ok(power), _) => {
            let efficiency = Efficiency { per_beat: power.value / bpm, output: OutputMeasure::Power };
            (efficiency, Provenance { inputs: power.inputs, caveats: power.caveats })
        }
        (Err(_), Some(speed)) => {
            let efficiency = Efficiency { per_beat: speed / bpm, output: OutputMeasure::Speed };
            (efficiency, Provenance::from_activity(activity))
        }
        (Err(missing), None) => return Err(missing.for_metric(METRIC)),
    };
    Ok(used.result(METRIC, efficiency))
}

/// Returns the mean speed of a run in m/min. Returns `None` for other sports, whose speed depends too much on wind,
/// water and ground.
fn metres_per_minute(run: &Activity) -> Option<f64> {
    let metres =
        run.measure(Measure::Distance).filter(|metres| run.sport == Sport::Running && *metres > 0.0)?;
    Some(metres / (run.measure(Measure::Duration)? / 60.0))
}

/// Computes the decoupling of output and heart rate, `100 · (1 − r₂/r₁)` in percent. `r₁` and `r₂` are the mean output
/// divided by the mean heart rate, in the first and the second half of the activity. Both measures must be known for at
/// least 80 % of the duration.
pub fn decoupling(activity: &Activity) -> Outcome<f64> {
    const METRIC: Metric = Metric::Decoupling;
    let duration = activity.measure(Measure::Duration);
    let is_enough = |efforts: &Vec<Effort>| {
        let seconds = efforts.iter().map(|effort| effort.seconds).sum();
        series::is_covered(seconds, duration)
    };
    let by_power = Some(series::efforts_of_power(activity)).filter(is_enough);
    let by_speed = || {
        let is_run = activity.sport == Sport::Running;
        is_run.then(|| series::efforts_of_speed(activity)).filter(is_enough)
    };
    let message = format!(
        "samples of {} that have heart rate and power (or, for a run, speed) for 80 % of its duration",
        activity.id
    );
    let none = || Missing::new(METRIC, Need::Power, message.clone());
    let efforts = by_power.or_else(by_speed).ok_or_else(none)?;
    let (first, second) = halves(&efforts);
    let (before, after) = (per_beat(&first).ok_or_else(none)?, per_beat(&second).ok_or_else(none)?);
    let lost = 100.0 * (1.0 - after / before);
    // If the first half has no output, there is no ratio.
    if before <= 0.0 || !lost.is_finite() {
        return Err(none());
    }
    Ok(Provenance::from_activity(activity).result(METRIC, lost))
}

fn halves(efforts: &[Effort]) -> (Vec<Effort>, Vec<Effort>) {
    let half = efforts.iter().map(|effort| effort.seconds).sum::<f64>() / 2.0;
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let mut begins = 0.0;
    for effort in efforts {
        let before = (half - begins).clamp(0.0, effort.seconds);
        let parts = [(&mut first, before), (&mut second, effort.seconds - before)];
        for (part, seconds) in parts.into_iter().filter(|(_, seconds)| *seconds > 0.0) {
            part.push(Effort { seconds, ..*effort });
        }
        begins += effort.seconds;
    }
    (first, second)
}

/// Returns the mean output of the efforts divided by their mean heart rate. Returns `None` if there are no efforts.
fn per_beat(efforts: &[Effort]) -> Option<f64> {
    let weighted = |value: fn(&Effort) -> f64| -> f64 {
        efforts.iter().map(|effort| effort.seconds * value(effort)).sum()
    };
    let beats = weighted(|effort| effort.heart_rate);
    (beats > 0.0).then(|| weighted(|effort| effort.output) / beats)
}
