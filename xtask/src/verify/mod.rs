//! `cargo xtask verify`: checks the format, the lints, the built browser app, and the tests. `--long` also runs the
//! campaigns, which take minutes each. Prints the durations of phases and tests, and the number of tests.

mod counts;
mod processors;
mod programs;
mod report;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use counts::Counts;
use programs::{LINTED, Program, Ran, Tests, WAITS, WITHOUT_PACKS};
use report::Report;

use crate::figures::WHOLE;
use crate::run::{ParallelStep, cargo, lines, step, target};
use crate::{machine, npm, sdk, ui};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Extent {
    /// The run makes only checks that need only Rust.
    Quick,
    /// The run makes all checks that are required before a change is merged.
    Whole,
    /// The run makes campaigns: simulations with new seeds, and tests of all cases where normally only samples are
    /// tested.
    Long,
}

/// Crates whose tests, except those in [`NOT_QUICK`], need no program that `machine::prepare` installs.
const QUICK: [&str; 6] = [
    "holdshort-command",
    "holdshort-core",
    "holdshort-protocol",
    "holdshort-workflow",
    "holdshort-store",
    "xtask",
];
/// Parts of the names of the store's tests that start PostgreSQL.
const NOT_QUICK: [&str; 2] = ["postgres", "all_stores_"];

/// Minutes for which a long run simulates fresh seeds.
const FRESH: &str = "10";

pub(crate) fn verify(extent: Extent) -> Result<()> {
    let mut report = Report::default();
    let passed = match extent {
        Extent::Quick => quick(&mut report),
        Extent::Whole => whole(&mut report),
        Extent::Long => long(&mut report),
    };
    println!("{report}");
    passed?;
    report.keep()?;
    if !report.ran.failed.is_empty() {
        bail!("tests failed: {}", report.ran.failed.join(", "));
    }
    if report.ran.counts.passed == 0 {
        bail!("no test ran");
    }
    Ok(())
}

fn quick(report: &mut Report) -> Result<()> {
    report.phase("format", format)?;
    report.phase("lints", lints)?;
    let programs = report.phase(LINTED, || programs::build(&QUICK))?;
    report.ran = report.phase("tests", || programs::run(&[programs], Tests::Without(&NOT_QUICK)))?;
    Ok(())
}

fn whole(report: &mut Report) -> Result<()> {
    println!(
        "All checks, {WHOLE}: format, lints of all crates, the browser app, all tests, the tests in a \
         browser. The simulations use fixed seeds; `cargo xtask verify --long` uses new seeds."
    );
    report.phase("programs of this machine", machine::prepare)?;
    report.phase("format", format)?;
    // npm mostly waits for the network, while the compiler uses the processor. Therefore both run in parallel.
    let installing = installing(&[]);
    let built = report.phase(LINTED, || programs::build(&[]));
    report.phase("npm", || installing.into_iter().try_for_each(ParallelStep::end))?;
    let programs = built?;
    report.phase(WITHOUT_PACKS, programs::check_without_packs)?;
    report.phase("browser app", ui::verify)?;
    tests(report, programs, Tests::All)?;
    count_tests(report, "browser tests", &mut ui::tests())?;
    sdk_tests(report)
}

fn long(report: &mut Report) -> Result<()> {
    println!(
        "Simulations with new seeds, and all cases of tests from which `cargo xtask verify` takes samples."
    );
    report.phase("programs of this machine", machine::prepare)?;
    // The coding agents have 760 MB, and start too slowly for the short run.
    let agents = ("npm ci (the coding agents)", npm::coding_agents());
    report.phase("npm", || installing(&[agents]).into_iter().try_for_each(ParallelStep::end))?;
    let programs = report.phase(LINTED, || programs::build(&[]))?;
    tests(report, programs, Tests::Campaigns)?;
    let simulator = || Command::new(target().join("debug/holdshort-sim"));
    report.phase("fresh seeds", || step("fresh seeds", simulator().args(["--fresh", FRESH])))?;
    report.phase("mutants", || step("mutants", simulator().arg("--mutants")))?;
    let mut late = ui::tests();
    late.env("HOLDSHORT_LATE_PARTS", "1");
    count_tests(report, "browser tests, with parts of the app that load late", &mut late)?;
    without_packs(report)
}

/// Runs the tests of the program without packs, then rebuilds the program with packs.
fn without_packs(report: &mut Report) -> Result<()> {
    let tests = report.phase(WITHOUT_PACKS, programs::build_without_packs)?;
    let ran = report.phase("tests without packs", || programs::run(&[tests], Tests::All));
    report.phase(LINTED, || programs::build(&[]))?;
    let Ran { counts, tests, programs, failed, .. } = ran?;
    report.ran.counts += counts;
    report.ran.tests.extend(tests);
    report.ran.programs.extend(programs);
    report.ran.failed.extend(failed);
    Ok(())
}

/// Runs the selected tests of the programs. Black-box tests start programs of their package, which cargo has built with
/// the tests.
fn tests(report: &mut Report, programs: Vec<Program>, tests: Tests) -> Result<()> {
    let (waiting, others) = programs.into_iter().partition(|program| program.name == WAITS);
    report.ran = report.phase("tests", || programs::run(&[waiting, others], tests))?;
    Ok(())
}

/// Runs the tests of the packages for Python and TypeScript with the built server.
fn sdk_tests(report: &mut Report) -> Result<()> {
    count_tests(report, "tests of the Python package", &mut sdk::python_tests())?;
    count_tests(report, "tests of the TypeScript package", &mut sdk::typescript_tests())
}

/// Runs a command that prints the results of its tests, and adds the numbers of tests to the report.
fn count_tests(report: &mut Report, name: &str, command: &mut Command) -> Result<()> {
    let mut counts = Counts::default();
    let passed = report.phase(name, || lines(name, command, |line| counts.take(line)))?;
    report.ran.counts += counts;
    if !passed {
        report.ran.failed.push(name.to_owned());
    }
    Ok(())
}

fn format() -> Result<()> {
    step("format", cargo().args(["fmt", "--all", "--check"]))
}

/// Starts the installation of the npm packages that the tests need. `more` are further folders, with their names.
fn installing(more: &[(&'static str, PathBuf)]) -> Vec<ParallelStep> {
    let folders = [
        ("npm ci (the identity provider of the tests)", npm::provider()),
        ("npm ci (the libraries that verify webhooks)", npm::webhooks()),
        ("npm ci (the browser app)", ui::folder()),
        ("npm ci (the TypeScript package)", sdk::typescript()),
    ];
    let begun = folders
        .into_iter()
        .chain(more.iter().cloned())
        .filter_map(|(name, folder)| npm::install(&folder).map(|npm| ParallelStep::start(name, npm)));
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
