//! The load of one activity, on one of three scales, and the intensity of the activity. Loads on different scales are
//! never added.

use serde::Serialize;

use super::power;
use super::profile::{Profile, Provenance};
use super::traced::{Caveat, Missing, Need};
use super::{Metric, Outcome};
use crate::training::measure::Measure;
use crate::training::model::{Activity, AthleteNumber, Sex};
use crate::training::series;

/// Scale on which the load of an activity is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// The load is the training impulse: [`trimp`].
    Trimp,
    /// The load is the training stress: [`power_tss`] if the power and the threshold power are known, otherwise
    /// [`heart_rate_tss`]. One hour at the threshold gives the value 100.
    Tss,
    /// The load is the exertion multiplied by minutes: [`session_rpe`].
    SessionRpe,
}

impl Scale {
    pub const ALL: [Self; 3] = [Self::Trimp, Self::Tss, Self::SessionRpe];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Trimp => "trimp",
            Self::Tss => "tss",
            Self::SessionRpe => "session_rpe",
        }
    }
}

/// Computes the load of an activity on one of the scales.
///
/// # Errors
/// Returns an error if an input of the formula is missing in the activity or in the facts about the athlete.
pub fn load(activity: &Activity, profile: &Profile, scale: Scale) -> Outcome<f64> {
    match scale {
        Scale::Trimp => trimp(activity, profile),
        Scale::SessionRpe => session_rpe(activity),
        Scale::Tss => power_tss(activity, profile).or_else(|_| heart_rate_tss(activity, profile)),
    }
}

/// Computes the training impulse `Σ minutes · r · a · e^(b·r)`, where `r` is the share of the heart-rate reserve. `a`
/// and `b` are 0.64 and 1.92 for men, 0.86 and 1.67 for women. The unit is arbitrary.
///
/// A sample counts until the time of the next sample. If the samples cover at least 80 % of the duration, the result is
/// scaled to the full duration. Otherwise the average heart rate is used.
pub fn trimp(activity: &Activity, profile: &Profile) -> Outcome<f64> {
    let mut used = Provenance::from_activity(activity);
    let reserve = Reserve::from_profile(profile, Metric::Trimp, &mut used)?;
    let impulse = impulse(activity, &reserve, Metric::Trimp, &mut used)?;
    Ok(used.result(Metric::Trimp, impulse))
}

/// Computes the training stress from the heart rate: `100 · TRIMP / TRIMP of one hour at the threshold heart rate`.
pub fn heart_rate_tss(activity: &Activity, profile: &Profile) -> Outcome<f64> {
    const METRIC: Metric = Metric::HeartRateTss;
    let mut used = Provenance::from_activity(activity);
    let reserve = Reserve::from_profile(profile, METRIC, &mut used)?;
    let threshold = profile.number(AthleteNumber::ThresholdHeartRate, METRIC, &mut used)?;
    if threshold <= reserve.resting || threshold > reserve.max {
        let (resting, max) = (reserve.resting, reserve.max);
        let message = format!(
            "a threshold heart rate above the resting and up to the maximal one: {threshold}, {resting} and {max} bpm"
        );
        return Err(Missing::new(METRIC, Need::ThresholdHeartRate, message));
    }
    let hour = reserve.rate(threshold) * 60.0;
    let impulse = impulse(activity, &reserve, METRIC, &mut used)?;
    Ok(used.result(METRIC, 100.0 * impulse / hour))
}

/// Computes the training stress from the power: `100 · seconds · NP · (NP/FTP) / (FTP · 3600)`, which is 100 for an
/// hour at the threshold power (FTP). NP is the normalised power.
pub fn power_tss(activity: &Activity, profile: &Profile) -> Outcome<f64> {
    const METRIC: Metric = Metric::PowerTss;
    let normalised = power::normalised_power(activity).map_err(|missing| missing.for_metric(METRIC))?;
    let mut used = Provenance { inputs: normalised.inputs, caveats: normalised.caveats };
    let threshold = profile.number(AthleteNumber::ThresholdPower, METRIC, &mut used)?;
    let seconds = duration(activity, METRIC)?;
    let intensity = normalised.value / threshold;
    Ok(used.result(METRIC, 100.0 * seconds * normalised.value * intensity / (threshold * 3_600.0)))
}

