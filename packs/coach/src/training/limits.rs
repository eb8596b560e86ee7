//! The named limits of training data, each with its reason. Holds numbers only.

/// Bytes of one file. A day of one-second samples in TCX, the most verbose format, is about 40 MiB.
pub const FILE_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of a data file, JSON or YAML. It is held in memory whole, at up to ten times its size. A year is about 5 MiB.
pub const DATA_FILE_BYTES: usize = 16 * 1024 * 1024;
/// Files of one reading: ten years with an activity a day.
pub const FILES: usize = 4_000;
/// FIT files chained in one file: about three years of a device that is read out once a day.
pub const FIT_SEGMENTS: usize = 1_000;
/// Samples of one activity: two days and seven hours at one sample a second.
pub const SAMPLES: usize = 200_000;
/// Samples and laps of all activities in one file: two activities of the largest size.
pub const FILE_SAMPLES: usize = 400_000;
/// Samples of all activities of one reading, which are held in memory.
pub const SEASON_SAMPLES: usize = 5_000_000;
/// Activities of one reading, before activities that are in several files are merged.
pub const ACTIVITIES: usize = 20_000;
/// Days of loads and of weeks: forty years.
pub const DAYS: usize = 15_000;
/// Values of days in one reading: all measures of all days.
pub const DAY_VALUES: usize = 180_000;
/// Rows of a table, below its header.
pub const CSV_ROWS: usize = 20_000;
/// Columns of a table.
pub const CSV_COLUMNS: usize = 100;
/// Bytes of one cell, or of the text of an element. A longer text is not a measure.
pub const CELL_CHARS: usize = 4_000;
/// Depth of nested elements in XML, JSON and YAML.
pub const NESTING: usize = 64;
/// Mappings, lists and scalars of a YAML file.
pub const YAML_NODES: usize = 2_000_000;
/// Characters of a problem's message, which quotes the data.
pub const MESSAGE_CHARS: usize = 300;
/// Characters of the name of a sport, which is part of an activity's id.
pub const SPORT_CHARS: usize = 40;
/// Warnings of one code in one file that are listed. Further warnings are only counted.
pub const PLACES: usize = 20;
/// Warnings that are listed in all. Further warnings are only counted.
pub const WARNINGS: usize = 500;
/// Days that one tool call covers: a year.
pub const TOOL_DAYS: usize = 366;
/// Weeks that one tool call covers: two years.
pub const TOOL_WEEKS: usize = 104;
/// Results of one tool call, and activities of a summary: a model reads them all.
pub const TOOL_RESULTS: usize = 400;
