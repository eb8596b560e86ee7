//! Quiet hours and digests: computes how long a channel holds back a notice that is not urgent. The times are local
//! times of day. `hours.rs` handles times that a clock change skips or repeats.

use std::collections::BTreeSet;

use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::hours::{Day, Edge, ZONES, moment};
use crate::level::Level;
use crate::time::Timestamp;

/// Quiet hours and digest times of a channel. The channel holds notices back during quiet hours and until the next
/// digest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hold {
    /// Times of day at which the channel sends no notices. Quiet times that overlap or touch are treated as one.
    pub quiet: Vec<Quiet>,
    /// Times at which the channel sends all held notices together.
    pub digest: Option<Digest>,
}

/// Quiet time of day, on some days of the week.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quiet {
    /// Start of the quiet time, in minutes since midnight.
    pub from: u16,
    /// End of the quiet time, in minutes since midnight. If `to` is not later than `from`, the quiet time ends on the
    /// following day.
    pub to: u16,
    /// Days on which the quiet time begins.
    pub days: BTreeSet<Day>,
    /// IANA time zone of the quiet time. If `None`, the recipient's time zone is used.
    pub zone: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Digest {
    /// A digest is sent at regular intervals: each time that the number of milliseconds since the Unix epoch is a
    /// multiple of this value.
    Every(u64),
    /// A digest is sent once a day at this time, in minutes since midnight.
    Daily { minute: u16, zone: Option<String> },
}

const MINUTES: usize = 24 * 60;
/// Maximum number of consecutive quiet times that are joined. A channel has fewer quiet times in a week.
const CHAINED: usize = 64;

impl Hold {
    /// Returns true if the channel never holds a notice back.
    pub fn is_empty(&self) -> bool {
        self.quiet.is_empty() && self.digest.is_none()
    }

    /// Returns the time until which a notice is held back, or `None` if the notice is sent at once. `written` is the
    /// time at which the notice was created. `zone` is the recipient's time zone. Notices with critical risk are never
    /// held back.
    pub fn until(&self, written: Timestamp, risk: Level, zone: Option<&str>) -> Option<Timestamp> {
        if risk >= Level::Critical {
            return None;
        }
        let mut at = self.digest.as_ref().and_then(|digest| digest.after(written, zone)).unwrap_or(written);
        for _ in 0..CHAINED {
            let ends = self.quiet.iter().filter_map(|quiet| quiet.ends_after(at, zone));
            match ends.max() {
                Some(end) => at = end,
                None => break,
            }
        }
        (at > written).then_some(at)
    }

    /// Returns true if every minute of the week is quiet, so that no notice would be sent. Ignores differences between
    /// time zones.
    pub fn is_for_ever(&self) -> bool {
        let mut week = vec![false; 7 * MINUTES];
        for quiet in &self.quiet {
            let length = quiet.minutes();
            for (index, _) in Day::ALL.iter().enumerate().filter(|(_, day)| quiet.days.contains(day)) {
                let begin = index * MINUTES + usize::from(quiet.from);
                for minute in begin..begin + length {
                    week[minute % (7 * MINUTES)] = true;
                }
            }
        }
        week.iter().all(|is_quiet| *is_quiet)
    }
}

impl Quiet {
    fn minutes(&self) -> usize {
        let (from, to) = (usize::from(self.from), usize::from(self.to));
        if to > from { to - from } else { MINUTES - from + to }
    }

    /// Returns the end of this quiet time if the quiet time includes the time `at`. `None` otherwise.
    fn ends_after(&self, at: Timestamp, zone: Option<&str>) -> Option<Timestamp> {
        let zone = zone_of(self.zone.as_deref().or(zone));
        let today = date(at, &zone)?;
        let ends = [-1_i64, 0].into_iter().filter_map(|ahead| {
            let first = today.checked_add(ahead.days()).ok()?;
            if !self.days.contains(&Day::from_date(first)) {
                return None;
            }
            let last = if self.to > self.from { first } else { first.checked_add(1.day()).ok()? };
            let begin = moment(first, self.from, Edge::Begins, &zone)?;
            let end = moment(last, self.to, Edge::Ends, &zone)?;
            (begin <= at.as_millis() && at.as_millis() < end).then_some(end)
        });
        ends.max().map(Timestamp::from_millis)
    }
}

impl Digest {
    /// Returns the time of the first digest after `at`.
    fn after(&self, at: Timestamp, zone: Option<&str>) -> Option<Timestamp> {
        match self {
            Self::Every(ms) => {
                let ms = i64::try_from(*ms).ok().filter(|ms| *ms > 0)?;
                let next = at.as_millis().div_euclid(ms).checked_add(1)?.checked_mul(ms)?;
                Some(Timestamp::from_millis(next))
            }
            Self::Daily { minute, zone: own } => {
                let zone = zone_of(own.as_deref().or(zone));
                let today = date(at, &zone)?;
                let days = (0_i64..=2).filter_map(|ahead| today.checked_add(ahead.days()).ok());
                let next = days.filter_map(|date| moment(date, *minute, Edge::Begins, &zone));
                next.filter(|next| *next > at.as_millis()).min().map(Timestamp::from_millis)
            }
        }
    }
}

fn date(at: Timestamp, zone: &TimeZone) -> Option<Date> {
    let at = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
    Some(zone.to_datetime(at).date())
}

/// Returns the time zone with this name, or UTC if `name` is `None` or unknown.
fn zone_of(name: Option<&str>) -> TimeZone {
    name.and_then(|name| ZONES.get(name).ok()).unwrap_or(TimeZone::UTC)
}
