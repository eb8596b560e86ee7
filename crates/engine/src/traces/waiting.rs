//! List of the runs whose traces are still to be exported. The list is in memory. The list is also in a file of the
//! data folder, so that a restart loses no run.
//!
//! A run is added before the append that ends it is written. Therefore the list contains an ended run even if the
//! process crashes right after the append. If that append was not written, the exporter removes the run from the list.
//! A run is removed from the list when the collector has confirmed its export. After a crash before the removal, the
//! run is exported again with the same ids.

use std::collections::{BTreeSet, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use holdshort_core::id::RunId;

use super::limits::TRACES_WAITING;

/// Name of the file in the data folder that lists the runs whose traces are not exported yet.
const NAME: &str = "traces.waiting";
/// Number of outdated lines after which the file of waiting runs is rewritten.
const STALE: usize = 1_000;

/// Run that has ended and whose trace is not exported yet. The list of these runs may contain a run twice. Each entry
/// is then removed separately.
#[derive(Clone, Debug)]
pub(crate) struct EndedRun {
    pub(crate) run: RunId,
    /// Unique number of the entry in the list of runs that wait for their export.
    number: u64,
}

#[derive(Debug, Default)]
pub(crate) struct PendingExports {
    /// File that stores the list of waiting runs. If `None`, the list is only in memory.
    file: Option<File>,
    lines: usize,
    /// Runs for which the append that ends them is in progress.
    ending: BTreeSet<RunId>,
    /// Ended runs, from the oldest to the newest, in ascending order of `number`.
    ended: VecDeque<EndedRun>,
    next: u64,
}

impl PendingExports {
    /// Stores the list of runs that wait for their export in this folder, from this call on. No other process is
    /// allowed to use the folder. Runs that an earlier process left in the file are exported first. If the list is too
    /// long, its oldest runs are removed. Returns the number of removed runs.
    pub(crate) fn keep_in(&mut self, folder: &Path) -> io::Result<usize> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(folder.join(NAME))?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let mut seen = BTreeSet::new();
        // A line that was cut off is not a valid id and is skipped.
        let before = text.lines().filter_map(|line| line.parse::<RunId>().ok());
        let here: Vec<RunId> = self.ended.drain(..).map(|ended| ended.run).collect();
        let mut forgotten = 0;
        for run in before.chain(here).filter(|run| seen.insert(run.clone())) {
            forgotten += self.add(run);
        }
        self.file = Some(file);
        self.rewrite()?;
        Ok(forgotten)
    }

    /// Adds a run to the list of runs that wait for their export, before the append that ends the run is written.
    pub(crate) fn ending(&mut self, run: &RunId) -> io::Result<()> {
        if !self.ending.insert(run.clone()) {
            return Ok(());
        }
        // The oldest run is removed. Ids sort by time, so it is the first. The result of the append that should have
        // ended it was never reported.
        if self.ending.len() > TRACES_WAITING {
            self.ending.pop_first();
        }
        if self.lines >= self.counting() + STALE {
            return self.rewrite();
        }
        self.lines += 1;
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(format!("{run}\n").as_bytes()))
    }

    /// Removes a run from the list of runs that wait for their export, because the append that was to end the run was
    /// not written.
    pub(crate) fn goes_on(&mut self, run: &RunId) {
        self.ending.remove(run);
    }

    /// Marks a run as ended in the list of runs that wait for their export. Called after the append. If the list is
    /// full, removes the oldest runs. Returns the number of removed runs.
    pub(crate) fn ended(&mut self, run: &RunId) -> usize {
        self.ending.remove(run);
        self.add(run.clone())
    }

    fn add(&mut self, run: RunId) -> usize {
        self.ended.push_back(EndedRun { run, number: self.next });
        self.next += 1;
        let beyond = self.ended.len().saturating_sub(TRACES_WAITING);
        self.ended.drain(..beyond);
        beyond
    }

    pub(crate) fn first(&self, count: usize) -> Vec<EndedRun> {
        self.ended.iter().take(count).cloned().collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.ended.len()
    }

    /// Removes runs from the list that were exported or will never be exported. If one of the runs has ended again
    /// since the entries were read, its newer entry stays in the list.
    pub(crate) fn settled(&mut self, told: &[EndedRun]) -> io::Result<()> {
        let told: BTreeSet<u64> = told.iter().map(|ended| ended.number).collect();
        self.ended.retain(|ended| !told.contains(&ended.number));
        let counting = self.counting();
        if counting == 0 || self.lines > counting + STALE { self.rewrite() } else { Ok(()) }
    }

    /// Returns the number of lines that the file of waiting runs would have after a rewrite.
    fn counting(&self) -> usize {
        self.ended.len() + self.ending.len()
    }

    /// Rewrites the file of waiting runs. Runs that may not have ended come first, because a restart with too many
    /// lines drops the first lines. The file is overwritten in place. A crash during this write can lose traces, but no
    /// other data.
    fn rewrite(&mut self) -> io::Result<()> {
        self.lines = self.counting();
        let Some(file) = &mut self.file else { return Ok(()) };
        let runs = self.ending.iter().chain(self.ended.iter().map(|ended| &ended.run));
        let lines: Vec<String> = runs.map(|run| format!("{run}\n")).collect();
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(lines.concat().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &Path) -> PendingExports {
        let mut waiting = PendingExports::default();
        waiting.keep_in(folder).unwrap();
        waiting
    }

    fn run(n: usize) -> RunId {
        format!("run_{n:026}").parse().unwrap()
    }

    fn runs(ended: &[EndedRun]) -> Vec<RunId> {
        ended.iter().map(|ended| ended.run.clone()).collect()
    }

    fn lines(folder: &Path) -> usize {
        std::fs::read_to_string(folder.join(NAME)).unwrap().lines().count()
    }

    #[test]
    fn what_was_to_be_told_is_known_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let mut waiting = open(folder.path());
        for n in 1..=3 {
            waiting.ending(&run(n)).unwrap();
        }
        // The process crashed before the third run was marked as ended. The journal shows whether the run ended.
        assert_eq!((waiting.ended(&run(2)), waiting.ended(&run(1))), (0, 0));
        let first = waiting.first(9);
        assert_eq!(runs(&first), [run(2), run(1)]);
        waiting.settled(&first[..1]).unwrap();
        drop(waiting);
        let mut waiting = open(folder.path());
        // The exported run is exported once more after the restart, because its line was still in the file.
        assert_eq!(runs(&waiting.first(9)), [run(1), run(2), run(3)]);
        let all = waiting.first(9);
        waiting.settled(&all).unwrap();
        drop(waiting);
        assert_eq!(lines(folder.path()), 0);
        assert_eq!(open(folder.path()).len(), 0);
    }

    /// Tests that a run is exported if it ends while the exporter reads it. Setup: after a crash, the list contains a
    /// run that has not ended. The exporter reads this run. Then the run ends, and only then the exporter removes the
    /// entry.
    #[test]
    fn one_that_ends_while_it_is_read_is_told() {
        let folder = tempfile::tempdir().unwrap();
        open(folder.path()).ending(&run(1)).unwrap();
        let mut waiting = open(folder.path());
        let read = waiting.first(9);
        waiting.ending(&run(1)).unwrap();
        waiting.ended(&run(1));
        waiting.settled(&read).unwrap();
        assert_eq!(runs(&waiting.first(9)), [run(1)]);
        assert_eq!(runs(&open(folder.path()).first(9)), [run(1)]);
    }

    #[test]
    fn the_oldest_are_forgotten_where_too_many_wait() {
        let folder = tempfile::tempdir().unwrap();
        let mut waiting = open(folder.path());
        let forgotten: usize = (0..TRACES_WAITING + 2).map(|n| waiting.ended(&run(n))).sum();
        assert_eq!((forgotten, waiting.len(), &waiting.first(1)[0].run), (2, TRACES_WAITING, &run(2)));
    }

    /// Tests that the file of waiting runs stays small while the collector is down. Setup: some runs end, some appends
    /// that were to end a run are not written, and the result of some appends stays unknown.
    #[test]
    fn the_file_holds_little_more_than_what_waits() {
        let folder = tempfile::tempdir().unwrap();
        let mut waiting = open(folder.path());
        for n in 0..3 * TRACES_WAITING {
            waiting.ending(&run(3 * n)).unwrap();
            waiting.ended(&run(3 * n));
            waiting.ending(&run(3 * n + 1)).unwrap();
            waiting.goes_on(&run(3 * n + 1));
            waiting.ending(&run(3 * n + 2)).unwrap();
        }
        assert!(lines(folder.path()) <= 2 * TRACES_WAITING + STALE, "{}", lines(folder.path()));
        let newest = run(3 * (3 * TRACES_WAITING - 1));
        assert_eq!(waiting.ended.back().map(|ended| &ended.run), Some(&newest));
        drop(waiting);
        let mut waiting = PendingExports::default();
        let forgotten = waiting.keep_in(folder.path()).unwrap();
        assert_eq!(
            (forgotten > 0, waiting.len(), lines(folder.path())),
            (true, TRACES_WAITING, TRACES_WAITING)
        );
    }
}
