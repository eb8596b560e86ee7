//! Every limit of the coach's tools and screens, by name and with its reason. `training/limits.rs` has the limits of
//! training data, `report/limits.rs` those of the report.

/// Bytes of all files of training data: some three years of a person who trains daily. They are held while they are read.
pub const TRAINING_FILES_BYTES: u64 = 128 * 1024 * 1024;
/// Folders in one another that are looked into for training data; each holds a handle.
pub const TRAINING_DEPTH: usize = 16;
/// Bytes of what an analyst is given: what fits a model's context beside the rest.
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
/// Days that agents may be told to look at: a year.
pub const CONFIG_DAYS: u16 = 366;
/// Files that are not read and are named in the line before the agents start; the others are counted.
pub const NOT_READ_NAMED: usize = 10;
