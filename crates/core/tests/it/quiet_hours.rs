//! Quiet hours and digests: the time until which a notice is held back, also across clock changes.

use std::collections::BTreeSet;

use holdshort_core::hours::Day;
use holdshort_core::hours::minute;
use holdshort_core::level::Level;
use holdshort_core::quiet_hours::{Digest, Hold, Quiet};
use holdshort_core::time::Timestamp;

fn quiet(from: &str, to: &str, days: &str) -> Quiet {
    let days: BTreeSet<Day> = Day::range(days).expect("days").into_iter().collect();
    Quiet {
        from: minute(from).expect("a time"),
        to: minute(to).expect("a time"),
        days,
        zone: Some("Europe/Berlin".to_owned()),
    }
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("a moment")
}

fn until(hold: &Hold, written: &str) -> String {
    let until = hold.until(at(written), Level::High, None);
    until.map_or_else(|| "at once".to_owned(), |until| until.to_string())
}

#[test]
fn a_night_ends_when_the_clock_says_so() {
    let nights = Hold { quiet: vec![quiet("22:00", "07:00", "mon-sun")], digest: None };
    for (written, wanted) in [
        ("2026-01-14T12:00:00Z", "at once"),
        ("2026-01-14T20:59:59.999Z", "at once"),
        ("2026-01-14T21:00:00Z", "2026-01-15T06:00:00.000Z"),
        ("2026-01-15T05:59:59.999Z", "2026-01-15T06:00:00.000Z"),
        ("2026-01-15T06:00:00Z", "at once"),
        // In 2026, summer time begins on 29 March at 02:00 and ends on 25 October at 03:00.
        ("2026-03-28T22:00:00Z", "2026-03-29T05:00:00.000Z"),
        ("2026-10-24T21:00:00Z", "2026-10-25T06:00:00.000Z"),
    ] {
        assert_eq!(until(&nights, written), wanted, "{written}");
    }
    assert_eq!(
        nights.until(at("2026-01-14T23:00:00Z"), Level::Critical, None),
        None,
        "nobody sleeps through that"
    );
}

#[test]
fn an_end_that_the_clock_skips_is_the_jump_and_one_that_it_repeats_the_last() {
    let hold = Hold { quiet: vec![quiet("22:00", "02:30", "mon-sun")], digest: None };
    assert_eq!(until(&hold, "2026-03-29T00:00:00Z"), "2026-03-29T01:00:00.000Z");
    assert_eq!(until(&hold, "2026-10-25T00:40:00Z"), "2026-10-25T01:30:00.000Z");
}

#[test]
fn hours_that_follow_one_another_are_one() {
    let hold = Hold {
        quiet: vec![quiet("18:00", "08:00", "mon-fri"), quiet("00:00", "24:00", "sat-sun")],
        digest: None,
    };
    // The quiet hours last from Friday evening until the end of Sunday. The quiet hours do not cover the night to
    // Monday, so the hold ends at midnight.
    assert_eq!(until(&hold, "2026-01-16T18:00:00Z"), "2026-01-18T23:00:00.000Z");
    assert_eq!(until(&hold, "2026-01-15T18:00:00Z"), "2026-01-16T07:00:00.000Z");
    assert!(!hold.is_for_ever());
    let always = Hold {
        quiet: vec![quiet("12:00", "24:00", "mon-sun"), quiet("00:00", "12:00", "mon-sun")],
        digest: None,
    };
    assert!(always.is_for_ever());
    // Even with quiet hours around the clock, `until` returns a time.
    assert!(always.until(at("2026-01-15T18:00:00Z"), Level::Low, None).is_some());
}

#[test]
fn a_digest_is_told_at_its_time_and_not_in_the_night() {
    let hourly = Hold { quiet: Vec::new(), digest: Some(Digest::Every(3_600_000)) };
    assert_eq!(until(&hourly, "2026-01-15T10:20:00Z"), "2026-01-15T11:00:00.000Z");
    assert_eq!(until(&hourly, "2026-01-15T11:00:00Z"), "2026-01-15T12:00:00.000Z");
    let daily = Digest::Daily { minute: 480, zone: None };
    let daily = Hold { quiet: Vec::new(), digest: Some(daily) };
    let of = |zone| daily.until(at("2026-07-15T06:30:00Z"), Level::Low, zone).unwrap().to_string();
    assert_eq!(of(Some("Europe/Berlin")), "2026-07-16T06:00:00.000Z");
    assert_eq!(of(Some("America/New_York")), "2026-07-15T12:00:00.000Z");
    assert_eq!(of(None), "2026-07-15T08:00:00.000Z");
    let both = Hold { quiet: vec![quiet("22:00", "07:00", "mon-sun")], ..hourly };
    assert_eq!(until(&both, "2026-01-15T20:30:00Z"), "2026-01-16T06:00:00.000Z");
}
