//! Extracts the numbers of passed, failed and skipped tests from the output of a command. Test runners print these
//! numbers in their last lines.
//!
//! PURE. The numbers cannot be trusted, because any command can print such a line. They are shown as a part of the
//! output, and must not influence any decision. [`RUNNERS`] has one row per test runner. A line that cannot be parsed
//! completely is ignored.

/// Parser of one line of a test runner's output. The second argument is the number of tests that an earlier line
/// reported. Returns `None` if the line is not the final summary of the test runner.
type Reader = fn(&str, Option<u64>) -> Option<Counts>;

const RUNNERS: [(&str, Reader); 7] = [
    ("cargo test", cargo),
    ("pytest", pytest),
    ("unittest", unittest),
    ("node --test", node),
    ("jest", jest),
    ("vitest", vitest),
    ("go test, by package", go),
];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Counts {
    fn plus(self, other: Self) -> Self {
        Self {
            passed: self.passed.saturating_add(other.passed),
            failed: self.failed.saturating_add(other.failed),
            skipped: self.skipped.saturating_add(other.skipped),
        }
    }

    /// Adds `number` to the counter of test results that a word such as `passed` names. Returns `None` for an unknown
    /// word.
    fn count(self, number: u64, word: &str) -> Option<Self> {
        let more = match word {
            "passed" | "pass" | "xfailed" | "xpassed" => Self { passed: number, ..Self::default() },
            "failed" | "fail" | "error" | "errors" | "failures" | "unexpected successes" | "cancelled" => {
                Self { failed: number, ..Self::default() }
            }
            "skipped" | "ignored" | "todo" | "pending" => Self { skipped: number, ..Self::default() },
            "total" | "tests" | "suites" | "measured" | "filtered out" | "deselected" | "warning"
            | "warnings" | "rerun" | "expected failures" | "subtests passed" => Self::default(),
            _ => return None,
        };
        Some(self.plus(more))
    }
}

/// Returns one line per test runner whose summary is in the output, such as `1 failed, 41 passed (cargo test)`, in the
/// order of [`RUNNERS`]. The numbers of several summaries of a test runner are added.
pub fn summarize_test_runs(output: &str) -> Vec<String> {
    let mut found = [None::<Counts>; RUNNERS.len()];
    let mut all = None;
    for line in output.lines() {
        let line = uncoloured(line);
        let line = line.trim_end();
        for (found, (_, read)) in found.iter_mut().zip(RUNNERS) {
            if let Some(counts) = read(line, all) {
                *found = Some(found.unwrap_or_default().plus(counts));
            }
        }
        // The number in a line `Ran … tests` applies only to the next summary.
        all = ran(line).or(all.filter(|_| unittest(line, all).is_none()));
    }
    let told = found.into_iter().zip(RUNNERS);
    told.filter_map(|(counts, (runner, _))| Some(format_counts(runner, counts?))).collect()
}

/// Formats the numbers of tests of one test runner. The number of failures comes first.
fn format_counts(runner: &str, counts: Counts) -> String {
    let Counts { passed, failed, skipped } = counts;
    let told = [
        (failed > 0).then(|| format!("{failed} failed")),
        Some(format!("{passed} passed")),
        (skipped > 0).then(|| format!("{skipped} skipped")),
    ];
    format!("{} ({runner})", told.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// Returns a line of a test runner's output without terminal colour sequences.
fn uncoloured(line: &str) -> String {
    let mut pieces = line.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        let rest = piece.find(|c: char| c.is_ascii_alphabetic()).map_or("", |end| &piece[end + 1..]);
        text + rest
    })
}

/// Parses counts of test results such as `3 passed, 1 failed`, separated by `between`. Returns `None` if an item is not
/// a number and a known word.
fn counted(items: &str, between: &str) -> Option<Counts> {
    items.split(between).try_fold(Counts::default(), |counts, item| {
        let (number, word) = item.trim().split_once(' ')?;
        counts.count(number.parse().ok()?, word.trim())
    })
}

