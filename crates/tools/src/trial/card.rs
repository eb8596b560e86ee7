//! The card of a trial as data: each changed path with its change, deletions first, and the diffs of text files. If a
//! limit is exceeded, the card contains the number of omitted paths.
//!
//! The card is `{over, exit_code, duration_ms, timed_out, output, tests?, files, deleted, ignored, changes, not_shown,
//! git?, layer?}`. A change is `{path, does, kind, ignored?, bytes?, mode?, target?, diff?, not_text?}`. `git`
//! describes the changes below `.git`, which are not in `changes`. `tests` contains the numbers of tests that the
//! output of the command reports.

use std::io;

use holdshort_command::{guarded, summarize_test_runs};
use holdshort_core::changeset::{Change, Changeset, Entry, bytes_of};
use holdshort_core::digest::Digest;
use serde_json::{Value, json};

use super::{Layers, Trial, body};
use crate::changeset::git_words;
use crate::files::Diff;
use crate::limits;

pub(crate) trait Source {
    /// Returns the content of the file at the path of a change, before or after the change.
    fn read(&self, change: &Change, side: Side, digest: Digest, bytes: u64) -> io::Result<Vec<u8>>;
    /// Returns the content of the file that has this digest, from any path of the changeset.
    fn find(&self, digest: Digest) -> io::Result<Vec<u8>>;
}

#[derive(Clone, Copy)]
pub(crate) enum Side {
    Before,
    After,
}

/// Returns the fields of the card that show the changes to the person who decides. Blocks.
pub(crate) fn of_changes(changeset: &Changeset, source: &impl Source) -> Value {
    let mut changes: Vec<&Change> =
        changeset.changes().iter().filter(|change| !is_told_in_words(change)).collect();
    changes.sort_by_key(|change| (rank(change), &change.path));
    let mut left = limits::CARD_DIFF_BYTES;
    let shown: Vec<Value> = changes
        .iter()
        .take(limits::CARD_PATHS)
        .map(|change| render_change(change, source, &mut left))
        .collect();
    let count = |is: fn(&Change) -> bool| changeset.changes().iter().filter(|it| is(it)).count();
    let mut card = json!({
        "files": count(|change| change.is_of_content() && !change.deletes()),
        "deleted": count(Change::deletes),
        "ignored": count(|change| change.ignored && change.is_of_content()),
        "changes": shown,
        "not_shown": changes.len().saturating_sub(limits::CARD_PATHS),
    });
    let git = git_words(changeset, |digest| source.find(digest));
    if !git.is_empty() {
        card["git"] = json!(git);
    }
    card
}

impl Trial {
    /// Returns the data that is shown to the person who decides on the changes of this trial. Blocks.
    pub fn card(&self) -> Value {
        let mut card = of_changes(&self.changeset, self);
        card["over"] = match self.over {
            Layers::Overlay => json!("overlay"),
            Layers::Copy | Layers::None => json!("copy"),
        };
        if let Some(layer) = &self.run_layer {
            card["layer"] = of_layer(layer.changes.changes());
        }
        card["output"] = json!(self.text);
        let tests = summarize_test_runs(&self.text);
        if !tests.is_empty() {
            card["tests"] = json!(tests);
        }
        for key in ["exit_code", "duration_ms", "timed_out"] {
            card[key] = self.data.get(key).cloned().unwrap_or_default();
        }
        card
    }
}

/// Summarises the changes of the run's layer for the card: the number of changes and the first paths.
fn of_layer(changes: &[Change]) -> Value {
    let written = || changes.iter().filter(|change| change.is_of_content() && !change.deletes());
    let paths: Vec<&str> =
        written().take(limits::CARD_LAYER_PATHS).map(|change| change.path.as_str()).collect();
    json!({
        "files": written().count(),
        "deleted": changes.iter().filter(|change| change.deletes()).count(),
        "paths": paths,
    })
}

impl Source for Trial {
    fn read(&self, change: &Change, side: Side, digest: Digest, bytes: u64) -> io::Result<Vec<u8>> {
        let root = match side {
            Side::Before => &self.workspace,
            Side::After => &self.layer,
        };
        body(root, &bytes_of(&change.path).unwrap_or_default(), digest, bytes)
    }

    fn find(&self, wanted: Digest) -> io::Result<Vec<u8>> {
        let is_it =
            |entry: &Option<Entry>| matches!(entry, Some(Entry::File { digest, .. }) if *digest == wanted);
        let found = self.changeset.changes().iter().find_map(|change| {
            let side = if is_it(&change.after) {
                (&self.layer, &change.after)
            } else {
                (&self.workspace, &change.before)
            };
            is_it(side.1).then_some((change, side))
        });
        let Some((change, (root, Some(Entry::File { bytes, .. })))) = found else {
            return Err(io::ErrorKind::NotFound.into());
        };
        body(root, &bytes_of(&change.path).unwrap_or_default(), wanted, *bytes)
    }
}

