//! The change that a file tool proposes: a changeset with one file and its missing parent folders. The changeset of a
//! file tool is committed in the same way as any other.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use holdshort_core::changeset::{Change, Changeset, Entry, bytes_of, text_of};
use holdshort_core::digest::Digest;
use holdshort_core::tool::ProposedChanges;
use serde_json::json;

use super::change::Planned;
use crate::changeset::{Root, entry, guard};
use crate::refusal::Refusal;
use crate::trial::ignored;
use crate::workspace::Workspace;

impl Planned {
    /// Returns the proposed changes of a file tool, with the text that the agent reads after the commit, and the
    /// findings in these changes.
    pub(crate) fn proposed(
        &self,
        workspace: &Workspace,
    ) -> Result<(ProposedChanges, BTreeSet<&'static str>), Refusal> {
        let failed = |e: &dyn std::fmt::Display| {
            Refusal::new("internal", format!("the workspace cannot be inspected: {e}"))
        };
        let root = Root::from_handle(workspace.dir()).map_err(|e| failed(&e))?;
        let mut changes = self.changes(&root);
        ignored::mark(&mut changes, &root);
        let findings = guard::findings(&changes, &root, Path::new(workspace.path()));
        let changeset = Changeset::new(changes).map_err(|e| failed(&e))?;
        let diff = self.diff();
        let what = if self.before.is_none() { "created" } else { "changed" };
        let proposed = ProposedChanges {
            changeset,
            text: format!("{what} {} (+{} −{} lines)", self.place, diff.added, diff.removed),
            data: json!({
                "path": self.place.to_string(),
                "sha256": Digest::of_bytes(self.after.as_bytes()),
                "bytes": self.after.len(),
                "added": diff.added,
                "removed": diff.removed,
            }),
        };
        Ok((proposed, findings))
    }

    /// Returns the bytes of the file before and after the change, which the commit and an undo need.
    pub(crate) fn into_bodies(self) -> Vec<Vec<u8>> {
        self.before.into_iter().map(|found| found.bytes).chain([self.after.into_bytes()]).collect()
    }

    /// Returns the changes of the file and its missing parent folders. Returns an empty list if the file already has
    /// the proposed content.
    fn changes(&self, root: &Root) -> Vec<Change> {
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
            after: Some(file(Digest::of_bytes(self.after.as_bytes()), self.after.len())),
            ignored: false,
        };
        let is_new = file.before != file.after;
        missing.map(folder).chain(is_new.then_some(file.clone())).collect()
    }
}

/// Returns the permission bits that this process removes from new files (its umask). The umask is read from `/proc`,
/// because `umask(2)` cannot return it without changing it.
fn umask() -> u32 {
    static UMASK: OnceLock<u32> = OnceLock::new();
    let read = || {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
        u32::from_str_radix(line.trim(), 8).ok()
    };
    *UMASK.get_or_init(|| read().unwrap_or(0o022))
}
