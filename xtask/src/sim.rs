//! `cargo xtask sim`: builds and runs the simulator of `crates/testkit`.

use anyhow::Result;

use crate::run::{cargo, step};

/// How long the test command plays seeds that nobody has played.
const FRESH_MINUTES: &str = "2";

const PROGRAM: [&str; 4] = ["--package", "holdshort-testkit", "--bin", "holdshort-sim"];

/// Built for speed, which takes minutes the first time.
pub(crate) fn sim(arguments: &[&str]) -> Result<()> {
    let run = ["run", "--release", "--locked", "--quiet"];
    step("sim", cargo().args(run).args(PROGRAM).arg("--").args(arguments))
}

/// With the program that the tests have built, so that nothing is built a second time. It says which seeds fail, and
/// how to play one again.
pub(crate) fn fresh() -> Result<()> {
    let run = ["run", "--locked", "--quiet"];
    step(
        "fresh seeds (two minutes of the simulator)",
        cargo().args(run).args(PROGRAM).args(["--", "--fresh", FRESH_MINUTES]),
    )
}
