//! Quoting for a shell, and the path of a program.

use std::path::PathBuf;

use rustix::fs::{Access, access};

/// Quotes a word so that a shell reads it as one argument.
pub fn quoted(word: &str) -> String {
    let is_plain =
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+:".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Returns the path of a program in the directories of `PATH`.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let may_run = |path: &PathBuf| access(path, Access::EXEC_OK).is_ok() && path.is_file();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(may_run)
}
