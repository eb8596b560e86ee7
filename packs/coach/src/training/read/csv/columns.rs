//! Determines the measure and the unit of a table column from its header.

use crate::training::measure::{Level, Measure};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Column {
    Date,
    Start,
    Sport,
    /// The column contains text for people, such as `name` or `notes`, which is not read.
    Remark,
    /// The column contains a number of the measure. The factor converts the unit of the column to the unit of the
    /// measure.
    Number(Measure, f64),
    /// The column contains a duration such as `1:02:03`. The duration of an activity may also be written as `62:03`,
    /// and sleep as `7:30`.
    Clock(Measure),
    /// The column contains a number in the unit of the measure. The number is used only if the row has no other value
    /// of this measure.
    Fallback(Measure),
    /// The column contains a distance in an export without units. The unit is in the settings of the exporting account.
    DistanceWithoutUnit,
}

impl Column {
    /// Returns the content of a table column whose header is in `docs/training.md`.
    pub(super) fn from_header(header: &str) -> Result<Self, HeaderError> {
        let name = normal(header);
        if let Some((_, column)) = WORDS.iter().find(|(word, _)| *word == name) {
            return Ok(*column);
        }
        // The longest name is tried first: `hrv_rmssd_ms` must not be read as `hrv` in the unit `rmssd_ms`.
        let mut rows: Vec<&Row> = NUMBERS.iter().filter(|row| starts_with(&name, row.0)).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.0.len()));
        let Some(Row(known, measure, units)) = rows.first() else { return Err(HeaderError::Unknown) };
        let unit = name[known.len()..].trim_start_matches('_');
        let found = units.iter().find(|(each, _)| *each == unit);
        found.map(|(_, factor)| Column::Number(*measure, *factor)).ok_or_else(|| {
            let taken: Vec<String> = units.iter().map(|(unit, _)| joined(known, unit)).collect();
            HeaderError::Unit(taken.join(", "))
        })
    }

    /// Returns the content of a table column without the unit, to recognise two columns of the same measure.
    pub(super) const fn kind(self) -> Self {
        match self {
            Self::Number(measure, _) => Self::Clock(measure),
            Self::DistanceWithoutUnit => Self::Clock(Measure::Distance),
            Self::Clock(_) | Self::Fallback(_) | Self::Date | Self::Start | Self::Sport | Self::Remark => {
                self
            }
        }
    }

    /// Returns the kind of table (days or activities) in which the column can be. Returns `None` for a column of both
    /// kinds.
    pub(super) const fn level(self) -> Option<Level> {
        match self {
            Self::Date => Some(Level::Day),
            Self::Start | Self::Sport | Self::DistanceWithoutUnit => Some(Level::Activity),
            Self::Remark => None,
            Self::Number(measure, _) | Self::Clock(measure) | Self::Fallback(measure) => {
                Some(measure.level())
            }
        }
    }
}

#[derive(Debug, PartialEq)]
pub(super) enum HeaderError {
    Unknown,
    /// The header of the column names a measure, but no known unit. The text lists the accepted headers.
    Unit(String),
}

/// Name of a measure in headers of tables, the measure, and its units, each with a factor.
struct Row(&'static str, Measure, &'static [(&'static str, f64)]);

/// Length of an international mile in metres, exact by definition.
pub(super) const MILE_M: f64 = 1_609.344;
/// Length of a yard in metres, exact by definition.
pub(super) const YARD_M: f64 = 0.9144;
const POUND_KG: f64 = 0.453_592_37;

/// Headers of numeric table columns. The unit `""` means that the header needs no unit.
const NUMBERS: [Row; 13] = [
    Row("duration", Measure::Duration, &[("s", 1.0), ("min", 60.0), ("h", 3_600.0)]),
    Row("distance", Measure::Distance, &[("m", 1.0), ("km", 1_000.0), ("mi", MILE_M)]),
    Row("avg_hr", Measure::HeartRateAverage, &[("bpm", 1.0), ("", 1.0)]),
    Row("max_hr", Measure::HeartRateMax, &[("bpm", 1.0), ("", 1.0)]),
    Row("avg_power", Measure::PowerAverage, &[("w", 1.0), ("", 1.0)]),
    Row("np", Measure::PowerNormalised, &[("w", 1.0), ("", 1.0)]),
    Row("rpe", Measure::Exertion, &[("", 1.0), ("0_10", 1.0)]),
    Row("resting_hr", Measure::RestingHeartRate, &[("bpm", 1.0), ("", 1.0)]),
    Row("hrv", Measure::Hrv, &[("ms", 1.0), ("s", 1_000.0)]),
    Row("hrv_rmssd", Measure::Hrv, &[("ms", 1.0), ("s", 1_000.0)]),
    Row("sleep", Measure::Sleep, &[("h", 1.0), ("min", 1.0 / 60.0), ("s", 1.0 / 3_600.0)]),
    Row("weight", Measure::Weight, &[("kg", 1.0), ("lb", POUND_KG)]),
    Row("stress", Measure::Stress, &[("", 1.0), ("0_100", 1.0)]),
];

const WORDS: [(&str, Column); 9] = [
    ("date", Column::Date),
    ("start", Column::Start),
    ("sport", Column::Sport),
    ("name", Column::Remark),
    ("title", Column::Remark),
    ("notes", Column::Remark),
    ("duration_hms", Column::Clock(Measure::Duration)),
    ("sleep_hms", Column::Clock(Measure::Sleep)),
    ("comment", Column::Remark),
];

/// Converts the header of a table column for comparison with the headers of other programs: lower case, single blanks
/// between words, no trademark signs.
pub(super) fn plain(header: &str) -> String {
    let kept = header.chars().filter(|c| !['®', '™'].contains(c)).map(|c| if c == '’' { '\'' } else { c });
    let lower = kept.collect::<String>().to_lowercase();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Converts the header of a table column to the form in `docs/training.md`: `Distance (km)` becomes `distance_km`.
fn normal(header: &str) -> String {
    let spaced: String =
        header.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join("_")
}

fn joined(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name}_{unit}") }
}

fn starts_with(name: &str, known: &str) -> bool {
    name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// Returns all accepted headers of table columns, for `docs/training.md`.
pub(super) fn accepted_headers() -> Vec<(String, Option<Measure>)> {
    let words = WORDS.iter().map(|(word, column)| {
        let measure = match column {
            Column::Clock(measure) | Column::Number(measure, _) => Some(*measure),
            Column::Date
            | Column::Start
            | Column::Sport
            | Column::Remark
            | Column::Fallback(_)
            | Column::DistanceWithoutUnit => None,
        };
        ((*word).to_owned(), measure)
    });
    let numbers = NUMBERS.iter().flat_map(|Row(name, measure, units)| {
        units.iter().map(|(unit, _)| (joined(name, unit), Some(*measure)))
    });
    words.chain(numbers).collect()
}
