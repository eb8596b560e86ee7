//! Business hours: computes when a deadline in working time is reached. A clock change skips or repeats some times of
//! day. Only this module deals with such times.
//!
//! The database of time zones is compiled into the program. Events store the computed deadlines as points in time, so a
//! replay does not compute them again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, ToSpan};
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::people::PeopleSource;
use crate::schema::Problem;
use crate::time::Timestamp;

pub(crate) static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Business hours of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hours {
    /// IANA time zone of the business hours, such as `Europe/Berlin`.
    pub time_zone: String,
    /// Working hours by day of the week. On a day that is missing, nobody in the group works.
    pub week: BTreeMap<Day, Vec<Span>>,
    /// Dates on which nobody in the group works. Holidays take precedence over `week`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub holidays: BTreeSet<Date>,
    pub source: PeopleSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Day {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

impl Day {
    pub const ALL: [Self; 7] = [Self::Mon, Self::Tue, Self::Wed, Self::Thu, Self::Fri, Self::Sat, Self::Sun];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mon => "mon",
            Self::Tue => "tue",
            Self::Wed => "wed",
            Self::Thu => "thu",
            Self::Fri => "fri",
            Self::Sat => "sat",
            Self::Sun => "sun",
        }
    }

    pub(crate) fn from_date(date: Date) -> Self {
        match date.weekday() {
            Weekday::Monday => Self::Mon,
            Weekday::Tuesday => Self::Tue,
            Weekday::Wednesday => Self::Wed,
            Weekday::Thursday => Self::Thu,
            Weekday::Friday => Self::Fri,
            Weekday::Saturday => Self::Sat,
            Weekday::Sunday => Self::Sun,
        }
    }

    /// Parses `mon`, `mon-fri` or `sat-mon` into days. `None` if the text is malformed.
    pub fn range(text: &str) -> Option<Vec<Self>> {
        let day = |word: &str| Self::ALL.iter().position(|day| day.as_str() == word);
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last) = (day(first)?, day(last)?);
        let count = (last + 7 - first) % 7 + 1;
        Some(Self::ALL.into_iter().cycle().skip(first).take(count).collect())
    }
}

/// Working period within a day, in minutes since midnight of the local clock. A period is written as `09:00-17:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span {
    from: u16,
    to: u16,
}

/// Parses a time of day such as `07:30` into minutes since midnight. `24:00` is the end of the day.
pub fn minute(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once(':')?;
    let is_two = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_two(hour) || !is_two(minute) {
        return None;
    }
    let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
    Some(hour * 60 + minute).filter(|at| minute < 60 && *at <= 24 * 60)
}

/// Returns true if a time zone of this name exists.
pub fn is_zone(name: &str) -> bool {
    ZONES.get(name).is_ok()
}

/// Checks a `time_zone` field, and returns its problem. `None` if the time zone exists.
pub(crate) fn check_zone(name: &str) -> Option<Problem> {
    let shown = || name.chars().take(limits::NAME_BYTES).collect::<String>();
    let why = || format!("there is no time zone `{}`: write one such as `Europe/Berlin`", shown());
    (!is_zone(name)).then(|| Problem::new("/time_zone", why()))
}

/// Error returned when a text is not a working period of a day.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a span of a day: write `09:00-17:00`; write a span past midnight as two: `22:00-24:00` \
     and, on the next day, `00:00-06:00`"
)]
pub struct NoSpan(String);

impl FromStr for Span {
    type Err = NoSpan;
    fn from_str(text: &str) -> Result<Self, NoSpan> {
        let span = || {
            let (from, to) = text.split_once('-')?;
            Some(Self { from: minute(from)?, to: minute(to)? }).filter(|span| span.from < span.to)
        };
        span().ok_or_else(|| NoSpan(text.chars().take(40).collect()))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to } = *self;
        write!(f, "{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60)
    }
}

impl TryFrom<String> for Span {
    type Error = NoSpan;
    fn try_from(text: String) -> Result<Self, NoSpan> {
        text.parse()
    }
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        span.to_string()
    }
}

