//! Working time over days, nights, holidays, and the hours that a clock change skips or repeats.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::hours::{Day, Hours, Span, after};
use holdshort_core::people::PeopleSource;
use holdshort_core::time::Timestamp;

/// Parses working hours such as `mon-fri 09:00-17:00; sat 10:00-12:00`.
pub(crate) fn hours(zone: &str, week: &str, holidays: &[&str]) -> Hours {
    let mut days: BTreeMap<Day, Vec<Span>> = BTreeMap::new();
    for part in week.split("; ") {
        let (of, spans) = part.split_once(' ').expect("days, then hours");
        for day in Day::range(of).expect("days") {
            days.insert(day, spans.split(' ').map(|span| span.parse().expect("a span")).collect());
        }
    }
    Hours {
        time_zone: zone.to_owned(),
        week: days,
        holidays: holidays.iter().map(|day| day.parse().expect("a date")).collect::<BTreeSet<_>>(),
        source: PeopleSource::Api,
    }
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;

/// A test case: title, working hours, start, working time in milliseconds, and end.
type Row<'a> = (&'a str, &'a [&'a Hours], &'a str, u64, &'a str);

#[test]
fn so_much_working_time_is_over() {
    let office = &hours("Europe/Berlin", "mon-fri 09:00-17:00", &["2026-12-25", "2027-01-01"]);
    let split = &hours("Europe/Berlin", "mon-fri 09:00-12:00 13:00-17:00", &[]);
    let night = &hours("Europe/Berlin", "fri 22:00-24:00; sat 00:00-06:00", &[]);
    let new_york = &hours("America/New_York", "mon-fri 09:00-17:00", &[]);
    let early = &hours("Europe/Berlin", "mon-sun 01:00-04:00", &[]);
    let in_the_gap = &hours("Europe/Berlin", "mon-sun 02:00-03:00", &[]);
    let from_the_gap = &hours("Europe/Berlin", "mon-sun 02:30-05:00", &[]);
    let to_half_past = &hours("Europe/Berlin", "mon-sun 00:00-02:30", &[]);
    let to_two = &hours("Europe/Berlin", "mon-sun 00:00-02:00", &[]);
    let table: &[Row<'_>] = &[
        ("within a day", &[office], "2026-11-23T09:00:00Z", HOUR, "2026-11-23T10:00:00Z"),
        ("to the very end", &[office], "2026-11-23T08:00:00Z", 8 * HOUR, "2026-11-23T16:00:00Z"),
        ("one more", &[office], "2026-11-23T08:00:00Z", 8 * HOUR + 1, "2026-11-24T08:00:00.001Z"),
        ("from the night", &[office], "2026-11-23T02:00:00Z", HOUR, "2026-11-23T09:00:00Z"),
        ("over a weekend", &[office], "2026-11-27T15:00:00Z", 2 * HOUR, "2026-11-30T09:00:00Z"),
        ("over a holiday", &[office], "2026-12-24T15:00:00Z", 2 * HOUR, "2026-12-28T09:00:00Z"),
        ("around a break", &[split], "2026-11-23T10:30:00Z", HOUR, "2026-11-23T12:30:00Z"),
        ("through midnight", &[night], "2026-11-27T22:00:00Z", 2 * HOUR, "2026-11-28T00:00:00Z"),
        ("to the next week", &[night], "2026-11-27T21:00:00Z", 9 * HOUR, "2026-12-04T22:00:00Z"),
        ("one of two at work", &[office, new_york], "2026-11-23T15:00:00Z", 6 * HOUR, "2026-11-23T21:00:00Z"),
        ("both count once", &[office, new_york], "2026-11-23T13:00:00Z", 3 * HOUR, "2026-11-23T16:00:00Z"),
        // On 29 March 2026, clocks in Berlin go from 02:00 to 03:00, at 01:00 UTC.
        ("an hour is missing", &[early], "2026-03-29T00:00:00Z", 2 * HOUR, "2026-03-29T02:00:00Z"),
        ("and comes the day after", &[early], "2026-03-29T00:00:00Z", 3 * HOUR, "2026-03-30T00:00:00Z"),
        ("nothing but the missing hour", &[in_the_gap], "2026-03-28T12:00:00Z", HOUR, "2026-03-30T01:00:00Z"),
        ("it begins in it", &[from_the_gap], "2026-03-29T00:00:00Z", HOUR, "2026-03-29T02:00:00Z"),
        ("it ends in it", &[to_half_past], "2026-03-28T23:00:00Z", 2 * HOUR, "2026-03-29T01:00:00Z"),
        ("and is over then", &[to_half_past], "2026-03-28T23:00:00Z", 3 * HOUR, "2026-03-29T23:00:00Z"),
        // On 25 October 2026, clocks in Berlin go from 03:00 back to 02:00, at 01:00 UTC.
        ("an hour comes twice", &[early], "2026-10-24T23:00:00Z", 4 * HOUR, "2026-10-25T03:00:00Z"),
        ("both of them count", &[in_the_gap], "2026-10-24T12:00:00Z", 2 * HOUR, "2026-10-25T02:00:00Z"),
        ("it begins with the first", &[from_the_gap], "2026-10-24T12:00:00Z", HOUR, "2026-10-25T01:30:00Z"),
        (
            "it ends with the last",
            &[to_half_past],
            "2026-10-24T22:00:00Z",
            3 * HOUR + 30 * MINUTE,
            "2026-10-25T01:30:00Z",
        ),
        (
            "what ends before it is not longer",
            &[to_two],
            "2026-10-24T22:00:00Z",
            2 * HOUR,
            "2026-10-25T00:00:00Z",
        ),
        (
            "it is over before the first",
            &[to_two],
            "2026-10-24T22:00:00Z",
            2 * HOUR + 1,
            "2026-10-25T23:00:00.001Z",
        ),
    ];
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(name, of, from, ms, until)| {
            let found = after(at(from), *ms, of);
            (found != at(until)).then(|| format!("{name}: {found}, not {until}"))
        })
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

