//! Problems in training data. Each problem has a stable code, a place, and advice for the owner of the data.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use self::Severity::{Error, Warning};
use crate::training::limits;
use crate::training::model::Source;
use holdshort_tools::named;

/// Severity of a problem in training data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// None of the training file's content is used.
    Error,
    /// The training file is used, except for the reported value, row or record.
    Warning,
}

/// Severity of a problem in training data, and one sentence of advice for the owner of the data.
struct Row(Severity, &'static str);

named! {
    /// Reason why training data was not used. Texts and names are stable: later versions do not change them.
    Code: Row;
    FileTooLarge "file_too_large" (Error, "Split the file, or export fewer days.")
    TooManyFiles "too_many_files" (Error, "Name fewer files.")
    TooManyActivities "too_many_activities" (Error, "Name files that cover fewer years.")
    TooManyDays "too_many_days" (Error, "Name files that cover fewer years.")
    TooManySamples "too_many_samples" (Error, "Split the recording, or record at a longer interval.")
    TooNested "too_nested" (Error, "Export the file again: its elements are nested too deeply.")
    LeftOut "left_out" (Error, "Remove old files: only the newest files were read, up to the limit.")
    Link "link" (Error, "Copy the files into the folder: links are not followed.")
    TooDeep "too_deep" (Error, "Move the files into a folder that is nested less deeply.")
    UnknownFormat "unknown_format" (Error, "Unpack or export it as .fit, .gpx, .tcx, .csv, .json, .yaml or .yml, or move it elsewhere.")
    NotUtf8 "not_utf8" (Error, "Save the file as UTF-8.")
    FitHeader "fit_header" (Error, "Export the file again: it has no valid FIT header.")
    FitCrc "fit_crc" (Error, "Copy the file from the device again: its checksum is wrong.")
    FitRecord "fit_record" (Error, "Copy the file from the device again: it contains an invalid record.")
    FitChain "fit_chain" (Error, "Split the file: it contains too many chained FIT files.")
    FitTruncated "fit_truncated" (Warning, "Copy the file from the device again: its end is missing. The rest was read.")
    FitUnfinished "fit_unfinished" (Warning, "No action needed if the device lost its power: it did not \
        finish the file. Its records were read.")
    FitPart "fit_part" (Warning, "Copy the file from the device again: one of its parts is damaged. The other parts were read.")
    FitTrailing "fit_trailing" (Warning, "No action needed: bytes after the end of the FIT data were not read.")
    FitDeveloperFields "fit_developer_fields" (Warning, "No action needed: fields of apps on the device were not read.")
    FitNoSession "fit_no_session" (Warning, "No action needed: duration and sport were read from the records.")
    XmlSyntax "xml_syntax" (Error, "Export the file again: it is not well-formed XML.")
    XmlTruncated "xml_truncated" (Warning, "Export the file again: its end is missing. The rest was read.")
    NoActivity "no_activity" (Warning, "No action needed if the file is a route or a workout: it has no recorded activity.")
    CsvHeader "csv_header" (Error, "Name the columns in the first line, with `date` for days or `start` for \
        activities, or name the columns with `--columns`.")
    CsvUnit "csv_unit" (Error, "Add the unit to the name of the column, as in `distance_km`.")
    CsvNoUnit "csv_no_unit" (Warning, "Set `athlete.units` in the configuration to metric or statute. The column was not read.")
    CsvEncoding "csv_encoding" (Warning, "No action needed if the texts are right: the file is not UTF-8, and was read as Windows-1252, which includes Latin-1.")
    CsvColumnTwice "csv_column_twice" (Error, "Keep only one of the columns with the same content.")
    CsvDecimalComma "csv_decimal_comma" (Warning, "Separate the columns with `;` if numbers have a decimal comma. The cell was left out.")
    CsvMixedDecimals "csv_mixed_decimals" (Warning, "Use one decimal mark in a file, and no thousands separators. The cell was left out.")
    CsvUnsureDecimal "csv_unsure_decimal" (Warning, "Say with `--columns decimal=,` (or `decimal=.`) which mark is the decimal mark: the numbers of the file do not show it. The cell was left out.")
    CsvAmbiguousTime "csv_ambiguous_time" (Warning, "Write hours, minutes and seconds, as 1:05:00. The cell was left out.")
    CsvUnknownColumn "csv_unknown_column" (Warning, "No action needed, or give the column a header of the reference. The column was not read.")
    CsvRow "csv_row" (Warning, "Give the row one cell for each column of the header.")
    BadDate "bad_date" (Warning, "Write dates as 2026-03-01, and starts as 2026-03-01T07:30:00+01:00.")
    NoSuchDate "no_such_date" (Warning, "Correct the date: it does not exist.")
    BadNumber "bad_number" (Warning, "Write only a number into the cell.")
    Implausible "implausible" (Warning, "Check the value and its unit. The value was left out.")
    NoTime "no_time" (Warning, "Export the file again with times. Data without a time was left out.")
    OutsideActivity "outside_activity" (Warning, "Check the clock of the device. These samples were left out.")
    LapsIncomplete "laps_incomplete" (Warning, "No action needed: the samples are used instead, if there are any.")
    NoDuration "no_duration" (Warning, "Give the activity a duration. It was left out.")
    DataSyntax "data_syntax" (Error, "Correct the file: it is not valid JSON or YAML.")
    DataShape "data_shape" (Error, "Write the file as a mapping whose keys are the ten parts.")
    DataUnknownPart "data_unknown_part" (Warning, "No action needed, or rename the part to a name of the reference. The part was not read.")
    DataValue "data_value" (Warning, "Correct the value: its type does not match its key.")
    OffsetAssumed "offset_assumed" (Warning, "Set the athlete's time zone, or export times with their offset. The activity may be on the wrong day.")
    LocalTimeSkipped "local_time_skipped" (Warning, "Correct the start, or add its offset. The clock skipped this time, so a later time was used.")
    LocalTimeTwice "local_time_twice" (Warning, "Add the offset to the start. The clock showed this time twice; the first one was used.")
    OffsetChanged "offset_changed" (Warning, "No action needed: the offset from UTC changed in the season. Each activity belongs to its local day.")
    NoHeartRate "no_heart_rate" (Warning, "Wear a sensor, or record the exertion: the activity has no load by heart rate.")
    SeveralSports "several_sports" (Warning, "No action needed: each sport of the file is a separate activity.")
    SampleTwice "sample_twice" (Warning, "No action needed: samples of the same moment were merged into one.")
    DuplicateActivity "duplicate_activity" (Warning, "No action needed: the activity is in several files and was counted once.")
    DuplicateDay "duplicate_day" (Warning, "No action needed: the values are equal and were counted once.")
    ConflictingDay "conflicting_day" (Warning, "Delete the wrong value from its table. Two values of the \
        same day differ, so neither was used.")
    ConflictingRecording "conflicting_recording" (Warning, "Write the right value of the day into a table \
        of days, which has precedence. Two values of the same day differ, so neither was used.")
    ConflictingAthlete "conflicting_athlete" (Warning, "Set the value under `athlete` in the configuration. \
        Several files state different values, and the first file by name was used.")
    OverriddenDay "overridden_day" (Warning, "No action needed: two sources state different values, and the \
        one with precedence was used.")
}

impl Code {
    pub const fn severity(self) -> Severity {
        self.row().0
    }

    /// Returns one sentence of advice about the problem for the owner of the training data.
    pub const fn what_to_do(self) -> &'static str {
        self.row().1
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One problem in training data, with its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    pub source: Source,
    pub code: Code,
    /// Description of the problem in training data, which quotes the wrong value.
    pub message: String,
}

impl Problem {
    /// Creates a problem. The message may contain text of a training file, so it is shortened, and its control
    /// characters are replaced.
    pub(crate) fn new(code: Code, source: Source, message: impl Into<String>) -> Self {
        let message: String = message.into();
        let plain = message.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c });
        Self { source, code, message: plain.take(limits::MESSAGE_CHARS).collect() }
    }

    pub const fn severity(&self) -> Severity {
        self.code.severity()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({}). {}", self.source, self.message, self.code, self.code.what_to_do())
    }
}

