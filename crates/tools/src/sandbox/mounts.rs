//! Mounts of the host below a workspace, which an overlay does not show.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// Returns the first mount below the workspace. The fifth field of a line is its path.
pub(crate) fn mounted_below(workspace: &Path) -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let places = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    let is_below = |place: &&str| {
        Path::new(&unescaped(place)).strip_prefix(workspace).is_ok_and(|rest| rest != OsStr::new(""))
    };
    places.into_iter().find(is_below).map(ToOwned::to_owned)
}

/// Decodes the characters that the kernel escapes (`proc_pid_mountinfo(5)`).
fn unescaped(word: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes.iter().fold(word.to_owned(), |word, (escape, it)| word.replace(escape, it))
}
