//! Commands that the test world can run in a trial. `./do NAME=TEXT -NAME` writes and deletes files, `cargo fmt`
//! makes the changes in `formats`, and all other lines change nothing. Git ignores names below `target/`.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::changeset::{Change, Changeset, Entry};
use holdshort_core::digest::Digest;
use holdshort_core::run::Call;
use holdshort_core::time::Timestamp;
use holdshort_core::tool::{LayerChanges, Outcome, ProposedChanges, TrialOutcome, TrialResult};
use serde_json::{Value, json};

use crate::world::World;

impl World {
    /// Runs a command on a copy of the files, and returns the outcome.
    pub(crate) fn try_command(&self, id: &str) -> TrialOutcome {
        let Some(line) = self.run.calls[id].argument("command") else {
            return TrialOutcome::Impossible { why: "it is not a command".to_owned() };
        };
        let mut files = self.files.clone();
        let words =
            if line == "cargo fmt" { Some(self.formats.as_str()) } else { line.strip_prefix("./do ") };
        if let Some(words) = words {
            for word in words.split(' ') {
                match (word.split_once('='), word.strip_prefix('-')) {
                    (Some((name, text)), _) => {
                        files.insert(name.to_owned(), text.to_owned());
                    }
                    (None, Some(name)) => {
                        files.remove(name);
                    }
                    (None, None) => {}
                }
            }
        }
        let is_cache = |change: &Change| change.ignored && change.before.is_none();
        let changes = Vec::from(between(&self.files, &files));
        let (cache, changes): (Vec<_>, Vec<_>) = changes.into_iter().partition(is_cache);
        let changeset = Changeset::new(changes).expect("paths of a map");
        let layer = (!cache.is_empty()).then(|| {
            Box::new(LayerChanges {
                changes: Changeset::new(cache).expect("paths of a map"),
                made_at: Timestamp::from_millis(0),
            })
        });
        TrialOutcome::Yielded(TrialResult {
            card: json!({ "files": changeset.changes().len() }),
            changeset,
            layer,
            ask_because: Vec::new(),
            text: format!("tried {line}{}", self.prints),
            data: json!({ "exit_code": 0 }),
        })
    }

    /// Returns the changes that a call of `write_file` would make.
    pub(crate) fn propose(&self, call: &Call) -> ProposedChanges {
        let mut files = self.files.clone();
        let (path, content) = (call.argument("path"), call.argument("content"));
        files.insert(path.unwrap_or_default().to_owned(), content.unwrap_or_default().to_owned());
        let changeset = between(&self.files, &files);
        ProposedChanges { changeset, text: "proposed, and done".to_owned(), data: json!({ "bytes": 3 }) }
    }

    /// Applies a changeset completely or not at all, like a real tool. A resumed commit applies the missing changes.
    pub(crate) fn commit(&mut self, changeset: &Changeset, is_resumed: bool) -> Outcome {
        let now = |path: &str| self.files.get(path).map(|text| entry(text));
        let is_other = |change: &&Change| {
            let now = now(&change.path);
            now != change.before && !(is_resumed && now == change.after)
        };
        let other: Vec<String> =
            changeset.changes().iter().filter(is_other).map(|change| change.path.clone()).collect();
        if !other.is_empty() && is_resumed {
            return Outcome::Halfway { text: format!("others have changed {other:?}") };
        }
        if !other.is_empty() {
            return Outcome::Changed { paths: other };
        }
        for change in changeset.changes() {
            self.effects.push(format!("commit {}", change.path));
            self.commit_one(change);
        }
        Outcome::Done { text: String::new(), data: Value::Null }
    }

    pub(crate) fn commit_one(&mut self, change: &Change) {
        // Commands contain the texts that they write, so the text with this digest is searched in the command lines.
        let line = self.run.calls.values().filter_map(|call| call.argument("command"));
        let line = line
            .map(|line| if line == "cargo fmt" { "./do src/a=1 src/b=1 src/sub/b=1 docs/b=1" } else { line });
        let texts: BTreeSet<String> = line
            .flat_map(|line| line.split(' '))
            .filter_map(|it| Some(it.split_once('=')?.1.to_owned()))
            .chain(self.run.calls.values().filter_map(|call| Some(call.argument("content")?.to_owned())))
            .collect();
        match &change.after {
            None => {
                self.files.remove(&change.path);
            }
            Some(after) => {
                let text = texts.iter().find(|text| entry(text) == *after).expect("the line wrote it");
                self.files.insert(change.path.clone(), text.clone());
            }
        }
    }
}

fn entry(text: &str) -> Entry {
    Entry::File { digest: Digest::of_bytes(text.as_bytes()), bytes: text.len() as u64, mode: 0o644 }
}

pub(crate) fn between(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Changeset {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let change = |path: &String| Change {
        path: path.clone(),
        before: before.get(path).map(|text| entry(text)),
        after: after.get(path).map(|text| entry(text)),
        ignored: path.starts_with("target/"),
    };
    let changes = paths.into_iter().map(change).filter(|change| change.before != change.after).collect();
    Changeset::new(changes).expect("paths of a map")
}
