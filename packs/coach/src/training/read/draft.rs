//! Activities and daily measures that were read from a file and are not checked yet.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::temporal::{Pieces, PiecesOffset};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use super::{Context, Refused};
use crate::training::limits;
use crate::training::measure::Measure;
use crate::training::merge;
use crate::training::merge::Fact;
use crate::training::model::{Activity, FileLocation, OffsetFrom, Sample, SourcedValue};
use crate::training::problem::Code;
use crate::training::series;
use crate::training::sport::Sport;

/// Unchecked content of one training file. A file whose content exceeds a limit is refused.
pub(super) struct Drafts {
    pub(super) facts: Vec<(Fact, FileLocation)>,
    pub(super) activities: Vec<Draft>,
    pub(super) days: Vec<DraftDay>,
    /// Number of activities that can still be added. The limit applies to all training files together.
    activities_left: usize,
    days_left: usize,
    samples_left: usize,
}

impl Drafts {
    pub(super) fn with_remaining_capacity(pieces: &merge::Pieces) -> Self {
        Self {
            facts: Vec::new(),
            activities: Vec::new(),
            days: Vec::new(),
            activities_left: limits::ACTIVITIES.saturating_sub(pieces.activities.len()),
            days_left: limits::DAY_VALUES.saturating_sub(pieces.days.len()),
            samples_left: limits::SEASON_SAMPLES.saturating_sub(pieces.samples).min(limits::FILE_SAMPLES),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.activities.is_empty() && self.days.is_empty()
    }

    pub(super) fn activity(&mut self, draft: Draft, context: &Context<'_>) -> Result<(), Refused> {
        let beyond = |code: Code, message: String| Err(context.refuse(code, draft.place.clone(), message));
        if draft.samples.len() > limits::SAMPLES {
            return beyond(Code::TooManySamples, too_many(limits::SAMPLES, "samples in one activity"));
        }
        let Some(samples_left) = self.samples_left.checked_sub(draft.samples.len()) else {
            let message = format!(
                "more than {} samples in one file, or more than {} in all files",
                limits::FILE_SAMPLES,
                limits::SEASON_SAMPLES
            );
            return beyond(Code::TooManySamples, message);
        };
        let Some(activities_left) = self.activities_left.checked_sub(1) else {
            return beyond(Code::TooManyActivities, too_many(limits::ACTIVITIES, "activities"));
        };
        (self.samples_left, self.activities_left) = (samples_left, activities_left);
        self.activities.push(draft);
        Ok(())
    }

    pub(super) fn day(&mut self, day: DraftDay, context: &Context<'_>) -> Result<(), Refused> {
        let Some(days_left) = self.days_left.checked_sub(1) else {
            let message = too_many(limits::DAY_VALUES, "daily values");
            return Err(context.refuse(Code::TooManyDays, day.place, message));
        };
        self.days_left = days_left;
        self.days.push(day);
        Ok(())
    }
}

pub(super) fn too_many(most: usize, what: &str) -> String {
    format!("more than {most} {what}")
}

/// Form in which a training file states when an activity started.
#[derive(Clone, Copy)]
pub(super) enum Clock {
    Offset(Offset),
    Utc,
    Local,
}

pub(super) struct Draft {
    pub(super) start: Timestamp,
    pub(super) clock: Clock,
    pub(super) sport: Sport,
    pub(super) measures: Vec<(Measure, f64, FileLocation)>,
    /// Samples of the unchecked activity in any order.
    pub(super) samples: Vec<Sample>,
    /// Pauses of the activity's timer, sorted and without overlap, as seconds since the start.
    pub(super) pauses: Vec<(f64, f64)>,
    pub(super) place: FileLocation,
}

pub(super) struct DraftDay {
    pub(super) date: Date,
    pub(super) measure: Measure,
    pub(super) value: f64,
    pub(super) place: FileLocation,
}

/// Time between two samples, in seconds, above which a pause is assumed. Used only for files without durations.
const PAUSE_S: f64 = 60.0;

impl Draft {
    /// Parses the start of an activity with an offset, in UTC, or as local time. Reports a local time that did not
    /// exist or existed twice because of a change of the clocks.
    pub(super) fn parse_start(
        text: &str,
        place: &FileLocation,
        context: &mut Context<'_>,
    ) -> Result<(Timestamp, Clock), Code> {
        let text = text.trim();
        let date: String = text.chars().take(10).collect();
        super::date(&date)?;
        let start = Moment::parse(text, context.zone()).ok_or(Code::BadDate)?;
        start.warn_clock_change(place, context);
        Ok((start.at, start.clock))
    }

