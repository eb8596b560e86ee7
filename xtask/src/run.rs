//! Runs programs and prints their output.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Returns Cargo's target directory. Builds with other flags use a subdirectory of the target directory.
pub(crate) fn target() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Interval between messages that a step is still running, because some steps print nothing for minutes.
const SIGN_OF_LIFE: Duration = Duration::from_secs(20);

/// Prints a message at intervals, until the heartbeat is dropped, to show that the program still runs.
pub(crate) struct Heartbeat {
    _ended: Sender<()>,
}

impl Heartbeat {
    /// Prints the name and the duration of a running step at intervals.
    pub(crate) fn for_step(name: &str) -> Self {
        let name = name.to_owned();
        Self::saying(move || name.clone())
    }

    /// Prints the result of `text` at intervals while a step runs.
    pub(crate) fn saying(text: impl Fn() -> String + Send + 'static) -> Self {
        let (sender, ended) = channel();
        thread::spawn(move || {
            signs(&ended, SIGN_OF_LIFE, |seconds| println!("   … {}: {seconds} s", text()));
        });
        Self { _ended: sender }
    }
}

/// Calls `each` with the elapsed seconds at intervals `every`. Ends when the sender is dropped.
fn signs(ended: &Receiver<()>, every: Duration, mut each: impl FnMut(u64)) {
    let since = Instant::now();
    while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
        each(since.elapsed().as_secs());
    }
}

/// Runs the command of a step until it exits. An exit code other than 0 gives an error with the name of the step.
pub(crate) fn step(name: &str, command: &mut Command) -> Result<()> {
    println!("\n== {name}");
    let _alive = Heartbeat::for_step(name);
    let status = command.status().with_context(|| format!("{name}: cannot start {command:?}"))?;
    if !status.success() {
        bail!("{name} failed ({status})");
    }
    Ok(())
}

/// Runs a command until it exits. Prints every line of its standard output and passes it to `each`. Returns true if the
/// command succeeded.
pub(crate) fn lines(name: &str, command: &mut Command, mut each: impl FnMut(&str)) -> Result<bool> {
    println!("\n== {name}");
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{name}: cannot start {command:?}"))?;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let line = line.with_context(|| format!("{name}: its output cannot be read"))?;
            println!("{line}");
            each(&line);
        }
    }
    Ok(child.wait().with_context(|| format!("{name}: cannot be awaited"))?.success())
}

/// A step of a command that runs in parallel with others, and whose output is printed after its end.
pub(crate) struct ParallelStep {
    name: &'static str,
    running: JoinHandle<std::io::Result<Output>>,
}

impl ParallelStep {
    pub(crate) fn start(name: &'static str, mut command: Command) -> Self {
        Self { name, running: thread::spawn(move || command.output()) }
    }

    /// Waits until the step has ended. An exit code other than 0 gives an error with the name of the step.
    pub(crate) fn end(self) -> Result<()> {
        let Self { name, running } = self;
        let output = running.join().map_err(|_| anyhow!("{name}: its thread panicked"))?;
        let output = output.with_context(|| format!("{name}: cannot start"))?;
        println!("\n== {name}");
        for printed in [output.stdout, output.stderr] {
            print!("{}", String::from_utf8_lossy(&printed));
        }
        if !output.status.success() {
            bail!("{name} failed ({})", output.status);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_step_gives_signs_until_it_has_ended() {
        let (sender, ended) = channel();
        let mut left = Some(sender);
        let mut signs_given = 0;
        signs(&ended, Duration::from_millis(1), |_| {
            signs_given += 1;
            if signs_given == 3 {
                drop(left.take());
            }
        });
        assert_eq!(signs_given, 3);
    }
}
