//! Named limits of training data. Holds numbers only.

/// Maximum bytes of one file. A larger file is refused with `file_too_large`.
pub const FILE_BYTES: usize = 64 * 1024 * 1024;
/// Maximum bytes of a JSON or YAML file, which needs up to ten times its size in memory. A larger file is refused with
/// `file_too_large`.
pub const DATA_FILE_BYTES: usize = 16 * 1024 * 1024;
/// Maximum files of one reading, ordered by name. Further files are not read: `too_many_files`.
pub const FILES: usize = 4_000;
/// Maximum FIT files chained in one file. A file with more is refused with `fit_chain`.
pub const FIT_SEGMENTS: usize = 1_000;
/// Maximum samples of one activity: two days at one sample a second. A file with more is refused with
/// `too_many_samples`.
pub const SAMPLES: usize = 200_000;
/// Maximum samples and laps in one file. A file with more is refused with `too_many_samples`.
pub const FILE_SAMPLES: usize = 400_000;
/// Maximum samples of one reading, which are held in memory. A file beyond it is refused with `too_many_samples`.
pub const SEASON_SAMPLES: usize = 5_000_000;
/// Maximum activities of one reading, before duplicates are merged. A file beyond it is refused with
/// `too_many_activities`.
pub const ACTIVITIES: usize = 20_000;
/// Maximum days of loads and weeks: forty years. Older days are ignored.
pub const DAYS: usize = 15_000;
/// Maximum daily measures of one reading. A file beyond it is refused with `too_many_days`.
pub const DAY_VALUES: usize = 180_000;
/// Maximum rows of a table. A table with more is refused with `too_many_activities`.
pub const CSV_ROWS: usize = 20_000;
/// Maximum columns of a table, and developer fields of a FIT file. The table is refused with `csv_header`; further
/// fields are not listed.
pub const CSV_COLUMNS: usize = 100;
/// Maximum bytes of one cell, or of the text of an XML element. A file with a longer one is refused with `bad_number`.
pub const CELL_CHARS: usize = 4_000;
/// Maximum nesting in XML, JSON and YAML. A file with deeper nesting is refused with `too_nested`.
pub const NESTING: usize = 64;
/// Maximum mappings, lists and values of a YAML file. A file with more is refused with `data_syntax`.
pub const YAML_NODES: usize = 2_000_000;
/// Maximum characters of an error or a warning. A longer text is cut.
pub const MESSAGE_CHARS: usize = 300;
/// Maximum characters of the name of a sport. A longer name is cut.
pub const SPORT_CHARS: usize = 40;
/// Maximum warnings of one code in one file that are listed. Further warnings appear only as a number.
pub const PLACES: usize = 20;
/// Maximum warnings that are listed in all. Further warnings appear only as a number.
pub const WARNINGS: usize = 500;
/// Maximum days of one tool call: a year. The call with more fails with `bad_parameter`.
pub const TOOL_DAYS: usize = 366;
/// Maximum weeks of one tool call: two years. The call with more fails with `bad_parameter`.
pub const TOOL_WEEKS: usize = 104;
/// Maximum results of one tool call, or activities of a summary. The call fails with `too_many_results`; older
/// activities appear only as a number.
pub const TOOL_RESULTS: usize = 400;
