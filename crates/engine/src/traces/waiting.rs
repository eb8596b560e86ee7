//! Which runs are still to be told: in memory, and in a file of the data folder, so that a restart forgets none.
//!
//! A run is written down before the append that ends it, so one that ended is there whenever the process dies. One that
//! did not end after all is dropped when it is read. What was told is taken away after the answer: a crash in between
//! tells it once more, with the same ids.

use std::collections::{BTreeSet, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use holdshort_core::id::RunId;

use super::limits::TRACES_WAITING;

/// Its name in the data folder.
const NAME: &str = "traces.waiting";
/// Lines beyond those that count, before the file is written anew.
const STALE: usize = 1_000;

/// One that has ended. The same run may be here twice: what was told of the first says nothing of the second.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) run: RunId,
    /// Of no other one.
    number: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// `None`: in memory alone.
    file: Option<File>,
    lines: usize,
    /// About to end.
    ending: BTreeSet<RunId>,
    /// The oldest first, by their numbers too.
    ended: VecDeque<Ended>,
    next: u64,
}

impl Waiting {
    /// From here on it is kept in this folder, which nobody else uses. What a process before this one left there is told
    /// first. How many of the oldest are forgotten.
    pub(crate) fn keep_in(&mut self, folder: &Path) -> io::Result<usize> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(folder.join(NAME))?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let mut seen = BTreeSet::new();
        // A line that was cut off is no id.
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

    /// Before the append that ends it.
    pub(crate) fn ending(&mut self, run: &RunId) -> io::Result<()> {
        if !self.ending.insert(run.clone()) {
            return Ok(());
        }
        // Ids sort by their time: of this one nobody said what became of its append.
        if self.ending.len() > TRACES_WAITING {
            self.ending.pop_first();
        }
        if self.lines >= self.counting() + STALE {
            return self.rewrite();
        }
        self.lines += 1;
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(format!("{run}\n").as_bytes()))
    }

    /// That append wrote nothing.
    pub(crate) fn goes_on(&mut self, run: &RunId) {
        self.ending.remove(run);
    }

    /// After that append; how many of the oldest are forgotten for it.
    pub(crate) fn ended(&mut self, run: &RunId) -> usize {
        self.ending.remove(run);
        self.add(run.clone())
    }

    fn add(&mut self, run: RunId) -> usize {
        self.ended.push_back(Ended { run, number: self.next });
        self.next += 1;
        let beyond = self.ended.len().saturating_sub(TRACES_WAITING);
        self.ended.drain(..beyond);
        beyond
    }

    pub(crate) fn first(&self, count: usize) -> Vec<Ended> {
        self.ended.iter().take(count).cloned().collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.ended.len()
    }

    /// These are told, or never will be. A run that ended while they were read is another entry, and stays.
    pub(crate) fn settled(&mut self, told: &[Ended]) -> io::Result<()> {
        let told: BTreeSet<u64> = told.iter().map(|ended| ended.number).collect();
        self.ended.retain(|ended| !told.contains(&ended.number));
        let counting = self.counting();
        if counting == 0 || self.lines > counting + STALE { self.rewrite() } else { Ok(()) }
    }

    /// The lines that the file needs.
    fn counting(&self) -> usize {
        self.ended.len() + self.ending.len()
    }

    /// Those that perhaps never ended are the first that a restart forgets. Written in place: the worst that a crash in between
    /// does is to forget traces.
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

    fn open(folder: &Path) -> Waiting {
        let mut waiting = Waiting::default();
        waiting.keep_in(folder).unwrap();
        waiting
    }

    fn run(n: usize) -> RunId {
        format!("run_{n:026}").parse().unwrap()
    }

    fn runs(ended: &[Ended]) -> Vec<RunId> {
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
        // The third is cut off by a crash: whether it ended is for the journal to say.
        assert_eq!((waiting.ended(&run(2)), waiting.ended(&run(1))), (0, 0));
        let first = waiting.first(9);
        assert_eq!(runs(&first), [run(2), run(1)]);
        waiting.settled(&first[..1]).unwrap();
        drop(waiting);
        let mut waiting = open(folder.path());
        // One that was told already is told once more, as its line was still there.
        assert_eq!(runs(&waiting.first(9)), [run(1), run(2), run(3)]);
        let all = waiting.first(9);
        waiting.settled(&all).unwrap();
        drop(waiting);
        assert_eq!(lines(folder.path()), 0);
        assert_eq!(open(folder.path()).len(), 0);
    }

    /// A crash left a run that had not ended. It is read, and ends before what was read is settled.
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

    /// A collector is down for long, and runs end, or do not after all, or nobody says what became of them.
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
        let mut waiting = Waiting::default();
        let forgotten = waiting.keep_in(folder.path()).unwrap();
        assert_eq!(
            (forgotten > 0, waiting.len(), lines(folder.path())),
            (true, TRACES_WAITING, TRACES_WAITING)
        );
    }
}
