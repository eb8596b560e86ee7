//! Checks of commits. A commit writes the files of a changeset to the workspace. A commit must write the changeset that
//! its start event names, and all paths of the changeset. A commit may overwrite a file only if a person saw this
//! content of the file.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::changeset::{Changeset, Entry};
use holdshort_core::digest::Digest;
use holdshort_core::id::RunId;
use holdshort_core::run::undo::{Arguments, Undo};
use holdshort_core::run::{ActionId, Call, CallEnd, CallState, Fact, Run};

use super::ledger::Ledger;
use super::{Witness, WitnessedRun};
use crate::sim::history::short;
use crate::sim::leases::Leases;

/// Result of committing one path of a changeset.
pub(in crate::sim) struct Write {
    pub(in crate::sim) call: String,
    pub(in crate::sim) attempt: u32,
    pub(in crate::sim) changeset: Digest,
    pub(in crate::sim) path: String,
    /// True if the path already had, before the commit, the content that the changeset gives it.
    pub(in crate::sim) was_there: bool,
    /// True if the file had, before the commit wrote it, the content that was shown to the person who approved the
    /// changeset.
    pub(in crate::sim) as_shown: bool,
}

/// Progress of all commits of one call. The record begins with the inspection of the call.
#[derive(Default)]
pub(super) struct Commits {
    /// Paths that already have the content that the changeset of the call gives them.
    settled: BTreeSet<String>,
    /// True if the current attempt to commit has changed the content of a path.
    wrote: bool,
}

impl Commits {
    pub(super) fn wrote(&self) -> bool {
        self.wrote
    }
}

impl Witness {
    pub(in crate::sim) fn wrote(&mut self, run: &RunId, action: &ActionId, leases: &Leases, write: Write) {
        let checked = match self.runs.get_mut(run) {
            Some(witnessed) => {
                if !write.was_there {
                    self.committed.insert(write.path.clone(), (run.clone(), write.call.clone()));
                }
                let late = witnessed.begun.get(action).is_none_or(|begun| !begun.has_unbroken_lease(leases));
                witnessed.wrote(late, write)
            }
            None => Err("a commit of a run that has no events".to_owned()),
        };
        self.note(checked.map_err(|problem| format!("{}: {problem}", short(run.as_str()))));
    }

    /// Records that a path of the simulated workspace was written by something other than a commit.
    pub(in crate::sim) fn overwritten(&mut self, path: &str) {
        self.committed.remove(path);
    }

    /// Checks that each committed path of the simulated workspace still has the content that the last commit gave it.
    pub(in crate::sim) fn check_files(&mut self, files: &BTreeMap<String, Entry>) {
        let checked = self.committed.iter().try_for_each(|(path, (run, id))| {
            let call = self.run(run).and_then(|run| run.calls.get(id)).ok_or("a commit without a call")?;
            let changes = call.committing().and_then(|found| found.changeset.as_deref());
            let mut changes = changes.into_iter().flat_map(Changeset::changes);
            match changes.find(|change| change.path == *path) {
                Some(change) if change.after.as_ref() == files.get(path) => Ok(()),
                _ => Err(format!(
                    "{}: `{path}` does not have the content that {id} committed",
                    short(run.as_str())
                )),
            }
        });
        self.note(checked);
    }

    /// Checks the changes that an undo would make. For each path, an undo replaces the state after the newest change by
    /// the state before the oldest change.
    pub(in crate::sim) fn undoes(&mut self, arguments: &Arguments, undo: &Undo) {
        let checked = match self.run(&arguments.run) {
            Some(of) => as_undone(of, arguments.to, undo),
            None => Err("an undo of a run that has no events".to_owned()),
        };
        self.note(checked.map_err(|problem| format!("{}: {problem}", short(arguments.run.as_str()))));
    }
}

type PathStates = (Option<Entry>, Option<Entry>);

