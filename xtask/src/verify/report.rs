//! Times of a verification run: phases, test programs, and the slowest tests.

use std::fmt::{self, Display, Formatter, Write as _};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::processors::Processors;
use super::programs::{Ran, Timed};
use crate::run::target;

const SLOWEST: usize = 20;

/// File in Cargo's target directory that lists the duration of every test.
const TIMES: &str = "tests.txt";

#[derive(Default)]
pub(crate) struct Report {
    phases: Vec<Phase>,
    pub(crate) ran: Ran,
}

struct Phase {
    timed: Timed,
    /// Percentage of the machine's processor time that the phase used.
    busy: Option<u64>,
}

impl Report {
    pub(crate) fn phase<T>(&mut self, name: &str, phase: impl FnOnce() -> T) -> T {
        let (since, before) = (Instant::now(), Processors::now());
        let done = phase();
        let timed = Timed { name: name.to_owned(), took: since.elapsed() };
        self.phases.push(Phase { timed, busy: before.and_then(Processors::busy) });
        done
    }

    /// Writes the duration of every test to a file, the slowest first.
    pub(crate) fn keep(&self) -> Result<()> {
        let mut lines = String::new();
        for test in slowest(&self.ran.tests, usize::MAX) {
            writeln!(lines, "{:.3} {}", test.took.as_secs_f64(), test.name)?;
        }
        std::fs::write(target().join(TIMES), lines).with_context(|| format!("{TIMES} cannot be written"))
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        table(f, "slowest tests", &slowest(&self.ran.tests, SLOWEST))?;
        table(f, "test programs", &slowest(&self.ran.programs, usize::MAX))?;
        writeln!(f, "\n== phases, with the percentage of processor time used")?;
        for Phase { timed, busy } in &self.phases {
            let busy = busy.map_or(String::new(), |busy| format!("{busy} %"));
            writeln!(f, "{:>8.1} s  {busy:>5}  {}", timed.took.as_secs_f64(), timed.name)?;
        }
        let whole: Duration = self.phases.iter().map(|phase| phase.timed.took).sum();
        writeln!(f, "{:>8.1} s  in total\n", whole.as_secs_f64())?;
        write!(f, "{}", self.ran.counts)
    }
}

fn slowest(timed: &[Timed], most: usize) -> Vec<Timed> {
    let mut timed = timed.to_vec();
    timed.sort_by(|one, other| other.took.cmp(&one.took).then_with(|| one.name.cmp(&other.name)));
    timed.truncate(most);
    timed
}

fn table(f: &mut Formatter<'_>, title: &str, rows: &[Timed]) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n== {title}")?;
    rows.iter().try_for_each(|row| writeln!(f, "{:>8.1} s  {}", row.took.as_secs_f64(), row.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_come_first() {
        let timed = |name: &str, seconds| Timed { name: name.to_owned(), took: Duration::from_secs(seconds) };
        let all = [timed("b", 1), timed("c", 3), timed("a", 1)];
        let names: Vec<String> = slowest(&all, 2).into_iter().map(|row| row.name).collect();
        assert_eq!(names, ["c", "a"]);
    }
}
