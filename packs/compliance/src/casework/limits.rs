//! The named limits of a case, each with its reason. Holds numbers only.

/// Bytes of one table: half a million transactions are about 50 MiB.
pub const FILE_BYTES: usize = 64 * 1024 * 1024;
/// Transactions of a case: they are held in memory.
pub const TRANSACTIONS: usize = 500_000;
/// Customers of a case.
pub const CUSTOMERS: usize = 20_000;
/// Entries of a watch list.
pub const WATCHED: usize = 20_000;
/// Comparisons of a name with a name of the watch list: about ten seconds.
pub const COMPARISONS: usize = 20_000_000;
/// Columns of a table.
pub const COLUMNS: usize = 100;
/// Bytes of one cell: what is longer is no value.
pub const CELL_BYTES: usize = 1_000;
/// Further names of one entry of a watch list.
pub const ALIASES: usize = 20;
/// Problems that are told one by one: those beyond are counted.
pub const PROBLEMS: usize = 50;
/// Bytes of a file of rules.
pub const RULES_BYTES: usize = 64 * 1024;
/// Findings that a report lists: those beyond are counted by rule, the least grave ones.
pub const FINDINGS: usize = 150;
/// Rows that a finding lists: those beyond are counted.
pub const ROWS: usize = 20;
/// Lines that an agent is told of one query.
pub const QUERY_LINES: usize = 50;
