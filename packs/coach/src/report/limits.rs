//! Named limits of a report. Holds numbers only.

/// Maximum known numbers and days of a report. Further ones are marked where an agent writes them.
pub const KNOWN: usize = 500_000;
/// Maximum digits of a written number that is compared. A longer number is marked.
pub const DIGITS: usize = 24;
/// Maximum series, stacked parts or zones of a chart, as many as there are patterns. The table has them all.
pub const SERIES: usize = 6;
/// Maximum days of a line: more than five years. The last days are shown.
pub const POINTS: usize = 2_000;
/// Maximum bars of a chart: the weeks of a year. The last bars are shown.
pub const BARS: usize = 53;
/// Maximum rows of shares. The last rows are shown.
pub const ROWS: usize = 26;
/// Largest value that is drawn. Beyond it the arithmetic of an axis is no longer exact.
pub const DRAWN: f64 = 1e15;
/// Maximum inputs listed for a computed number. Further inputs appear only as a number; `summary.json` has them all.
pub const NAMES: usize = 60;
/// Maximum numbers of the texts listed with their places in the training data. Further numbers appear only as a count.
pub const FOUND: usize = 1_000;
/// Maximum places listed for each such number. Further places appear only as a number.
pub const PLACES: usize = 3;
