//! The processes of a command: how many there are, and stopping them. Only reads `/proc` and sends signals.

use std::collections::BTreeMap;
use std::time::Instant;
use std::{fs, io};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::{Pid, getpid};

use crate::limits;

/// Which processes belong to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All of a namespace but its process 1, which is this one: when it goes the kernel takes them all.
    Namespace,
    /// The descendants of this process, which adopts those that lost their parent.
    Descendants,
    /// The one child; what it starts is its own affair.
    Child,
}

/// How many processes there are; more than any limit where that cannot be known.
pub(super) fn count(scope: Scope) -> usize {
    match scope {
        Scope::Namespace => numbered().map_or(usize::MAX, |pids| pids.len().saturating_sub(1)),
        Scope::Descendants => descendants().map_or(usize::MAX, |pids| pids.len()),
        Scope::Child => 1,
    }
}

/// Stops every process of the scope.
pub(super) fn stop(scope: Scope, child: Pid) {
    match scope {
        Scope::Namespace => {}
        Scope::Child => {
            let _ = kill(child, Signal::SIGKILL);
            // Process 1 of a namespace is gone only after all the others.
            let _ = waitpid(child, None);
        }
        Scope::Descendants => stop_descendants(),
    }
}

/// Again and again, since a process may start another while it is being stopped.
fn stop_descendants() {
    let until = Instant::now() + limits::STOP_TIME;
    while Instant::now() < until {
        let Ok(pids) = descendants() else { return };
        if pids.is_empty() {
            return;
        }
        // First all stand still, so that none can outrun its end.
        for signal in [Signal::SIGSTOP, Signal::SIGKILL] {
            for pid in &pids {
                let _ = kill(*pid, signal);
            }
        }
        while waitpid(None, Some(WaitPidFlag::WNOHANG)).is_ok_and(|status| status.pid().is_some()) {}
    }
}

fn descendants() -> io::Result<Vec<Pid>> {
    let mut children: BTreeMap<Pid, Vec<Pid>> = BTreeMap::new();
    for pid in numbered()? {
        // One that vanished meanwhile is nobody's child.
        if let Some(parent) = fs::read_to_string(format!("/proc/{pid}/stat")).ok().and_then(|s| parent(&s)) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut ahead = vec![getpid()];
    while let Some(pid) = ahead.pop() {
        let own = children.remove(&pid).unwrap_or_default();
        found.extend(&own);
        ahead.extend(own);
    }
    Ok(found)
}

fn numbered() -> io::Result<Vec<Pid>> {
    Ok(fs::read_dir("/proc")?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok().map(Pid::from_raw))
        .collect())
}

/// The fourth field of `/proc/PID/stat`; the second is a name in parentheses that may contain anything.
fn parent(stat: &str) -> Option<Pid> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok().map(Pid::from_raw)
}
