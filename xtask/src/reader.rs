//! `cargo xtask reader`: runs many command lines that the parser classifies as reading in real shells, and checks that
//! nothing has changed. A second parser checks which commands a line contains. `crates/tools/tests/it/reader/` contains
//! the command lines, the shells and the second parser.

use anyhow::Result;

use crate::run::{cargo, step};

/// Default number of command lines that real shells run, small enough to wait for the result.
const LINES: &str = "10000";

/// Number of shells that run in parallel, because most of the time is spent on starting programs.
const JOBS: &str = "2";

pub(crate) fn reader(arguments: &[&str]) -> Result<()> {
    let mut cargo = cargo();
    cargo.args(["test", "--locked", "--quiet", "--package", "holdshort-tools", "--test", "it", "reader::"]);
    cargo.args(["--", "--nocapture"]);
    cargo.env("HOLDSHORT_READER_LINES", arguments.first().unwrap_or(&LINES));
    cargo.env("HOLDSHORT_READER_JOBS", JOBS);
    if let Some(seed) = arguments.get(1) {
        cargo.env("HOLDSHORT_READER_SEED", seed);
    }
    step("reader", &mut cargo)
}
