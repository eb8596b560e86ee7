//! Waits for a child process. While it waits for the child, this module watches the connection to the server, the
//! number of processes, and the bytes that they write.

use std::io;
use std::os::fd::AsFd;
use std::process::Child;
use std::time::Instant;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::processes::{self, Scope};
use super::report::Report;
use super::written_bytes::WrittenBytes;
use crate::limits;

/// Waits until the child process has ended or must be stopped. Returns `None` if the server has ended and needs no
/// report.
///
///
/// In each case all processes of the scope are stopped. If the scope is a namespace, they end when the calling process
/// exits.
pub(super) fn supervise(child: &Child, scope: Scope, write_bytes: u64) -> io::Result<Option<Report>> {
    let child = Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?);
    let ended = watch(child, scope, write_bytes);
    processes::stop(scope, child);
    ended
}

fn watch(child: Pid, scope: Scope, write_bytes: u64) -> io::Result<Option<Report>> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGCHLD);
    // `SIGCHLD` is blocked only after the child was started, because the child would inherit the blocked signal. If the
    // child ended before that, the first check detects it.
    signals.thread_block()?;
    let ends = SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
    // The server never sends data, so a readable connection has been closed.
    let server = io::stdin();
    let mut counted = Instant::now();
    let mut written = WrittenBytes::default();
    loop {
        if let Some(report) = reap(child)? {
            let left = if scope == Scope::Namespace { processes::count_living() } else { 0 };
            if left > 0 {
                Report::Left { processes: left }.send();
            }
            return Ok(Some(report));
        }
        let count = processes::count(scope);
        if count > limits::PROCESSES {
            return Ok(Some(Report::TooManyProcesses));
        }
        if scope != Scope::Child && counted.elapsed() >= limits::COUNT_BYTES_EVERY {
            counted = Instant::now();
            if written.count(scope) > write_bytes {
                return Ok(Some(Report::TooManyBytes));
            }
        }
        let mut watched =
            [PollFd::new(server.as_fd(), PollFlags::POLLIN), PollFd::new(ends.as_fd(), PollFlags::POLLIN)];
        match poll(&mut watched, pause(scope, count)?) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(e) => return Err(e.into()),
        }
        if watched[0].revents().is_some_and(|seen| !seen.is_empty()) {
            return Ok(None);
        }
        while ends.read_signal()?.is_some() {}
    }
}

/// Reads the exit status of all child processes that have ended, including adopted ones. Returns the report if the
/// watched child is among them.
fn reap(child: Pid) -> io::Result<Option<Report>> {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) if pid == child => return Ok(Some(Report::Exited { code })),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == child => {
                return Ok(Some(Report::Signalled { signal: signal as i32 }));
            }
            Ok(WaitStatus::StillAlive) => return Ok(None),
            Ok(_) | Err(Errno::EINTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
}

/// Returns the time until the processes of a command are counted again. The time is shorter if there are many
/// processes, because many processes can multiply faster.
fn pause(scope: Scope, count: usize) -> io::Result<PollTimeout> {
    let pause = match scope {
        Scope::Child => return Ok(PollTimeout::NONE),
        Scope::Namespace | Scope::Descendants if count > limits::PROCESSES / 8 => limits::WATCH_EVERY / 10,
        Scope::Namespace | Scope::Descendants => limits::WATCH_EVERY,
    };
    PollTimeout::try_from(pause).map_err(io::Error::other)
}
