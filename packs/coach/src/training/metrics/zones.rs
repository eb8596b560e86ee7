//! Time by heart rate: in five zones of the maximal heart rate or of the heart-rate reserve, and as shares of easy,
//! moderate and hard time.

use serde::Serialize;

use super::profile::{Profile, Provenance};
use super::traced::{Caveat, Inputs, Missing, Need};
use super::{Metric, Outcome};
use crate::training::measure::Measure;
use crate::training::model::{Activity, AthleteNumber};
use crate::training::series;

/// Lower ends of heart-rate zones 1 to 5, in percent. A heart rate on a boundary belongs to the higher zone.
pub const ZONES: [f64; 5] = [50.0, 60.0, 70.0, 80.0, 90.0];
/// Percentage of the maximal heart rate from which the intensity is moderate. The intensity is hard from [`HARD`] on.
pub const MODERATE: f64 = 83.0;
pub const HARD: f64 = 88.0;

/// Seconds in each heart-rate zone.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Zones {
    pub below_s: f64,
    pub zones_s: [f64; 5],
    /// Heart rate at which each heart-rate zone begins, in bpm.
    pub begin_bpm: [f64; 5],
}

/// Computes the seconds of an activity in each heart-rate zone. The zones begin at 50, 60, 70, 80 and 90 % of the
/// maximal heart rate.
pub fn of_max(activity: &Activity, profile: &Profile) -> Outcome<Zones> {
    const METRIC: Metric = Metric::ZonesOfMax;
    let mut used = Provenance::from_activity(activity);
    let max = profile.number(AthleteNumber::MaxHeartRate, METRIC, &mut used)?;
    zones(activity, ZONES.map(|percent| percent / 100.0 * max), METRIC, used)
}

/// Computes the seconds of an activity in each heart-rate zone. The zones begin at 50, 60, 70, 80 and 90 % of the
/// heart-rate reserve, above the resting heart rate.
pub fn of_reserve(activity: &Activity, profile: &Profile) -> Outcome<Zones> {
    const METRIC: Metric = Metric::ZonesOfReserve;
    let mut used = Provenance::from_activity(activity);
    let (max, resting) = profile.reserve(METRIC, &mut used)?;
    zones(activity, ZONES.map(|percent| resting + percent / 100.0 * (max - resting)), METRIC, used)
}

fn zones(activity: &Activity, begin_bpm: [f64; 5], metric: Metric, mut used: Provenance) -> Outcome<Zones> {
    let samples = samples(activity, metric)?;
    if series::has_gap(&samples, activity.measure(Measure::Duration)) {
        used.caveats.insert(Caveat::PartialSamples);
    }
    let mut found = Zones { begin_bpm, ..Zones::default() };
    for (seconds, bpm) in samples {
        match begin_bpm.iter().rposition(|begin| bpm >= *begin) {
            Some(zone) => found.zones_s[zone] += seconds,
            None => found.below_s += seconds,
        }
    }
    Ok(used.result(metric, found))
}

fn samples(activity: &Activity, metric: Metric) -> Result<Vec<(f64, f64)>, Missing> {
    let samples = series::heart_rates(activity);
    let message = format!("samples of the heart rate of {}", activity.id);
    if samples.is_empty() { Err(Missing::new(metric, Need::HeartRate, message)) } else { Ok(samples) }
}

const NO_SAMPLES: &str = "an activity with samples of the heart rate that cover 80 % of its duration";

/// Shares of easy, moderate and hard training time, which add up to 1. Only time with a known heart rate counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Split {
    pub easy: f64,
    pub moderate: f64,
    pub hard: f64,
    /// Total time, in seconds, in which the heart rate is known.
    pub seconds: f64,
}

/// Splits the time of the activities in which the heart rate is known into three shares. A heart rate below 83 % of the
/// maximum is easy, one from 88 % on is hard, and one between them is moderate. On the Norwegian scale, easy is zones 1
/// and 2, moderate is zone 3, and hard is zone 4 and above. The ranges approximate the time below the first threshold,
/// between the two thresholds, and above the second (Seiler 2010). The real thresholds of an athlete may be different.
pub fn intensity_split<'a>(
    activities: impl IntoIterator<Item = &'a Activity>,
    profile: &Profile,
) -> Outcome<Split> {
    const METRIC: Metric = Metric::IntensitySplit;
    let mut used = Provenance::default();
    let max = profile.number(AthleteNumber::MaxHeartRate, METRIC, &mut used)?;
    let mut split = Split::default();
    for activity in activities {
        // If the samples of an activity cover only a few minutes, they do not represent it, and the activity is left
        // out.
        let samples = series::heart_rates(activity);
        if !series::covers(&samples, activity.measure(Measure::Duration)) {
            used.caveats.insert(Caveat::UnknownIntensity);
            continue;
        }
        used.inputs.add(&Inputs::activity(activity));
        for (seconds, bpm) in samples {
            let part = if bpm < MODERATE / 100.0 * max {
                &mut split.easy
            } else if bpm < HARD / 100.0 * max {
                &mut split.moderate
            } else {
                &mut split.hard
            };
            *part += seconds;
        }
    }
    split.seconds = split.easy + split.moderate + split.hard;
    if split.seconds <= 0.0 {
        return Err(Missing::new(METRIC, Need::HeartRate, NO_SAMPLES));
    }
    for part in [&mut split.easy, &mut split.moderate, &mut split.hard] {
        *part /= split.seconds;
    }
    Ok(used.result(METRIC, split))
}
