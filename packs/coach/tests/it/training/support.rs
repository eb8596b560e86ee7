//! Test helpers that read files and format problems.

use holdshort_coach::training::{Code, File, Options, Reading, read};
use jiff::tz::TimeZone;

/// Start of the test activities: 2026-03-01T06:30:00Z.
pub(crate) const START: i64 = 1_772_346_600;

/// Reads one file without knowing the athlete's time zone.
pub(crate) fn read_one(name: &str, bytes: &[u8]) -> Reading {
    read(&[File { name, bytes }], &Options::default())
}

pub(crate) fn read_utc(name: &str, bytes: impl AsRef<[u8]>) -> Reading {
    read_all(&[(name, bytes.as_ref())])
}

/// Reads files with UTC as the athlete's time zone.
pub(crate) fn read_all<N: AsRef<str>, B: AsRef<[u8]>>(files: &[(N, B)]) -> Reading {
    let files: Vec<File<'_>> =
        files.iter().map(|(name, bytes)| File { name: name.as_ref(), bytes: bytes.as_ref() }).collect();
    read(&files, &Options { zone: Some(TimeZone::UTC), ..Options::default() })
}

pub(crate) fn codes(reading: &Reading) -> Vec<Code> {
    reading.problems.iter().map(|problem| problem.code).collect()
}

/// Returns each problem as `SOURCE CODE: MESSAGE`.
pub(crate) fn problem_lines(reading: &Reading) -> Vec<String> {
    let line = |problem: &holdshort_coach::training::Problem| {
        format!("{} {}: {}", problem.source, problem.code, problem.message)
    };
    reading.problems.iter().map(line).collect()
}
