//! Predicts race times from a recent run.

use jiff::ToSpan;
use jiff::civil::Date;
use serde::Serialize;

use super::traced::{Caveat, Inputs, Missing, Need};
use super::{Metric, Outcome, Traced};
use crate::training::measure::Measure;
use crate::training::model::{Activity, Season};
use crate::training::sport::Sport;

/// Range of durations, in minutes, for which Riegel determined the exponent of the formula for race times.
const RIEGEL_MIN: (f64, f64) = (3.5, 230.0);
const RIEGEL_EXPONENT: f64 = 1.06;
/// Length of the shortest run from which longer races are predicted, in m.
const SHORTEST_M: f64 = 1_500.0;
/// Number of most recent days in which the best run is searched, from which race times are predicted.
pub const RECENT_DAYS: i32 = 42;
/// Highest plausible VDOT. A recording with a higher value must be wrong, because no human was ever so fast over these
/// distances.
const HIGHEST_VDOT: f64 = 90.0;

/// Names of races with their distances, in m.
pub const RACES: [(&str, f64); 4] =
    [("5 km", 5_000.0), ("10 km", 10_000.0), ("half marathon", 21_097.5), ("marathon", 42_195.0)];

/// Predicted time of a race in seconds, according to two formulas.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    pub race: &'static str,
    pub distance_m: f64,
    pub riegel: Traced<f64>,
    pub vdot_time: Traced<f64>,
}

fn positive(number: f64) -> Option<f64> {
    (number.is_finite() && number > 0.0).then_some(number)
}

/// Computes the predicted time of a race by Riegel's formula, `T₂ = T₁ · (D₂/D₁)^1.06`. Returns `None` for an invalid
/// time or distance.
pub fn riegel(seconds: f64, distance_m: f64, race_m: f64) -> Option<f64> {
    let (seconds, distance_m, race_m) = (positive(seconds)?, positive(distance_m)?, positive(race_m)?);
    positive(seconds * (race_m / distance_m).powf(RIEGEL_EXPONENT))
}

/// Computes VDOT in ml/kg/min: the oxygen uptake at this speed, divided by the share of the maximum that a runner can
/// hold for this time. Returns `None` for an invalid time or distance, and below 24.9 m/min, where the formula gives no
/// oxygen uptake.
pub fn vdot(seconds: f64, distance_m: f64) -> Option<f64> {
    let minutes = positive(seconds)? / 60.0;
    let speed = positive(distance_m)? / minutes;
    let uptake = -4.60 + 0.182_258 * speed + 0.000_104 * speed * speed;
    let share =
        0.8 + 0.189_439_3 * (-0.012_778 * minutes).exp() + 0.298_955_8 * (-0.193_260_5 * minutes).exp();
    positive(uptake / share)
}

/// Returns the time in seconds for a distance at a VDOT, by bisection: a slower run has a smaller VDOT. Returns `None`
/// if the VDOT needs a speed above 10 m/s.
pub fn vdot_time(wanted: f64, distance_m: f64) -> Option<f64> {
    let (wanted, distance_m) = (positive(wanted)?, positive(distance_m)?);
    // The search goes from 10 m/s down to 0.4 m/s. At 0.4 m/s there is no VDOT.
    let (mut fast, mut slow) = (distance_m / 10.0, distance_m / 0.4);
    let is_faster = |seconds: f64| vdot(seconds, distance_m).is_some_and(|found| found > wanted);
    if !is_faster(fast) {
        return None;
    }
    for _ in 0..100 {
        let middle = f64::midpoint(fast, slow);
        if is_faster(middle) {
            fast = middle;
        } else {
            slow = middle;
        }
    }
    positive(f64::midpoint(fast, slow))
}

/// Returns the run of the season with the highest VDOT in the last 42 days.
///
/// # Errors
/// Returns an error if no run is at least 1.5 km and 3.5 minutes long.
pub fn best_run(season: &Season, as_of: Date) -> Result<(&Activity, Traced<f64>), Missing> {
    const METRIC: Metric = Metric::Vdot;
    let first = as_of.saturating_sub((RECENT_DAYS - 1).days());
    let of = |activity: &Activity| {
        let (seconds, metres) = (activity.measure(Measure::Duration)?, activity.measure(Measure::Distance)?);
        let is_long = metres >= SHORTEST_M && seconds >= RIEGEL_MIN.0 * 60.0;
        let value = vdot(seconds, metres)?;
        (is_long && activity.sport == Sport::Running && value <= HIGHEST_VDOT).then_some(value)
    };
    let runs = season.activities.iter().filter(|activity| (first..=as_of).contains(&activity.day()));
    let best = runs
        .filter_map(|run| Some((run, of(run)?)))
        .max_by(|(a, x), (b, y)| x.total_cmp(y).then(b.id.cmp(&a.id)));
    let message = format!("a run of at least 1.5 km and 3.5 minutes from {first} to {as_of}");
    let (run, value) = best.ok_or_else(|| Missing::new(METRIC, Need::Run, message))?;
    Ok((run, Traced::new(METRIC, value, Inputs::activity(run)).with([Caveat::TrainingRun])))
}

/// Predicts times for [`RACES`] from the best run of the last 42 days. The predicted times are too slow if the athlete
/// did not run it with full effort.
///
/// # Errors
/// Returns the same errors as [`best_run`].
pub fn predictions(season: &Season, as_of: Date) -> Result<Vec<Prediction>, Missing> {
    RACES.into_iter().map(|(race, distance_m)| prediction(season, as_of, race, distance_m)).collect()
}

/// Predicts the time of one race.
///
/// # Errors
/// Returns the same errors as [`best_run`], and an error if the formulas give no time for this distance.
pub fn prediction(
    season: &Season,
    as_of: Date,
    race: &'static str,
    distance_m: f64,
) -> Result<Prediction, Missing> {
    let (run, best) = best_run(season, as_of)?;
    let none = || {
        let message = format!("a run from which a time for {distance_m} m can be predicted");
        Missing::new(Metric::VdotTime, Need::Run, message)
    };
    let measured = run.measure(Measure::Duration).zip(run.measure(Measure::Distance));
    let (seconds, metres) = measured.ok_or_else(none)?;
    let by_riegel = riegel(seconds, metres, distance_m).ok_or_else(none)?;
    let by_vdot = vdot_time(best.value, distance_m).ok_or_else(none)?;
    let minutes = RIEGEL_MIN.0..=RIEGEL_MIN.1;
    let outside = [seconds, by_riegel].iter().any(|each| !minutes.contains(&(each / 60.0)));
    let caveats = [Caveat::TrainingRun].into_iter().chain(outside.then_some(Caveat::OutsideRange));
    let inputs = best.inputs;
    Ok(Prediction {
        race,
        distance_m,
        riegel: Traced::new(Metric::Riegel, by_riegel, inputs.clone()).with(caveats),
        vdot_time: Traced::new(Metric::VdotTime, by_vdot, inputs).with(best.caveats),
    })
}

/// Returns the VDOT of the best run of the season in the last 42 days.
pub fn best_vdot(season: &Season, as_of: Date) -> Outcome<f64> {
    best_run(season, as_of).map(|(_, vdot)| vdot)
}
