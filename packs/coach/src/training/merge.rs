//! Merges the content of all files into one season. A season contains each activity once, and at most one value per day
//! and measure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::civil::Date;

use crate::training::limits;
use crate::training::measure::Measure;
use crate::training::model::{
    Activity, Athlete, AthleteNumber, Day, OffsetFrom, Season, Sex, Source, SourcedValue,
};
use crate::training::problem::{Code, Problem, Problems};
use crate::training::sport::Sport;

/// Maximum number of seconds between the starts of two recordings of one activity. An athlete starts a watch and a
/// phone one after the other.
const SAME_START_S: i64 = 120;
/// Maximum number of seconds between the start of a recording and the start in a training log of the same activity.
/// People write down approximate times.
const LOGGED_START_S: i64 = 600;
/// Minimum ratio of the shorter to the longer duration for two recordings to be of one activity, if the recordings
/// match only by their times. A log includes breaks, so the durations can differ.
const SAME_DURATION: f64 = 0.75;

#[derive(Default)]
pub(crate) struct Pieces {
    /// Facts about the athlete from all files with their sources, in the order of the file names.
    pub(crate) facts: Vec<(Fact, Source)>,
    pub(crate) activities: Vec<RankedActivity>,
    pub(crate) days: Vec<RankedDay>,
    pub(crate) samples: usize,
}

/// A fact about the athlete that a file states.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fact {
    Sex(Sex),
    BirthDate(Date),
    Number(AthleteNumber, f64),
}

pub(crate) struct RankedActivity {
    /// Rank of the file format from which the activity was read. The value of the format with the smallest rank is
    /// used.
    pub(crate) rank: u8,
    pub(crate) activity: Activity,
}

pub(crate) struct RankedDay {
    pub(crate) rank: u8,
    /// Code of the problem that is reported if two values of the day with the same rank differ.
    pub(crate) conflict: Code,
    pub(crate) date: Date,
    pub(crate) measure: Measure,
    pub(crate) value: f64,
    pub(crate) source: Source,
}

impl Pieces {
    pub(crate) fn merge(self, problems: &mut Problems) -> Season {
        let (athlete, athlete_sources) = athlete(&self.facts, problems);
        let activities = activities(self.activities, problems);
        Season { athlete, athlete_sources, activities, days: days(self.days, problems) }
    }
}

impl Fact {
    /// Returns the name of this fact in [`Athlete`].
    const fn name(self) -> &'static str {
        match self {
            Self::Sex(_) => "sex",
            Self::BirthDate(_) => "birth_date",
            Self::Number(number, _) => number.name(),
        }
    }

    const fn state(self, athlete: &mut Athlete) {
        match self {
            Self::Sex(sex) => athlete.sex = Some(sex),
            Self::BirthDate(date) => athlete.birth_date = Some(date),
            Self::Number(AthleteNumber::MaxHeartRate, bpm) => athlete.max_heart_rate = Some(bpm),
            Self::Number(AthleteNumber::RestingHeartRate, bpm) => athlete.resting_heart_rate = Some(bpm),
            Self::Number(AthleteNumber::ThresholdHeartRate, bpm) => athlete.threshold_heart_rate = Some(bpm),
            Self::Number(AthleteNumber::ThresholdPower, watts) => athlete.threshold_power = Some(watts),
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sex(Sex::Female) => f.write_str("female"),
            Self::Sex(Sex::Male) => f.write_str("male"),
            Self::BirthDate(date) => date.fmt(f),
            Self::Number(_, value) => value.fmt(f),
        }
    }
}

/// Merges the facts about the athlete from all files. The first file by name determines a fact. Differing values are
/// reported.
fn athlete(facts: &[(Fact, Source)], problems: &mut Problems) -> (Athlete, BTreeMap<&'static str, Source>) {
    let mut first: BTreeMap<&'static str, &(Fact, Source)> = BTreeMap::new();
    for said in facts {
        let (fact, source) = said;
        let (known, where_known) = *first.entry(fact.name()).or_insert(said);
        if *known != *fact {
            let message = format!("{}: {fact} here, {known} in {where_known}", fact.name());
            problems.push(Problem::new(Code::ConflictingAthlete, source.clone(), message));
        }
    }
    let mut athlete = Athlete::default();
    for (fact, _) in first.values() {
        fact.state(&mut athlete);
    }
    (athlete, first.into_iter().map(|(name, (_, source))| (name, source.clone())).collect())
}