/// Computes the intensity factor of an activity: the normalised power divided by the threshold power. It is 1 if the
/// athlete could just hold the intensity for an hour.
pub fn intensity_factor(activity: &Activity, profile: &Profile) -> Outcome<f64> {
    const METRIC: Metric = Metric::IntensityFactor;
    let power = power::normalised_power(activity).map_err(|missing| missing.for_metric(METRIC))?;
    let mut used = Provenance { inputs: power.inputs, caveats: power.caveats };
    let threshold = profile.number(AthleteNumber::ThresholdPower, METRIC, &mut used)?;
    Ok(used.result(METRIC, power.value / threshold))
}

/// Computes the load of an activity as the exertion on the CR-10 scale multiplied by the minutes. The unit is
/// arbitrary.
pub fn session_rpe(activity: &Activity) -> Outcome<f64> {
    const METRIC: Metric = Metric::SessionRpe;
    let message = format!("the exertion of {}", activity.id);
    let exertion =
        activity.measure(Measure::Exertion).ok_or_else(|| Missing::new(METRIC, Need::Exertion, message))?;
    let minutes = duration(activity, METRIC)? / 60.0;
    Ok(Provenance::from_activity(activity).result(METRIC, exertion * minutes))
}

fn duration(activity: &Activity, metric: Metric) -> Result<f64, Missing> {
    let message = format!("the duration of {}", activity.id);
    activity.measure(Measure::Duration).ok_or_else(|| Missing::new(metric, Need::Activities, message))
}

/// Facts about the athlete that convert a heart rate into a training impulse.
struct Reserve {
    resting: f64,
    max: f64,
    sex: Sex,
}

impl Reserve {
    fn from_profile(profile: &Profile, metric: Metric, used: &mut Provenance) -> Result<Self, Missing> {
        let sex = profile.sex(metric, used)?;
        let (max, resting) = profile.reserve(metric, used)?;
        Ok(Self { resting, max, sex })
    }

    /// Returns the training impulse per minute at a heart rate in bpm.
    fn rate(&self, bpm: f64) -> f64 {
        let share = ((bpm - self.resting) / (self.max - self.resting)).clamp(0.0, 1.0);
        let (a, b) = match self.sex {
            Sex::Male => (0.64, 1.92),
            Sex::Female => (0.86, 1.67),
        };
        share * a * (b * share).exp()
    }
}

fn impulse(
    activity: &Activity,
    reserve: &Reserve,
    metric: Metric,
    used: &mut Provenance,
) -> Result<f64, Missing> {
    let seconds = duration(activity, metric)?;
    let samples = series::heart_rates(activity);
    if series::covers(&samples, Some(seconds)) {
        if samples.iter().any(|(_, bpm)| *bpm > reserve.max) {
            used.caveats.insert(Caveat::BeyondMax);
        }
        if series::has_gap(&samples, Some(seconds)) {
            used.caveats.insert(Caveat::ScaledSamples);
        }
        let measured: f64 = samples.iter().map(|(seconds, bpm)| seconds / 60.0 * reserve.rate(*bpm)).sum();
        return Ok(measured * seconds / series::seconds(&samples));
    }
    let message = format!("the heart rate of {}", activity.id);
    let average = activity
        .measure(Measure::HeartRateAverage)
        .ok_or_else(|| Missing::new(metric, Need::HeartRate, message))?;
    used.caveats.insert(Caveat::AverageHeartRate);
    if average > reserve.max {
        used.caveats.insert(Caveat::BeyondMax);
    }
    Ok(seconds / 60.0 * reserve.rate(average))
}
