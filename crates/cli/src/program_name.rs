//! Name of this program, as messages print it in commands.
//!
//! The name is `holdshort` if a shell would start this program when a person types `holdshort`. If a shell would start
//! another program, the name is the path with which this program was started, such as `target/debug/holdshort`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::shell::{self, quoted};

const NAME: &str = "holdshort";

static CALLED: OnceLock<String> = OnceLock::new();

/// Stores the name with which the current process was started. Must be called once, before any output.
pub(crate) fn set_program_name(argument: &OsStr) {
    CALLED.get_or_init(|| name(argument, shell::program(NAME), std::env::current_exe().ok()));
}

/// Returns the name of this program for use in a command that a message shows.
pub fn holdshort() -> &'static str {
    CALLED.get().map_or(NAME, String::as_str)
}

/// Replaces the program name in commands such as `holdshort VERB` with the name under which the process was started.
pub(crate) fn with_program_name(text: &str) -> String {
    text.replace(&format!("`{NAME} "), &format!("`{} ", holdshort()))
}

/// Returns the name of this program for messages: `holdshort` or a path. `argument` is the name with which the process
/// was started, `found` is the program `holdshort` in the search path, and `running` is the path of the process's
/// executable.
fn name(argument: &OsStr, found: Option<PathBuf>, running: Option<PathBuf>) -> String {
    let resolved = |path: PathBuf| path.canonicalize().ok();
    let is_on_path = found.and_then(resolved).is_some_and(|found| running.and_then(resolved) == Some(found));
    let called = Path::new(argument);
    if is_on_path || called.as_os_str().is_empty() {
        return NAME.to_owned();
    }
    quoted(&called.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_counts_where_the_name_means_another_program_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "").unwrap();
            path
        };
        let (ours, other) = (file("ours"), file("other"));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&ours, &link).unwrap();
        let called = |argument: &str, found: Option<&PathBuf>| {
            name(OsStr::new(argument), found.cloned(), Some(ours.clone()))
        };
        assert_eq!(called("holdshort", Some(&ours)), "holdshort");
        assert_eq!(called("/any/where/holdshort", Some(&link)), "holdshort");
        assert_eq!(called("target/release/holdshort", None), "target/release/holdshort");
        assert_eq!(called("target/release/holdshort", Some(&other)), "target/release/holdshort");
        assert_eq!(called("./my tools/holdshort", None), "'./my tools/holdshort'");
    }
}