/// Collected problems in training data, sorted by file, code and place. All errors are kept, but only the first
/// warnings for each code and file. A file with a problem in every line therefore does not displace the problems of
/// other files.
#[derive(Default)]
pub(crate) struct Problems {
    errors: BTreeSet<Problem>,
    warnings: BTreeMap<Kind, BTreeSet<Problem>>,
    held: usize,
    counts: BTreeMap<Kind, usize>,
    more_warnings: usize,
}

/// Name of a training file, and code of a problem in the file.
type Kind = (Arc<str>, Code);

impl Problems {
    /// Adds a problem in training data. Keeps the first [`limits::PLACES`] warnings by place for each code and file,
    /// and [`limits::WARNINGS`] in total. Further warnings are only counted, so that a faulty file cannot fill the
    /// memory.
    pub(crate) fn push(&mut self, problem: Problem) {
        let kind = (Arc::clone(&problem.source.file), problem.code);
        if problem.severity() == Error {
            if self.errors.insert(problem) {
                *self.counts.entry(kind).or_default() += 1;
            }
            return;
        }
        let of_kind = self.warnings.entry(kind.clone()).or_default();
        if !of_kind.insert(problem) {
            return;
        }
        self.held += 1;
        *self.counts.entry(kind).or_default() += 1;
        if of_kind.len() > limits::PLACES {
            of_kind.pop_last();
            self.drop_one();
        }
        if self.held > limits::WARNINGS
            && let Some(mut last) = self.warnings.last_entry()
        {
            last.get_mut().pop_last();
            if last.get().is_empty() {
                last.remove();
            }
            self.drop_one();
        }
    }

    const fn drop_one(&mut self) {
        self.held -= 1;
        self.more_warnings += 1;
    }

    /// Returns the collected problems sorted by file and place, the number of problems for each file and code, and the
    /// number of warnings that were only counted.
    pub(crate) fn finish(self) -> (Vec<Problem>, BTreeMap<Kind, usize>, usize) {
        let warnings = self.warnings.into_values().flatten();
        let mut all: Vec<Problem> = self.errors.into_iter().chain(warnings).collect();
        all.sort();
        (all, self.counts, self.more_warnings)
    }
}
