//! Times of a run of the test command: of its phases, its test programs and its slowest tests.

use std::fmt::{self, Display, Formatter};
use std::time::{Duration, Instant};

use super::programs::{Ran, Timed};

const SLOWEST: usize = 20;

/// The phases of a run, with their times.
#[derive(Default)]
pub(crate) struct Report {
    phases: Vec<Timed>,
    pub(crate) ran: Ran,
}

impl Report {
    /// Carries out a phase, and adds its time.
    pub(crate) fn phase<T>(&mut self, name: &str, phase: impl FnOnce() -> T) -> T {
        let since = Instant::now();
        let done = phase();
        self.phases.push(Timed { name: name.to_owned(), took: since.elapsed() });
        done
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        table(f, "slowest tests", &slowest(&self.ran.tests, SLOWEST))?;
        table(f, "test programs", &slowest(&self.ran.programs, usize::MAX))?;
        table(f, "phases", &self.phases)?;
        let whole: Duration = self.phases.iter().map(|phase| phase.took).sum();
        writeln!(f, "{:>8.1} s  in all\n", whole.as_secs_f64())?;
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
