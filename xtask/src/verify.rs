//! `cargo xtask verify`: format, lints, the built browser app, tests. Ends with one line that counts the tests.

use anyhow::{Result, bail};

use crate::counts::Counts;
use crate::run::{Beside, cargo, lines, step};
use crate::{machine, npm, ui};

/// Crates whose tests need nothing of the machine that `machine::prepare` would have to install ...
const QUICK: [&str; 6] = [
    "holdshort-command",
    "holdshort-core",
    "holdshort-protocol",
    "holdshort-workflow",
    "holdshort-store",
    "xtask",
];
/// ... but for these of the store, by a part of their names: they start a PostgreSQL.
const NOT_QUICK: [&str; 2] = ["postgres", "all_stores_"];

pub(crate) fn verify(quick: bool) -> Result<()> {
    if !quick {
        println!(
            "Everything that must hold, about 45 minutes on two cores: format, lints of all crates, the browser app, all \
             tests, the tests in a browser. It plays seeds that are known; `cargo xtask sim --fresh MINUTES` plays others."
        );
        machine::prepare()?;
    }
    step("format", cargo().args(["fmt", "--all", "--check"]))?;
    // It waits for the network, the lints for the processor.
    if !quick && let Some(mut npm) = npm::install(&npm::provider()) {
        step("npm ci (the identity provider of the tests)", &mut npm)?;
    }
    if !quick && let Some(mut npm) = npm::install(&npm::webhooks()) {
        step("npm ci (the libraries that verify webhooks)", &mut npm)?;
    }
    let installing = if quick { None } else { ui::install() }.map(|npm| Beside::start("npm ci", npm));
    let linted = lints();
    installing.map_or(Ok(()), Beside::end)?;
    linted?;
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

fn lints() -> Result<()> {
    step(
        "lints (clippy, all crates and tests)",
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
    )
}

fn quick_tests(counts: &mut Counts) -> Result<bool> {
    let packages = QUICK.iter().flat_map(|name| ["--package", name]);
    let skips = NOT_QUICK.iter().flat_map(|name| ["--skip", name]);
    lines("tests", test().args(packages).arg("--").args(skips), |line| counts.take(line))
}

fn all_tests(counts: &mut Counts) -> Result<bool> {
    ui::verify()?;
    // It also builds the programs that black-box tests start: all of a package that has tests are built with them.
    let ok = lines("tests", test().arg("--workspace"), |line| counts.take(line))?;
    Ok(lines("browser tests", &mut ui::tests(), |line| counts.take(line))? && ok)
}

fn test() -> std::process::Command {
    let mut test = cargo();
    test.args(["test", "--locked", "--no-fail-fast"]);
    test
}
