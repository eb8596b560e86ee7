//! The test programs of the workspace. Cargo builds them, and this module starts them, to measure the duration of every
//! test.

use std::io::{BufRead, BufReader};
use std::num::NonZero;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::counts::Counts;
use crate::run::{Heartbeat, cargo};

/// Test program of a library, or of a folder `tests/`.
#[derive(Debug)]
pub(crate) struct Program {
    /// Name of the test program's package, with the target if it is not the library: `core`, `core::it`.
    pub(crate) name: String,
    folder: PathBuf,
    executable: PathBuf,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Tests {
    All,
    /// The selection has all tests whose names contain none of these texts.
    Without(&'static [&'static str]),
    /// The selection has the ignored tests, which take minutes each.
    Campaigns,
}

pub(crate) const LINTED: &str = "lints and build of the tests";

/// Test program whose tests often wait for timers and other processes. This program runs in parallel with all others,
/// with one more test at a time than there are processors.
pub(crate) const WAITS: &str = "testkit::it";

/// Text that occurs in the name of each campaign, a test that takes minutes.
const CAMPAIGN: &str = "campaign";

/// Duration of a test, or of a program with all of its tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Timed {
    pub(crate) name: String,
    pub(crate) took: Duration,
}

/// Results of the test programs that have ended.
#[derive(Default)]
pub(crate) struct Ran {
    pub(crate) counts: Counts,
    pub(crate) tests: Vec<Timed>,
    pub(crate) programs: Vec<Timed>,
    pub(crate) failed: Vec<String>,
    running: Vec<String>,
}

/// Builds the test programs of `packages`, or of the workspace if `packages` is empty. Clippy is the compiler, and
/// warnings are errors.
///
/// One pass is faster than `cargo clippy` and a separate build, which would each compile every dependency and check
/// every crate.
pub(crate) fn build(packages: &[&str]) -> Result<Vec<Program>> {
    let named = packages.iter().flat_map(|name| ["--package", name]);
    let whole = packages.is_empty().then_some("--workspace");
    compile(LINTED, named.chain(whole).collect())
}

pub(crate) const WITHOUT_PACKS: &str = "the program without packs";

/// Checks that the program compiles without packs. This takes seconds, because the tests have compiled most of it.
pub(crate) fn check_without_packs() -> Result<()> {
    compile(WITHOUT_PACKS, vec!["--workspace", "--no-default-features", "--bin", "holdshort"]).map(drop)
}

/// Builds the tests of the program without packs. The built program replaces the one with packs.
pub(crate) fn build_without_packs() -> Result<Vec<Program>> {
    compile(WITHOUT_PACKS, vec!["--no-default-features", "--package", "holdshort"])
}

fn compile(phase: &str, selected: Vec<&str>) -> Result<Vec<Program>> {
    println!("\n== {phase}");
    let _alive = Heartbeat::for_step(phase);
    let mut build = cargo();
    build.args(["test", "--locked", "--no-run", "--quiet", "--message-format", "json-render-diagnostics"]);
    // The compiler is started as `cargo clippy -- -D warnings` starts it.
    build.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    build.env("CLIPPY_ARGS", ["-D", "warnings", ""].join("__CLIPPY_HACKERY__"));
    build.args(selected);
    let output = build.stderr(Stdio::inherit()).output().context("cargo cannot be started")?;
    if !output.status.success() {
        bail!("the tests cannot be built: cargo printed the reason above");
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let programs: Vec<_> = messages
        .lines()
        .filter_map(|line| Program::from_message(&serde_json::from_str(line).ok()?))
        .collect();
    if programs.is_empty() {
        bail!("cargo built no test program");
    }
    Ok(programs)
}

impl Program {
    fn from_message(message: &Value) -> Option<Self> {
        if message["profile"]["test"] != true {
            return None;
        }
        let executable = PathBuf::from(message["executable"].as_str()?);
        let folder = PathBuf::from(message["manifest_path"].as_str()?).parent()?.to_path_buf();
        let package = folder.file_name()?.to_str()?;
        let is_library = message["target"]["kind"].as_array()?.iter().any(|kind| kind == "lib");
        let target = message["target"]["name"].as_str()?;
        let name = if is_library { package.to_owned() } else { format!("{package}::{target}") };
        Some(Self { name, folder, executable })
    }

    fn command(&self, tests: Tests) -> Command {
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        // `testkit/src/server/program.rs` reads this variable.
        command.env("HOLDSHORT_PROGRAMS_BUILT", "1");
        match tests {
            Tests::All => {}
            Tests::Without(names) => {
                command.args(names.iter().flat_map(|name| ["--skip", name]));
            }
            Tests::Campaigns => {
                command.args(["--ignored", CAMPAIGN]);
            }
        }
        command
    }

    fn length(&self, tests: Tests) -> Result<usize> {
        let output = self.command(tests).args(["--list", "--format", "terse"]).output();
        let output = output.with_context(|| format!("{} cannot be started", self.name))?;
        Ok(String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.ends_with(": test")).count())
    }

    fn run(&self, tests: Tests, ran: &Mutex<Ran>) -> Result<()> {
        lock(ran).running.push(self.name.clone());
        let since = Instant::now();
        let mut command = self.command(tests);
        // The test harness reports times only with an unstable option.
        command.env("RUSTC_BOOTSTRAP", "1").args(["-Z", "unstable-options", "--report-time"]);
        if self.name == WAITS && matches!(tests, Tests::All) {
            let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
            command.arg(format!("--test-threads={}", processors + 1));
        }
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} cannot be started", self.name))?;
        let mut output = String::new();
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines() {
                let line = line.with_context(|| format!("the output of {} cannot be read", self.name))?;
                // The test harness reports a test that takes long.
                if line.contains(" has been running for over ") {
                    println!("   … {}: {line}", self.name);
                }
                let mut ran = lock(ran);
                ran.counts.take(&line);
                ran.tests.extend(timed(&self.name, &line));
                output.push_str(&line);
                output.push('\n');
            }
        }
        let passed =
            child.wait().with_context(|| format!("the exit code of {} is unknown", self.name))?.success();
        let mut ran = lock(ran);
        ran.running.retain(|name| *name != self.name);
        ran.programs.push(Timed { name: self.name.clone(), took: since.elapsed() });
        if !passed {
            println!("\n{output}");
            ran.failed.push(self.name.clone());
        }
        Ok(())
    }
}

