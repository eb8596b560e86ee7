//! Units that follow numbers in a text, and the quantities that can be written with each of them.

use super::Quantity;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    None,
    Percent,
    Second,
    Minute,
    Hour,
    Metre,
    Kilometre,
    /// Factor of a thousand, as in `10k`.
    Thousand,
    Beat,
    Watt,
    Millisecond,
    Kilogram,
    /// A unit that is never converted.
    Other,
}

/// Names of the units, as complete words in lower case.
const WORDS: [(Unit, &[&str]); 12] = [
    (Unit::Percent, &["%", "percent", "pct"]),
    (Unit::Second, &["s", "sec", "secs", "second", "seconds"]),
    (Unit::Minute, &["min", "mins", "minute", "minutes"]),
    (Unit::Hour, &["h", "hr", "hrs", "hour", "hours"]),
    (Unit::Metre, &["m", "metre", "metres", "meter", "meters"]),
    (Unit::Kilometre, &["km", "kms", "kilometre", "kilometres", "kilometer", "kilometers"]),
    (Unit::Thousand, &["k"]),
    (Unit::Beat, &["bpm", "beats"]),
    (Unit::Watt, &["w", "watt", "watts"]),
    (Unit::Millisecond, &["ms"]),
    (Unit::Kilogram, &["kg"]),
    (
        Unit::Other,
        &[
            "day",
            "days",
            "week",
            "weeks",
            "month",
            "months",
            "year",
            "years",
            "session",
            "sessions",
            "run",
            "runs",
            "ride",
            "rides",
            "activity",
            "activities",
            "time",
            "times",
            "kcal",
            "kj",
            "rpm",
            "spm",
            "au",
            "tss",
            "trimp",
            "°c",
            "ml",
            "mmol",
        ],
    ),
];

impl Unit {
    pub(crate) fn from_word(word: &str) -> Self {
        let word = word.to_lowercase();
        WORDS.iter().find(|(_, words)| words.contains(&&*word)).map_or(Self::None, |(unit, _)| *unit)
    }

    /// Returns the quantities that an agent can write in this unit, each with the factor from the quantity's base unit
    /// to this unit.
    pub(crate) const fn conversions(self) -> &'static [(Quantity, f64)] {
        match self {
            Self::None => &[
                (Quantity::Number, 1.0),
                (Quantity::Own, 1.0),
                (Quantity::Ratio, 1.0),
                (Quantity::Percent, 1.0),
                (Quantity::Seconds, 1.0),
                (Quantity::Metres, 1.0),
                (Quantity::Beats, 1.0),
                (Quantity::Watts, 1.0),
                (Quantity::Milliseconds, 1.0),
                (Quantity::Kilograms, 1.0),
            ],
            Self::Percent => &[(Quantity::Percent, 1.0), (Quantity::Ratio, 100.0), (Quantity::Number, 1.0)],
            Self::Second => &[(Quantity::Seconds, 1.0), (Quantity::Number, 1.0)],
            Self::Minute => &[(Quantity::Seconds, 1.0 / 60.0), (Quantity::Number, 1.0)],
            Self::Hour => &[(Quantity::Seconds, 1.0 / 3600.0), (Quantity::Number, 1.0)],
            Self::Metre => &[(Quantity::Metres, 1.0), (Quantity::Number, 1.0)],
            Self::Kilometre => &[(Quantity::Metres, 1e-3), (Quantity::Number, 1.0)],
            Self::Thousand => &[(Quantity::Metres, 1e-3), (Quantity::Number, 1e-3), (Quantity::Number, 1.0)],
            Self::Beat => &[(Quantity::Beats, 1.0), (Quantity::Number, 1.0)],
            Self::Watt => &[(Quantity::Watts, 1.0), (Quantity::Number, 1.0)],
            Self::Millisecond => &[(Quantity::Milliseconds, 1.0), (Quantity::Number, 1.0)],
            Self::Kilogram => &[(Quantity::Kilograms, 1.0), (Quantity::Number, 1.0)],
            Self::Other => &[(Quantity::Own, 1.0), (Quantity::Number, 1.0)],
        }
    }

    /// Returns the quantity that this unit measures, and the factor from this unit to the quantity's base unit.
    pub(crate) const fn base_quantity(self) -> (Quantity, f64) {
        match self {
            Self::None | Self::Thousand => (Quantity::Number, 1.0),
            Self::Percent => (Quantity::Percent, 1.0),
            Self::Second => (Quantity::Seconds, 1.0),
            Self::Minute => (Quantity::Seconds, 60.0),
            Self::Hour => (Quantity::Seconds, 3600.0),
            Self::Metre => (Quantity::Metres, 1.0),
            Self::Kilometre => (Quantity::Metres, 1000.0),
            Self::Beat => (Quantity::Beats, 1.0),
            Self::Watt => (Quantity::Watts, 1.0),
            Self::Millisecond => (Quantity::Milliseconds, 1.0),
            Self::Kilogram => (Quantity::Kilograms, 1.0),
            Self::Other => (Quantity::Own, 1.0),
        }
    }
}
