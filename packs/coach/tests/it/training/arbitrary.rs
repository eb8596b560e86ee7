//! Seasons that no reader produces: each metric is a finite number or a reason, and no call panics.

use std::collections::BTreeMap;

use holdshort_coach::training::metrics::Metric;
use holdshort_coach::training::{
    Activity, Analyst, Athlete, Day, FileLocation, Measure, OffsetFrom, Sample, Season, Settings, Sex,
    Source, SourcedValue, Sport, compute, summary,
};
use jiff::civil::{Date, date};
use jiff::tz::Offset;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

use crate::training::generated::Random;
use crate::training::tools::calls;

/// Returns a plausible number, or a meaningless number such as NaN.
fn number(random: &mut Random) -> f64 {
    const ODD: [f64; 18] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1e-300,
        f64::MIN_POSITIVE,
        f64::EPSILON,
        1e9,
        1e300,
        f64::MAX,
        f64::MIN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        604_800.0,
        250.0,
        2_500.0,
    ];
    if random.once_in(3) {
        ODD[random.below(18) as usize]
    } else {
        f64::from(random.below(4_000)) / f64::from(1 + random.below(40))
    }
}

fn maybe(random: &mut Random) -> Option<f64> {
    (!random.once_in(4)).then(|| number(random))
}

/// Returns a plausible value of the measure, or an arbitrary number.
fn sourced_value(measure: Measure, random: &mut Random) -> SourcedValue {
    let (least, most) = measure.plausible();
    let value = match random.below(4) {
        0 => number(random),
        1 => [least, most][random.below(2) as usize],
        _ => least + (most - least) * f64::from(random.below(1_000)) / 1_000.0,
    };
    SourcedValue { value, source: source() }
}

fn source() -> Source {
    Source { file: "a.csv".into(), place: FileLocation::Line(2) }
}

fn activity(today: Date, random: &mut Random) -> Activity {
    let start = match random.below(80) {
        0 => Timestamp::MIN,
        1 => Timestamp::MAX,
        _ => {
            let ago = i64::from(random.below(120)).days();
            let at = today.saturating_sub(ago).at(12, 0, 0, 0);
            Offset::UTC.to_timestamp(at).unwrap_or(Timestamp::MIN)
        }
    };
    let sport = [Sport::Running, Sport::Cycling, Sport::Unknown][random.below(3) as usize].clone();
    let mut measures = BTreeMap::new();
    for measure in Measure::ALL.iter().copied() {
        if !random.once_in(3) {
            measures.insert(measure, sourced_value(measure, random));
        }
    }
    // Samples have arbitrary times in arbitrary order.
    let count = [0, 1, 2, 60, 200][random.below(5) as usize];
    let mut sample = |at: u32| Sample {
        at_s: if random.once_in(10) { number(random) } else { f64::from(at) },
        heart_rate: maybe(random),
        power: maybe(random),
        speed: maybe(random),
        distance: maybe(random),
    };
    let samples = (0..count).map(&mut sample).collect();
    Activity {
        id: format!("{start} {}", random.next()),
        start,
        offset: [Offset::UTC, Offset::MIN, Offset::MAX][random.below(3) as usize],
        offset_from: OffsetFrom::File,
        sport,
        measures,
        samples,
        pauses: pauses(random),
        sources: vec![source()],
    }
}

/// Returns random pauses of an activity in order and without overlap, up to the end of time.
fn pauses(random: &mut Random) -> Vec<(f64, f64)> {
    let mut at = 0.0;
    let mut pause = |_| {
        let begins = at + f64::from(random.below(100));
        at = begins + f64::from(1 + random.below(100));
        (begins, at)
    };
    (0..3).map(&mut pause).collect()
}

fn season(today: Date, random: &mut Random) -> Season {
    let count = [0, 1, 2, 40][random.below(4) as usize];
    let activities = (0..count).map(|_| activity(today, random)).collect();
    let mut days = BTreeMap::new();
    for ago in 0..[0_i64, 1, 7, 80][random.below(4) as usize] {
        let measures =
            Measure::ALL.iter().map(|measure| (*measure, sourced_value(*measure, random))).collect();
        days.insert(today.saturating_sub(ago.days()), Day { measures });
    }
    Season { athlete: athlete(random), activities, days, ..Season::default() }
}

fn athlete(random: &mut Random) -> Athlete {
    let mut plausible = |value: f64| if random.once_in(3) { maybe(random) } else { Some(value) };
    let (max, resting, threshold, power) =
        (plausible(188.0), plausible(47.0), plausible(168.0), plausible(244.0));
    Athlete {
        sex: [None, Some(Sex::Female), Some(Sex::Male)][random.below(3) as usize],
        birth_date: [None, Some(Date::MIN), Some(date(1984, 2, 29)), Some(Date::MAX)]
            [random.below(4) as usize],
        max_heart_rate: max,
        resting_heart_rate: resting,
        threshold_heart_rate: threshold,
        threshold_power: power,
    }
}

/// Returns true if the value contains a null, as which JSON writes non-finite numbers.
fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(items) => items.values().any(has_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[test]
fn every_metric_of_any_season_is_finite_or_a_reason() {
    let mut computed = BTreeMap::new();
    for seed in 0..312 {
        let mut random = Random(seed);
        let as_of = [date(2026, 3, 15), Date::MIN, Date::MAX, date(2026, 3, 15)][random.below(4) as usize];
        let season = season(as_of, &mut random);
        let settings =
            Settings { athlete: athlete(&mut random), as_of, activities_days: 30, metrics_days: 60 };
        let first = season.activities.first().map_or("", |activity| &*activity.id);
        for metric in Metric::ALL {
            for parameters in calls(*metric, first) {
                match compute(metric.name(), &season, &settings, &parameters) {
                    Ok(answer) => {
                        let what = format!("seed {seed}: {} {parameters}", metric.name());
                        let mut numbers = answer.results.iter().flat_map(|piece| &piece.values);
                        assert!(numbers.all(|number| number.value.is_finite()), "{what}: {answer:?}");
                        assert!(!has_null(&json!(answer)), "{what}");
                        *computed.entry(*metric).or_insert(0) += 1;
                    }
                    Err(refusal) => {
                        assert!(!refusal.message.is_empty(), "seed {seed}: {refusal:?}");
                    }
                }
            }
        }
        for analyst in Analyst::ALL {
            let given = json!(summary(&season, &settings, *analyst));
            assert!(!has_null(&given), "seed {seed}: {given}");
        }
    }
    // Each metric must have been computed often enough for the test to be meaningful.
    for metric in Metric::ALL {
        assert!(computed.get(metric).is_some_and(|times| *times > 20), "{}: {computed:?}", metric.name());
    }
}
