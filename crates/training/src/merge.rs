//! Makes one season of what many files hold: the same activity counts once, a day has one value of each measure.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;

use crate::measure::Measure;
use crate::model::{Activity, Athlete, Day, Known, OffsetFrom, Season, Source, Sport};
use crate::problem::{Code, Problem};

/// Seconds between two starts of the same activity: a watch and a phone are started one after the other.
const SAME_START_S: i64 = 120;

#[derive(Default)]
pub(crate) struct Pieces {
    pub(crate) athletes: Vec<Athlete>,
    pub(crate) activities: Vec<RankedActivity>,
    pub(crate) days: Vec<RankedDay>,
}

pub(crate) struct RankedActivity {
    /// The smallest is asked first.
    pub(crate) rank: u8,
    pub(crate) activity: Activity,
}

pub(crate) struct RankedDay {
    pub(crate) rank: u8,
    pub(crate) date: Date,
    pub(crate) measure: Measure,
    pub(crate) value: f64,
    pub(crate) source: Source,
}

impl Pieces {
    pub(crate) fn samples(&self) -> usize {
        self.activities.iter().map(|ranked| ranked.activity.samples.len()).sum()
    }

    pub(crate) fn merge(self, problems: &mut Vec<Problem>) -> Season {
        let activities = activities(self.activities, problems);
        Season { athlete: athlete(self.athletes), activities, days: days(self.days, problems) }
    }
}

/// What several files say of the athlete: the first by name that says it.
fn athlete(athletes: Vec<Athlete>) -> Athlete {
    athletes.into_iter().fold(Athlete::default(), |known, other| Athlete {
        sex: known.sex.or(other.sex),
        birth_date: known.birth_date.or(other.birth_date),
        max_heart_rate: known.max_heart_rate.or(other.max_heart_rate),
        resting_heart_rate: known.resting_heart_rate.or(other.resting_heart_rate),
        threshold_heart_rate: known.threshold_heart_rate.or(other.threshold_heart_rate),
        threshold_power: known.threshold_power.or(other.threshold_power),
    })
}

/// Sorted by what is measured before where it stands: the order of files and records changes no value.
fn activities(mut ranked: Vec<RankedActivity>, problems: &mut Vec<Problem>) -> Vec<Activity> {
    ranked.sort_by_cached_key(|RankedActivity { rank, activity }| {
        let values: Vec<(Measure, u64)> =
            activity.measures.iter().map(|(measure, known)| (*measure, known.value.to_bits())).collect();
        let order = (*rank, activity.start, activity.sport.clone());
        (order, usize::MAX - activity.samples.len(), values, activity.sources.clone())
    });
    let mut kept: Vec<Activity> = Vec::new();
    let mut starts = Starts::default();
    for RankedActivity { activity, .. } in ranked {
        let same = starts.near(&activity).into_iter().find(|index| is_same(&kept[*index], &activity));
        let Some(index) = same else {
            starts.add(&activity, kept.len());
            kept.push(activity);
            continue;
        };
        let other = &mut kept[index];
        let source = activity.sources[0].clone();
        let message = format!("{} is {} of {}", activity.id, other.id, other.sources[0]);
        problems.push(Problem::new(Code::DuplicateActivity, source, message));
        absorb(other, activity);
        starts.add(other, index);
    }
    kept.sort_by(|a, b| (a.start, &a.sport, &a.sources).cmp(&(b.start, &b.sport, &b.sources)));
    tell_offsets(&kept, problems);
    kept
}

/// Where activities begin, in UTC and in local time: each is compared with few others.
#[derive(Default)]
struct Starts {
    /// Seconds, and the place of the activity among those that are kept.
    utc: BTreeSet<(i64, usize)>,
    local: BTreeSet<(i64, usize)>,
}

impl Starts {
    fn of(activity: &Activity) -> (i64, i64) {
        let utc = activity.start.as_second();
        (utc, utc + i64::from(activity.offset.seconds()))
    }

    fn add(&mut self, activity: &Activity, index: usize) {
        let (utc, local) = Self::of(activity);
        self.utc.insert((utc, index));
        self.local.insert((local, index));
    }

    /// Those that may be the same, in the order in which they are kept.
    fn near(&self, activity: &Activity) -> BTreeSet<usize> {
        let (utc, local) = Self::of(activity);
        let around = |starts: &BTreeSet<(i64, usize)>, at: i64| -> Vec<usize> {
            let range = (at - SAME_START_S, 0)..=(at + SAME_START_S, usize::MAX);
            starts.range(range).map(|(_, index)| *index).collect()
        };
        around(&self.utc, utc).into_iter().chain(around(&self.local, local)).collect()
    }
}

fn is_same(a: &Activity, b: &Activity) -> bool {
    let sports = a.sport == b.sport || a.sport == Sport::Unknown || b.sport == Sport::Unknown;
    // A second one that begins when half of the first is over is another one.
    let near = |seconds: i64| {
        let first = if seconds < 0 { a } else { b };
        let half = first.measure(Measure::Duration).unwrap_or(0.0) / 2.0;
        #[expect(clippy::cast_possible_truncation, reason = "a duration is at most a week")]
        let half = half as i64;
        seconds.abs() <= SAME_START_S.min(half)
    };
    let ((utc, local), (other_utc, other_local)) = (Starts::of(a), Starts::of(b));
    // Far from home the local time of a file without UTC is right, and its UTC is not.
    let is_local = [a, b].iter().any(|each| each.offset_from == OffsetFrom::LocalTime);
    sports && (near(utc - other_utc) || (is_local && near(local - other_local)))
}

/// Takes from the other what is not known yet.
fn absorb(activity: &mut Activity, other: Activity) {
    for (measure, known) in other.measures {
        activity.measures.entry(measure).or_insert(known);
    }
    if activity.samples.is_empty() {
        activity.samples = other.samples;
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
    activity.name();
}

fn tell_offsets(activities: &[Activity], problems: &mut Vec<Problem>) {
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

fn days(ranked: Vec<RankedDay>, problems: &mut Vec<Problem>) -> BTreeMap<Date, Day> {
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
            tell(Code::ConflictingDay, other);
            continue;
        }
        same_rank.iter().skip(1).for_each(|day| tell(Code::DuplicateDay, day));
        lower.iter().filter(|day| !is_equal(day)).for_each(|day| tell(Code::OverriddenDay, day));
        let known = Known { value: first.value, source: first.source.clone() };
        days.entry(date).or_default().measures.insert(measure, known);
    }
    days
}
