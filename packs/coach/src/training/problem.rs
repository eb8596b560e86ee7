//! Problems with data: a stable code, the place, and what to do.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use self::Severity::{Error, Warning};
use crate::training::limits;
use crate::training::model::Source;
use holdshort_tools::named;

/// Severity of a problem: the file was refused, or read without the faulty part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The whole file is ignored.
    Error,
    /// The file is used without the named value, row or record.
    Warning,
}

/// Severity, and one sentence for the owner of the data.
struct Row(Severity, &'static str);

named! {
    /// Reason why data is ignored. The texts are stable.
    Code: Row;
    FileTooLarge "file_too_large" (Error, "Split the file, or export fewer days.")
    TooManyFiles "too_many_files" (Error, "Name fewer files.")
    TooManyActivities "too_many_activities" (Error, "Name files of fewer years.")
    TooManyDays "too_many_days" (Error, "Name files of fewer years.")
    TooManySamples "too_many_samples" (Error, "Split the recording, or record with a longer interval.")
    TooNested "too_nested" (Error, "Export the file again: no known program nests so deeply.")
    LeftOut "left_out" (Error, "Put fewer files into the folder, or smaller ones: the newest were read, up to the limit.")
    Link "link" (Error, "Put the files themselves into the folder: links are not followed.")
    TooDeep "too_deep" (Error, "Put the files into a folder that is not so deep in others.")
    UnknownFormat "unknown_format" (Error, "Unpack it or export it as .fit, .gpx, .tcx, .csv, .json, .yaml or .yml, or move it elsewhere if it is no training data.")
    NotUtf8 "not_utf8" (Error, "Save the file as UTF-8.")
    FitHeader "fit_header" (Error, "Export the file again: it does not begin as a FIT file does.")
    FitCrc "fit_crc" (Error, "Copy the file from the device again: its bytes have changed on the way.")
    FitRecord "fit_record" (Error, "Copy the file from the device again: a record in it is not of the format.")
    FitChain "fit_chain" (Error, "Split the file: it is a chain of more FIT files than are read.")
    FitTruncated "fit_truncated" (Warning, "Copy the file from the device again: its end is missing. What is whole was taken.")
    FitTrailing "fit_trailing" (Warning, "Nothing: bytes behind the end of the file were not read.")
    FitDeveloperFields "fit_developer_fields" (Warning, "Nothing: fields of apps on the device were not read.")
    FitNoSession "fit_no_session" (Warning, "Nothing: duration and sport were taken from the records.")
    XmlSyntax "xml_syntax" (Error, "Export the file again: it is not well-formed XML.")
    XmlTruncated "xml_truncated" (Warning, "Export the file again: its end is missing. What is whole was taken.")
    NoActivity "no_activity" (Warning, "Nothing, where the file is a route or a workout: it has no recorded activity.")
    CsvHeader "csv_header" (Error, "Give the first line names of columns, with `date` for days or `start` for activities.")
    CsvUnit "csv_unit" (Error, "Name the unit in the name of the column, as in `distance_km`.")
    CsvColumnTwice "csv_column_twice" (Error, "Keep one of the columns.")
    CsvDecimalComma "csv_decimal_comma" (Warning, "Separate the columns with `;` where numbers have a decimal comma; the cell was left out.")
    CsvMixedDecimals "csv_mixed_decimals" (Warning, "Write all numbers of a file with the same decimal mark, and none with marks for thousands; the cell was left out.")
    CsvAmbiguousTime "csv_ambiguous_time" (Warning, "Write the time with hours, minutes and seconds, as 1:05:00; the cell was left out.")
    CsvUnknownColumn "csv_unknown_column" (Warning, "Nothing, or name the column as the reference does; it was not read.")
    CsvRow "csv_row" (Warning, "Give the row as many cells as the header has names.")
    BadDate "bad_date" (Warning, "Write dates as 2026-03-01 and starts as 2026-03-01T07:30:00+01:00.")
    NoSuchDate "no_such_date" (Warning, "Correct the date: that year has no such day.")
    BadNumber "bad_number" (Warning, "Write a number, and nothing else in its cell.")
    Implausible "implausible" (Warning, "Check the value and its unit; it was left out.")
    NoTime "no_time" (Warning, "Export the file again with its times; what has none was left out.")
    OutsideActivity "outside_activity" (Warning, "Check the clock of the device; these samples were left out.")
    LapsIncomplete "laps_incomplete" (Warning, "Nothing: what follows from the samples was taken, where there are any.")
    NoDuration "no_duration" (Warning, "Give the activity a duration: without one it was left out.")
    DataSyntax "data_syntax" (Error, "Correct the file: it is not the JSON or YAML that its name says.")
    DataShape "data_shape" (Error, "Give the file a mapping with the ten parts at its top.")
    DataUnknownPart "data_unknown_part" (Warning, "Nothing, or name the part as the reference does.")
    DataValue "data_value" (Warning, "Correct the value: it has not the type that its key has.")
    OffsetAssumed "offset_assumed" (Warning, "Name the athlete's time zone, or export times with their offset: a day may be the one before or after.")
    LocalTimeSkipped "local_time_skipped" (Warning, "Correct the start, or write it with its offset: the clock was set forward over it, and the activity was taken as much later.")
    LocalTimeTwice "local_time_twice" (Warning, "Write the start with its offset: the clock was set back and showed it twice; the first was taken.")
    OffsetChanged "offset_changed" (Warning, "Nothing: the offset of the athlete's clock changed in the season, and each activity counts on its own local day.")
    NoHeartRate "no_heart_rate" (Warning, "Wear a sensor, or give the exertion: the activity has no load by heart rate.")
    SeveralSports "several_sports" (Warning, "Nothing: each sport of the file is an activity of its own.")
    SampleTwice "sample_twice" (Warning, "Nothing: of two samples of the same moment one was taken.")
    DuplicateActivity "duplicate_activity" (Warning, "Nothing: the activity is in several files, and was counted once.")
    DuplicateDay "duplicate_day" (Warning, "Keep one row for each day; equal values were counted once.")
    ConflictingDay "conflicting_day" (Warning, "Keep one row for each day: the values differ, and none was taken.")
    ConflictingAthlete "conflicting_athlete" (Warning, "State the number in the configuration; that of the first file by name was taken.")
    OverriddenDay "overridden_day" (Warning, "Nothing: of two sources the one that the reference ranks higher was taken.")
}

impl Code {
    pub const fn severity(self) -> Severity {
        self.row().0
    }

    /// Returns the advice to the owner of the data, in one sentence.
    pub const fn what_to_do(self) -> &'static str {
        self.row().1
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Single problem with its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    pub source: Source,
    pub code: Code,
    /// Description of the problem, with the value as it was found.
    pub message: String,
}

impl Problem {
    /// Creates a problem. The message may quote a file, so it is shortened and control characters are replaced.
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

/// Problems as they are found: every error, and the first warnings of each kind in each file, in the order of files,
/// codes and places. A file with a problem in every line does not hide the problems of the next file.
#[derive(Default)]
pub(crate) struct Problems {
    errors: BTreeSet<Problem>,
    warnings: BTreeMap<Kind, BTreeSet<Problem>>,
    held: usize,
    counts: BTreeMap<Kind, usize>,
    more_warnings: usize,
}

/// Problems with one code in one file.
type Kind = (Arc<str>, Code);

impl Problems {
    /// Adds a problem. A warning beyond [`limits::PLACES`] of its kind, or beyond [`limits::WARNINGS`], is only
    /// counted, so that no file fills the memory.
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

    /// Returns the problems in the order of files and places. With them come the count of each code in each file, and
    /// the number of warnings that are not listed.
    pub(crate) fn finish(self) -> (Vec<Problem>, BTreeMap<Kind, usize>, usize) {
        let warnings = self.warnings.into_values().flatten();
        let mut all: Vec<Problem> = self.errors.into_iter().chain(warnings).collect();
        all.sort();
        (all, self.counts, self.more_warnings)
    }
}