/// Merges duplicate activities. They are first sorted by their values and sources, so that the result does not depend
/// on the order of files and records.
fn activities(mut ranked: Vec<RankedActivity>, problems: &mut Problems) -> Vec<Activity> {
    ranked.sort_by_cached_key(|RankedActivity { rank, activity }| {
        let values: Vec<(Measure, u64)> =
            activity.measures.iter().map(|(measure, known)| (*measure, known.value.to_bits())).collect();
        // For each rank, activities without a sport come last. Each of them can then be recognised as a duplicate of an
        // activity with a sport.
        let order = (*rank, activity.sport == Sport::Unknown, activity.start, activity.sport.clone());
        (order, usize::MAX - activity.samples.len(), values, activity.sources.clone())
    });
    let mut kept: Vec<Activity> = Vec::new();
    let mut starts = StartIndex::default();
    for RankedActivity { activity, .. } in ranked {
        let Some(index) = starts.find_duplicate(&activity, &kept) else {
            starts.add(&activity, kept.len());
            kept.push(activity);
            continue;
        };
        let other = &mut kept[index];
        let source = activity.sources[0].clone();
        let message = format!("{} is the same as {} of {}", activity.id, other.id, other.sources[0]);
        problems.push(Problem::new(Code::DuplicateActivity, source, message));
        absorb(other, activity);
        starts.add(other, index);
    }
    kept.sort_by(|a, b| (a.start, &a.sport, &a.sources).cmp(&(b.start, &b.sport, &b.sources)));
    report_offset_changes(&kept, problems);
    kept
}

/// Index of activities by sport and start, in UTC and in local time. With the index, each activity is compared with
/// only a few others.
#[derive(Default)]
struct StartIndex {
    /// UTC starts of the indexed activities: sport, start in seconds, and index of the activity in the merged list.
    utc: BTreeSet<(Sport, i64, usize)>,
    local: BTreeSet<(Sport, i64, usize)>,
    sports: BTreeSet<Sport>,
    /// UTC starts of the indexed activities of all sports: start in seconds, and index of the activity in the merged
    /// list.
    any_utc: BTreeSet<(i64, usize)>,
    any_local: BTreeSet<(i64, usize)>,
}

impl StartIndex {
    fn utc_and_local(activity: &Activity) -> (i64, i64) {
        let utc = activity.start.as_second();
        (utc, utc + i64::from(activity.offset.seconds()))
    }

    fn add(&mut self, activity: &Activity, index: usize) {
        let (utc, local) = Self::utc_and_local(activity);
        self.utc.insert((activity.sport.clone(), utc, index));
        self.local.insert((activity.sport.clone(), local, index));
        self.sports.insert(activity.sport.clone());
        self.any_utc.insert((utc, index));
        self.any_local.insert((local, index));
    }

    /// Returns the index of an activity in `kept` that is a duplicate of `activity`: the one with the nearest start,
    /// then with the same sport, then the first. An activity of unknown sport can duplicate an activity of any sport.
    fn find_duplicate(&self, activity: &Activity, kept: &[Activity]) -> Option<usize> {
        let (utc, local) = Self::utc_and_local(activity);
        let sports: Vec<&Sport> = if activity.sport == Sport::Unknown {
            self.sports.iter().collect()
        } else {
            vec![&activity.sport, &Sport::Unknown]
        };
        let around = |starts: &BTreeSet<(Sport, i64, usize)>, sport: &Sport, at: i64| -> Vec<usize> {
            let from = (sport.clone(), at - LOGGED_START_S, 0);
            let to = (sport.clone(), at + LOGGED_START_S, usize::MAX);
            starts.range(from..=to).map(|(_, _, index)| *index).collect()
        };
        let of_any_sport = |starts: &BTreeSet<(i64, usize)>, at: i64| -> Vec<usize> {
            let within = starts.range((at - LOGGED_START_S, 0)..=(at + LOGGED_START_S, usize::MAX));
            within.take(limits::SESSION_CANDIDATES).map(|(_, index)| *index).collect()
        };
        let near = sports.into_iter().flat_map(|sport| {
            around(&self.utc, sport, utc).into_iter().chain(around(&self.local, sport, local))
        });
        let others = of_any_sport(&self.any_utc, utc).into_iter().chain(of_any_sport(&self.any_local, local));
        let same = near.chain(others);
        let same = same.filter_map(|index| Some((seconds_between_starts(&kept[index], activity)?, index)));
        same.min_by_key(|(seconds, index)| (*seconds, kept[*index].sport != activity.sport, *index))
            .map(|(_, index)| index)
    }
}