    /// Checks the values of the activity, sorts its samples, and computes derived values. Returns `None` if the
    /// activity has no duration.
    pub(super) fn finish(self, context: &mut Context<'_>) -> Option<Activity> {
        let (offset, offset_from) = match self.clock {
            Clock::Offset(offset) => (offset, OffsetFrom::File),
            Clock::Utc => (context.zone().to_offset(self.start), OffsetFrom::Zone),
            Clock::Local => (context.zone().to_offset(self.start), OffsetFrom::LocalTime),
        };
        let source = context.source(self.place.clone());
        let mut activity = Activity {
            id: String::new(),
            start: self.start,
            offset,
            offset_from,
            sport: self.sport,
            measures: BTreeMap::new(),
            samples: ordered(self.samples, &self.place, context),
            pauses: self.pauses,
            sources: vec![source.clone()],
        };
        for (measure, value, place) in self.measures {
            let known = SourcedValue { value, source: context.source(place.clone()) };
            if measure.is_plausible(value) {
                activity.measures.entry(measure).or_insert(known);
            } else if value != 0.0 {
                // If a device has no sensor for a measure, it writes 0.
                context.implausible(measure, value, place);
            }
        }
        let mut derive = |activity: &mut Activity, measure: Measure, value: f64| {
            if activity.measures.contains_key(&measure) {
                return;
            }
            if measure.is_plausible(value) {
                activity.measures.insert(measure, SourcedValue { value, source: source.clone() });
            } else {
                context.implausible(measure, value, self.place.clone());
            }
        };
        if !activity.measures.contains_key(&Measure::Duration) {
            add_long_gaps(&mut activity);
            if let Some(seconds) = running_seconds(&activity) {
                derive(&mut activity, Measure::Duration, seconds);
            }
        }
        for (measure, value) in derive_measures(&activity) {
            derive(&mut activity, measure, value);
        }
        remove_impossible_distance(&mut activity, &self.place, context);
        activity.update_id();
        if !activity.measures.contains_key(&Measure::Duration) {
            context.warn(Code::NoDuration, self.place, format!("{} has no duration", activity.id));
            return None;
        }
        if !activity.measures.contains_key(&Measure::HeartRateAverage) {
            let is_without = series::heart_rates(&activity).is_empty();
            let what = if is_without { "" } else { " for 80 % of its duration, and no average" };
            context.warn(Code::NoHeartRate, self.place, format!("{} has no heart rate{what}", activity.id));
        }
        Some(activity)
    }
}

/// A time in a training file, with the local time if the file states it.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub(super) at: Timestamp,
    pub(super) clock: Clock,
    local: DateTime,
}

impl Moment {
    /// Parses a time in a training file: with an offset, in UTC, or as local time.
    pub(super) fn parse(text: &str, zone: &TimeZone) -> Option<Self> {
        let pieces = Pieces::parse(text).ok()?;
        let local: DateTime = pieces.date().to_datetime(pieces.time()?);
        let (at, clock) = match pieces.offset() {
            Some(PiecesOffset::Zulu) => (Offset::UTC.to_timestamp(local), Clock::Utc),
            Some(PiecesOffset::Numeric(numeric)) => {
                (numeric.offset().to_timestamp(local), Clock::Offset(numeric.offset()))
            }
            Some(_) => return None,
            None => (zone.to_timestamp(local), Clock::Local),
        };
        Some(Self { at: at.ok()?, clock, local })
    }

    pub(super) fn from_local(local: DateTime, zone: &TimeZone) -> Option<Self> {
        Some(Self { at: zone.to_timestamp(local).ok()?, clock: Clock::Local, local })
    }

    pub(super) const fn is_local(&self) -> bool {
        matches!(self.clock, Clock::Local)
    }

    /// Reports a local time that did not exist or existed twice because of a change of the clocks.
    pub(super) fn warn_clock_change(&self, place: &FileLocation, context: &mut Context<'_>) {
        if !self.is_local() {
            return;
        }
        let local = self.local;
        let (code, what) = match context.zone().to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { .. } => return,
            AmbiguousOffset::Gap { .. } => (Code::LocalTimeSkipped, "skipped this time"),
            AmbiguousOffset::Fold { .. } => (Code::LocalTimeTwice, "had this time twice"),
        };
        let zone = context.zone().iana_name().unwrap_or("the time zone of the athlete").to_owned();
        context.warn(code, place.clone(), format!("`{local}`: {zone} {what}"));
    }
}

/// Removes the distance of an activity if no athlete could cover the distance in the duration. Without samples that
/// confirm the duration, also removes the duration, because either may be wrong.
fn remove_impossible_distance(activity: &mut Activity, place: &FileLocation, context: &mut Context<'_>) {
    let (Some(metres), Some(seconds)) =
        (activity.measure(Measure::Distance), activity.measure(Measure::Duration))
    else {
        return;
    };
    let (speed, most) = (metres / seconds, activity.sport.speed_limit());
    if speed <= most {
        return;
    }
    let message = format!(
        "{metres:.0} m in {seconds:.0} s are {speed:.1} m/s; for {} at most {most} are accepted",
        activity.sport.name()
    );
    context.warn(Code::Implausible, place.clone(), message);
    activity.measures.remove(&Measure::Distance);
    if activity.samples.is_empty() {
        activity.measures.remove(&Measure::Duration);
    }
}

