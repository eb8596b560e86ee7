//! What a file tool proposes: a changeset of one file, and the folders that it needs. Committed as any other.

use std::fs;
use std::io;
use std::sync::OnceLock;

use holdshort_core::changeset::{Change, Changeset, Entry, Malformed, bytes_of, text_of};
use holdshort_core::digest::Digest;
use holdshort_core::tool::{Outcome, Precondition};
use serde_json::json;

use super::change::Planned;
use super::workspace_path::shown;
use crate::changeset::{Committed, Root, Step, commit, entry};
use crate::workspace::Workspace;

impl Planned {
    /// Carries the change out, if the file still is what the preconditions say.
    pub(crate) fn carry_out(
        &self,
        workspace: &Workspace,
        preconditions: &[Precondition],
        step: Step,
    ) -> Outcome {
        let expected = self.precondition();
        let changed = || Outcome::Changed { paths: vec![expected.path.clone()] };
        // The precondition of another file, or of another state, does not cover this change.
        if !preconditions.contains(&expected) {
            return changed();
        }
        let failed = |e: &dyn std::fmt::Display| Outcome::Failed {
            text: format!("`{}` could not be written: {e}", shown(&expected.path)),
        };
        let root = match Root::of(workspace.dir()) {
            Ok(root) => root,
            Err(e) => return failed(&e),
        };
        let changeset = match self.changeset(&root) {
            Ok(changeset) => changeset,
            Err(e) => return failed(&e),
        };
        match commit(&root, &changeset, |_| Ok(self.after.clone().into_bytes()), false, step) {
            Committed::Done => self.done(),
            Committed::Conflict { .. } => changed(),
            Committed::Failed { text, .. } => Outcome::Failed { text },
        }
    }

    /// Empty where the file has the content already.
    fn changeset(&self, root: &Root) -> Result<Changeset, Malformed> {
        let names = self.place.components();
        let folders = (1..names.len()).map(|depth| text_of(names[..depth].join("/").as_bytes()));
        let missing = folders.filter(|path| {
            let path = bytes_of(path).unwrap_or_default();
            self.before.is_none() && root.folder(&path).is_err_and(|e| e.kind() == io::ErrorKind::NotFound)
        });
        let folder = |path| Change {
            path,
            before: None,
            after: Some(Entry::Folder { mode: 0o777 & !umask() }),
            ignored: false,
        };
        let mode = self.before.as_ref().map(|found| found.mode & entry::MODE);
        let file = |digest, bytes: usize| Entry::File {
            digest,
            bytes: bytes as u64,
            mode: mode.unwrap_or(0o666 & !umask()),
        };
        let file = Change {
            path: text_of(self.place.to_string().as_bytes()),
            before: self.before.as_ref().map(|found| file(found.digest, found.bytes.len())),
            after: Some(file(Digest::of(self.after.as_bytes()), self.after.len())),
            ignored: false,
        };
        let is_new = file.before != file.after;
        Changeset::new(missing.map(folder).chain(is_new.then_some(file.clone())).collect())
    }

    fn done(&self) -> Outcome {
        let diff = self.diff();
        let what = if self.before.is_none() { "created" } else { "changed" };
        Outcome::Done {
            text: format!("{what} {} (+{} −{} lines)", self.place, diff.added, diff.removed),
            data: json!({
                "path": self.place.to_string(),
                "sha256": Digest::of(self.after.as_bytes()),
                "bytes": self.after.len(),
                "added": diff.added,
                "removed": diff.removed,
            }),
        }
    }
}

/// The bits that what this process makes does not get, which only a change of them or `/proc` tells.
fn umask() -> u32 {
    static UMASK: OnceLock<u32> = OnceLock::new();
    let read = || {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
        u32::from_str_radix(line.trim(), 8).ok()
    };
    *UMASK.get_or_init(|| read().unwrap_or(0o022))
}
