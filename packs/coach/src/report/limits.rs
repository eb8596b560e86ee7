//! The named limits of a report, each with its reason. Holds numbers only.

/// Numbers and days that are known: what is beyond is not known, and marked where an agent writes it.
pub const KNOWN: usize = 500_000;
/// Digits of a written number that is compared: a longer one is marked.
pub const DIGITS: usize = 24;
/// Series, stacked parts or zones that are drawn: there are as many patterns. The others are in the table.
pub const SERIES: usize = 6;
/// Points of a series: more than five years, a day each. The last ones are kept.
pub const POINTS: usize = 2_000;
/// Bars: a year, a week each. The last ones are kept.
pub const BARS: usize = 53;
/// Rows of shares. The last ones are kept.
pub const ROWS: usize = 26;
/// Largest value that is drawn: beyond it the arithmetic of an axis is no longer exact.
pub const DRAWN: f64 = 1e15;
/// Inputs of a computed number that are named: those of all rows together stay within a page that a browser shows.
pub const NAMES: usize = 60;
/// Numbers of the texts that are listed with their places in the training data: a row is three hundred bytes.
pub const FOUND: usize = 1_000;
/// Places that are named of such a number: the same pulse stands on many days.
pub const PLACES: usize = 3;
