//! Named limits of a report. Holds numbers only.

/// Maximum number of numbers and days from tools and people that a report stores as known. Further numbers and days are
/// not stored. If an agent writes a number that is not stored, the number is marked as unknown.
pub const KNOWN: usize = 500_000;
/// Maximum number of digits of a number in an agent's text, if the number is to be looked up. A number with more digits
/// is marked as unknown.
pub const DIGITS: usize = 24;
/// Maximum number of series, stacked parts or zones that a chart draws: there are only so many patterns. The data table
/// of the chart lists all of them.
pub const SERIES: usize = 6;
/// Maximum number of points of a line in a chart, one per day: more than five years. Only the last days are drawn.
pub const POINTS: usize = 2_000;
/// Maximum number of bars of a chart: the weeks of a year. Only the last bars are drawn.
pub const BARS: usize = 53;
/// Maximum number of rows in a chart of shares. Only the last rows are drawn.
pub const ROWS: usize = 26;
/// Largest value that a chart draws. Above it, the arithmetic of an axis is not exact.
pub const DRAWN: f64 = 1e15;
/// Maximum number of inputs that the report lists for one computed number. Further inputs are only counted;
/// `summary.json` lists all of them.
pub const NAMES: usize = 60;
/// Maximum number of quoted numbers that the report lists with their places in the training data. Further numbers are
/// only counted.
pub const FOUND: usize = 1_000;
/// Maximum number of places in the training data that the report lists for one quoted number. Further places are only
/// counted.
pub const PLACES: usize = 3;
