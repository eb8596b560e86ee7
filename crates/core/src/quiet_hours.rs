//! Quiet hours and digests: until when a channel keeps what can wait. Times are those of the clock on the wall; of the hour that
//! it skips, and the one that it repeats, `hours.rs` knows.

use std::collections::BTreeSet;

use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::hours::{Day, Edge, ZONES, moment};
use crate::level::Level;
use crate::time::Timestamp;

/// What a channel holds back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hold {
    /// Nobody is disturbed then; what overlaps or touches is one.
    pub quiet: Vec<Quiet>,
    /// What can wait is told together.
    pub digest: Option<Digest>,
}

/// A part of some days, or of their nights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quiet {
    /// In minutes since midnight.
    pub from: u16,
    /// Where it is not after `from`: of the next day.
    pub to: u16,
    /// The days that it begins on.
    pub days: BTreeSet<Day>,
    /// An IANA time zone; `None`: of whoever is told.
    pub zone: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Digest {
    /// At each multiple of so many milliseconds.
    Every(u64),
    /// When the clock shows this minute of the day.
    Daily { minute: u16, zone: Option<String> },
}

const MINUTES: usize = 24 * 60;
/// Quiet hours that follow one another: more than a week of them has.
const CHAINED: usize = 64;

impl Hold {
    /// Whether anything is ever held back.
    pub fn is_empty(&self) -> bool {
        self.quiet.is_empty() && self.digest.is_none()
    }

    /// Until when something is kept that was written at this moment; `None`: it is told at once. `zone`: that of whoever is
    /// told. What is critical waits for nobody's sleep.
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

    /// Whether every minute of a week is quiet, as far as this can be told without a zone.
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

    /// The end of these hours where this moment lies in them.
    fn ends_after(&self, at: Timestamp, zone: Option<&str>) -> Option<Timestamp> {
        let zone = zone_of(self.zone.as_deref().or(zone));
        let today = date(at, &zone)?;
        let ends = [-1_i64, 0].into_iter().filter_map(|ahead| {
            let first = today.checked_add(ahead.days()).ok()?;
            if !self.days.contains(&Day::of(first)) {
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
    /// The next time after a moment.
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

/// UTC where there is none of this name.
fn zone_of(name: Option<&str>) -> TimeZone {
    name.and_then(|name| ZONES.get(name).ok()).unwrap_or(TimeZone::UTC)
}
