//! `cargo xtask sim`: builds and runs the simulator of `crates/testkit`.

use anyhow::Result;

use crate::run::{cargo, step};

pub(crate) fn sim(arguments: &[&str]) -> Result<()> {
    let package = ["--package", "holdshort-testkit", "--bin", "holdshort-sim"];
    let run = ["run", "--release", "--locked", "--quiet"];
    step("sim", cargo().args(run).args(package).arg("--").args(arguments))
}
