//! Every limit of the coach's tools and screens, by name and with its reason. `training/limits.rs` has the limits of
//! training data, `report/limits.rs` has the limits of the report.

/// Total bytes of all training files: about three years of daily training. All files are in memory while they are read.
pub const TRAINING_FILES_BYTES: u64 = 128 * 1024 * 1024;
/// Depth of nested folders that are searched for training data. Each level holds a directory handle.
pub const TRAINING_DEPTH: usize = 16;
/// Bytes of a tool result for an analyst: the part of a model's context that other content leaves free.
pub const TRAINING_BYTES: usize = 256 * 1024;
/// Codes of unread files that a tool result lists for an analyst.
pub const TRAINING_PROBLEMS: usize = 20;
/// Codes of unread files that the terminal and the report list for the athlete.
pub const TRAINING_TOLD: usize = 400;
/// Weeks of a plan that the report draws: half a year.
pub const PLANNED_WEEKS: usize = 26;

/// Rows of the table of computed numbers in the report; the summary has them all.
pub const REPORT_ROWS: usize = 400;
/// Bytes of a configuration: contexts are a few pages at most.
pub const COACH_CONFIG_BYTES: u64 = 256 * 1024;
/// Days of data that a configuration may request: a year.
pub const CONFIG_DAYS: u16 = 366;
/// Files that are not read and are named in the line before the agents start; the others are counted.
pub const NOT_READ_NAMED: usize = 10;