/// Parses the summary of `cargo test`: `test result: ok. 41 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out;
/// finished in 0.01s`.
fn cargo(line: &str, _: Option<u64>) -> Option<Counts> {
    let said = line.strip_prefix("test result: ")?;
    let items = said.strip_prefix("ok. ").or_else(|| said.strip_prefix("FAILED. "))?;
    counted(items.split_once("; finished in ").map_or(items, |(items, _)| items), ";")
}

/// Parses the summary of pytest: `===== 1 failed, 3 passed in 0.12s =====`. In quiet mode the line has no `=`.
fn pytest(line: &str, _: Option<u64>) -> Option<Counts> {
    let (items, time) = line.trim_matches(['=', ' ']).rsplit_once(" in ")?;
    let seconds = time.split(' ').next()?.strip_suffix('s')?;
    seconds.parse::<f64>().ok()?;
    if items == "no tests ran" { Some(Counts::default()) } else { counted(items, ",") }
}

/// Parses the summary of Python's unittest, `OK (skipped=1)` or `FAILED (failures=1, errors=1)`, which follows a line
/// such as `Ran 5 tests in 0.001s`.
fn unittest(line: &str, ran: Option<u64>) -> Option<Counts> {
    let all = ran?;
    let said = line.strip_prefix("OK").or_else(|| line.strip_prefix("FAILED"))?;
    let items = match said.trim() {
        "" => "",
        said => said.strip_prefix('(')?.strip_suffix(')')?,
    };
    let counts =
        items.split(", ").filter(|item| !item.is_empty()).try_fold(Counts::default(), |sum, item| {
            let (word, number) = item.split_once('=')?;
            sum.count(number.parse().ok()?, word)
        })?;
    let passed = all.saturating_sub(counts.failed.saturating_add(counts.skipped));
    Some(Counts { passed, ..counts })
}

/// Returns the number of tests in a line of unittest such as `Ran 5 tests in 0.001s`.
fn ran(line: &str) -> Option<u64> {
    let (number, rest) = line.strip_prefix("Ran ")?.split_once(" test")?;
    rest.strip_prefix('s').unwrap_or(rest).starts_with(" in ").then(|| number.parse().ok())?
}

/// Parses `# pass 3` or `ℹ pass 3`, the summary of Node.js. Each line contains one number.
fn node(line: &str, _: Option<u64>) -> Option<Counts> {
    let items = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "))?;
    let (word, number) = items.split_once(' ')?;
    let is_one = matches!(word, "tests" | "pass" | "fail" | "cancelled" | "skipped" | "todo");
    is_one.then(|| Counts::default().count(number.parse().ok()?, word))?
}

/// Parses the summary of Jest: `Tests:       1 failed, 4 passed, 5 total`.
fn jest(line: &str, _: Option<u64>) -> Option<Counts> {
    counted(line.strip_prefix("Tests: ")?, ",")
}

/// Parses the summary of Vitest: `      Tests  1 failed | 4 passed (5)`.
fn vitest(line: &str, _: Option<u64>) -> Option<Counts> {
    let items = line.trim_start().strip_prefix("Tests  ")?;
    counted(items.rsplit_once(" (").filter(|(_, all)| all.ends_with(')'))?.0, "|")
}

/// Parses the result of one Go package: `ok   example.org/x 0.012s`, and `FAIL example.org/x` with a duration or
/// `[build failed]`. Each package has one line in the output of `go test`.
fn go(line: &str, _: Option<u64>) -> Option<Counts> {
    let mut parts = line.split('\t');
    let (said, package, time) = (parts.next()?.trim_end(), parts.next()?, parts.next());
    if package.is_empty() || package.contains(' ') && !package.ends_with(" failed]") {
        return None;
    }
    match (said, time) {
        ("ok", Some(_)) => Some(Counts { passed: 1, ..Counts::default() }),
        ("FAIL", _) => Some(Counts { failed: 1, ..Counts::default() }),
        _ => None,
    }
}
