//! Training volume by week and sport.

use std::collections::BTreeMap;

use jiff::ToSpan;
use jiff::civil::Date;
use serde::Serialize;

use super::traced::{Caveat, Inputs, Missing, Need};
use super::{Metric, Traced};
use crate::training::limits;
use crate::training::measure::Measure;
use crate::training::model::Season;
use crate::training::sport::Sport;

/// Training volume of one sport in one week.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Volume {
    pub activities: usize,
    pub duration_s: f64,
    /// Total distance of those activities of the week whose distance is known. `None` if there are none.
    pub distance_m: Option<f64>,
}

/// Monday of a week, with the training volume of each sport in the week.
pub type Week = (Date, BTreeMap<Sport, Traced<Volume>>);

/// Returns all weeks from the first activity to the day `as_of`, including weeks without activities. Activities before
/// the last [`limits::DAYS`] days are ignored.
///
/// # Errors
/// Returns an error if the season has no activity on or before this day.
pub fn weekly(season: &Season, as_of: Date) -> Result<Vec<Week>, Missing> {
    const METRIC: Metric = Metric::WeeklyVolume;
    let monday = |date: Date| date.saturating_sub(i64::from(date.weekday().to_monday_zero_offset()).days());
    let until = || season.activities.iter().filter(|activity| activity.day() <= as_of);
    let oldest = as_of.saturating_sub(i64::try_from(limits::DAYS - 1).unwrap_or(i64::MAX).days());
    let until = || until().filter(|activity| activity.day() >= oldest);
    let Some(first) = until().map(|activity| monday(activity.day())).min() else {
        return Err(Missing::new(METRIC, Need::Activities, format!("an activity up to {as_of}")));
    };
    let mut weeks: BTreeMap<Date, BTreeMap<Sport, Traced<Volume>>> = BTreeMap::new();
    for begins in first.series(1.week()).take_while(|begins| *begins <= as_of) {
        weeks.insert(begins, BTreeMap::new());
    }
    for activity in until() {
        let sports = weeks.entry(monday(activity.day())).or_default();
        let none = || Traced::new(METRIC, Volume::default(), Inputs::default());
        let Traced { value, inputs, caveats, .. } = sports.entry(activity.sport.clone()).or_insert_with(none);
        value.activities += 1;
        value.duration_s += activity.measure(Measure::Duration).unwrap_or(0.0);
        match activity.measure(Measure::Distance) {
            Some(metres) => value.distance_m = Some(value.distance_m.unwrap_or(0.0) + metres),
            None => {
                caveats.insert(Caveat::UnknownDistances);
            }
        }
        inputs.add(&Inputs::activity(activity));
    }
    Ok(weeks.into_iter().collect())
}