/// Returns the number of seconds between the starts of two recordings, or `None` if they belong to different
/// activities.
///
/// An athlete does only one session at a time. Therefore recordings in different files can belong to one activity even
/// if their sports have different names, or if one start is an approximate time from a log. In both cases, the
/// durations must also be similar.
fn seconds_between_starts(a: &Activity, b: &Activity) -> Option<i64> {
    let is_same_sport = a.sport == b.sport || a.sport == Sport::Unknown || b.sport == Sport::Unknown;
    let is_other_name = a.sport.may_be(&b.sport) && is_in_different_files(a, b) && is_as_long(a, b);
    if !(is_same_sport || is_other_name) {
        return None;
    }
    let is_logged = a.samples.is_empty() != b.samples.is_empty() && is_as_long(a, b);
    let most = if is_logged { LOGGED_START_S } else { SAME_START_S };
    // If one activity begins in the second half of the other, they are different activities.
    let near = |seconds: i64| {
        let first = if seconds < 0 { a } else { b };
        let half = first.measure(Measure::Duration).unwrap_or(0.0) / 2.0;
        #[expect(clippy::cast_possible_truncation, reason = "a duration is at most a week")]
        let half = half as i64;
        (seconds.abs() <= most.min(half)).then_some(seconds.abs())
    };
    let ((utc, local), (other_utc, other_local)) =
        (StartIndex::utc_and_local(a), StartIndex::utc_and_local(b));
    // If a file has no UTC, it is computed with the home time zone. It is wrong if the athlete has travelled, so the
    // local times are compared too.
    let is_local = [a, b].iter().any(|each| each.offset_from == OffsetFrom::LocalTime);
    let by_local = is_local.then(|| near(local - other_local)).flatten();
    near(utc - other_utc).into_iter().chain(by_local).min()
}

fn is_in_different_files(a: &Activity, b: &Activity) -> bool {
    a.sources.iter().all(|one| b.sources.iter().all(|other| one.file != other.file))
}

/// Returns true if the shorter duration of two recordings is at least [`SAME_DURATION`] of the longer one.
fn is_as_long(a: &Activity, b: &Activity) -> bool {
    let [a, b] = [a, b].map(|each| each.measure(Measure::Duration).unwrap_or(0.0));
    a.min(b) >= SAME_DURATION * a.max(b)
}

/// Adds the values of `other` that `activity` lacks.
fn absorb(activity: &mut Activity, other: Activity) {
    for (measure, known) in other.measures {
        activity.measures.entry(measure).or_insert(known);
    }
    if activity.samples.is_empty() {
        (activity.samples, activity.pauses) = (other.samples, other.pauses);
    }
    if activity.offset_from != OffsetFrom::File && other.offset_from == OffsetFrom::File {
        (activity.start, activity.offset, activity.offset_from) =
            (other.start, other.offset, other.offset_from);
    }
    if activity.sport == Sport::Unknown {
        activity.sport = other.sport;
    }
    activity.sources.extend(other.sources);
    activity.sources.sort();
    activity.sources.dedup();
    activity.update_id();
}

fn report_offset_changes(activities: &[Activity], problems: &mut Problems) {
    let stated: Vec<&Activity> =
        activities.iter().filter(|activity| activity.offset_from == OffsetFrom::File).collect();
    for (before, after) in stated.iter().zip(stated.iter().skip(1)) {
        if before.offset != after.offset {
            let message =
                format!("the offset was {} before and is {} from {}", before.offset, after.offset, after.id);
            problems.push(Problem::new(Code::OffsetChanged, after.sources[0].clone(), message));
        }
    }
}

fn days(ranked: Vec<RankedDay>, problems: &mut Problems) -> BTreeMap<Date, Day> {
    let mut by_measure: BTreeMap<(Date, Measure), Vec<RankedDay>> = BTreeMap::new();
    for day in ranked {
        by_measure.entry((day.date, day.measure)).or_default().push(day);
    }
    let mut days: BTreeMap<Date, Day> = BTreeMap::new();
    for ((date, measure), mut found) in by_measure {
        found.sort_by(|a, b| {
            a.rank.cmp(&b.rank).then(a.value.total_cmp(&b.value)).then_with(|| a.source.cmp(&b.source))
        });
        let first = &found[0];
        let is_equal = |day: &&RankedDay| day.value.to_bits() == first.value.to_bits();
        let (same_rank, lower) =
            found.split_at(found.iter().take_while(|day| day.rank == first.rank).count());
        let name = measure.name();
        let mut tell = |code: Code, day: &RankedDay| {
            let message =
                format!("{name} of {date}: {} here, {} in {}", day.value, first.value, first.source);
            problems.push(Problem::new(code, day.source.clone(), message));
        };
        if let Some(other) = same_rank.iter().find(|day| !is_equal(day)) {
            tell(first.conflict, other);
            continue;
        }
        same_rank.iter().skip(1).for_each(|day| tell(Code::DuplicateDay, day));
        lower.iter().filter(|day| !is_equal(day)).for_each(|day| tell(Code::OverriddenDay, day));
        let known = SourcedValue { value: first.value, source: first.source.clone() };
        days.entry(date).or_default().measures.insert(measure, known);
    }
    days
}
