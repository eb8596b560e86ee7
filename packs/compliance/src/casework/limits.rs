//! The named limits of a case, each with its reason. Holds numbers only.

/// Bytes of one table. Half a million transactions are about 50 MiB.
pub const FILE_BYTES: usize = 64 * 1024 * 1024;
/// Transactions of a case, which are held in memory.
pub const TRANSACTIONS: usize = 500_000;
/// Customers of a case.
pub const CUSTOMERS: usize = 20_000;
/// Entries of a watch list.
pub const WATCHED: usize = 20_000;
/// Comparisons of a name with a name of the watch list. This many take about ten seconds.
pub const COMPARISONS: usize = 20_000_000;
/// Columns of a table.
pub const COLUMNS: usize = 100;
/// Bytes of one cell. A longer cell is not a value.
pub const CELL_BYTES: usize = 1_000;
/// Aliases of one entry of a watch list.
pub const ALIASES: usize = 20;
/// Problems that are listed. Further problems are only counted.
pub const PROBLEMS: usize = 50;
/// Bytes of a file of rules.
pub const RULES_BYTES: usize = 64 * 1024;
/// Findings that a report lists, the gravest first. The others are counted by rule.
pub const FINDINGS: usize = 150;
/// Rows that a finding lists. Further rows are only counted.
pub const ROWS: usize = 20;
/// Lines of one query that an agent gets.
pub const QUERY_LINES: usize = 50;
