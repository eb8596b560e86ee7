//! Named limits of a case. Holds numbers only.

/// Maximum bytes of one table. A larger table is refused with `file_too_large`.
pub const FILE_BYTES: usize = 64 * 1024 * 1024;
/// Maximum transactions of a case, which are held in memory. A case with more is refused with `too_many_rows`.
pub const TRANSACTIONS: usize = 500_000;
/// Maximum customers of a case. A case with more is refused with `too_many_rows`.
pub const CUSTOMERS: usize = 20_000;
/// Maximum entries of the watch list. A case with more is refused with `too_many_rows`.
pub const WATCHED: usize = 20_000;
/// Maximum comparisons with names of the watch list, about ten seconds. A case with more is refused with
/// `too_many_names`.
pub const COMPARISONS: usize = 20_000_000;
/// Maximum columns of a table. A table with more is refused with `cells`.
pub const COLUMNS: usize = 100;
/// Maximum bytes of one cell. A case with a longer cell is refused with `cell_too_long`.
pub const CELL_BYTES: usize = 1_000;
/// Maximum aliases of one entry of the watch list. A case with more is refused with `cell_too_long`.
pub const ALIASES: usize = 20;
/// Maximum problems that are listed. Further problems appear only as a number.
pub const PROBLEMS: usize = 50;
/// Maximum bytes of `rules.yaml`. A larger file is refused with `bad_rules`.
pub const RULES_BYTES: usize = 64 * 1024;
/// Maximum findings of a report, the gravest first. The others appear as a number for each rule.
pub const FINDINGS: usize = 150;
/// Maximum rows that a finding lists. Further rows appear only as a number.
pub const ROWS: usize = 20;
/// Maximum groups that a query returns to an agent, the largest first. The others appear only as a number.
pub const QUERY_LINES: usize = 50;
