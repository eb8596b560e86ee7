//! The folder of a run's files: what of it is an earlier run's, and what is somebody's own.
//!
//! A summary lists the files of its run. Those are replaced; what no summary lists is never written over.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use crate::limits::SUMMARY_BYTES;

pub(super) const SUMMARY: &str = "summary.json";

/// Files of these names that are there and that no earlier run wrote.
pub(super) fn own(folder: &Path, names: &[&'static str]) -> io::Result<Vec<&'static str>> {
    let earlier = earlier(folder)?;
    let mut own = Vec::new();
    for name in names {
        let is_there = match fs::symlink_metadata(folder.join(name)) {
            Ok(_) => true,
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        if is_there && !earlier.contains(*name) {
            own.push(*name);
        }
    }
    Ok(own)
}

/// Takes away what an earlier run wrote and this one does not. Only names of ours: a summary is a file like any other.
pub(super) fn clear(folder: &Path, names: &[&'static str], kept: &[String]) -> anyhow::Result<()> {
    let earlier = earlier(folder)?;
    for name in names.iter().filter(|name| earlier.contains(**name) && !kept.iter().any(|it| it == *name)) {
        match fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| folder.join(name).display().to_string());
            }
            _ => {}
        }
    }
    Ok(())
}

/// The names that the summary of an earlier run lists, and its own; none where there is no such summary.
fn earlier(folder: &Path) -> io::Result<BTreeSet<String>> {
    let file = match File::open(folder.join(SUMMARY)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) => return Err(error),
    };
    let mut text = Vec::new();
    file.take(SUMMARY_BYTES).read_to_end(&mut text)?;
    let summary: Value = serde_json::from_slice(&text).unwrap_or_default();
    let listed = summary["files_generated"].as_array().filter(|_| summary["execution_id"].is_string());
    let Some(listed) = listed else { return Ok(BTreeSet::new()) };
    let names = listed.iter().filter_map(Value::as_str).map(str::to_owned);
    Ok(names.chain([SUMMARY.to_owned()]).collect())
}

/// Whole or not at all: somebody may be reading the one before.
pub(super) fn put(folder: &Path, name: &str, text: &str) -> anyhow::Result<()> {
    let shown = || folder.join(name).display().to_string();
    fs::create_dir_all(folder).with_context(shown)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(shown)?;
    file.write_all(text.as_bytes()).with_context(shown)?;
    file.persist(folder.join(name)).with_context(shown)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_summary_lists_is_somebodys_own() {
        let names = ["analysis.html", "synthesis.md", SUMMARY];
        let listing =
            |files: &str| format!("{{\"execution_id\": \"run_1\", \"files_generated\": [{files}]}}");
        for (summary, expected) in [
            (None, &["synthesis.md"][..]),
            (Some(String::new()), &["synthesis.md", SUMMARY]),
            (Some("{\"files_generated\": [\"synthesis.md\"]}".to_owned()), &["synthesis.md", SUMMARY]),
            (Some(listing("\"analysis.html\"")), &["synthesis.md"]),
            (Some(listing("\"synthesis.md\", \"../elsewhere\"")), &[]),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            fs::write(folder.path().join("synthesis.md"), "mine").expect("a file");
            if let Some(text) = &summary {
                fs::write(folder.path().join(SUMMARY), text).expect("a file");
            }
            assert_eq!(own(folder.path(), &names).expect("names"), expected, "{summary:?}");
            clear(folder.path(), &names, &[SUMMARY.to_owned()]).expect("cleared");
            let is_left = folder.path().join("synthesis.md").exists();
            assert_eq!(is_left, expected.contains(&"synthesis.md"), "{summary:?}");
        }
    }
}
