//! `cargo xtask verify`: format, lints, tests. Ends with one line that counts the tests.

use anyhow::{Result, bail};

use crate::machine;
use crate::run::{cargo, lines, step};

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
    let mut test = cargo();
    test.args(["test", "--locked", "--no-fail-fast"]);
    if quick {
        test.args(QUICK.iter().flat_map(|name| ["--package", name]));
    } else {
        machine::prepare()?;
        // The binary that black-box tests start.
        step("the binary", cargo().args(["build", "--locked", "--quiet", "--package", "holdshort-cli"]))?;
        test.arg("--workspace");
    }
    let mut counts = Counts::default();
    let ok = lines("tests", &mut test, |line| counts.take(line))?;
    println!("\n{} passed, {} failed, {} skipped", counts.passed, counts.failed, counts.skipped);
    if !ok {
        bail!("tests failed");
    }
    if counts.passed == 0 {
        bail!("no test ran");
    }
    Ok(())
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Counts {
    /// Adds up cargo's closing lines: `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
    fn take(&mut self, line: &str) {
        let Some((_, counts)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for part in counts.split("; ") {
            let Some((number, what)) = part.split_once(' ') else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.skipped += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn adds_up_the_closing_lines() {
        let mut counts = Counts::default();
        counts.take("test a ... ok");
        counts.take("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out");
        counts.take("test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out");
        assert_eq!(counts, Counts { passed: 5, failed: 4, skipped: 1 });
    }
}
