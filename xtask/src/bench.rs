//! `cargo xtask bench`: builds the binary and `bench/`, and runs `bench/`. `bench --help` describes its measurements.

use anyhow::Result;

use crate::run::{cargo, step};

pub(crate) fn bench(arguments: &[&str]) -> Result<()> {
    step(
        "the binary",
        cargo().args(["build", "--release", "--locked", "--quiet", "--package", "holdshort"]),
    )?;
    step(
        "bench",
        cargo()
            .args(["run", "--release", "--locked", "--quiet", "--package", "holdshort-bench", "--"])
            .args(arguments),
    )
}
