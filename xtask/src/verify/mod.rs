//! `cargo xtask verify`: format, lints, the built browser app, tests. Ends with what each phase and test took, and one
//! line that counts the tests.

mod counts;
mod processors;
mod programs;
mod report;

use anyhow::{Result, bail};

use counts::Counts;
use report::Report;

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

/// The program that waits more than it works: it runs beside all others.
const WAITS: &str = "testkit::it";

pub(crate) fn verify(quick: bool) -> Result<()> {
    let mut report = Report::default();
    let passed = checks(quick, &mut report);
    println!("{report}");
    report.keep()?;
    if !passed? {
        bail!("tests failed: {}", report.ran.failed.join(", "));
    }
    if report.ran.counts.passed == 0 {
        bail!("no test ran");
    }
    Ok(())
}

/// Carries out all phases; false if a test failed.
fn checks(quick: bool, report: &mut Report) -> Result<bool> {
    if !quick {
        println!(
            "Everything that must hold, about 40 minutes on two cores: format, lints of all crates, the browser app, all \
             tests, the tests in a browser. It plays seeds that are known; `cargo xtask sim --fresh MINUTES` plays others."
        );
        report.phase("programs of this machine", machine::prepare)?;
    }
    report.phase("format", || step("format", cargo().args(["fmt", "--all", "--check"])))?;
    // It waits for the network, the lints for the processor.
    let installing = if quick { Vec::new() } else { installing() };
    let linted = report.phase("lints", lints);
    report.phase("npm", || installing.into_iter().try_for_each(Beside::end))?;
    linted?;
    if quick {
        let programs = report.phase("build of the tests", || programs::build(&QUICK))?;
        report.ran = report.phase("tests", || programs::run(&[programs], &NOT_QUICK))?;
        return Ok(report.ran.failed.is_empty());
    }
    report.phase("browser app", ui::verify)?;
    // It also builds the programs that black-box tests start: all of a package that has tests are built with them.
    let programs = report.phase("build of the tests", || programs::build(&[]))?;
    let (waiting, others) = programs.into_iter().partition(|program| program.name == WAITS);
    report.ran = report.phase("tests", || programs::run(&[waiting, others], &[]))?;
    let mut counts = Counts::default();
    let passed = report
        .phase("browser tests", || lines("browser tests", &mut ui::tests(), |line| counts.take(line)))?;
    report.ran.counts += counts;
    if !passed {
        report.ran.failed.push("browser tests".to_owned());
    }
    Ok(report.ran.failed.is_empty())
}

fn installing() -> Vec<Beside> {
    let folders = [
        ("npm ci (the identity provider of the tests)", npm::provider()),
        ("npm ci (the libraries that verify webhooks)", npm::webhooks()),
        ("npm ci (the browser app)", ui::folder()),
    ];
    let begun = folders
        .into_iter()
        .filter_map(|(name, folder)| npm::install(&folder).map(|npm| Beside::start(name, npm)));
    begun.collect()
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
