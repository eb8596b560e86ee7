//! The part of the sandbox that runs in the server: starts the first stage, and tests whether a sandbox level works on
//! this host.

use std::io::{self, PipeReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use holdshort_core::tool::{CommandEffect, SandboxLevel};

use super::SUBCOMMAND;
use super::plan::Plan;
use super::report::Report;
use super::scratch::Scratch;
use crate::limits;

/// Environment variables of every command. With these variables, Git ignores bare repositories in the workspace and
/// starts no file watcher, so that reading a repository runs no program.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("TERM", "dumb"),
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_0", "explicit"),
    ("GIT_CONFIG_KEY_1", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_1", "false"),
];

/// Environment variables that a sandboxed command inherits from the server. None of these variables ever contains a
/// secret.
const PASSED_ON: [&str; 5] = ["LANG", "LC_ALL", "LC_CTYPE", "TZ", "JAVA_HOME"];

/// A command line that is ready to start in the sandbox, with a new temporary folder.
pub(crate) struct Launch {
    pub plan: Plan,
    /// True if the standard error of the command has a pipe of its own.
    pub separates: bool,
    scratch: Scratch,
}

/// The first stage of the sandbox while it runs. Closing `line` stops all processes of the command.
pub(crate) struct Launched<C> {
    pub child: C,
    pub line: UnixStream,
    /// Standard output and standard error of the command together, in the order in which they were written.
    pub output: PipeReader,
    /// Standard error of the command, if it has a pipe of its own.
    pub errors: Option<PipeReader>,
    /// Scratch folder of the command, removed on drop. Must not be dropped before all processes of the command have
    /// ended.
    pub scratch: Scratch,
    /// True if the command runs as a trial: its writes are in the scratch folder and have yet to be read.
    pub is_trial: bool,
    /// The workspace, if the command may write in it or in some of its paths, but not to guarded paths (such as Git
    /// hooks). `None` for all other commands.
    pub guarded: Option<PathBuf>,
}

impl Launch {
    /// Makes the scratch folder of a command, and a plan of the sandbox with default values. The caller sets the other
    /// fields of the plan.
    pub(crate) fn prepare(level: SandboxLevel, network: bool, command: String) -> io::Result<Self> {
        let scratch = Scratch::new()?;
        let folder = fs::canonicalize(scratch.path())?;
        let plan = Plan {
            command,
            cwd: folder.clone(),
            level,
            network,
            workspace: folder.clone(),
            effect: CommandEffect::Workspace,
            layer: None,
            run_layer: None,
            identities: Vec::new(),
            scratch: folder,
            tool_folders: Vec::new(),
            hidden: Vec::new(),
            environment: ENVIRONMENT.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            cpu_s: limits::COMMAND_SECONDS,
            write_bytes: limits::WRITE_BYTES,
        };
        fs::create_dir(plan.view_root())?;
        fs::create_dir(plan.private_on_host())?;
        fs::create_dir(plan.private_on_host().join("home"))?;
        Ok(Self { plan, separates: false, scratch })
    }

    /// Adds the environment variables that a command inherits from the server.
    pub(crate) fn pass_environment_on(&mut self) {
        for name in PASSED_ON {
            if let Ok(value) = env::var(name) {
                self.plan.environment.insert(name.to_owned(), value);
            }
        }
    }

    /// Starts the first stage of the sandbox for a command. `spawn` starts a process with `std` or with `tokio`.
    pub(crate) fn start<C>(
        self,
        program: &Path,
        spawn: impl FnOnce(Command) -> io::Result<C>,
    ) -> io::Result<Launched<C>> {
        let (line, theirs) = UnixStream::pair()?;
        let (output, writer) = io::pipe()?;
        let (errors, second) = if self.separates { Some(io::pipe()?).unzip() } else { (None, None) };
        let second = second.map_or_else(|| writer.try_clone(), Ok)?;
        let mut command = Command::new(program);
        command
            .args([SUBCOMMAND, "start", &serde_json::to_string(&self.plan)?])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(writer)
            .stderr(second);
        let guarded = self.plan.is_guarded().then_some(self.plan.workspace);
        let is_trial = self.plan.layer.is_some();
        let child = spawn(command)?;
        Ok(Launched { child, line, output, errors, scratch: self.scratch, is_trial, guarded })
    }
}

/// Returns true if a sandbox level works on this host and confines commands. A probe command tries to see other
/// processes and to read a secret file outside its folders, and both must fail. At the full level, the probe tests
/// every kind of effect that a command can be allowed to have.
pub(super) fn probe_level(program: &Path, level: SandboxLevel, network: bool) -> bool {
    let holds = |effect| try_out(program, level, network, &effect).is_ok_and(|held| held);
    let effects_hold =
        || holds(CommandEffect::Reads) && holds(CommandEffect::Writes { places: vec![WRITTEN.to_owned()] });
    holds(CommandEffect::Workspace) && (level < SandboxLevel::Full || effects_hold())
}

/// Folder of the probe's workspace that the probe command may write. In a full sandbox, it must not be able to write
/// the guarded file [`GUARDED`].
const WRITTEN: &str = "written";
const GUARDED: &str = ".envrc";

fn try_out(program: &Path, level: SandboxLevel, network: bool, effect: &CommandEffect) -> io::Result<bool> {
    let mut launch = Launch::prepare(level, network, String::new())?;
    let scratch = launch.plan.scratch.clone();
    let workspace = scratch.join("workspace");
    let secret = scratch.join("secret");
    // A command with a separate view may write to this path, but the write goes to a folder that only this command
    // sees.
    let outside = scratch.join("outside");
    fs::create_dir_all(workspace.join(WRITTEN))?;
    fs::write(workspace.join(GUARDED), "")?;
    fs::write(workspace.join("tool"), "#!/bin/sh\n")?;
    fs::set_permissions(workspace.join("tool"), fs::Permissions::from_mode(0o755))?;
    fs::write(&secret, "secret")?;
    // All users may read the file, so that only the sandbox can deny access to it.
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o644))?;
    let reads = *effect == CommandEffect::Reads;
    let executes = if reads { "./tool && exit 5" } else { "./tool || exit 6" };
    launch.plan.command = format!(
        "for name in /*; do [ -e \"$name\" ] && exit 2; done; read x < '{}' && exit 3; \
         echo x > '{}'; {executes}; echo x > here; echo x > {WRITTEN}/there; echo x > {GUARDED}; exit 0",
        secret.display(),
        outside.display(),
    );
    let is_written = |name: &str| fs::metadata(workspace.join(name)).is_ok_and(|found| found.len() > 0);
    launch.plan.cwd.clone_from(&workspace);
    launch.plan.workspace.clone_from(&workspace);
    launch.plan.effect = effect.clone();
    let mut launched = launch.start(program, |mut command| command.spawn())?;
    launched.line.set_read_timeout(Some(limits::PROBE_TIME))?;
    let mut sent = Vec::new();
    let read = launched.line.read_to_end(&mut sent);
    drop(launched.line);
    launched.child.wait()?;
    read?;
    if outside.exists() {
        return Err(io::Error::other("a command wrote outside its directories"));
    }
    let (here, there) = match effect {
        CommandEffect::Reads => (false, false),
        CommandEffect::Writes { .. } => (false, true),
        CommandEffect::Workspace | CommandEffect::Guarded => (true, true),
    };
    // Without a separate view a guarded file stays writable: Landlock cannot restrict a path below a folder that it
    // allows.
    let guarded = level < SandboxLevel::Full;
    let as_it_should = [("here", here), ("written/there", there), (GUARDED, guarded)]
        .iter()
        .all(|(name, is)| is_written(name) == *is);
    Ok(Report::parse(&sent).0 == Report::Exited { code: 0 } && as_it_should)
}
