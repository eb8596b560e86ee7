//! npm in folders of the project: the browser app, the tests' identity provider, and libraries that verify webhooks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::run::root;

/// Returns the folder of the identity provider that tests sign in with.
pub(crate) fn provider() -> PathBuf {
    root().join("crates/testkit/oidc")
}

/// Returns the folder of the libraries that tests verify webhooks with.
pub(crate) fn webhooks() -> PathBuf {
    root().join("crates/testkit/webhooks")
}

pub(crate) fn npm(folder: &Path) -> Command {
    let mut command = Command::new("npm");
    command.current_dir(folder);
    command
}

/// Returns the command that installs the packages of the lock file. None if they are installed.
pub(crate) fn install(folder: &Path) -> Option<Command> {
    let written = |name: &str| -> Option<SystemTime> {
        fs::metadata(folder.join(name)).and_then(|metadata| metadata.modified()).ok()
    };
    // npm writes this file last.
    let installed = written("node_modules/.package-lock.json");
    if installed > written("package-lock.json") && installed > written("package.json") {
        return None;
    }
    let mut npm = npm(folder);
    npm.args(["ci", "--no-audit", "--no-fund"]);
    Some(npm)
}