impl Hours {
    /// Returns the problems of the business hours. Each problem has a JSON pointer into the request body of the API.
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        problems.extend(check_zone(&self.time_zone));
        if self.week.values().all(Vec::is_empty) {
            problems.push(Problem::new("/week", "contains no hours, so the group would never work"));
        }
        for (day, spans) in &self.week {
            let at = format!("/week/{}", day.as_str());
            if spans.len() > limits::SPANS_OF_DAY {
                problems.push(Problem::new(&at, format!("has more than {} spans", limits::SPANS_OF_DAY)));
            } else if let Some((one, next)) =
                spans.iter().zip(spans.iter().skip(1)).find(|(one, next)| next.from < one.to)
            {
                problems.push(Problem::new(&at, format!("`{next}` begins before `{one}` ends")));
            }
        }
        if self.holidays.len() > limits::HOLIDAYS {
            problems.push(Problem::new("/holidays", format!("has more than {} dates", limits::HOLIDAYS)));
        }
        problems
    }

    /// Returns the beginning and the end of each working period on a date, in milliseconds.
    fn on(&self, date: Date, zone: &TimeZone) -> impl Iterator<Item = (i64, i64)> {
        let free = self.holidays.contains(&date);
        let spans =
            self.week.get(&Day::from_date(date)).filter(|_| !free).map(Vec::as_slice).unwrap_or_default();
        spans.iter().filter_map(move |span| {
            let (from, to) =
                (moment(date, span.from, Edge::Begins, zone)?, moment(date, span.to, Edge::Ends, zone)?);
            (from < to).then_some((from, to))
        })
    }
}

/// Beginning or end of a working period.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
    Begins,
    Ends,
}

/// Returns the point in time of a local time of day, in milliseconds. If a clock change skips this time of day, returns
/// the time of the change. A clock change may repeat this time of day. The beginning of a working period is then its
/// first occurrence, and the end is its last occurrence. The working period therefore includes both occurrences.
pub(crate) fn moment(date: Date, minute: u16, edge: Edge, zone: &TimeZone) -> Option<i64> {
    // The last millisecond before the end still belongs to the working period.
    let back = i64::from(edge == Edge::Ends);
    let ms = i64::from(minute) * 60_000 - back;
    let wall = date.to_datetime(Time::midnight()).checked_add(SignedDuration::from_millis(ms)).ok()?;
    let at = |offset: Offset, wall: DateTime| Some(offset.to_timestamp(wall).ok()?.as_millisecond() + back);
    match zone.to_ambiguous_timestamp(wall).offset() {
        AmbiguousOffset::Unambiguous { offset } => at(offset, wall),
        AmbiguousOffset::Fold { before, .. } if edge == Edge::Begins => at(before, wall),
        AmbiguousOffset::Fold { after, .. } => at(after, wall),
        AmbiguousOffset::Gap { before, .. } => {
            // The time is computed with the offset before the clock change. The result is the moment of the change or a
            // moment shortly after it.
            let past = jiff::Timestamp::from_millisecond(at(before, wall)? + 1).ok()?;
            Some(zone.preceding(past).next()?.timestamp().as_millisecond())
        }
    }
}

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
/// Number of days whose working periods are computed in one step.
const WINDOW: i64 = 7;

/// Returns the time at which `ms` of working time have passed since `from`. Working time is time in which at least one
/// of these groups works. If that takes longer than [`limits::HOURS_AHEAD_DAYS`], returns the end of these days.
pub fn after(from: Timestamp, ms: u64, of: &[&Hours]) -> Timestamp {
    let zones: Vec<(&Hours, TimeZone)> =
        of.iter().filter_map(|hours| Some((*hours, ZONES.get(&hours.time_zone).ok()?))).collect();
    let mut left = i64::try_from(ms).unwrap_or(i64::MAX);
    let mut begins = from.as_millis();
    let last = from.plus_ms(limits::HOURS_AHEAD_DAYS * DAY_MS.unsigned_abs()).as_millis();
    while begins < last {
        let ends = begins.saturating_add(WINDOW * DAY_MS);
        for (start, end) in at_work(&zones, begins, ends) {
            let length = end - start;
            if length >= left {
                return Timestamp::from_millis(start + left);
            }
            left -= length;
        }
        begins = ends;
    }
    Timestamp::from_millis(last)
}

/// Returns the periods between two moments in which at least one group works, in their order. Periods that touch or
/// overlap are merged.
fn at_work(of: &[(&Hours, TimeZone)], begins: i64, ends: i64) -> Vec<(i64, i64)> {
    let mut found: Vec<(i64, i64)> = Vec::new();
    for (hours, zone) in of {
        let Ok(first) = jiff::Timestamp::from_millisecond(begins) else { continue };
        let first = zone.to_datetime(first).date();
        // A margin of one day is added, because days may be longer or shorter than 24 hours.
        for ahead in -1..=WINDOW + 1 {
            let Ok(date) = first.checked_add(ahead.days()) else { continue };
            let inside = hours.on(date, zone).map(|(from, to)| (from.max(begins), to.min(ends)));
            found.extend(inside.filter(|(from, to)| from < to));
        }
    }
    found.sort_unstable();
    let mut merged: Vec<(i64, i64)> = Vec::new();
    for (from, to) in found {
        match merged.last_mut() {
            Some((_, end)) if from <= *end => *end = to.max(*end),
            _ => merged.push((from, to)),
        }
    }
    merged
}
