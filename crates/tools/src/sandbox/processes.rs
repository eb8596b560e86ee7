//! Counts and stops the processes of a command. Only reads `/proc` and sends signals.

use std::collections::{BTreeMap, BTreeSet};
use std::{fs, io};

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::{Pid, getpgrp, getpid};

/// The processes of a command that are counted and stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All processes of the command's namespace except its process 1, which is the current process. When process 1
    /// ends, the kernel kills the other processes.
    Namespace,
    /// Descendants of the current process, which includes all processes of the command. If the parent of a descendant
    /// ends, the current process becomes its parent.
    Descendants,
    /// Only the direct child of the current process, which supervises its descendants itself.
    Child,
}

/// Returns the number of processes in the scope. If the number cannot be determined, returns a number above every
/// limit.
pub(super) fn count(scope: Scope) -> usize {
    match scope {
        Scope::Namespace => numbered().map_or(usize::MAX, |pids| pids.len().saturating_sub(1)),
        Scope::Descendants => descendants().map_or(usize::MAX, |found| found.len()),
        Scope::Child => 1,
    }
}

/// Returns the number of living processes of the namespace whose process 1 is the current process, without the current
/// process.
pub(super) fn count_living() -> usize {
    let is_living = |pid: &Pid| {
        fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| living(*pid, &stat).is_some())
    };
    let own = getpid();
    numbered().map_or(usize::MAX, |pids| pids.iter().filter(|pid| **pid != own && is_living(pid)).count())
}

pub(super) fn stop(scope: Scope, child: Pid) {
    match scope {
        Scope::Namespace => {}
        Scope::Child => {
            let _ = kill(child, Signal::SIGKILL);
            // Process 1 of a namespace ends only after all other processes of the namespace.
            let _ = waitpid(child, None);
        }
        Scope::Descendants => stop_descendants(),
    }
}

/// Kills all descendants of the current process, which must be in other process groups than the current process.
///
/// The kernel signals all members of a process group in one step, so no member can start a process in between. The
/// signals are repeated until no descendant is left, because a process of another group may start one while it is being
/// killed.
fn stop_descendants() {
    let own = getpgrp();
    loop {
        let Ok(found) = descendants() else { continue };
        if found.is_empty() {
            return;
        }
        let groups: BTreeSet<Pid> = found.iter().map(|process| process.group).collect();
        for group in groups.into_iter().filter(|group| *group != own && group.as_raw() > 1) {
            let _ = killpg(group, Signal::SIGKILL);
        }
        for process in &found {
            let _ = kill(process.pid, Signal::SIGKILL);
        }
        while waitpid(None, Some(WaitPidFlag::WNOHANG)).is_ok_and(|status| status.pid().is_some()) {}
    }
}

pub(super) struct Process {
    pub pid: Pid,
    pub parent: Pid,
    group: Pid,
}

/// Returns the current process, and all processes of the scope whose exit status has not been read yet.
pub(super) fn all(scope: Scope) -> io::Result<Vec<Process>> {
    let own = getpid();
    let mut found = match scope {
        Scope::Namespace => {
            numbered()?.into_iter().filter(|pid| *pid != own).filter_map(read_process).collect()
        }
        Scope::Descendants => descendants()?,
        Scope::Child => Vec::new(),
    };
    found.push(Process { pid: own, parent: own, group: own });
    Ok(found)
}

fn read_process(pid: Pid) -> Option<Process> {
    process(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Returns the living descendants of the current process.
fn descendants() -> io::Result<Vec<Process>> {
    let mut children: BTreeMap<Pid, Vec<Process>> = BTreeMap::new();
    for pid in numbered()? {
        // Skips processes that have ended since `/proc` was listed.
        if let Some(process) =
            fs::read_to_string(format!("/proc/{pid}/stat")).ok().and_then(|stat| living(pid, &stat))
        {
            children.entry(process.parent).or_default().push(process);
        }
    }
    let mut found = Vec::new();
    let mut ahead = vec![getpid()];
    while let Some(pid) = ahead.pop() {
        let own = children.remove(&pid).unwrap_or_default();
        ahead.extend(own.iter().map(|process| process.pid));
        found.extend(own);
    }
    Ok(found)
}

fn numbered() -> io::Result<Vec<Pid>> {
    Ok(fs::read_dir("/proc")?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok().map(Pid::from_raw))
        .collect())
}

/// Returns true if the process has ended, or has released its memory and is about to end.
pub(super) fn is_ending(pid: Pid) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    // Field 23 is the size of the process's memory, counted from the process id.
    living(pid, &stat).is_none()
        || stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(20)) == Some("0")
}

fn living(pid: Pid, stat: &str) -> Option<Process> {
    let state = stat.rsplit_once(')')?.1.split_whitespace().next()?;
    if matches!(state, "Z" | "X") { None } else { process(pid, stat) }
}

/// Parses `/proc/PID/stat`: the process id, the process name in parentheses that may contain any character, the state,
/// the parent and the process group.
fn process(pid: Pid, stat: &str) -> Option<Process> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(1);
    let mut next = || fields.next()?.parse().ok().map(Pid::from_raw);
    Some(Process { pid, parent: next()?, group: next()? })
}
