//! How much was done, by week and sport.

use std::collections::BTreeMap;

use jiff::ToSpan;
use jiff::civil::Date;
use serde::Serialize;

use super::profile::Used;
use super::traced::{Caveat, Inputs, Missing, Need};
use super::{Metric, Traced};
use crate::limits;
use crate::measure::Measure;
use crate::model::{Season, Sport};

/// What was done of a sport in a week.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Volume {
    pub activities: usize,
    pub duration_s: f64,
    /// Of the activities that have one.
    pub distance_m: f64,
}

/// A week: the Monday on which it begins, and what was done.
pub type Week = (Date, Traced<BTreeMap<Sport, Volume>>);

/// The weeks from the first activity to the day, each with the Monday on which it begins. A week without activities is
/// there, and empty. Source: ISO 8601 (calendar week).
pub fn weekly(season: &Season, as_of: Date) -> Result<Vec<Week>, Missing> {
    const METRIC: Metric = Metric::WeeklyVolume;
    let monday = |date: Date| date.saturating_sub(i64::from(date.weekday().to_monday_zero_offset()).days());
    let until = || season.activities.iter().filter(|activity| activity.day() <= as_of);
    let oldest = as_of.saturating_sub(i64::try_from(limits::DAYS - 1).unwrap_or(i64::MAX).days());
    let until = || until().filter(|activity| activity.day() >= oldest);
    let Some(first) = until().map(|activity| monday(activity.day())).min() else {
        return Err(Missing::new(METRIC, Need::Activities, format!("an activity up to {as_of}")));
    };
    let mut weeks: BTreeMap<Date, (BTreeMap<Sport, Volume>, Used)> = BTreeMap::new();
    for begins in first.series(1.week()).take_while(|begins| *begins <= as_of) {
        weeks.insert(begins, Default::default());
    }
    for activity in until() {
        let (sports, used) = weeks.entry(monday(activity.day())).or_default();
        let volume = sports.entry(activity.sport.clone()).or_default();
        volume.activities += 1;
        volume.duration_s += activity.measure(Measure::Duration).unwrap_or(0.0);
        match activity.measure(Measure::Distance) {
            Some(metres) => volume.distance_m += metres,
            None => {
                used.caveats.insert(Caveat::UnknownDistances);
            }
        }
        used.inputs.add(&Inputs::activity(activity));
    }
    let traced = |(begins, (sports, used)): (Date, (BTreeMap<Sport, Volume>, Used))| {
        (begins, Traced::new(METRIC, sports, used.inputs).with(used.caveats))
    };
    Ok(weeks.into_iter().map(traced).collect())
}
