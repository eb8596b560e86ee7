//! Named limits of training data. Holds numbers only.

/// Maximum bytes of one training file. A larger file is refused with `file_too_large`.
pub const FILE_BYTES: usize = 64 * 1024 * 1024;
/// Maximum bytes of a JSON or YAML file. The parser needs up to ten times the size of the file in memory. A larger file
/// is refused with `file_too_large`.
pub const DATA_FILE_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of training files that are read together. The files are sorted by name. Further files are not read
/// and are reported as `too_many_files`.
pub const FILES: usize = 4_000;
/// Maximum number of FIT files that are chained in one file. A file with more is refused with `fit_chain`.
pub const FIT_SEGMENTS: usize = 1_000;
/// Maximum number of broken parts in a chain of FIT files. After that number, the rest of the file is not read.
pub const FIT_BROKEN_PARTS: usize = 16;
/// Maximum number of samples of one activity: two days at one sample per second. A file with more is refused with
/// `too_many_samples`.
pub const SAMPLES: usize = 200_000;
/// Maximum number of samples and laps in one training file. A file with more is refused with `too_many_samples`.
pub const FILE_SAMPLES: usize = 400_000;
/// Maximum number of samples in all training files together, because all samples are in memory. The file that exceeds
/// the limit is refused with `too_many_samples`.
pub const SEASON_SAMPLES: usize = 5_000_000;
/// Maximum number of activities in all training files together, before duplicates are merged. The file that exceeds the
/// limit is refused with `too_many_activities`.
pub const ACTIVITIES: usize = 20_000;
/// Maximum number of days for which loads and weeks are computed: forty years. Older days are ignored.
pub const DAYS: usize = 15_000;
/// Maximum number of daily measures in all training files together. The file that exceeds the limit is refused with
/// `too_many_days`.
pub const DAY_VALUES: usize = 180_000;
/// Maximum number of rows of a table of training data. A table with more rows is refused with `too_many_activities`.
pub const CSV_ROWS: usize = 20_000;
/// Maximum number of columns of a table of training data, and of developer fields of a FIT file. A table with more
/// columns is refused with `csv_header`. Further developer fields are not listed.
pub const CSV_COLUMNS: usize = 250;
/// Maximum number of recordings, started at about the same time, with which a recording of another sport is compared.
/// If there are more, the recordings are treated as different sessions.
pub const SESSION_CANDIDATES: usize = 64;
/// Maximum bytes of a table cell, or of the text of an XML element. A longer text is cut. A cut number is left out and
/// reported as `bad_number`.
pub const CELL_CHARS: usize = 4_000;
/// Maximum depth of nesting in training files in XML, JSON and YAML. A file with deeper nesting is refused with
/// `too_nested`.
pub const NESTING: usize = 64;
/// Maximum number of mappings, lists and values of a YAML file with training data. A file with more is refused with
/// `data_syntax`.
pub const YAML_NODES: usize = 2_000_000;
/// Maximum characters in the message of an error or a warning about training data. A longer message is cut.
pub const MESSAGE_CHARS: usize = 300;
/// Maximum characters of the name of a sport. A longer name is cut.
pub const SPORT_CHARS: usize = 40;
/// Maximum number of warnings about training data that are listed per code and file. Further warnings are only counted.
pub const PLACES: usize = 20;
/// Maximum number of warnings about training data that are listed in total. Further warnings are only counted.
pub const WARNINGS: usize = 500;
/// Maximum number of days in one tool call: a year. A call with more days fails with `bad_parameter`.
pub const TOOL_DAYS: usize = 366;
/// Maximum number of weeks in one tool call: two years. A call with more weeks fails with `bad_parameter`.
pub const TOOL_WEEKS: usize = 104;
/// Maximum number of results of one tool call, and of activities in a summary. A call with more results fails with
/// `too_many_results`. In a summary, older activities are only counted.
pub const TOOL_RESULTS: usize = 400;
