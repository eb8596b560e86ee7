//! Formats times for people: rounded, and in the time zone of this machine. With `--json`, timestamps are printed as
//! the server sends them.

use holdshort_protocol::plain;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Describes a past time relative to now: `6 min ago`, or a date if the time is more than a day ago.
pub(crate) fn ago(at: &str) -> String {
    read(at).map_or_else(|| plain::line(at).into_owned(), |at| since(&at, &now()))
}

/// Describes the duration from `since` to now: `12 s`, `3 min`, `2 h`.
pub(super) fn lasting(since: &str) -> String {
    let Ok(since) = since.parse::<Timestamp>() else { return plain::line(since).into_owned() };
    span(Timestamp::now().as_second().saturating_sub(since.as_second()))
}

fn span(seconds: i64) -> String {
    // The clock of the server may be ahead of the clock of this machine.
    match seconds.max(0) {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}

/// Formats a past or future time in the local time zone: `14:30` if the time is today, otherwise with the date.
pub(crate) fn at(at: &str) -> String {
    read(at).map_or_else(|| plain::line(at).into_owned(), |at| moment(&at, &now()))
}

/// Returns true if a time is in the future, missing, or unreadable.
pub(crate) fn is_to_come(at: Option<&str>) -> bool {
    at.and_then(read).is_none_or(|at| at.timestamp() > Timestamp::now())
}

/// Returns the time of day in the local time zone, to the second.
pub(crate) fn clock(at: &str) -> String {
    read(at).map_or_else(|| plain::line(at).into_owned(), |at| at.strftime("%H:%M:%S").to_string())
}

fn now() -> Zoned {
    Timestamp::now().to_zoned(TimeZone::system())
}

fn read(at: &str) -> Option<Zoned> {
    Some(at.parse::<Timestamp>().ok()?.to_zoned(TimeZone::system()))
}

fn since(at: &Zoned, now: &Zoned) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    // The clock of the server may be ahead of the clock of this machine.
    let seconds = now.timestamp().as_second().saturating_sub(at.timestamp().as_second()).max(0);
    match seconds {
        0..MINUTE => "just now".to_owned(),
        MINUTE..HOUR => format!("{} min ago", seconds / MINUTE),
        HOUR..DAY => format!("{} h ago", seconds / HOUR),
        _ => moment(at, now),
    }
}

fn moment(at: &Zoned, now: &Zoned) -> String {
    let form = if at.date() == now.date() {
        "%H:%M"
    } else if at.year() == now.year() {
        "%-d %b, %H:%M"
    } else {
        "%-d %b %Y, %H:%M"
    };
    at.strftime(form).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_something_lasts() {
        let told = [-5, 0, 59, 60, 3_599, 3_600, 90_000].map(span);
        assert_eq!(told, ["0 s", "0 s", "59 s", "1 min", "59 min", "1 h", "25 h"]);
    }

    #[test]
    fn a_time_is_as_exact_as_it_matters() {
        // A time zone without daylight saving time.
        let zone = || TimeZone::fixed(jiff::tz::offset(5));
        let zoned = |text: &str| text.parse::<Timestamp>().unwrap().to_zoned(zone());
        let now = zoned("2026-01-31T09:30:00.000Z");
        for (at, past, moment_of_it) in [
            ("2026-01-31T09:30:05.000Z", "just now", "14:30"),
            ("2026-01-31T09:29:30.500Z", "just now", "14:29"),
            ("2026-01-31T09:24:00.000Z", "6 min ago", "14:24"),
            ("2026-01-31T06:31:00.000Z", "2 h ago", "11:31"),
            ("2026-01-30T20:30:00.000Z", "13 h ago", "01:30"),
            ("2026-01-30T09:30:00.000Z", "30 Jan, 14:30", "30 Jan, 14:30"),
            ("2025-12-31T18:59:00.000Z", "31 Dec 2025, 23:59", "31 Dec 2025, 23:59"),
        ] {
            assert_eq!((&*since(&zoned(at), &now), &*moment(&zoned(at), &now)), (past, moment_of_it), "{at}");
        }
        assert_eq!(at("soon\u{1b}"), "soon\\u{1b}");
    }
}
