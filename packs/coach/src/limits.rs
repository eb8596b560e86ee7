//! Every limit of the coach's tools and screens, by name. `training/limits.rs` has the limits of training data,
//! `report/limits.rs` has the limits of the report.

/// Maximum bytes of the training files of a workspace: about three years of daily training. The newest files are read;
/// the others are `left_out`.
pub const TRAINING_FILES_BYTES: u64 = 128 * 1024 * 1024;
/// Maximum nesting of the folders of training files; each level holds a handle. Deeper files are not read: `too_deep`.
pub const TRAINING_DEPTH: usize = 16;
/// Maximum bytes of a tool result for an analyst. The oldest entries appear only as a number.
pub const TRAINING_BYTES: usize = 256 * 1024;
/// Maximum unread files that a tool result lists for an analyst. The others appear as a number for each code.
pub const TRAINING_PROBLEMS: usize = 20;
/// Maximum unread files that the terminal and the report list for the athlete. The others appear as a number for each
/// code.
pub const TRAINING_TOLD: usize = 400;
/// Maximum weeks of one `plan_weeks` call: half a year. The call with more fails with `bad_arguments`.
pub const PLANNED_WEEKS: usize = 26;

/// Maximum computed numbers in the table of a report. Further numbers appear only as a count; `summary.json` has them
/// all.
pub const REPORT_ROWS: usize = 400;
/// Maximum bytes of the configuration of the coach. With a larger file no run starts.
pub const COACH_CONFIG_BYTES: u64 = 256 * 1024;
/// Maximum of `activities_days` and `metrics_days`: a year. With a higher number no run starts.
pub const CONFIG_DAYS: u16 = 366;
/// Maximum unread files that are named before the start. The others appear only as a number; the report has them all.
pub const NOT_READ_NAMED: usize = 10;
