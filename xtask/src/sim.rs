//! `cargo xtask sim`: builds and runs the simulator of `crates/testkit`.

use anyhow::Result;

use crate::run::{cargo, step};

const PROGRAM: [&str; 4] = ["--package", "holdshort-testkit", "--bin", "holdshort-sim"];

/// Builds and runs the simulator. The first optimised build takes minutes.
pub(crate) fn sim(arguments: &[&str]) -> Result<()> {
    let run = ["run", "--release", "--locked", "--quiet"];
    step("sim", cargo().args(run).args(PROGRAM).arg("--").args(arguments))
}
