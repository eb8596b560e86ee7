//! The named limits of a report, each with its reason. Holds numbers only.

/// Maximum number of known numbers and days. Further ones are not known, so they are marked where an agent writes them.
pub const KNOWN: usize = 500_000;
/// Digits of a written number that is compared. A longer number is marked.
pub const DIGITS: usize = 24;
/// Series, stacked parts or zones that are drawn: there are as many patterns. The table holds the others.
pub const SERIES: usize = 6;
/// Points of a series: more than five years of days. The last points are kept.
pub const POINTS: usize = 2_000;
/// Bars: one for each week of a year. The last bars are kept.
pub const BARS: usize = 53;
/// Rows of shares. The last rows are kept.
pub const ROWS: usize = 26;
/// Largest value that is drawn. Beyond it the arithmetic of an axis is no longer exact.
pub const DRAWN: f64 = 1e15;
/// Inputs that are named for a computed number. The inputs of all rows together must stay small enough for a browser.
pub const NAMES: usize = 60;
/// Numbers of the texts that are listed with their places in the training data. A row has about 300 bytes.
pub const FOUND: usize = 1_000;
/// Places that are listed for such a number: the same heart rate occurs on many days.
pub const PLACES: usize = 3;
