//! Numbers of passed, failed and skipped tests, read from the summaries of cargo, Node's test runner and Python's
//! `unittest`.

use std::fmt;
use std::ops::AddAssign;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
}

impl Counts {
    /// Adds the numbers of tests in a line of output, and skips lines without numbers. Examples are `test result: ok. 3
    /// passed; 0 failed; 1 ignored; …` of cargo, `ℹ pass 3` of Node, and `Ran 3 tests in 0.1s` of Python before `OK
    /// (skipped=1)`.
    pub(crate) fn take(&mut self, line: &str) {
        if let Some((_, counts)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". ")) {
            counts
                .split("; ")
                .filter_map(|part| part.split_once(' '))
                .for_each(|(n, what)| self.add(what, n));
        } else if let Some((what, n)) = line.strip_prefix("ℹ ").and_then(|rest| rest.split_once(' ')) {
            self.add(what, n);
        } else if let Some(rest) = line.strip_prefix("Ran ") {
            let ran = rest.split_once(" test").filter(|(_, rest)| rest.contains(" in "));
            self.add("passed", ran.map_or("", |(n, _)| n));
        } else if let Some(counts) = ["OK (", "FAILED ("].iter().find_map(|start| line.strip_prefix(start)) {
            for (what, n) in counts.trim_end_matches(')').split(", ").filter_map(|part| part.split_once('='))
            {
                let before = self.failed + self.skipped;
                self.add(what, n);
                self.passed = self.passed.saturating_sub(self.failed + self.skipped - before);
            }
        }
    }

    fn add(&mut self, what: &str, number: &str) {
        let Ok(number) = number.parse::<u64>() else { return };
        match what {
            "passed" | "pass" => self.passed += number,
            "failed" | "fail" | "cancelled" | "failures" | "errors" => self.failed += number,
            "ignored" | "skipped" | "todo" => self.skipped += number,
            _ => {}
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    fn count_lines(lines: &[&str]) -> String {
        let mut counts = Counts::default();
        for line in lines {
            counts.take(line);
        }
        counts.to_string()
    }

    #[test]
    fn adds_up_the_closing_lines() {
        let cargo = [
            "test a ... ok",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out",
            "test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out",
        ];
        assert_eq!(count_lines(&cargo), "5 passed, 4 failed, 1 skipped");
        let node = [
            "✔ the demo (812.5ms)",
            "ℹ tests 8",
            "ℹ suites 0",
            "ℹ pass 4",
            "ℹ fail 1",
            "ℹ cancelled 1",
            "ℹ skipped 2",
            "ℹ todo 0",
            "ℹ duration_ms 1234.5",
        ];
        assert_eq!(count_lines(&node), "4 passed, 2 failed, 2 skipped");
        let python = ["Ran 9 tests in 1.2s", "", "FAILED (failures=2, errors=1, skipped=1)"];
        assert_eq!(count_lines(&python), "5 passed, 3 failed, 1 skipped");
        assert_eq!(count_lines(&["Ran 1 test in 0.001s", "", "OK"]), "1 passed, 0 failed, 0 skipped");
    }
}
