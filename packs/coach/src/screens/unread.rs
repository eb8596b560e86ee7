//! Training data that was not read. The terminal reports it before the agents start, and the report has a section about
//! it.

use holdshort_protocol::plain;
use serde_json::Value;

use super::story::Story;
use crate::limits::NOT_READ_NAMED;
use crate::report::{Unread, UnreadRow};
use crate::training::{Severity, UnreadData};

/// Describes the unread training data in one line: `31 files, 9 not read: a.fit (fit_crc), b.csv (csv_unit) and 7 more;
/// 2 with something left out or assumed: c.csv (bad_date)`. Returns `None` if all data was read.
pub(super) fn line(not_read: &UnreadData) -> Option<String> {
    let list = |severity: Severity| -> Vec<String> {
        let mut files: Vec<(&str, &str)> = Vec::new();
        for told in not_read.problems.iter().filter(|told| told.severity == severity) {
            let file = &*told.problem.source.file;
            let needs_action = !told.what_to_do.starts_with("No action needed");
            if needs_action && files.iter().all(|(named, _)| *named != file) {
                files.push((file, told.problem.code.name()));
            }
        }
        files.into_iter().map(|(file, code)| format!("{} ({code})", plain::line(file))).collect()
    };
    let named = |files: &[String], all: usize| {
        let shown: Vec<&str> = files.iter().take(NOT_READ_NAMED).map(String::as_str).collect();
        let more = all.saturating_sub(shown.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", shown.join(", "))
    };
    let (refused, in_part) = (list(Severity::Error), list(Severity::Warning));
    let mut parts = Vec::new();
    if not_read.refused > 0 {
        parts.push(format!("{} not read: {}", not_read.refused, named(&refused, not_read.refused)));
    }
    if !in_part.is_empty() {
        parts.push(format!(
            "{} read, but some data was left out or assumed: {}",
            in_part.len(),
            named(&in_part, in_part.len())
        ));
    }
    let files = if not_read.files == 1 { "file" } else { "files" };
    (!parts.is_empty()).then(|| format!("{} {files}, {}", not_read.files, parts.join("; ")))
}

/// Returns the report's section about training data that was not read. Returns `None` if all training data was read.
pub(super) fn from_story(story: &Story) -> Option<Unread> {
    let told = &story.not_read;
    let rows: Vec<UnreadRow> = told["problems"].as_array()?.iter().map(row).collect();
    if rows.is_empty() {
        return None;
    }
    let count = |key: &str| told[key].as_u64().unwrap_or_default();
    let (files, refused) = (count("files"), count("refused"));
    let more: Vec<String> = told["more"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(code, count)| format!("{code} {count}"))
        .collect();
    Some(Unread {
        told: format!(
            "{refused} of {files} {} could not be read at all.",
            if files == 1 { "file" } else { "files" }
        ),
        rows,
        more: (!more.is_empty()).then(|| format!("Further problems, by code: {}.", more.join(", "))),
    })
}

/// Formats a place in a training file for use after the file name, such as `, line 44`.
pub(super) fn format_place(place: &Value) -> String {
    match place.as_object().and_then(|place| place.iter().next()) {
        Some((kind, at)) if kind == "pointer" => format!(", {}", at.as_str().unwrap_or_default()),
        Some((kind, at)) => format!(", {kind} {at}"),
        None => String::new(),
    }
}

fn row(told: &Value) -> UnreadRow {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let place = format_place(&told["source"]["place"]);
    let what_to_do = text(&told["what_to_do"]);
    UnreadRow {
        place: format!("{}{place}", text(&told["source"]["file"])),
        message: text(&told["message"]),
        code: text(&told["code"]),
        places: told["places"].as_u64().unwrap_or(1),
        is_refused: told["severity"] == "error",
        needs_nothing: what_to_do.starts_with("No action needed:"),
        what_to_do,
    }
}
