//! Folder for the result files of a run. It may also contain result files of an earlier run, and files of people.
//!
//! The summary in the folder lists the result files of its run. Only the listed files are replaced, and no other file
//! is overwritten. The report of a completed run is replaced only by the report of another completed run.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::Value;

use crate::limits::SUMMARY_BYTES;

pub const SUMMARY: &str = "summary.json";

/// Returns those of the files `names` in a folder that exist although no earlier run wrote them.
pub fn find_unmanaged_files(folder: &Path, names: &[&'static str]) -> io::Result<Vec<&'static str>> {
    let earlier = earlier(folder)?.unwrap_or_default().names;
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

/// Removes result files of an earlier run from a folder, except those in `kept`. Only files in `names` are removed,
/// because a summary could list any name.
pub fn clear(folder: &Path, names: &[&'static str], kept: &[String]) -> anyhow::Result<()> {
    let earlier = earlier(folder)?.unwrap_or_default().names;
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

/// Earlier run whose result files are in a folder, according to the summary in this folder.
#[derive(Debug, Default)]
pub struct Earlier {
    pub run: String,
    /// Date of the earlier run's analysis, from the summary in the folder.
    pub date: Option<String>,
    pub is_completed: bool,
    /// Names of the result files that the summary of the earlier run lists, and the name of the summary.
    names: BTreeSet<String>,
}

/// Reads the summary of a run in a folder. Returns `None` if the folder contains no such summary.
pub fn earlier(folder: &Path) -> io::Result<Option<Earlier>> {
    let file = match File::open(folder.join(SUMMARY)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = Vec::new();
    file.take(SUMMARY_BYTES).read_to_end(&mut text)?;
    let summary: Value = serde_json::from_slice(&text).unwrap_or_default();
    let (Some(run), Some(listed)) = (summary["execution_id"].as_str(), summary["files_generated"].as_array())
    else {
        return Ok(None);
    };
    let names = listed.iter().filter_map(Value::as_str).map(str::to_owned);
    Ok(Some(Earlier {
        run: run.to_owned(),
        date: summary["analysis_date"].as_str().map(str::to_owned),
        is_completed: summary["status"] == "completed",
        names: names.chain([SUMMARY.to_owned()]).collect(),
    }))
}

/// Returns the folder for the result files of a run. The files of an incomplete run go into a subfolder if the folder
/// contains the report of another, completed run.
pub fn for_run(folder: &Path, run: &str, is_completed: bool) -> io::Result<PathBuf> {
    let is_kept = |earlier: &Earlier| earlier.is_completed && earlier.run != run;
    let aside = !is_completed && earlier(folder)?.as_ref().is_some_and(is_kept);
    Ok(if aside { own_folder(folder, run) } else { folder.to_owned() })
}

/// Removes the result files that an incomplete run wrote into its own subfolder.
pub fn clear_own(folder: &Path, run: &str, names: &[&'static str]) -> anyhow::Result<()> {
    let aside = own_folder(folder, run);
    clear(&aside, names, &[])?;
    // The subfolder may be missing, or may contain files of people.
    let _ = fs::remove_dir(aside);
    Ok(())
}

fn own_folder(folder: &Path, run: &str) -> PathBuf {
    folder.join(run)
}

/// Writes a file atomically: another process sees either the old or the new content.
pub fn put(folder: &Path, name: &str, text: &str) -> anyhow::Result<()> {
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
            assert_eq!(find_unmanaged_files(folder.path(), &names).expect("names"), expected, "{summary:?}");
            clear(folder.path(), &names, &[SUMMARY.to_owned()]).expect("cleared");
            let is_left = folder.path().join("synthesis.md").exists();
            assert_eq!(is_left, expected.contains(&"synthesis.md"), "{summary:?}");
        }
    }
}