/// The end of a period of working time equals the end that counting minute by minute over ten days yields.
#[test]
fn it_counts_each_minute_at_work_once() {
    let of = hours("Europe/Berlin", "mon-fri 09:00-12:30 13:00-17:45; sun 23:00-24:00", &["2026-10-27"]);
    // Ten days around the end of summer time.
    let from = at("2026-10-23T06:13:00Z");
    let zone = jiff::tz::TimeZoneDatabase::bundled().get("Europe/Berlin").expect("it is there");
    let is_at_work = |at: Timestamp| {
        let wall = zone.to_datetime(jiff::Timestamp::from_millisecond(at.as_millis()).expect("a time"));
        let (time, date) = (wall.time().to_string(), wall.date().to_string());
        let spans: &[(&str, &str)] = match wall.weekday() {
            jiff::civil::Weekday::Sunday => &[("23:00:00", "24:00:00")],
            jiff::civil::Weekday::Saturday => &[],
            _ => &[("09:00:00", "12:30:00"), ("13:00:00", "17:45:00")],
        };
        date != "2026-10-27" && spans.iter().any(|(from, to)| *from <= time.as_str() && time.as_str() < *to)
    };
    let mut worked = 0;
    for minute in 0..10 * 24 * 60 {
        let begins = from.plus_ms(minute * MINUTE);
        if is_at_work(begins) {
            worked += 1;
            let ends = after(from, worked * MINUTE, &[&of]);
            assert_eq!(ends, begins.plus_ms(MINUTE), "after {worked} minutes");
        }
    }
    assert!(worked > 2_000, "{worked}");
}

#[test]
fn hours_that_never_come_end_somewhere() {
    let never = hours("UTC", "mon 09:00-09:01", &[]);
    let ends = after(at("2026-11-23T00:00:00Z"), u64::MAX, &[&never]);
    assert_eq!(ends, at("2029-11-25T00:00:00Z"));
}

#[test]
fn what_is_wrong_with_hours_is_said_where_it_stands() {
    let free = Hours { week: BTreeMap::new(), ..hours("UTC", "mon 09:00-17:00", &[]) };
    let table = [
        (hours("UTC", "mon 09:00-17:00", &[]), vec![]),
        (hours("Europe/Atlantis", "mon 09:00-17:00", &[]), vec!["/time_zone"]),
        (free, vec!["/week"]),
        (hours("UTC", "mon 09:00-17:00 12:00-18:00", &[]), vec!["/week/mon"]),
        (hours("UTC", "mon 13:00-17:00 09:00-12:00", &[]), vec!["/week/mon"]),
        (hours("UTC", "mon 09:00-12:00 12:00-18:00", &[]), vec![]),
    ];
    for (hours, expected) in table {
        let found: Vec<String> = hours.check().into_iter().map(|problem| problem.pointer).collect();
        assert_eq!(found, expected, "{hours:?}");
    }
    for text in
        ["", "9-17", "09:00", "17:00-09:00", "09:00-09:00", "09:60-10:00", "09:00-24:01", "9:00-17:00"]
    {
        assert!(text.parse::<Span>().is_err(), "{text}");
    }
    assert_eq!("00:00-24:00".parse::<Span>().map(|span| span.to_string()), Ok("00:00-24:00".to_owned()));
    assert_eq!(Day::range("fri-mon"), Some(vec![Day::Fri, Day::Sat, Day::Sun, Day::Mon]));
    assert_eq!(Day::range("mon-mon"), Some(vec![Day::Mon]));
    assert_eq!((Day::range("monday"), Day::range("mon-")), (None, None));
}
