//! npm in folders of the project: for the browser app, and for what tests need, which are an identity provider,
//! libraries that verify webhooks, and coding agents.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::run::root;

/// Returns the folder of the identity provider with which tests sign in.
pub(crate) fn provider() -> PathBuf {
    root().join("crates/testkit/oidc")
}

/// Returns the folder of the libraries with which tests verify webhooks.
pub(crate) fn webhooks() -> PathBuf {
    root().join("crates/testkit/webhooks")
}

/// Returns the folder of the coding agents with which tests play hooks.
pub(crate) fn coding_agents() -> PathBuf {
    root().join("crates/testkit/agents")
}

pub(crate) fn npm(folder: &Path) -> Command {
    let mut command = Command::new("npm");
    command.current_dir(folder);
    command
}

/// Returns the command that installs the npm packages of the lock file in `folder`. Returns `None` if they are
/// installed.
pub(crate) fn install(folder: &Path) -> Option<Command> {
    let written = |name: &str| -> Option<SystemTime> {
        fs::metadata(folder.join(name)).and_then(|metadata| metadata.modified()).ok()
    };
    // npm writes this file at the end of an installation.
    let installed = written("node_modules/.package-lock.json");
    if installed > written("package-lock.json") && installed > written("package.json") {
        return None;
    }
    let mut npm = npm(folder);
    npm.args(["ci", "--no-audit", "--no-fund"]);
    Some(npm)
}