fn render_change(change: &Change, source: &impl Source, left: &mut usize) -> Value {
    let is = change.after.as_ref().or(change.before.as_ref());
    let mut shown = json!({ "path": change.path, "does": does(change), "kind": is.map(kind) });
    match &change.after {
        Some(Entry::File { bytes, mode, .. }) => {
            shown["bytes"] = json!(bytes);
            if change.before.as_ref().and_then(mode_of).is_some_and(|before| before != *mode) {
                shown["mode"] = json!(format!("{mode:o}"));
            }
        }
        Some(Entry::Symlink { target }) => shown["target"] = json!(target),
        Some(Entry::Folder { .. }) | None => {}
    }
    if change.ignored {
        shown["ignored"] = json!(true);
    }
    // Ignored files get a diff too, since the person's tools may run them.
    if is_of_files(change) && *left > 0 {
        match diff(change, source) {
            Ok(diff) => {
                let diff = diff.to_value();
                *left = left.saturating_sub(diff.to_string().len());
                shown["diff"] = diff;
            }
            Err(Undrawn::NotText) => shown["not_text"] = json!(true),
            // A file that is too large for a diff is shown without a diff.
            Err(Undrawn::TooLarge) => {}
        }
    }
    shown
}

fn diff(change: &Change, source: &impl Source) -> Result<Diff, Undrawn> {
    let before = text(source, change, Side::Before)?;
    let after = text(source, change, Side::After)?;
    Ok(Diff::between(&before, &after))
}

enum Undrawn {
    NotText,
    /// The content of the file is too large for a diff, or cannot be read any more.
    TooLarge,
}

/// Returns the text of a file before or after a change. If the file does not exist on this side of the change, the text
/// is empty.
fn text(source: &impl Source, change: &Change, side: Side) -> Result<String, Undrawn> {
    let entry = match side {
        Side::Before => &change.before,
        Side::After => &change.after,
    };
    let Some(Entry::File { digest, bytes, .. }) = entry else { return Ok(String::new()) };
    if *bytes > limits::CARD_FILE_BYTES {
        return Err(Undrawn::TooLarge);
    }
    let text = source.read(change, side, *digest, *bytes).map_err(|_| Undrawn::TooLarge)?;
    String::from_utf8(text).ok().filter(|text| !text.contains('\0')).ok_or(Undrawn::NotText)
}

/// Returns the rank by which the card sorts a change: deletions first, then paths that Git does not ignore, then
/// ignored paths, then Git's own files.
fn rank(change: &Change) -> u8 {
    match (is_of_git(&change.path), change.deletes(), change.ignored) {
        (false, true, _) => 0,
        (false, false, false) => 1,
        (false, false, true) => 2,
        (true, _, _) => 3,
    }
}

fn is_of_git(path: &str) -> bool {
    path.split('/').any(|name| name.eq_ignore_ascii_case(".git"))
}

/// Returns true if the member `git` of the card describes the change in words: the path is below `.git`, and the file
/// does not control the Git of a person.
fn is_told_in_words(change: &Change) -> bool {
    is_of_git(&change.path) && guarded::guards(change.path.split('/')).is_none()
}

fn is_of_files(change: &Change) -> bool {
    let is_file = |entry: &Entry| matches!(entry, Entry::File { .. });
    match (&change.before, &change.after) {
        (_, Some(after)) => is_file(after),
        (Some(before), None) => is_file(before),
        (None, None) => false,
    }
}

fn does(change: &Change) -> &'static str {
    match (&change.before, &change.after) {
        (None, _) => "created",
        (_, None) => "deleted",
        (Some(before), Some(after)) if kind(before) != kind(after) => "replaced",
        (Some(Entry::File { digest, .. }), Some(Entry::File { digest: after, .. })) if digest == after => {
            "mode"
        }
        (Some(Entry::Folder { .. }), Some(_)) => "mode",
        (Some(_), Some(_)) => "changed",
    }
}

fn kind(entry: &Entry) -> &'static str {
    match entry {
        Entry::File { .. } => "file",
        Entry::Symlink { .. } => "symlink",
        Entry::Folder { .. } => "folder",
    }
}

fn mode_of(entry: &Entry) -> Option<u32> {
    match entry {
        Entry::File { mode, .. } | Entry::Folder { mode } => Some(*mode),
        Entry::Symlink { .. } => None,
    }
}
