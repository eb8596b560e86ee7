//! What is used of the athlete: stated, read from files, or estimated, which is told.

use std::collections::BTreeSet;

use jiff::ToSpan;
use jiff::civil::Date;

use super::traced::{Caveat, Inputs, Missing, Need};
use super::{Metric, Traced};
use crate::measure::Measure;
use crate::model::{Athlete, Season, Sex};

/// The athlete on a day.
#[derive(Clone, Debug)]
pub struct Profile {
    sex: Option<Sex>,
    max_heart_rate: Option<Part>,
    resting_heart_rate: Option<Part>,
    threshold_heart_rate: Option<Part>,
    threshold_power: Option<Part>,
}

/// A number with what it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) value: f64,
    inputs: Inputs,
    caveats: BTreeSet<Caveat>,
}

/// Several parts, used together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    pub(crate) inputs: Inputs,
    pub(crate) caveats: BTreeSet<Caveat>,
}

impl Used {
    pub(crate) fn part(&mut self, part: &Part) -> f64 {
        self.inputs.add(&part.inputs);
        self.caveats.extend(&part.caveats);
        part.value
    }

    pub(crate) fn result<T>(self, metric: Metric, value: T) -> Traced<T> {
        Traced::new(metric, value, self.inputs).with(self.caveats)
    }
}

/// Days over which the resting heart rate is averaged, where it is not stated.
const RESTING_DAYS: i32 = 28;

impl Profile {
    /// What `stated` lacks is taken from the files, and what these lack is computed where there is a formula for it.
    pub fn of(season: &Season, stated: &Athlete, as_of: Date) -> Self {
        let read = &season.athlete;
        let part = |name: &'static str, stated: Option<f64>, read: Option<f64>| {
            let inputs = Inputs { athlete: BTreeSet::from([name]), ..Inputs::default() };
            stated.or(read).map(|value| Part { value, inputs, caveats: BTreeSet::new() })
        };
        let max_heart_rate = part("max_heart_rate", stated.max_heart_rate, read.max_heart_rate);
        let resting = part("resting_heart_rate", stated.resting_heart_rate, read.resting_heart_rate);
        let threshold = part("threshold_heart_rate", stated.threshold_heart_rate, read.threshold_heart_rate);
        Self {
            sex: stated.sex.or(read.sex),
            max_heart_rate: max_heart_rate
                .or_else(|| estimated(stated.birth_date.or(read.birth_date)?, as_of)),
            resting_heart_rate: resting.or_else(|| resting_of_days(season, as_of)),
            threshold_heart_rate: threshold,
            threshold_power: part("threshold_power", stated.threshold_power, read.threshold_power),
        }
    }

    pub(crate) fn sex(&self, metric: Metric, used: &mut Used) -> Result<Sex, Missing> {
        used.inputs.athlete.insert("sex");
        self.sex
            .ok_or_else(|| Missing::new(metric, Need::Sex, "the formula has constants for men and for women"))
    }

    pub(crate) fn max(&self, metric: Metric) -> Result<&Part, Missing> {
        let message = "the maximal heart rate, or the date of birth to estimate it";
        self.max_heart_rate.as_ref().ok_or_else(|| Missing::new(metric, Need::MaxHeartRate, message))
    }

    pub(crate) fn resting(&self, metric: Metric) -> Result<&Part, Missing> {
        let message = "the resting heart rate, of the athlete or of days";
        self.resting_heart_rate.as_ref().ok_or_else(|| Missing::new(metric, Need::RestingHeartRate, message))
    }

    pub(crate) fn threshold(&self, metric: Metric) -> Result<&Part, Missing> {
        let message = "the heart rate at the lactate threshold";
        self.threshold_heart_rate
            .as_ref()
            .ok_or_else(|| Missing::new(metric, Need::ThresholdHeartRate, message))
    }

    pub(crate) fn power(&self, metric: Metric) -> Result<&Part, Missing> {
        let message = "the power of the best hour (FTP)";
        self.threshold_power.as_ref().ok_or_else(|| Missing::new(metric, Need::ThresholdPower, message))
    }
}

/// 208 − 0.7 · age: Tanaka et al. 2001, J Am Coll Cardiol 37:153–156.
fn estimated(birth: Date, as_of: Date) -> Option<Part> {
    let had_birthday = (as_of.month(), as_of.day()) >= (birth.month(), birth.day());
    let years = i32::from(as_of.year()) - i32::from(birth.year()) - i32::from(!had_birthday);
    let inputs = Inputs { athlete: BTreeSet::from(["birth_date"]), ..Inputs::default() };
    (1..120).contains(&years).then(|| Part {
        value: 208.0 - 0.7 * f64::from(years),
        inputs,
        caveats: BTreeSet::from([Caveat::EstimatedMax]),
    })
}

fn resting_of_days(season: &Season, as_of: Date) -> Option<Part> {
    let first = as_of.checked_sub((RESTING_DAYS - 1).days()).ok()?;
    let days = season.days.range(first..=as_of);
    let known: Vec<(Date, f64)> =
        days.filter_map(|(date, day)| Some((*date, day.measure(Measure::RestingHeartRate)?))).collect();
    let count = u32::try_from(known.len()).ok().filter(|count| *count > 0)?;
    Some(Part {
        value: known.iter().map(|(_, bpm)| bpm).sum::<f64>() / f64::from(count),
        inputs: Inputs { days: known.iter().map(|(date, _)| *date).collect(), ..Inputs::default() },
        caveats: BTreeSet::from([Caveat::RestingOfDays]),
    })
}
