//! Changes that simulated commands and file tools make, and the commits of these changes. The command `./do a=TEXT -b`
//! writes the file `a` and deletes the file `b`. When it is tried, no file changes. A commit writes one path in each
//! turn, so that anything can happen between two paths.

use std::collections::{BTreeMap, BTreeSet};

use futures::FutureExt;
use holdshort_core::changeset::{Change, Changeset, Entry};
use holdshort_core::digest::Digest;
use holdshort_core::run::undo::{self, Arguments, Undo};
use holdshort_core::tool::{Outcome, Precondition, ProposedChanges, TrialOutcome, TrialResult};
use holdshort_engine::{Job, Work};
use holdshort_store::Bodies;
use serde::Deserialize;
use serde_json::{Value, json};

use super::check::Write;
use super::choices::Choices;
use super::mutants::Mutant;
use super::site::Site;
use super::world::World;

/// Progress of a simulated commit, which writes a changeset to the files.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Writing {
    is_begun: bool,
    /// Number of paths that the simulated commit has already processed.
    paths: usize,
    has_written: bool,
}

fn entry(text: &str) -> Entry {
    Entry::File { digest: Digest::of_bytes(text.as_bytes()), bytes: text.len() as u64, mode: 0o644 }
}

fn between(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Changeset {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let change = |path: &String| Change {
        path: path.clone(),
        before: before.get(path).map(|text| entry(text)),
        after: after.get(path).map(|text| entry(text)),
        ignored: false,
    };
    let changes = paths.into_iter().map(change).filter(|change| change.before != change.after).collect();
    Changeset::new(changes).expect("each path comes once")
}

impl World {
    /// Returns all simulated files in the form of changeset entries.
    pub(super) fn entries(&self) -> BTreeMap<String, Entry> {
        self.files.iter().map(|(path, text)| (path.clone(), entry(text))).collect()
    }

    fn entry(&self, path: &str) -> Option<Entry> {
        self.files.get(path).map(|text| entry(text))
    }

    /// Returns a command that writes some files and deletes some others.
    pub(super) fn writing(&mut self, choices: &mut Choices) -> String {
        let mut words = vec!["./do".to_owned()];
        for path in ["a", "b", "c"] {
            match choices.below(4) {
                0 => {}
                1 => words.push(format!("-{path}")),
                _ => words.push(format!("{path}={}", self.text().replace(' ', "-"))),
            }
        }
        words.join(" ")
    }

    /// Returns the simulated files as they would be after a command. Stores each text that the command writes, by its
    /// digest.
    fn after(&mut self, line: &str) -> BTreeMap<String, String> {
        let mut files = self.files.clone();
        for word in line.strip_prefix("./do").unwrap_or_default().split_whitespace() {
            match (word.split_once('='), word.strip_prefix('-')) {
                (Some((path, text)), _) => drop(files.insert(path.to_owned(), text.to_owned())),
                (None, Some(path)) => drop(files.remove(path)),
                (None, None) => {}
            }
        }
        self.keep(&files);
        files
    }

    fn keep(&mut self, files: &BTreeMap<String, String>) {
        let texts = files.values().chain(self.files.values());
        let texts: Vec<_> = texts.map(|text| (Digest::of_bytes(text.as_bytes()), text.clone())).collect();
        self.kept.extend(texts);
    }

    /// Returns the change that a call of `write_file` proposes.
    pub(super) fn proposed(&mut self, arguments: &Value) -> ProposedChanges {
        let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        let mut files = self.files.clone();
        files.insert(text("path"), text("content"));
        self.keep(&files);
        ProposedChanges {
            changeset: between(&self.files, &files),
            text: "written".to_owned(),
            data: Value::Null,
        }
    }

    /// Returns the changes that a simulated command would make.
    pub(super) fn between(&mut self, line: &str) -> Changeset {
        let after = self.after(line);
        between(&self.files, &after)
    }

    pub(super) fn put(&mut self, change: &Change) {
        match &change.after {
            Some(Entry::File { digest, .. }) => {
                let text = self.kept.get(digest).cloned().unwrap_or_default();
                self.files.insert(change.path.clone(), text);
            }
            _ => drop(self.files.remove(&change.path)),
        }
    }
}

impl Site {
    /// Tries a simulated command, or computes an undo. No file changes.
    pub(super) fn try_on(
        &mut self,
        tool: &str,
        arguments: &Value,
        preconditions: &[Precondition],
        choices: &mut Choices,
    ) -> TrialOutcome {
        if tool == undo::TOOL {
            return self.try_undo(arguments);
        }
        let is_changed = |shown: &&Precondition| self.world.state(&shown.path) != **shown;
        let paths: Vec<String> =
            preconditions.iter().filter(is_changed).map(|shown| shown.path.clone()).collect();
        if !paths.is_empty() {
            return TrialOutcome::Changed { paths };
        }
        if !self.world.plays_trials || choices.one_in(12) {
            return TrialOutcome::Impossible { why: "there is no room for a trial".to_owned() };
        }
        let line = arguments["command"].as_str().unwrap_or_default();
        yielded(self.world.between(line), format!("tried {line}"))
    }

    /// Returns the changes that an undo would make to the simulated files. Paths that have changed since the run are
    /// left out.
    fn try_undo(&mut self, arguments: &Value) -> TrialOutcome {
        let impossible = |why: &str| TrialOutcome::Impossible { why: why.to_owned() };
        let Ok(arguments) = Arguments::deserialize(arguments) else {
            return impossible("these are no arguments of an undo");
        };
        let body = self.store.body(&arguments.changes).now_or_never().and_then(Result::ok).flatten();
        let Some(mut undo) = body.and_then(|body| serde_json::from_slice::<Undo>(&body).ok()) else {
            return impossible("it is not kept");
        };
        if self.mutant == Some(Mutant::UndoInPart) {
            let changes = undo.changeset.changes();
            let part = changes[..changes.len().saturating_sub(1)].to_vec();
            undo.changeset = Changeset::new(part).expect("each path comes once");
        }
        self.witness.undoes(&arguments, &undo);
        let stands = |change: &&Change| {
            !undo.mixed.contains(&change.path) && self.world.entry(&change.path) == change.before
        };
        let changes = undo.changeset.changes().iter().filter(stands).cloned().collect();
        yielded(Changeset::new(changes).expect("each path comes once"), String::new())
    }

    /// Writes the next path of a changeset that is being committed. Returns `None` if there are more paths to write.
    pub(super) fn write_on(&mut self, job: &Job, writing: &mut Writing) -> Option<Outcome> {
        let Job { run, action, work, .. } = job;
        let Work::Commit { call, attempt, changeset, is_resumed, layer: _, merges: _ } = work else {
            return None;
        };
        let Some(changeset) = changeset else {
            return Some(Outcome::Failed { text: "it is not kept".to_owned() });
        };
        let is_other = |change: &&Change| {
            let now = self.world.entry(&change.path);
            now != change.before && !(*is_resumed && now == change.after)
        };
        let believes = matches!(self.mutant, Some(Mutant::BelieveWhatWasShown | Mutant::WriteOverOthers));
        if !writing.is_begun {
            writing.is_begun = true;
            let others: Vec<String> =
                changeset.changes().iter().filter(is_other).map(|change| change.path.clone()).collect();
            if !others.is_empty() && !believes {
                return Some(stopped(*is_resumed, others));
            }
            if *is_resumed && self.mutant == Some(Mutant::ForgetTheRest) {
                return Some(done());
            }
        }
        let Some(change) = changeset.changes().get(writing.paths) else { return Some(done()) };
        if self.mutant == Some(Mutant::LeaveTheLast) && writing.paths + 1 == changeset.changes().len() {
            return Some(done());
        }
        writing.paths += 1;
        let now = self.world.entry(&change.path);
        let write = Write {
            call: call.clone(),
            attempt: *attempt,
            changeset: changeset.digest(),
            path: change.path.clone(),
            was_there: now == change.after,
            as_shown: now == change.before,
        };
        if !write.was_there && !write.as_shown && !believes {
            return Some(stopped(*is_resumed || writing.has_written, vec![change.path.clone()]));
        }
        writing.has_written |= !write.was_there;
        self.world.put(change);
        self.witness.wrote(run, action, &self.leases, write);
        None
    }
}

fn yielded(changeset: Changeset, text: String) -> TrialOutcome {
    TrialOutcome::Yielded(TrialResult {
        card: json!({ "files": changeset.changes().len() }),
        layer: None,
        ask_because: Vec::new(),
        data: Value::Null,
        changeset,
        text,
    })
}

fn done() -> Outcome {
    Outcome::Done { text: String::new(), data: Value::Null }
}

fn stopped(halfway: bool, paths: Vec<String>) -> Outcome {
    if halfway {
        Outcome::Halfway { text: format!("others have changed {paths:?}") }
    } else {
        Outcome::Changed { paths }
    }
}
