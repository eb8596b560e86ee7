//! Makes one season of what many files hold: the same activity counts once, a day has one value of each measure.

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::measure::Measure;
use crate::model::{Activity, Athlete, Day, Known, OffsetFrom, Season, Source, Sport};
use crate::problem::{Code, Problem};

/// Seconds between two starts of the same activity: a watch and a phone are started one after the other.
const SAME_START_S: f64 = 120.0;

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
    for RankedActivity { activity, .. } in ranked {
        match kept.iter_mut().find(|other| is_same(other, &activity)) {
            Some(other) => {
                let source = activity.sources[0].clone();
                let message = format!("{} is {} of {}", activity.id, other.id, other.sources[0]);
                problems.push(Problem::new(Code::DuplicateActivity, source, message));
                absorb(other, activity);
            }
            None => kept.push(activity),
        }
    }
    kept.sort_by(|a, b| (a.start, &a.sport, &a.sources).cmp(&(b.start, &b.sport, &b.sources)));
    tell_offsets(&kept, problems);
    kept
}

fn is_same(a: &Activity, b: &Activity) -> bool {
    let sports = a.sport == b.sport || a.sport == Sport::Unknown || b.sport == Sport::Unknown;
    // A second one that begins when half of the first is over is another one.
    let near = |seconds: f64| {
        let first = if seconds < 0.0 { a } else { b };
        let half = first.measure(Measure::Duration).unwrap_or(0.0) / 2.0;
        seconds.abs() <= SAME_START_S.min(half)
    };
    let local = |each: &Activity| each.offset.to_datetime(each.start);
    let by_utc = near(a.start.duration_since(b.start).as_secs_f64());
    // Far from home the local time of a file without UTC is right, and its UTC is not.
    let is_local = [a, b].iter().any(|each| each.offset_from == OffsetFrom::LocalTime);
    sports && (by_utc || (is_local && near(local(a).duration_since(local(b)).as_secs_f64())))
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
