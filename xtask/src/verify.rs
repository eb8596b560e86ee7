//! `cargo xtask verify`: format, lints, the built browser app, tests. Ends with one line that counts the tests.

use anyhow::{Result, bail};

use crate::counts::Counts;
use crate::run::{cargo, lines, step};
use crate::{machine, ui};

/// Crates whose tests start no process and open no port.
const QUICK: [&str; 5] =
    ["holdshort-core", "holdshort-protocol", "holdshort-workflow", "holdshort-store", "xtask"];

pub(crate) fn verify(quick: bool) -> Result<()> {
    step("format", cargo().args(["fmt", "--all", "--check"]))?;
    step(
        "lints",
        cargo().args([
            "clippy",
            "--workspace",
            "--all-targets",
            "--locked",
            "--quiet",
            "--",
            "-D",
            "warnings",
        ]),
    )?;
    let mut counts = Counts::default();
    let ok = if quick { quick_tests(&mut counts)? } else { all_tests(&mut counts)? };
    println!("\n{counts}");
    if !ok {
        bail!("tests failed");
    }
    if counts.passed == 0 {
        bail!("no test ran");
    }
    Ok(())
}

fn quick_tests(counts: &mut Counts) -> Result<bool> {
    let packages = QUICK.iter().flat_map(|name| ["--package", name]);
    lines("tests", test().args(packages), |line| counts.take(line))
}

fn all_tests(counts: &mut Counts) -> Result<bool> {
    machine::prepare()?;
    ui::verify()?;
    // The binary that black-box tests start.
    step("the binary", cargo().args(["build", "--locked", "--quiet", "--package", "holdshort-cli"]))?;
    let ok = lines("tests", test().arg("--workspace"), |line| counts.take(line))?;
    Ok(lines("browser tests", &mut ui::tests(), |line| counts.take(line))? && ok)
}

fn test() -> std::process::Command {
    let mut test = cargo();
    test.args(["test", "--locked", "--no-fail-fast"]);
    test
}
