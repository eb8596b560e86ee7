//! Input history of conversations: one JSON string per line, in a file that only its owner can read. The history
//! contains no decisions.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Maximum number of history entries that the line editor offers, newest first.
pub(super) const ENTRIES: usize = 1_000;
/// Maximum size of one entry in the input history, in bytes. Longer entries were probably pasted.
const ENTRY_BYTES: usize = 16 * 1024;
/// Size of the history file, in bytes, above which the file is rewritten with only its newest entries.
const FILE_BYTES: usize = 1024 * 1024;

/// Returns the entries of the history file, oldest first. If the file is unreadable, returns no entries.
pub(super) fn read(path: &Path) -> Vec<String> {
    let Ok(text) = std::fs::read_to_string(path) else { return Vec::new() };
    let mut entries: Vec<String> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    entries.drain(..entries.len().saturating_sub(ENTRIES));
    if text.len() > FILE_BYTES {
        let kept: String = entries.iter().map(|entry| line_of(entry)).collect();
        // If the file cannot be rewritten, the long file stays.
        let _ = replace(path, &kept);
    }
    entries
}

/// Returns true if a typed text is stored in the input history. An empty text, a single letter (a reply to a card) and
/// a very long text are not stored.
pub(super) fn is_kept(text: &str) -> bool {
    text.trim().len() > 1 && text.len() <= ENTRY_BYTES
}

pub(super) fn add(path: &Path, text: &str) {
    if let Some(folder) = path.parent() {
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    }
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    // A write error is ignored, and the conversation continues.
    let _ = file.and_then(|mut file| file.write_all(line_of(text).as_bytes()));
}

fn line_of(text: &str) -> String {
    format!("{}\n", serde_json::Value::from(text))
}

fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_kept_whole_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/history");
        assert_eq!(read(&path), Vec::<String>::new());
        add(&path, "one");
        add(&path, "two\nlines \\ \"quoted\"");
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{broken\n").unwrap();
        assert_eq!(read(&path), ["one", "two\nlines \\ \"quoted\""]);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        let long = "x".repeat(ENTRY_BYTES - 2);
        for _ in 0..100 {
            add(&path, &long);
        }
        assert_eq!(read(&path).len(), 102);
        assert_eq!((read(&path).len(), mode(&path)), (102, 0o600));
        assert!(!is_kept("1") && !is_kept("") && is_kept("no") && !is_kept(&format!("{long}xxx")));
    }
}
