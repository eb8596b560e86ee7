//! Input outside the range of a formula: each metric is a number, or a reason that names the missing input.

use holdshort_coach::training::metrics::daily::DailyLoads;
use holdshort_coach::training::metrics::load::{Scale, heart_rate_tss, power_tss, trimp};
use holdshort_coach::training::metrics::race::{best_run, predictions, riegel, vdot, vdot_time};
use holdshort_coach::training::metrics::{Need, Outcome, Profile, power, zones};
use holdshort_coach::training::{Activity, Athlete, Measure, Season, Sex};
use jiff::civil::{Date, date};

use crate::training::support::read_utc;

const DAY: Date = date(2026, 3, 1);

fn athlete() -> Athlete {
    Athlete {
        sex: Some(Sex::Male),
        max_heart_rate: Some(190.0),
        resting_heart_rate: Some(50.0),
        threshold_heart_rate: Some(170.0),
        threshold_power: Some(250.0),
        ..Athlete::default()
    }
}

fn season(log: &str) -> Season {
    read_utc("a.csv", log).season
}

/// Returns an activity that lasts an hour, with an average heart rate and power.
fn hour() -> Activity {
    let log = "start,sport,duration_min,avg_hr,avg_power_w\n2026-03-01T06:30:00Z,ride,60,150,200\n";
    season(log).activities.remove(0)
}

/// Returns the missing input of a metric without a result, and the message about it.
fn reason<T: std::fmt::Debug>(outcome: Outcome<T>) -> (Need, String) {
    let missing = outcome.unwrap_err();
    (missing.needs, missing.message)
}

#[test]
fn a_threshold_power_that_is_none_gives_no_load() {
    for watts in [0.0, -250.0, 1e-300, 9.0, 1_001.0, f64::NAN, f64::INFINITY] {
        let stated = Athlete { threshold_power: Some(watts), ..athlete() };
        let found = reason(power_tss(&hour(), &Profile::from_season(&Season::default(), &stated, DAY)));
        let message = format!("threshold_power {watts} W is not within 10 to 1000");
        assert_eq!(found, (Need::ThresholdPower, message));
    }
}

#[test]
fn a_maximal_heart_rate_that_is_not_above_the_resting_one_gives_no_reserve() {
    for (max, resting) in [(60.0, 60.0), (90.0, 100.0)] {
        let stated = Athlete { max_heart_rate: Some(max), resting_heart_rate: Some(resting), ..athlete() };
        let profile = Profile::from_season(&Season::default(), &stated, DAY);
        let expected = (
            Need::MaxHeartRate,
            format!("a maximal heart rate above the resting one: {max} and {resting} bpm"),
        );
        assert_eq!(reason(trimp(&hour(), &profile)), expected);
        assert_eq!(reason(heart_rate_tss(&hour(), &profile)), expected);
        assert_eq!(reason(zones::of_reserve(&hour(), &profile)), expected);
    }
    // The resting heart rate is the mean of several days. The maximal heart rate is estimated from the age.
    let days = "date,resting_hr\n2026-03-01,150\n".to_owned();
    let born = Athlete {
        max_heart_rate: None,
        resting_heart_rate: None,
        birth_date: Some(date(1926, 1, 1)),
        ..athlete()
    };
    let profile = Profile::from_season(&season(&days), &born, DAY);
    assert_eq!(reason(trimp(&hour(), &profile)).0, Need::MaxHeartRate);
}

#[test]
fn a_threshold_heart_rate_lies_between_rest_and_maximum() {
    for threshold in [45.0, 50.0, 190.5, 240.0] {
        let stated = Athlete { threshold_heart_rate: Some(threshold), ..athlete() };
        let found = reason(heart_rate_tss(&hour(), &Profile::from_season(&Season::default(), &stated, DAY)));
        assert_eq!(found.0, Need::ThresholdHeartRate, "{threshold}: {}", found.1);
    }
}

