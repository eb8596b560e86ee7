//! npm in a folder of the project: the browser app, the identity provider of the tests, and the libraries that verify webhooks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::run::root;

/// The provider that tests sign in at.
pub(crate) fn provider() -> PathBuf {
    root().join("crates/testkit/oidc")
}

/// The libraries that tests verify webhooks with.
pub(crate) fn webhooks() -> PathBuf {
    root().join("crates/testkit/webhooks")
}

pub(crate) fn npm(folder: &Path) -> Command {
    let mut command = Command::new("npm");
    command.current_dir(folder);
    command
}

/// Installs exactly what the lock file says; nothing to do if that is there already.
pub(crate) fn install(folder: &Path) -> Option<Command> {
    let written = |name: &str| -> Option<SystemTime> {
        fs::metadata(folder.join(name)).and_then(|metadata| metadata.modified()).ok()
    };
    // npm writes it last.
    let installed = written("node_modules/.package-lock.json");
    if installed > written("package-lock.json") && installed > written("package.json") {
        return None;
    }
    let mut npm = npm(folder);
    npm.args(["ci", "--no-audit", "--no-fund"]);
    Some(npm)
}