/// Sorts the samples of an activity by time and merges samples of the same moment.
fn ordered(mut samples: Vec<Sample>, place: &FileLocation, context: &mut Context<'_>) -> Vec<Sample> {
    let key = |sample: &Sample| {
        let bits = |value: Option<f64>| value.map_or(0, f64::to_bits);
        let Sample { at_s, heart_rate, power, speed, distance } = sample;
        (at_s.to_bits(), bits(*heart_rate), bits(*power), bits(*speed), bits(*distance))
    };
    let all = samples.len();
    samples.retain(|sample| sample.at_s.is_finite() && sample.at_s >= 0.0);
    if samples.len() < all {
        let message = format!("samples before the activity's start: {}", all - samples.len());
        context.warn(Code::OutsideActivity, place.clone(), message);
    }
    // Non-negative floats sort in the same order as their bits.
    samples.sort_unstable_by_key(key);
    let (mut twice, mut implausible) = (0, 0);
    let mut kept: Vec<Sample> = Vec::with_capacity(samples.len());
    for mut sample in samples {
        for (value, measure) in
            [(&mut sample.heart_rate, Measure::HeartRateMax), (&mut sample.power, Measure::PowerAverage)]
        {
            if value.is_some_and(|value| !measure.is_plausible(value)) {
                implausible += 1;
                *value = None;
            }
        }
        match kept.last_mut().filter(|last| last.at_s.to_bits() == sample.at_s.to_bits()) {
            Some(last) => {
                twice += 1;
                // The samples of a moment are also sorted by value, so the later one has the larger value.
                last.heart_rate = sample.heart_rate.or(last.heart_rate);
                last.power = sample.power.or(last.power);
                last.speed = sample.speed.or(last.speed);
                last.distance = sample.distance.or(last.distance);
            }
            None => kept.push(sample),
        }
    }
    if twice > 0 {
        context.warn(
            Code::SampleTwice,
            place.clone(),
            format!("duplicate samples of the same moment: {twice}"),
        );
    }
    if implausible > 0 {
        context.warn(
            Code::Implausible,
            place.clone(),
            format!("implausible values in samples: {implausible}"),
        );
    }
    kept
}

/// Adds each gap between samples that is longer than [`PAUSE_S`] to the pauses of the activity. Called only for files
/// without durations.
fn add_long_gaps(activity: &mut Activity) {
    let samples = activity.samples.iter().map(|sample| sample.at_s);
    let gaps = samples.clone().zip(samples.skip(1)).filter(|(at, next)| next - at > PAUSE_S);
    let mut pauses: Vec<(f64, f64)> = activity.pauses.iter().copied().chain(gaps).collect();
    pauses.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let mut joined: Vec<(f64, f64)> = Vec::with_capacity(pauses.len());
    for (begins, ends) in pauses {
        match joined.last_mut().filter(|(_, last)| begins <= *last) {
            Some((_, last)) => *last = last.max(ends),
            None => joined.push((begins, ends)),
        }
    }
    activity.pauses = joined;
}

/// Returns the seconds between the first and the last sample of the activity without pauses. Returns `None` if the
/// result is not positive.
fn running_seconds(activity: &Activity) -> Option<f64> {
    let (first, last) = (activity.samples.first()?.at_s, activity.samples.last()?.at_s);
    let seconds = last - first - series::paused(&activity.pauses, first, last);
    (seconds > 0.0).then_some(seconds)
}

/// Computes measures of the activity from its samples. An average is computed only if the samples cover the duration.
fn derive_measures(activity: &Activity) -> Vec<(Measure, f64)> {
    let samples = &activity.samples;
    let distances = samples.iter().filter_map(|sample| sample.distance);
    let farthest = distances.clone().reduce(f64::max);
    let nearest = distances.reduce(f64::min);
    let duration = activity.measures.get(&Measure::Duration).map(|known| known.value);
    let average = |values: &[(f64, f64)]| series::mean(values).filter(|_| series::covers(values, duration));
    let mut found = Vec::new();
    found.extend(farthest.zip(nearest).map(|(far, near)| (Measure::Distance, far - near)));
    found.extend(average(&series::heart_rates(activity)).map(|mean| (Measure::HeartRateAverage, mean)));
    let beats = samples.iter().filter_map(|sample| sample.heart_rate);
    found.extend(beats.reduce(f64::max).map(|most| (Measure::HeartRateMax, most)));
    found.extend(average(&series::powers(activity)).map(|mean| (Measure::PowerAverage, mean)));
    found
}
