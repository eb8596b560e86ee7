//! What a run foretells of a race.

use jiff::ToSpan;
use jiff::civil::Date;
use serde::Serialize;

use super::profile::Used;
use super::traced::{Caveat, Inputs, Missing, Need};
use super::{Metric, Outcome, Traced};
use crate::measure::Measure;
use crate::model::{Activity, Season, Sport};

/// Minutes for which Riegel fitted his exponent.
const RIEGEL_MIN: (f64, f64) = (3.5, 230.0);
const RIEGEL_EXPONENT: f64 = 1.06;
/// Runs that are shorter say nothing of longer races. m.
const SHORTEST_M: f64 = 1_500.0;
/// Days in which the run is looked for.
pub const RECENT_DAYS: i32 = 42;
/// Faster than any human over these distances: the track is wrong.
const HIGHEST_VDOT: f64 = 90.0;

/// Distances of races. m.
pub const RACES: [(&str, f64); 4] =
    [("5 km", 5_000.0), ("10 km", 10_000.0), ("half marathon", 21_097.5), ("marathon", 42_195.0)];

/// Seconds of a race by two formulas.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    pub race: &'static str,
    pub distance_m: f64,
    pub riegel: Traced<f64>,
    pub vdot_time: Traced<f64>,
}

/// `T₂ = T₁ · (D₂/D₁)^1.06`. Source: Riegel 1981, American Scientist 69:285–290.
pub fn riegel(seconds: f64, distance_m: f64, race_m: f64) -> f64 {
    seconds * (race_m / distance_m).powf(RIEGEL_EXPONENT)
}

/// The oxygen uptake of the speed over the share of the maximum that can be held for the time. ml/kg/min.
/// Source: Daniels & Gilbert 1979, *Oxygen Power*.
pub fn vdot(seconds: f64, distance_m: f64) -> f64 {
    let minutes = seconds / 60.0;
    let speed = distance_m / minutes;
    let uptake = -4.60 + 0.182_258 * speed + 0.000_104 * speed * speed;
    let share =
        0.8 + 0.189_439_3 * (-0.012_778 * minutes).exp() + 0.298_955_8 * (-0.193_260_5 * minutes).exp();
    uptake / share
}

/// Seconds in which the distance has this VDOT. By bisection: a slower run has a smaller one.
pub fn vdot_time(wanted: f64, distance_m: f64) -> f64 {
    // From 10 m/s to 0.5 m/s.
    let (mut fast, mut slow) = (distance_m / 10.0, distance_m / 0.5);
    for _ in 0..100 {
        let middle = f64::midpoint(fast, slow);
        if vdot(middle, distance_m) > wanted {
            fast = middle;
        } else {
            slow = middle;
        }
    }
    f64::midpoint(fast, slow)
}

/// The best run of the last 42 days by VDOT.
///
/// # Errors
/// There is none of at least 1.5 km and 3.5 minutes.
pub fn best_run(season: &Season, as_of: Date) -> Result<(&Activity, Traced<f64>), Missing> {
    const METRIC: Metric = Metric::Vdot;
    let first = as_of.saturating_sub((RECENT_DAYS - 1).days());
    let of = |activity: &Activity| {
        let (seconds, metres) = (activity.measure(Measure::Duration)?, activity.measure(Measure::Distance)?);
        let is_long = metres >= SHORTEST_M && seconds >= RIEGEL_MIN.0 * 60.0;
        let value = vdot(seconds, metres);
        (is_long && activity.sport == Sport::Running && value.is_finite() && value <= HIGHEST_VDOT)
            .then_some(value)
    };
    let runs = season.activities.iter().filter(|activity| (first..=as_of).contains(&activity.day()));
    let best = runs
        .filter_map(|run| Some((run, of(run)?)))
        .max_by(|(a, x), (b, y)| x.total_cmp(y).then(b.id.cmp(&a.id)));
    let message = format!("a run of at least 1.5 km and 3.5 minutes from {first} to {as_of}");
    let (run, value) = best.ok_or_else(|| Missing::new(METRIC, Need::Run, message))?;
    Ok((run, Traced::new(METRIC, value, Inputs::activity(run)).with([Caveat::TrainingRun])))
}

/// Times for [`RACES`] from the best run of the last 42 days. Whether it was run as fast as possible is not known.
///
/// # Errors
/// As [`best_run`].
pub fn predictions(season: &Season, as_of: Date) -> Result<Vec<Prediction>, Missing> {
    let (run, vdot) = best_run(season, as_of)?;
    let (Some(seconds), Some(metres)) = (run.measure(Measure::Duration), run.measure(Measure::Distance))
    else {
        return Ok(Vec::new());
    };
    let predicted = |(race, distance_m): (&'static str, f64)| {
        let by_riegel = riegel(seconds, metres, distance_m);
        let minutes = RIEGEL_MIN.0..=RIEGEL_MIN.1;
        let outside = [seconds, by_riegel].iter().any(|each| !minutes.contains(&(each / 60.0)));
        let caveats = [Caveat::TrainingRun].into_iter().chain(outside.then_some(Caveat::OutsideRange));
        let used = || Used { inputs: vdot.inputs.clone(), caveats: vdot.caveats.clone() };
        Ok(Prediction {
            race,
            distance_m,
            riegel: Traced::new(Metric::Riegel, by_riegel, vdot.inputs.clone()).with(caveats),
            vdot_time: used().result(Metric::VdotTime, vdot_time(vdot.value, distance_m)),
        })
    };
    RACES.into_iter().map(predicted).collect()
}

/// The VDOT of the best run of the last 42 days.
pub fn best_vdot(season: &Season, as_of: Date) -> Outcome<f64> {
    best_run(season, as_of).map(|(_, vdot)| vdot)
}
