//! `run_command`: what a person is shown of a command, and running it in the sandbox. Never outside of it.

mod drive;
mod impact;
mod transcript;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use holdshort_core::tool::{Outcome, SandboxLevel};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use self::drive::Ended;
use crate::files::{self, Place};
use crate::limits;
use crate::refusal::Refusal;
use crate::request::RunCommand;
use crate::sandbox::{Launch, Tooling, tooling};
use crate::tools::Inner;

/// Chunks of live output that may wait for a slow reader; further ones are left out of the preview.
const WAITING_CHUNKS: usize = 256;

const NOTE: &str = "What is approved is this command line. Scripts and programs that it reads are run as \
                    they are at that moment.";

/// A command line that can be run.
pub(crate) struct Command {
    line: String,
    /// Canonical.
    pub cwd: String,
    timeout: Duration,
    folder: Vec<String>,
}

impl Command {
    pub(crate) fn new(inner: &Inner, request: &RunCommand) -> Result<Self, Refusal> {
        if request.command.trim().is_empty() {
            return Err(Refusal::new("bad_command", "the command is empty; write the command line to run"));
        }
        if request.command.contains('\0') {
            return Err(Refusal::new(
                "bad_command",
                "the command contains a NUL character; write it without",
            ));
        }
        if request.command.len() > limits::COMMAND_BYTES {
            return Err(Refusal::new(
                "too_large",
                format!(
                    "the command is longer than {} KiB; write a script and run it",
                    limits::COMMAND_BYTES / 1024
                ),
            ));
        }
        let timeout = match request.timeout_s {
            None => Duration::from_millis(inner.settings.command_timeout_ms),
            Some(seconds) if (1..=limits::COMMAND_SECONDS).contains(&seconds) => Duration::from_secs(seconds),
            Some(_) => {
                return Err(Refusal::new(
                    "bad_arguments",
                    format!("`timeout_s` must be between 1 and {}", limits::COMMAND_SECONDS),
                ));
            }
        };
        let place = files::folder(&inner.workspace, request.cwd.as_deref())?;
        let cwd = absolute(inner.workspace.path(), &place);
        Ok(Self { line: request.command.clone(), cwd, timeout, folder: place.components().to_vec() })
    }

    pub(crate) fn card(&self, inner: &Inner, level: SandboxLevel) -> Value {
        let mut card = json!({
            "command": self.line,
            "cwd": self.cwd,
            "sandbox": level,
            "network": inner.settings.network,
            "timeout_s": self.timeout.as_secs_f64(),
            "note": NOTE,
        });
        if let Some(impact) = impact::impact(&inner.workspace, &self.folder, &self.line) {
            card["impact"] = impact;
        }
        card
    }
}

fn absolute(workspace: &str, place: &Place) -> String {
    std::iter::once(workspace.trim_end_matches('/'))
        .chain(place.components().iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join("/")
}

/// Why a command asks whatever the rules allow: it is not fully confined.
pub(crate) fn ask_because(level: SandboxLevel) -> Option<&'static str> {
    match level {
        SandboxLevel::None => Some("sandbox_none"),
        SandboxLevel::Partial => Some("sandbox_partial"),
        SandboxLevel::Full => None,
    }
}

/// Runs a command to its end. Dropping the future stops it and everything that it started.
pub(crate) async fn run(inner: &Arc<Inner>, request: RunCommand, output: impl Fn(&str) + Send) -> Outcome {
    let prepared = {
        let inner = inner.clone();
        tokio::task::spawn_blocking(move || prepare(&inner, &request)).await
    };
    let (command, launch) = match prepared {
        Ok(Ok(prepared)) => prepared,
        Ok(Err(refusal)) => return refusal.into(),
        Err(e) => return Outcome::Failed { text: format!("the command could not be prepared: {e}") },
    };
    let level = launch.plan.level;
    let program = &inner.settings.sandbox_program;
    let launched = match launch.start(program, |command| tokio::process::Command::from(command).spawn()) {
        Ok(launched) => launched,
        Err(e) => return Outcome::Failed { text: format!("the sandbox could not be started: {e}") },
    };
    let (preview, mut chunks) = mpsc::channel(WAITING_CHUNKS);
    // A task of its own, since stopping a command takes a moment longer than dropping this future.
    let driven = tokio::spawn(drive::drive(launched, command.timeout, preview));
    while let Some(chunk) = chunks.recv().await {
        output(&chunk);
    }
    match driven.await {
        Ok(Ok(ended)) => ended.into_outcome(command.timeout, level),
        Ok(Err(e)) => {
            Outcome::Failed { text: format!("the sandbox could not be watched, so it was stopped: {e}") }
        }
        Err(e) => Outcome::Failed { text: format!("the command stopped unexpectedly: {e}") },
    }
}

fn prepare(inner: &Inner, request: &RunCommand) -> Result<(Command, Launch), Refusal> {
    let command = Command::new(inner, request)?;
    let settings = &inner.settings;
    let mut launch = Launch::prepare(inner.level(), settings.network, command.line.clone())
        .map_err(|e| Refusal::new("internal", format!("no temporary folder for the command: {e}")))?;
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let data_dir = real(&settings.data_dir);
    // A home folder at the root, as in some containers, hides nothing: the system is in it.
    let home = settings.home.as_deref().map(real).filter(|home| home.parent().is_some());
    let workspace = Path::new(inner.workspace.path());
    let Tooling { path, folders, variables } = tooling(&settings.path, home.as_deref(), &data_dir, workspace);
    launch.pass_environment_on();
    let plan = &mut launch.plan;
    plan.cwd = command.cwd.clone().into();
    workspace.clone_into(&mut plan.workspace);
    plan.tool_folders = folders;
    plan.hidden = std::iter::once(data_dir).chain(home).collect();
    plan.environment.extend(variables);
    plan.environment.insert("PATH".to_owned(), path);
    // Per process, and beyond the wall clock for those that use several processors.
    plan.cpu_s = (command.timeout.as_secs() + 1) * CPUS_PER_PROCESS;
    Ok((command, launch))
}

/// Processors that one process may keep busy until its time is up.
const CPUS_PER_PROCESS: u64 = 16;

impl Ended {
    fn into_outcome(self, timeout: Duration, level: SandboxLevel) -> Outcome {
        let (end, exit_code) = match self.how {
            drive::How::Exited(code) => (format!("exit code {code}"), Some(code)),
            drive::How::Signalled(signal) => (format!("killed by signal {signal}"), None),
            drive::How::TimedOut => (format!("killed after {} s", timeout.as_secs_f64()), None),
            drive::How::TooManyProcesses => {
                (format!("killed: too many processes (more than {})", limits::PROCESSES), None)
            }
            drive::How::TooMuchOutput => {
                (format!("killed: more than {} bytes of output", limits::OUTPUT_BYTES), None)
            }
            drive::How::Abandoned => ("killed: nobody waits for it any more".to_owned(), None),
            drive::How::Failed(why) => {
                return Outcome::Failed {
                    text: format!("{}the sandbox failed: {why}", self.transcript.text()),
                };
            }
        };
        Outcome::Done {
            text: format!("{}{end}", self.transcript.text()),
            data: json!({
                "exit_code": exit_code,
                "truncated": self.transcript.is_truncated(),
                "sandbox": level,
                "timed_out": self.how == drive::How::TimedOut,
            }),
        }
    }
}
