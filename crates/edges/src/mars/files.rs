//! Frames for the files that a call changed (contracts A28, A32). Each created or changed file has one frame, and the
//! frames are sorted by path. The frames are sent after the changes are committed. The MARS wire format has no frame
//! for a deleted file: deleted files are listed only in the last frame, `files_updated`.
//!
//! The changed files of file tools, commands and undos are those of the committed changeset. The changes of a command
//! that ran outside a trial are unknown.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

use holdshort_core::changeset::{self, Change, Entry};
use holdshort_core::run::{Call, CallChanges, CallEnd, CallState, Run};
use holdshort_core::tool::{Category, Precondition};
use serde_json::{Value, json};

use super::projector::FrameBody;
use super::steps::{merge, node_of};
use crate::limits::MARS_FILES;

/// Returns the frames for the files that a completed tool call changed.
pub(super) fn frames_for_call(run: &Run, call: &Call) -> Vec<FrameBody> {
    let files = match call.committing() {
        Some(found) => Files::committed(found),
        None => Files::written(call),
    };
    if files.touched == 0 {
        return Vec::new();
    }
    let mut updated = json!({
        "run_id": run.id.as_str(), "node_id": node_of(run, &call.step), "step_id": call.step,
        "files_tracked": files.touched,
    });
    if !files.gone.is_empty() {
        merge(&mut updated, &json!({ "files_deleted": files.gone }));
    }
    if files.not_told > 0 {
        merge(&mut updated, &json!({ "files_not_told": files.not_told }));
    }
    let there = files.there.iter().map(|file| file.to_frame(call));
    there.chain([("files_updated", updated)]).collect()
}

#[derive(Default)]
struct Files {
    there: Vec<WrittenFile>,
    gone: Vec<String>,
    /// Number of all files that a call changed, including those that are not listed by name.
    touched: usize,
    not_told: usize,
}

struct WrittenFile {
    path: String,
    is_new: bool,
    bytes: u64,
}

impl Files {
    /// Reads the files of the changeset that a call committed. If there are more files than the limit, the files that
    /// Git ignores are left out first. Files inside the directory `.git` are counted but never listed.
    fn committed(found: &CallChanges) -> Self {
        let Some(changes) = found.changeset.as_deref() else {
            // The changeset was erased, so its files are no longer known.
            return Self { touched: found.changed, not_told: found.changed, ..Self::default() };
        };
        let of_content: Vec<&Change> =
            changes.changes().iter().filter(|change| change.is_of_content()).collect();
        let mut named: Vec<&Change> = of_content.iter().copied().filter(|change| !is_gits(change)).collect();
        named.sort_by_key(|change| change.ignored);
        named.truncate(MARS_FILES);
        named.sort_by_key(|change| &change.path);
        let gone = named.iter().filter(|change| change.deletes()).map(|change| client_path(&change.path));
        let there = named.iter().filter(|change| !change.deletes()).map(|change| WrittenFile {
            path: client_path(&change.path),
            is_new: !change.before.as_ref().is_some_and(is_file),
            bytes: change.after.as_ref().map(bytes).unwrap_or_default(),
        });
        let (touched, not_told) = (of_content.len(), of_content.len() - named.len());
        Self { there: there.collect(), gone: gone.collect(), touched, not_told }
    }

    /// Reads the files of a call that was recorded by a version of Holdshort without changesets. If the call is one of
    /// a file tool, the preconditions of the call name the files that it wrote.
    fn written(call: &Call) -> Self {
        let look = call.look.iter().filter(|look| look.category == Category::FileWrite);
        let files = look.flat_map(|look| &look.preconditions).filter(|file| !file.path.ends_with('/'));
        let bytes = call.outcome.get("bytes").and_then(Value::as_u64).unwrap_or_default();
        let there = |Precondition { path, sha256, .. }: &Precondition| WrittenFile {
            path: path.clone(),
            is_new: sha256.is_none(),
            bytes,
        };
        let there: Vec<WrittenFile> = files.map(there).collect();
        Self { touched: there.len(), there, ..Self::default() }
    }
}

impl WrittenFile {
    fn to_frame(&self, call: &Call) -> FrameBody {
        let path = Path::new(&self.path);
        let part = |part: Option<&OsStr>| part.map(OsStr::to_string_lossy).unwrap_or_default().into_owned();
        let told = json!({
            "file_path": self.path, "filename": part(path.file_name()), "file_type": part(path.extension()),
            "size_bytes": self.bytes, "agent": call.agent, "step_id": call.step,
        });
        (if self.is_new { "file_created" } else { "file_updated" }, told)
    }
}

/// Returns each path that the run has changed, with the size of the file after the last commit, or `None` if the file
/// was deleted.
pub(super) fn left(run: &Run) -> BTreeMap<String, Option<u64>> {
    let left = |change: &Change| change.after.as_ref().filter(|it| is_file(it)).map(bytes);
    changes(run).iter().map(|change| (client_path(&change.path), left(change))).collect()
}

