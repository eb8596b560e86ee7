//! The facts about the athlete that metrics need: stated in the configuration, read from files, or estimated. An
//! estimated fact gives the result a caveat.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::ToSpan;
use jiff::civil::Date;

use super::daily::mean;
use super::traced::{Caveat, Inputs, Missing, Need};
use super::{Metric, Traced};
use crate::training::measure::Measure;
use crate::training::model::{Activity, Athlete, AthleteNumber, Season, Sex};

/// Facts about the athlete on a certain day.
#[derive(Clone, Debug)]
pub struct Profile {
    sex: Option<(Sex, Inputs)>,
    numbers: BTreeMap<AthleteNumber, Part>,
}

/// A number about the athlete, with its inputs.
#[derive(Clone, Debug)]
struct Part {
    value: f64,
    used: Provenance,
}

/// Inputs and caveats of a computed metric. The inputs are collected from the numbers that the computation uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Provenance {
    pub(crate) inputs: Inputs,
    pub(crate) caveats: BTreeSet<Caveat>,
}

impl Provenance {
    pub(crate) fn from_activity(activity: &Activity) -> Self {
        Self { inputs: Inputs::activity(activity), ..Self::default() }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.inputs.add(&other.inputs);
        self.caveats.extend(&other.caveats);
    }

    pub(crate) fn result<T>(self, metric: Metric, value: T) -> Traced<T> {
        Traced::new(metric, value, self.inputs).with(self.caveats)
    }
}

/// Number of days over which the athlete's resting heart rates are averaged, if the athlete states none.
const RESTING_DAYS: i32 = 28;

impl Profile {
    /// Creates the athlete's profile for a day. A fact comes from `stated`, or else from the files, or else from a
    /// formula if there is one.
    pub fn from_season(season: &Season, stated: &Athlete, as_of: Date) -> Self {
        let read = &season.athlete;
        let inputs = |name: &'static str, is_stated: bool| {
            let source = season.athlete_sources.get(name).filter(|_| !is_stated);
            let files = source.map(|source| Arc::clone(&source.file)).into_iter().collect();
            Inputs { athlete: BTreeSet::from([name]), files, ..Inputs::default() }
        };
        let mut numbers = BTreeMap::new();
        for number in AthleteNumber::ALL.iter().copied() {
            let said = stated.number(number);
            let part = said.or(read.number(number)).map(|value| {
                let inputs = inputs(number.name(), said.is_some());
                Part { value, used: Provenance { inputs, ..Provenance::default() } }
            });
            let part = part.or_else(|| match number {
                AthleteNumber::MaxHeartRate => {
                    let birth = stated.birth_date.or(read.birth_date)?;
                    estimated(birth, as_of, inputs("birth_date", stated.birth_date.is_some()))
                }
                AthleteNumber::RestingHeartRate => resting_of_days(season, as_of),
                AthleteNumber::ThresholdHeartRate | AthleteNumber::ThresholdPower => None,
            });
            numbers.extend(part.map(|part| (number, part)));
        }
        let sex = stated.sex.or(read.sex).map(|sex| (sex, inputs("sex", stated.sex.is_some())));
        Self { sex, numbers }
    }

    pub(crate) fn sex(&self, metric: Metric, used: &mut Provenance) -> Result<Sex, Missing> {
        let message = "the athlete's sex: the formula has different constants for men and women";
        let missing = || Missing::new(metric, Need::Sex, message);
        let (sex, inputs) = self.sex.as_ref().ok_or_else(missing)?;
        used.inputs.add(inputs);
        Ok(*sex)
    }

    /// # Errors
    /// Returns an error if the number is unknown or implausible.
    pub(crate) fn number(
        &self,
        number: AthleteNumber,
        metric: Metric,
        used: &mut Provenance,
    ) -> Result<f64, Missing> {
        let (need, message) = match number {
            AthleteNumber::MaxHeartRate => {
                (Need::MaxHeartRate, "the maximal heart rate, or the date of birth to estimate it")
            }
            AthleteNumber::RestingHeartRate => {
                (Need::RestingHeartRate, "the athlete's resting heart rate, or daily resting heart rates")
            }
            AthleteNumber::ThresholdHeartRate => {
                (Need::ThresholdHeartRate, "the heart rate at the lactate threshold")
            }
            AthleteNumber::ThresholdPower => (Need::ThresholdPower, "the power of the best hour (FTP)"),
        };
        let part = self.numbers.get(&number).ok_or_else(|| Missing::new(metric, need, message))?;
        if !number.is_plausible(part.value) {
            return Err(Missing::new(metric, need, number.implausible(part.value)));
        }
        used.add(&part.used);
        Ok(part.value)
    }

    /// Returns the maximal and the resting heart rate.
    ///
    /// # Errors
    /// Returns an error if one of the two is unknown or implausible, or if the maximal heart rate is not higher than
    /// the resting heart rate.
    pub(crate) fn reserve(&self, metric: Metric, used: &mut Provenance) -> Result<(f64, f64), Missing> {
        let max = self.number(AthleteNumber::MaxHeartRate, metric, used)?;
        let resting = self.number(AthleteNumber::RestingHeartRate, metric, used)?;
        if max <= resting {
            let message = format!("a maximal heart rate above the resting one: {max} and {resting} bpm");
            return Err(Missing::new(metric, Need::MaxHeartRate, message));
        }
        Ok((max, resting))
    }
}

/// Estimates the maximal heart rate as 208 − 0.7 · age (Tanaka et al. 2001, J Am Coll Cardiol 37:153–156).
fn estimated(birth: Date, as_of: Date, inputs: Inputs) -> Option<Part> {
    let had_birthday = (as_of.month(), as_of.day()) >= (birth.month(), birth.day());
    let years = i32::from(as_of.year()) - i32::from(birth.year()) - i32::from(!had_birthday);
    (1..120).contains(&years).then(|| Part {
        value: 208.0 - 0.7 * f64::from(years),
        used: Provenance { inputs, caveats: BTreeSet::from([Caveat::EstimatedMax]) },
    })
}

fn resting_of_days(season: &Season, as_of: Date) -> Option<Part> {
    let first = as_of.saturating_sub((RESTING_DAYS - 1).days());
    let mut used = Provenance { caveats: BTreeSet::from([Caveat::RestingOfDays]), ..Provenance::default() };
    let mut known = Vec::new();
    for (date, day) in season.days.range(first..=as_of) {
        if let Some(measured) = day.sourced_value(Measure::RestingHeartRate) {
            used.inputs.day(*date, measured);
            known.push(measured.value);
        }
    }
    (!known.is_empty()).then(|| Part { value: mean(&known), used })
}