/// Tests that a run below 24.9 m/min gives no VDOT and no predicted time: there, the formula of Daniels & Gilbert gives
/// no oxygen uptake.
#[test]
fn what_is_no_run_foretells_nothing() {
    assert_eq!(vdot(3_600.0, 1_400.0), None);
    assert!(vdot(3_600.0, 1_600.0).is_some_and(|value| value > 0.0));
    for (seconds, metres) in
        [(0.0, 5_000.0), (-1.0, 5_000.0), (1_200.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)]
    {
        assert_eq!(vdot(seconds, metres), None, "{seconds} {metres}");
        assert_eq!(riegel(seconds, metres, 10_000.0), None, "{seconds} {metres}");
    }
    assert_eq!(riegel(1_200.0, 5_000.0, 0.0), None);
    for (wanted, metres) in
        [(-1.0, 5_000.0), (0.0, 5_000.0), (1_000.0, 5_000.0), (50.0, 0.0), (f64::NAN, 5_000.0)]
    {
        assert_eq!(vdot_time(wanted, metres), None, "{wanted} {metres}");
    }
    // Each VDOT, even of a slow run, has a time that gives the same VDOT.
    for wanted in [0.1, 1.0, 10.0, 90.0] {
        let seconds = vdot_time(wanted, 5_000.0).unwrap();
        assert!((vdot(seconds, 5_000.0).unwrap() - wanted).abs() < 1e-6, "{wanted}");
    }
    // Two kilometres in two hours: slower than 24.9 m/min.
    let slow = season("start,sport,duration_min,distance_km\n2026-03-01T06:30:00Z,run,120,2\n");
    assert_eq!(best_run(&slow, DAY).unwrap_err().needs, Need::Run);
    assert_eq!(predictions(&slow, DAY).unwrap_err().needs, Need::Run);
}

/// Tests that a day of unknown load does not change a moving average of the loads. If more than a quarter of its window
/// is unknown, the average has no result.
#[test]
fn moving_averages_over_gaps() {
    let log = |unknown: std::ops::RangeInclusive<i8>| {
        let row = |day: i8| {
            let exertion = if unknown.contains(&day) { "" } else { "1" };
            let minutes = if day == 20 { 200 } else { 100 };
            format!("2026-01-{day:02}T06:30:00Z,run,{minutes},{exertion}\n")
        };
        "start,sport,duration_min,rpe\n".to_owned() + &(1..=20).map(row).collect::<String>()
    };
    let acute = |unknown: std::ops::RangeInclusive<i8>| {
        let season = season(&log(unknown));
        let profile = Profile::from_season(&season, &athlete(), date(2026, 1, 20));
        DailyLoads::compute(&season, &profile, Scale::SessionRpe, date(2026, 1, 20)).unwrap().acute_ewma()
    };
    // Expected value: 0.25 · 200 + 0.75 · 100.
    for unknown in [19..=19, 2..=12] {
        let value = acute(unknown).unwrap().value;
        assert!((value - 125.0).abs() < 1e-9, "{value}");
    }
    let (need, message) = reason(acute(18..=19));
    assert_eq!((need, &*message), (Need::History, "the loads of 2 of 7 days, which are unknown"));
    assert_eq!(reason(acute(2..=19)).0, Need::History);
}

#[test]
fn nothing_is_computed_of_nothing() {
    let empty = Activity { measures: std::collections::BTreeMap::new(), ..hour() };
    let profile = Profile::from_season(&Season::default(), &athlete(), DAY);
    assert_eq!(reason(trimp(&empty, &profile)).0, Need::Activities);
    assert_eq!(reason(power::normalised_power(&empty)).0, Need::Power);
    assert_eq!(reason(zones::of_max(&empty, &profile)).0, Need::HeartRate);
    assert_eq!(reason(zones::intensity_split([], &profile)).0, Need::HeartRate);
    // Implausible values are treated as missing, even in a season that was not read from files.
    let mut odd = hour();
    for (measure, known) in &mut odd.measures {
        known.value = if *measure == Measure::Duration { 0.0 } else { f64::NAN };
    }
    assert_eq!(reason(trimp(&odd, &profile)).0, Need::Activities);
}
