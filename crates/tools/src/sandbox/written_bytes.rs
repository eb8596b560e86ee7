//! Counts the bytes that the processes of a command have written to disks, including processes that have ended. Only
//! reads `/proc`.

use std::collections::BTreeMap;
use std::{fs, io};

use nix::libc;
use nix::unistd::{Pid, getpid};

use super::processes::{self, Scope};

/// Bytes that the processes of a command have written, as of the last count.
#[derive(Default)]
pub(super) struct WrittenBytes {
    last: BTreeMap<Pid, Count>,
    /// Bytes that were written by ended processes of the command whose exit status no parent has read. The kernel adds
    /// these bytes to no other process.
    lost: u64,
}

#[derive(Clone, Copy)]
struct Count {
    parent: Pid,
    bytes: u64,
}

impl WrittenBytes {
    /// Counts the bytes that the processes of the scope have written, and returns the total. If the bytes of a process
    /// cannot be read, returns a number above every limit.
    pub(super) fn count(&mut self, scope: Scope) -> u64 {
        let Ok(found) = processes::all(scope) else { return u64::MAX };
        let mut now = BTreeMap::new();
        for process in found {
            let bytes = match bytes(process.pid) {
                Ok(Some(bytes)) => bytes,
                Ok(None) => continue,
                // Only root may read the counters of a process that has ended and whose exit status is not read yet.
                Err(e)
                    if e.kind() == io::ErrorKind::PermissionDenied && processes::is_ending(process.pid) =>
                {
                    self.last.get(&process.pid).map_or(0, |count| count.bytes)
                }
                Err(_) => return u64::MAX,
            };
            now.insert(process.pid, Count { parent: process.parent, bytes });
        }
        self.take(now, getpid());
        self.last.values().map(|count| count.bytes).fold(self.lost, u64::saturating_add)
    }

    /// Replaces the counts of all processes with the counts in `now`. When a process has ended and its parent reads its
    /// exit status, the kernel adds the bytes of the ended process to the bytes of the parent. If no ancestor received
    /// the bytes of an ended process, these bytes are added to `lost`.
    fn take(&mut self, now: BTreeMap<Pid, Count>, own: Pid) {
        let before = std::mem::replace(&mut self.last, now);
        let mut grown: BTreeMap<Pid, u64> = self
            .last
            .iter()
            .map(|(pid, count)| {
                (*pid, count.bytes - before.get(pid).map_or(0, |it| it.bytes).min(count.bytes))
            })
            .collect();
        for (pid, gone) in before.iter().filter(|(pid, _)| !self.last.contains_key(pid)) {
            let heir = heir(&before, &self.last, *pid, own);
            let credit = grown.entry(heir).or_default();
            let waited_for = gone.bytes.min(*credit);
            *credit -= waited_for;
            self.lost = self.lost.saturating_add(gone.bytes - waited_for);
        }
    }
}

/// Returns the nearest ancestor of an ended process that is still running.
fn heir(before: &BTreeMap<Pid, Count>, now: &BTreeMap<Pid, Count>, pid: Pid, own: Pid) -> Pid {
    let mut at = pid;
    for _ in 0..before.len() {
        at = before.get(&at).map_or(own, |count| count.parent);
        if now.contains_key(&at) {
            return at;
        }
    }
    own
}

/// Returns the number of bytes that a process has written. Returns `None` if the process has ended. Fails if the
/// kernel's counters of the process are unreadable.
fn bytes(pid: Pid) -> io::Result<Option<u64>> {
    let text = match fs::read_to_string(format!("/proc/{pid}/io")) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound || e.raw_os_error() == Some(libc::ESRCH) => {
            return Ok(None);
        }
        Err(e) => return Err(e),
    };
    let bytes = text.lines().find_map(|line| line.strip_prefix("write_bytes:")?.trim().parse().ok());
    bytes.map(Some).ok_or_else(|| io::ErrorKind::InvalidData.into())
}
