//! Named limits of the coach's tools and of its part of the command `run`. `training/limits.rs` has the limits of
//! training data, `report/limits.rs` has the limits of the report.

/// Maximum bytes of all training files of a workspace together, which is about three years of daily training. The
/// newest files are read. Older files are not read, and are reported as `left_out`.
pub const TRAINING_FILES_BYTES: u64 = 128 * 1024 * 1024;
/// Maximum depth of nested folders of training files. The limit exists because the reader keeps one file handle open
/// per level. Deeper files are not read and are reported as `too_deep`.
pub const TRAINING_DEPTH: usize = 16;
/// Maximum bytes of a tool result for an analyst. From a larger result, the parts of the data files are left out, then
/// the oldest entries. The result states how many entries are left out.
pub const TRAINING_BYTES: usize = 256 * 1024;
/// Maximum number of unread files that a tool result lists for an analyst. All other unread files are counted by
/// problem code.
pub const TRAINING_PROBLEMS: usize = 20;
/// Maximum number of unread files that the terminal and the report list for the athlete. All other unread files are
/// counted by problem code.
pub const TRAINING_TOLD: usize = 400;
/// Maximum number of weeks in one `plan_weeks` call: half a year. A call with more weeks fails with `bad_arguments`.
pub const PLANNED_WEEKS: usize = 26;

/// Maximum number of computed numbers that the table in the coach's report lists. Further numbers are counted, but not
/// listed. `summary.json` lists all of them.
pub const REPORT_ROWS: usize = 400;
/// Maximum bytes of `coach.yaml`. A larger file is rejected before the run starts.
pub const COACH_CONFIG_BYTES: u64 = 256 * 1024;
/// Maximum value of `activities_days` and of `metrics_days`: a year. A configuration with a higher value is rejected
/// before the run starts.
pub const CONFIG_DAYS: u16 = 366;
/// Maximum number of unread files that the terminal lists before the run starts. Further unread files are only counted
/// there. The report lists them.
pub const NOT_READ_NAMED: usize = 10;
