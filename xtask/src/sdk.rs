//! Packages for agents in other languages (`sdk/`), and their tests with a real server.

use std::path::PathBuf;
use std::process::Command;

use crate::npm::npm;
use crate::run::{root, target};

/// Returns the folder of the TypeScript package for agents.
pub(crate) fn typescript() -> PathBuf {
    root().join("sdk/typescript")
}

pub(crate) fn python_tests() -> Command {
    let mut tests = Command::new("sh");
    // `unittest` prints its results on standard error.
    tests.args(["-c", "exec tests/run 2>&1"]).current_dir(root().join("sdk/python"));
    tests.env("HOLDSHORT_PROGRAM", program());
    tests
}

pub(crate) fn typescript_tests() -> Command {
    let mut tests = npm(&typescript());
    tests.arg("test").env("HOLDSHORT_PROGRAM", program());
    tests
}

fn program() -> PathBuf {
    target().join("debug/holdshort")
}
