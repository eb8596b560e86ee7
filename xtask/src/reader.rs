//! `cargo xtask reader`: runs many command lines that the reader classifies as reading in real shells, and checks that
//! nothing changed. A second parser tells which commands the lines hold. The lines, the shells and the second parser
//! are in `crates/tools/tests/it/reader/`.

use anyhow::Result;

use crate::run::{cargo, step};

/// Default number of lines, as many as a person has the patience for.
const LINES: &str = "10000";

/// Number of parallel shells. Nearly all of the time goes into starting programs.
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
