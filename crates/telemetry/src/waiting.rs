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

use crate::limits::TRACES_WAITING;

/// Its name in the data folder.
const NAME: &str = "traces.waiting";
/// Lines beyond those that count, before the file is written anew.
const STALE: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// `None`: in memory alone.
    file: Option<File>,
    lines: usize,
    /// About to end.
    ending: BTreeSet<RunId>,
    /// The oldest first.
    ended: VecDeque<RunId>,
}

impl Waiting {
    /// From here on it is kept in this folder, which nobody else uses. What a process before this one left there is told
    /// first.
    pub(crate) fn keep_in(&mut self, folder: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(folder.join(NAME))?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let mut seen = BTreeSet::new();
        // A line that was cut off is no id.
        let runs = text.lines().filter_map(|line| line.parse::<RunId>().ok());
        let before = runs.chain(self.ended.drain(..));
        self.ended = before.filter(|run| seen.insert(run.clone())).collect();
        self.file = Some(file);
        self.rewrite()
    }

    /// Before the append that ends it.
    pub(crate) fn ending(&mut self, run: &RunId) -> io::Result<()> {
        if !self.ending.insert(run.clone()) {
            return Ok(());
        }
        self.lines += 1;
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(format!("{run}\n").as_bytes()))
    }

    /// After that append; how many of the oldest are forgotten for it.
    pub(crate) fn ended(&mut self, run: &RunId) -> usize {
        self.ending.remove(run);
        self.ended.push_back(run.clone());
        let beyond = self.ended.len().saturating_sub(TRACES_WAITING);
        self.ended.drain(..beyond);
        beyond
    }

    pub(crate) fn first(&self, count: usize) -> Vec<RunId> {
        self.ended.iter().take(count).cloned().collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.ended.len()
    }

    /// These are told, or never will be.
    pub(crate) fn settled(&mut self, runs: &[RunId]) -> io::Result<()> {
        let settled: BTreeSet<&RunId> = runs.iter().collect();
        self.ended.retain(|run| !settled.contains(run));
        let counts = self.ended.len() + self.ending.len();
        if counts == 0 || self.lines > counts + STALE { self.rewrite() } else { Ok(()) }
    }

    /// Written in place: the worst that a crash in between does is to forget traces.
    fn rewrite(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let lines: Vec<String> =
            self.ended.iter().chain(&self.ending).map(|run| format!("{run}\n")).collect();
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(lines.concat().as_bytes())?;
        self.lines = lines.len();
        Ok(())
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

    fn run(n: u8) -> RunId {
        format!("run_{n:026}").parse().unwrap()
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
        assert_eq!(waiting.first(9), [run(2), run(1)]);
        waiting.settled(&[run(2)]).unwrap();
        drop(waiting);
        let mut waiting = open(folder.path());
        // One that was told already is told once more, as its line was still there.
        assert_eq!(waiting.first(9), [run(1), run(2), run(3)]);
        waiting.settled(&[run(1), run(2), run(3)]).unwrap();
        drop(waiting);
        assert_eq!(std::fs::read_to_string(folder.path().join(NAME)).unwrap(), "");
        assert_eq!(open(folder.path()).len(), 0);
    }

    #[test]
    fn the_oldest_are_forgotten_where_too_many_wait() {
        let folder = tempfile::tempdir().unwrap();
        let mut waiting = open(folder.path());
        let all: Vec<RunId> =
            (0..TRACES_WAITING + 2).map(|n| format!("run_{n:026}").parse().unwrap()).collect();
        let forgotten: usize = all.iter().map(|run| waiting.ended(run)).sum();
        assert_eq!((forgotten, waiting.len(), &waiting.first(1)[0]), (2, TRACES_WAITING, &all[2]));
    }
}