/// Returns the changes of file contents that the run has committed, oldest first. Files inside the directory `.git` are
/// omitted.
fn changes(run: &Run) -> Vec<&Change> {
    let done = run.calls.values().filter(|call| call.state == CallState::Ended(CallEnd::Done));
    let mut done: Vec<(Option<u64>, &CallChanges)> =
        done.filter_map(|call| Some((call.ended_at, &**call.committing()?))).collect();
    done.sort_by_key(|(ended_at, _)| *ended_at);
    let changesets = done.iter().filter_map(|(_, found)| found.changeset.as_deref());
    let changes = changesets.flat_map(changeset::Changeset::changes);
    changes.filter(|change| change.is_of_content() && !is_gits(change)).collect()
}

/// Returns the run's last change of a path. `path` has the form in which clients receive it.
pub(super) fn last_change<'r>(run: &'r Run, path: &str) -> Option<&'r Change> {
    changes(run).into_iter().rfind(|change| client_path(&change.path) == path)
}

/// Returns how many of the files that a run changed still exist and are not in `named`.
pub(super) fn others(left: &BTreeMap<String, Option<u64>>, named: &BTreeSet<&str>) -> usize {
    left.iter().filter(|(path, bytes)| bytes.is_some() && !named.contains(path.as_str())).count()
}

fn is_gits(change: &Change) -> bool {
    changeset::is_of_git(&change.path)
}

pub(super) fn is_file(entry: &Entry) -> bool {
    !matches!(entry, Entry::Folder { .. })
}

fn bytes(entry: &Entry) -> u64 {
    match entry {
        Entry::File { bytes, .. } => *bytes,
        Entry::Symlink { .. } | Entry::Folder { .. } => 0,
    }
}

/// Returns the path under which a client can open a file. In a path that is not UTF-8, the invalid bytes stay escaped.
fn client_path(path: &str) -> String {
    let raw = changeset::bytes_of(path).and_then(|bytes| String::from_utf8(bytes).ok());
    raw.unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use holdshort_core::changeset::Changeset;
    use holdshort_core::digest::Digest;

    use super::*;

    fn file(bytes: u64) -> Entry {
        Entry::File { digest: Digest::of_bytes(&bytes.to_be_bytes()), bytes, mode: 0o644 }
    }

    fn change(path: &str, before: Option<Entry>, after: Option<Entry>) -> Change {
        Change { path: path.to_owned(), before, after, ignored: path.starts_with("target/") }
    }

    fn found(changes: Vec<Change>) -> CallChanges {
        let changeset = Changeset::new(changes).unwrap();
        CallChanges {
            digest: changeset.digest(),
            changed: changeset.changes().len(),
            deleted: changeset.deletions().count(),
            ask_because: Vec::new(),
            changeset: Some(Arc::new(changeset)),
            layer: None,
            text: Arc::from(""),
            data: Value::Null,
            card: Value::Null,
        }
    }

    #[test]
    fn a_file_is_created_updated_or_gone_and_folders_are_none() {
        let folder = || Some(Entry::Folder { mode: 0o755 });
        let files = Files::committed(&found(vec![
            change(".git/index", None, Some(file(9))),
            change("a", None, folder()),
            change("a/new", None, Some(file(1))),
            change("b\\\\c", Some(file(1)), Some(file(2))),
            change("d", Some(file(1)), None),
            change("e", folder(), Some(file(3))),
            change("f", Some(file(1)), folder()),
            change("l", None, Some(Entry::Symlink { target: "a".to_owned() })),
        ]));
        let there: Vec<_> =
            files.there.iter().map(|file| (file.path.as_str(), file.is_new, file.bytes)).collect();
        assert_eq!(there, [("a/new", true, 1), ("b\\c", false, 2), ("e", true, 3), ("l", true, 0)]);
        assert_eq!((files.gone, files.touched, files.not_told), (vec!["d".to_owned(), "f".to_owned()], 7, 1));
    }

    #[test]
    fn what_there_is_no_room_for_is_counted_and_caches_go_first() {
        let made = |path: String| change(&path, None, Some(file(1)));
        let caches = (0..MARS_FILES).map(|n| made(format!("target/{n}")));
        let files = Files::committed(&found(caches.chain([made("z.txt".to_owned())]).collect()));
        assert_eq!((files.there.len(), files.touched, files.not_told), (MARS_FILES, MARS_FILES + 1, 1));
        assert_eq!(files.there.last().map(|file| file.path.as_str()), Some("z.txt"));
        let erased = Files::committed(&CallChanges { changeset: None, ..found(vec![made("a".to_owned())]) });
        assert_eq!((erased.there.len(), erased.touched, erased.not_told), (0, 1, 1));
    }
}