/// Checks that an undo reverts all changes after event number `to`. A call may have completed after the changes of the
/// undo were computed. Therefore the changes may also be those of an earlier moment.
fn as_undone(of: &Run, to: u64, undo: &Undo) -> Result<(), String> {
    let is_done = |call: &&Call| call.state == CallState::Ended(CallEnd::Done);
    let mut done: Vec<&Call> = of.calls.values().filter(is_done).collect();
    done.retain(|call| call.ended_at.is_some_and(|at| at > to));
    done.sort_by_key(|call| call.ended_at);
    let told = undo.changeset.changes().iter().filter(|change| !undo.mixed.contains(&change.path));
    let told: BTreeMap<&str, PathStates> =
        told.map(|change| (change.path.as_str(), (change.before.clone(), change.after.clone()))).collect();
    let is_of_moment = |until: usize| {
        let mut expected = combine_changes(&done[..until]);
        expected.retain(|path, _| !undo.mixed.iter().any(|mixed| mixed == path));
        expected == told
    };
    if (1..=done.len()).any(is_of_moment) {
        Ok(())
    } else {
        Err(format!("an undo is computed as {told:?}, which does not match the changes that were made"))
    }
}

/// Returns the changes that undo these calls together: each path goes from the state after its newest change to the
/// state before its oldest change.
fn combine_changes<'a>(done: &[&'a Call]) -> BTreeMap<&'a str, PathStates> {
    let changesets = done.iter().filter_map(|call| call.committing()?.changeset.as_deref());
    let mut ends: BTreeMap<&str, PathStates> = BTreeMap::new();
    for change in changesets.flat_map(Changeset::changes) {
        let of_path = ends.entry(&change.path).or_insert((None, change.before.clone()));
        of_path.0.clone_from(&change.after);
    }
    ends.retain(|_, (now, before)| now != before);
    ends
}

impl WitnessedRun {
    fn wrote(&mut self, late: bool, write: Write) -> Result<(), String> {
        let Write { call: id, attempt, changeset, path, was_there, as_shown } = write;
        let call = self.run.calls.get(&id).ok_or("an unknown call is committed")?;
        let under_way = matches!(call.state, CallState::Started { .. } | CallState::Ended(CallEnd::Unknown));
        let is_current = under_way && call.attempt == attempt;
        if !was_there && !as_shown {
            return Err(format!("{id} overwrites `{path}`, which no longer has the content that was shown"));
        }
        // Another node has taken over the commit, and writes the same changes.
        if late && !is_current {
            return Ok(());
        }
        if !is_current {
            return Err(format!(
                "attempt {attempt} of {id} writes `{path}` although the attempt is no longer valid"
            ));
        }
        if call.committing().map(|found| found.digest) != Some(changeset) {
            return Err(format!("{id} writes `{path}`, but its start names another changeset"));
        }
        let commits = &mut self.calls.entry(id).or_default().commits;
        commits.settled.insert(path);
        commits.wrote |= !was_there;
        Ok(())
    }

    /// Checks that `end` is a possible end of a call that commits a changeset. `said` is true if a person stated that
    /// the call took effect.
    pub(super) fn may_end_commit(
        &self,
        id: &str,
        call: &Call,
        end: CallEnd,
        said: bool,
    ) -> Result<(), String> {
        let none = Commits::default();
        let commits = self.calls.get(id).map_or(&none, |ledger| &ledger.commits);
        let doubted = self.calls.get(id).is_some_and(Ledger::doubted);
        let changes = call.committing().and_then(|found| found.changeset.as_deref());
        let rest =
            changes.into_iter().flat_map(Changeset::changes).find(|it| !commits.settled.contains(&it.path));
        match (end, rest) {
            (CallEnd::Done, Some(change)) if !said => {
                Err(format!("{id} ended as done, but `{}` does not have the committed content", change.path))
            }
            (CallEnd::Done | CallEnd::Unknown | CallEnd::Skipped, _) => Ok(()),
            (CallEnd::Failed | CallEnd::Refused | CallEnd::Answered | CallEnd::Cancelled, _) => {
                if commits.wrote && !doubted {
                    return Err(format!("{id} ended as {end:?}, but some of its changes were written"));
                }
                Ok(())
            }
        }
    }
}

/// Checks that the event of a commit's start names the same changeset that the inspection of the call found.
pub(super) fn may_commit(call: &Call, fact: &Fact) -> Result<(), String> {
    let Fact::ToolStarted { call: id, changeset, .. } = fact else { return Ok(()) };
    if *changeset == call.committing().map(|found| found.digest) {
        Ok(())
    } else {
        Err(format!("{id} starts with another changeset than its inspection found"))
    }
}
