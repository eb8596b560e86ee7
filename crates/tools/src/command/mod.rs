//! `run_command`: builds the card of a command for a person, and runs the command. A command never runs outside the
//! sandbox.

mod drive;
mod impact;
mod sandbox_denials;
mod scripts;
mod transcript;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use holdshort_core::tool::{CommandEffect, Inspection, Outcome, Precondition, SandboxLevel};
use serde_json::{Value, json};
use tokio::process::Child;
use tokio::sync::mpsc;

pub use self::drive::Streams;
pub(crate) use self::drive::{EndedCommand, ExitReason};
use crate::files::{self, WorkspacePath};
use crate::limits;
use crate::refusal::Refusal;
use crate::request::RunCommand;
use crate::sandbox::{self, Identity, Launch, Launched, SetAside, Tooling, tooling};
use crate::tools::{Inner, Stop};
use crate::trial::CommandOutput;
use crate::turns::{self, Turn};

/// Maximum number of chunks of a running command's output that are buffered for the preview. Further chunks are not
/// shown to a person whose preview is slower than the command.
const WAITING_CHUNKS: usize = 256;

const NOTE: &str = "You approve this command line and the current content of the workspace files that the \
                    command line runs by name. Your approval does not cover the content of other files, \
                    such as libraries, files that a tool finds by itself, and system programs.";

/// Command line of a tool call that has been checked.
pub(crate) struct Command {
    line: String,
    pub cwd: String,
    timeout: Duration,
    folder: Vec<String>,
}