/// Runs test programs in parallel lanes. The programs in a lane run one after another.
pub(crate) fn run(lanes: &[Vec<Program>], tests: Tests) -> Result<Ran> {
    let total = lanes.iter().flatten().map(|program| program.length(tests)).sum::<Result<usize>>()?;
    println!("\n== tests: {total}");
    let ran = Arc::new(Mutex::new(Ran::default()));
    let shown = ran.clone();
    let alive = Heartbeat::saying(move || {
        let ran = lock(&shown);
        let running = ran.running.join(" and ");
        format!("{} of {total} tests have ended; running now: {running}", ran.tests.len())
    });
    std::thread::scope(|scope| {
        let ran = &ran;
        let running: Vec<_> =
            lanes.iter().map(|lane| scope.spawn(move || run_lane(lane, tests, ran))).collect();
        running.into_iter().try_for_each(|lane| {
            lane.join().unwrap_or_else(|_| bail!("a thread that runs test programs panicked"))
        })
    })?;
    drop(alive);
    Ok(std::mem::take(&mut *lock(&ran)))
}

fn run_lane(programs: &[Program], tests: Tests, ran: &Mutex<Ran>) -> Result<()> {
    programs.iter().try_for_each(|program| program.run(tests, ran))
}

/// Parses a line of a test program's output, such as `test words::first ... ok <0.012s>`.
fn timed(program: &str, line: &str) -> Option<Timed> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let (_, seconds) = rest.strip_suffix("s>")?.rsplit_once('<')?;
    let took = Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?;
    Some(Timed { name: format!("{program} {name}"), took })
}

/// Locks the results of the test programs. Ignores a panic of another lane, which is reported elsewhere.
fn lock(ran: &Mutex<Ran>) -> MutexGuard<'_, Ran> {
    ran.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_harness_tells_the_time_of_a_test() {
        let of = |line: &str| timed("core", line).map(|timed| (timed.name, timed.took.as_millis()));
        assert_eq!(of("test words::first ... ok <0.012s>"), Some(("core words::first".to_owned(), 12)));
        assert_eq!(of("test last ... FAILED <1.500s>"), Some(("core last".to_owned(), 1500)));
        for other in
            ["test rest ... ignored, it takes long", "test result: ok. 3 passed; finished in 0.10s", ""]
        {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn a_message_of_cargo_names_a_program() {
        let message = |kind: &str, target: &str, test: bool| {
            serde_json::json!({
                "manifest_path": "/project/crates/core/Cargo.toml", "executable": "/built/program",
                "profile": {"test": test}, "target": {"kind": [kind], "name": target},
            })
        };
        let name = |message| Program::from_message(&message).map(|program| program.name);
        assert_eq!(name(message("lib", "holdshort_core", true)), Some("core".to_owned()));
        assert_eq!(name(message("test", "it", true)), Some("core::it".to_owned()));
        assert_eq!(name(message("bin", "holdshort", false)), None);
    }
}
