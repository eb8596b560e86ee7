//! File systems of the host that are mounted below a workspace. An overlay over the workspace does not show these file
//! systems.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// Returns the path of the first file system that is mounted below the workspace, from `mountinfo`. In each line of
/// this file, the path is the fifth field.
pub(crate) fn mounted_below(workspace: &Path) -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let places = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    let is_below = |place: &&str| {
        Path::new(&unescaped(place)).strip_prefix(workspace).is_ok_and(|rest| rest != OsStr::new(""))
    };
    places.into_iter().find(is_below).map(ToOwned::to_owned)
}

/// Decodes the octal escapes that the kernel writes for some characters in paths (`proc_pid_mountinfo(5)`).
fn unescaped(word: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes.iter().fold(word.to_owned(), |word, (escape, it)| word.replace(escape, it))
}