impl Command {
    pub(crate) fn new(inner: &Inner, request: &RunCommand) -> Result<Self, Refusal> {
        if holdshort_command::is_blank(&request.command) {
            return Err(Refusal::new(
                "bad_command",
                "the command contains nothing to run; write the command line to run",
            ));
        }
        if request.command.contains('\0') {
            return Err(Refusal::new("bad_command", "the command contains a NUL character; remove it"));
        }
        if request.command.len() > limits::COMMAND_BYTES {
            return Err(Refusal::new(
                "too_large",
                format!(
                    "the command is longer than {} KiB; write a script and run the script",
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

    /// Adds to `inspection` the data about a command that a person sees on the card, the preconditions of the command,
    /// and the reasons why a person must be asked.
    pub(crate) fn look(&self, inner: &Inner, inspection: &mut Inspection) {
        let level = inner.level();
        let scripts = scripts::look(&inner.workspace, &self.folder, &self.line);
        inspection.ask_because.extend(ask_because(level).map(ToOwned::to_owned));
        if !holdshort_command::parse(&self.line).is_read_only()
            && sandbox::is_unguarded(Path::new(inner.workspace.path()))
        {
            inspection.ask_because.push("unguarded".to_owned());
        }
        // A read-only command cannot execute files of the workspace, so the content of scripts matters only for other
        // commands.
        if scripts.unbound && !holdshort_command::parse(&self.line).is_read_only() {
            inspection.ask_because.push("script_unbound".to_owned());
        }
        inspection.sandbox = Some(level);
        inspection.preconditions = scripts.bound;
        for folder in [Vec::new(), self.folder.clone()] {
            let path = folder_path(&folder);
            let sha256 = files::identity(&inner.workspace, &path);
            inspection.preconditions.push(Precondition { path, sha256 });
        }
        inspection.preconditions.sort();
        inspection.preconditions.dedup();
        inspection.card = self.card(inner, level);
        if !scripts.card.is_empty() {
            inspection.card["scripts"] = Value::Array(scripts.card);
        }
        inspection.cwd.clone_from(&self.cwd);
    }

    fn card(&self, inner: &Inner, level: SandboxLevel) -> Value {
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

/// Returns the path of a workspace folder in the form that preconditions use.
fn folder_path(folder: &[String]) -> String {
    if folder.is_empty() { "./".to_owned() } else { format!("{}/", folder.join("/")) }
}

fn absolute(workspace: &str, place: &WorkspacePath) -> String {
    std::iter::once(workspace.trim_end_matches('/'))
        .chain(place.components().iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join("/")
}

/// Returns a reason to ask a person about a command, regardless of the rules, if the sandbox level does not fully
/// confine the command.
fn ask_because(level: SandboxLevel) -> Option<&'static str> {
    match level {
        SandboxLevel::None => Some("sandbox_none"),
        SandboxLevel::Partial => Some("sandbox_partial"),
        SandboxLevel::Full => None,
    }
}

/// Runs a command until it ends. Dropping the future stops the command and every process that the command started.
pub(crate) async fn run(
    inner: &Arc<Inner>,
    request: RunCommand,
    preconditions: &[Precondition],
    effect: CommandEffect,
    stop: Stop,
    output: impl Fn(&str) + Send,
) -> Outcome {
    // The time spent waiting for the turn is not part of the command's time limit.
    let turn = match effect {
        CommandEffect::Reads => None,
        CommandEffect::Writes { .. } | CommandEffect::Workspace | CommandEffect::Guarded => {
            tokio::select! {
                turn = turns::wait(Path::new(inner.workspace.path())) => Some(turn),
                () = drive::until(stop.clone()) => {
                    let text = "The command was not started, because another command was still running in \
                                the workspace.".to_owned();
                    return Outcome::Stopped { text, data: Value::Null };
                }
            }
        }
    };
    let prepared = {
        let inner = inner.clone();
        let folders: Vec<_> = preconditions.iter().filter(|it| it.path.ends_with('/')).cloned().collect();
        let effect = effect.clone();
        tokio::task::spawn_blocking(move || prepare(&inner, &request, &folders, effect)).await
    };
    let (command, launch) = match prepared {
        Ok(Ok(prepared)) => prepared,
        Ok(Err(outcome)) => return outcome,
        Err(e) => return Outcome::Failed { text: format!("the command could not be prepared: {e}") },
    };
    let level = launch.plan.level;
    let program = &inner.settings.sandbox_program;
    let launched = match launch.start(program, |command| tokio::process::Command::from(command).spawn()) {
        Ok(launched) => launched,
        Err(e) => return Outcome::Failed { text: format!("the sandbox could not be started: {e}") },
    };
    match follow(launched, command.timeout, turn, stop, output).await {
        Ok(ended) => ended.into_outcome(command.timeout, level, &effect, inner.workspace.path()),
        Err(text) => Outcome::Failed { text },
    }
}

impl Command {
    pub(crate) async fn follow(
        &self,
        launch: Launch,
        program: &Path,
        stop: Stop,
        output: impl FnMut(&str) + Send,
    ) -> Result<EndedCommand, String> {
        let launched = launch.start(program, |command| tokio::process::Command::from(command).spawn());
        let launched = launched.map_err(|e| format!("the sandbox could not be started: {e}"))?;
        follow(launched, self.timeout, None, stop, output).await
    }

    /// Returns the output of a command that ran as a trial, and how the command ended.
    pub(crate) fn render_output(&self, ended: &EndedCommand, took: Duration) -> CommandOutput {
        let printed = ended.transcript.text();
        let mut text = format!("{printed}{}", ended.how.describe(self.timeout));
        let mut data = json!({
            "exit_code": ended.how.exit_code(),
            "truncated": ended.transcript.is_truncated(),
            "sandbox": SandboxLevel::Full,
            "timed_out": ended.how == ExitReason::TimedOut,
            "duration_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        });
        tell_of_filtered(&printed, &mut text, &mut data);
        tell_of_memory(&printed, ended.how.exit_code(), &mut text);
        CommandOutput { text, data }
    }
}

/// Adds a note about the memory limit to the result of a command that failed because of it.
fn tell_of_memory(printed: &str, exit_code: Option<i32>, text: &mut String) {
    if let Some(told) = sandbox_denials::describe_memory_limit(printed).filter(|_| exit_code != Some(0)) {
        text.push('\n');
        text.push_str(&told);
    }
}

fn tell_of_filtered(printed: &str, text: &mut String, data: &mut Value) {
    let filtered = sandbox_denials::filtered(printed);
    if !filtered.is_empty() {
        data["refused"] = json!(filtered);
        text.push('\n');
        text.push_str(sandbox_denials::FILTERED_TOLD);
    }
}

/// Follows a launched command until it ends. Returns an error text if the outcome of the command is unknown.
async fn follow(
    launched: Launched<Child>,
    timeout: Duration,
    turn: Option<Turn>,
    stop: Stop,
    mut output: impl FnMut(&str) + Send,
) -> Result<EndedCommand, String> {
    let (preview, mut chunks) = mpsc::channel(WAITING_CHUNKS);
    // Runs in a separate task, because stopping the command must continue after this future is dropped.
    let driven = tokio::spawn(drive::drive(launched, timeout, preview, turn, stop));
    while let Some(chunk) = chunks.recv().await {
        output(&chunk);
    }
    match driven.await {
        Ok(Ok(ended)) => Ok(ended),
        Ok(Err(e)) => {
            Err(format!("the server could not monitor the sandbox, so the command was stopped: {e}"))
        }
        Err(e) => Err(format!("the command stopped unexpectedly: {e}")),
    }
}

/// Prepares a command to start. `folders` are the preconditions about folders that applied when a person or a rule
/// allowed the command.
pub(crate) fn prepare(
    inner: &Inner,
    request: &RunCommand,
    folders: &[Precondition],
    effect: CommandEffect,
) -> Result<(Command, Launch), Outcome> {
    let command = Command::new(inner, request)?;
    let settings = &inner.settings;
    let root = Path::new(inner.workspace.path());
    // A missing folder has no identity. The comparison below detects missing folders.
    let is_folder = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    let entered = folders.iter().map(|it| root.join(it.path.trim_end_matches('/'))).filter(is_folder);
    let identities = [root.to_owned(), PathBuf::from(&command.cwd)]
        .into_iter()
        .chain(entered)
        .map(|path| Identity::read(&path))
        .collect::<io::Result<Vec<_>>>()
        .map_err(|e| Refusal::new("not_found", format!("the working directory no longer exists: {e}")))?;
    // The folders are compared only after their identities were read. From that time on, the sandbox detects every
    // replaced folder.
    let is_other = |shown: &&Precondition| files::identity(&inner.workspace, &shown.path) != shown.sha256;
    let changed: Vec<String> = folders.iter().filter(is_other).map(|shown| shown.path.clone()).collect();
    if !changed.is_empty() {
        return Err(Outcome::Changed { paths: changed });
    }
    let reads = effect == CommandEffect::Reads;
    let network = settings.network && !reads;
    let mut launch = Launch::prepare(inner.level(), network, command.line.clone()).map_err(|e| {
        Refusal::new("internal", format!("the temporary directory for the command cannot be created: {e}"))
    })?;
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let data_dir = real(&settings.data_dir);
    // In some containers the home folder is `/`. Hiding it would hide the system folders, so it is not hidden.
    let home = settings.home.as_deref().map(real).filter(|home| home.parent().is_some());
    let workspace = Path::new(inner.workspace.path());
    let Tooling { path, folders, variables } = tooling(&settings.path, home.as_deref(), &data_dir, workspace);
    // A read-only command must not find a program in the workspace.
    let path = if reads { without(&path, workspace) } else { path };
    launch.separates = settings.capture;
    launch.pass_environment_on();
    let plan = &mut launch.plan;
    // An overlay would hide file systems that are mounted inside the workspace.
    if reads && sandbox::mounted_below(workspace).is_none() {
        plan.run_layer = inner.shown_layer();
    }
    plan.effect = effect;
    plan.identities = identities;
    plan.write_bytes = settings.write_bytes;
    // Denials by the sandbox are detected by the system's error messages, so these messages must be in English.
    plan.environment.insert("LC_ALL".to_owned(), "C.UTF-8".to_owned());
    plan.cwd = command.cwd.clone().into();
    workspace.clone_into(&mut plan.workspace);
    plan.tool_folders = folders;
    plan.hidden = std::iter::once(data_dir).chain(home).collect();
    plan.environment.extend(variables);
    plan.environment.insert("PATH".to_owned(), path);
    // The CPU limit applies to each process. The limit exceeds the command's timeout, because a process can keep
    // several processors busy.
    plan.cpu_s = (command.timeout.as_secs() + 1) * CPUS_PER_PROCESS;
    Ok((command, launch))
}

/// Removes from a value of `PATH` the folders that lie in the workspace.
fn without(path: &str, workspace: &Path) -> String {
    let outside = |entry: &&str| !fs::canonicalize(entry).is_ok_and(|entry| entry.starts_with(workspace));
    path.split(':').filter(outside).collect::<Vec<_>>().join(":")
}

/// Number that multiplies a command's timeout to give the CPU time limit of each process. A process can therefore use
/// this many processors fully until the timeout.
const CPUS_PER_PROCESS: u64 = 16;

impl EndedCommand {
    fn into_outcome(
        self,
        timeout: Duration,
        level: SandboxLevel,
        effect: &CommandEffect,
        workspace: &str,
    ) -> Outcome {
        let end = self.how.describe(timeout);
        let was_stopped = self.how == ExitReason::Stopped;
        let (timed_out, exit_code) = (self.how == ExitReason::TimedOut, self.how.exit_code());
        let failed = matches!(self.how, ExitReason::Failed(_) | ExitReason::NoLayer(_));
        let aside = self.aside.unwrap_or_default();
        // If the command created guarded paths, it has run, and the code below reports its outcome.
        if failed && aside == SetAside::default() {
            return Outcome::Failed { text: format!("{}{end}", self.transcript.text()) };
        }
        let printed = self.transcript.text();
        let wall = sandbox_denials::detect_denial(effect, &printed, exit_code, workspace);
        let mut text = format!("{printed}{end}");
        let mut data = json!({
            "exit_code": exit_code,
            "truncated": self.transcript.is_truncated(),
            "sandbox": level,
            "timed_out": timed_out,
            "effect": effect,
        });
        // A read-only command that succeeded may merely have printed a file that contains such error messages.
        if exit_code != Some(0) || *effect != CommandEffect::Reads {
            tell_of_filtered(&printed, &mut text, &mut data);
        }
        tell_of_memory(&printed, exit_code, &mut text);
        let has_set_aside = tell_of(&aside, &mut text, &mut data);
        if was_stopped {
            return Outcome::Stopped { text, data };
        }
        if has_set_aside {
            // The text explains the limits of an ordinary writing command, even if this command was approved with a
            // different effect. A write to guarded paths needs a card that names these paths, and this command had no
            // such card.
            text.push_str(sandbox_denials::describe_limits(&CommandEffect::Workspace));
            return Outcome::SetAside { text, data };
        }
        if let Some(wall) = wall {
            text.push('\n');
            if wall == sandbox_denials::Denial::Perhaps {
                text.push_str(sandbox_denials::PERHAPS);
                text.push(' ');
            }
            text.push_str(sandbox_denials::describe_limits(effect));
            return Outcome::Confined { text, data };
        }
        Outcome::Done { text, data }
    }
}

/// Adds to the result of a command the guarded paths (such as Git hooks) that the command created, and says which of
/// them were renamed. Returns false if the command created none.
fn tell_of(aside: &SetAside, text: &mut String, data: &mut Value) -> bool {
    if *aside == SetAside::default() {
        return false;
    }
    let paths: Vec<&str> = aside.renamed.iter().map(|renamed| renamed.path.as_str()).collect();
    data["held_back"] = json!(paths);
    text.push('\n');
    for renamed in &aside.renamed {
        let (path, now) = (files::escape_path(&renamed.path), files::escape_path(&renamed.now));
        let told = format!(
            "`{path}` was set aside (renamed to `{now}` in the same directory): {}\n",
            sandbox_denials::SET_ASIDE
        );
        text.push_str(&told);
    }
    if aside.renamed_count > aside.renamed.len() {
        data["held_back_count"] = json!(aside.renamed_count);
        let told = match aside.renamed_count - aside.renamed.len() {
            1 => "1 more path was set aside\n".to_owned(),
            more => format!("{more} more paths were set aside\n"),
        };
        text.push_str(&told);
    }
    if !aside.is_complete() {
        let mut why: Vec<String> =
            aside.left.iter().map(|path| format!("`{}`", files::escape_path(path))).collect();
        if aside.left_count > aside.left.len() {
            why.push(format!("{} more", aside.left_count - aside.left.len()));
        }
        let why = match &aside.unseen {
            Some(unseen) => format!("the workspace could not be searched: {unseen}"),
            None => format!("{} could not be set aside", why.join(", ")),
        };
        data["unguarded"] = json!(why);
        let told = format!("{why}. Until this is fixed, every command that may write needs approval\n");
        text.push_str(&told);
    }
    true
}
