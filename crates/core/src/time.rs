//! Time as data: milliseconds since the Unix epoch. Responses show times as RFC 3339 in UTC. This module never reads a
//! clock.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Point in time, in milliseconds since 1970-01-01T00:00:00Z. The journal stores this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

/// Last point in time that RFC 3339 can represent in every time zone: 9999-12-30T22:00:00Z.
const END: i64 = 253_402_207_200_000;

impl Timestamp {
    pub const fn from_millis(ms: i64) -> Self {
        Self(ms)
    }

    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Adds `ms` milliseconds. The result is at most 9999-12-30T22:00:00Z.
    pub fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)).min(END))
    }

    #[must_use]
    pub fn minus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_sub(i64::try_from(ms).unwrap_or(i64::MAX)))
    }

    /// Returns the number of milliseconds since `earlier`, or zero if `earlier` is later than this time.
    pub fn ms_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}

impl fmt::Display for Timestamp {
    /// Formats the time as RFC 3339 in UTC with milliseconds, such as `2026-01-31T09:30:00.000Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => write!(f, "{at:.3}"),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

/// Error returned when a text is not an RFC 3339 timestamp.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an RFC 3339 time such as 2026-01-31T09:30:00Z")]
pub struct Malformed(String);

impl FromStr for Timestamp {
    type Err = Malformed;
    fn from_str(text: &str) -> Result<Self, Malformed> {
        text.parse::<jiff::Timestamp>()
            .map(|at| Self(at.as_millisecond()))
            .map_err(|_| Malformed(text.chars().take(80).collect()))
    }
}

/// Formats a duration in its two largest units, such as `1 h 20 min`.
pub fn format_duration(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, _, _) => format!("{hours} h {minutes} min"),
        (_, _, _) => format!("{days} d {hours} h"),
    }
}

/// Formats a duration in the largest unit that divides it evenly, such as `8 hours` or `90 minutes`.
pub(crate) fn lasting(ms: u64) -> String {
    const UNITS: [(u64, &str); 5] =
        [(86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second"), (1, "millisecond")];
    let (unit, name) = UNITS.into_iter().find(|(unit, _)| ms.is_multiple_of(*unit)).unwrap_or(UNITS[4]);
    let count = ms / unit;
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}
