//! The three stages of the hidden subcommand, in the order in which they run. If a stage fails, it reports the reason
//! and ends.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode, Stdio};

use holdshort_core::tool::SandboxLevel;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{chdir, geteuid, setsid};

use super::guard::{Guard, GuardFindings};
use super::plan::{Identity, Plan};
use super::processes::Scope;
use super::report::Report;
use super::supervise::supervise;
use super::{SUBCOMMAND, capabilities, landlock, limit, namespaces, scratch, seccomp, view};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Path of the running program, which is valid even if the command's view of the file system does not contain the
/// program's file.
const THIS_PROGRAM: &str = "/proc/self/exe";
const SHELL: &str = "/bin/sh";
const EXCHANGED: &str = "a directory was replaced after it was checked";

/// Runs the stage of the sandbox that the arguments name. The arguments are `STAGE PLAN`.
pub(super) fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<_> = args.into_iter().collect();
    match dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            Report::Failed { why: e.to_string() }.send();
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[OsString]) -> Result<()> {
    let [stage, plan] = args else { return Err("this subcommand is for the server only".into()) };
    let plan = plan.to_str().ok_or("the plan is not UTF-8")?;
    let parsed: Plan = serde_json::from_str(plan).map_err(|e| format!("the plan cannot be read: {e}"))?;
    match stage.to_str() {
        Some("start") => start(&parsed, plan),
        Some("init") => init(&parsed, plan),
        Some("confine") => confine(&parsed),
        _ => Err("unknown stage".into()),
    }
}

/// Runs the first stage of the sandbox, in the server's namespaces and in a separate session.
fn start(plan: &Plan, text: &str) -> Result<()> {
    // Fails only if this process already leads a process group, which is sufficient.
    let _ = setsid();
    let guard = if plan.is_guarded() { Some(look(plan)?) } else { None };
    Report::Begins.send();
    let ran = run_guarded(plan, text);
    // By now, every process of the command has ended, whatever the reason.
    if let Some(guard) = guard {
        let aside = guard.set_aside();
        if aside.is_complete() {
            let _ = fs::remove_file(plan.guarded());
        }
        Report::SetAside(aside).send();
    }
    ran
}

/// Finds the guarded paths (such as Git hooks) of the workspace, and writes their list to a file.
fn look(plan: &Plan) -> Result<Guard> {
    let guard =
        Guard::look(&plan.workspace, &server_waits).map_err(because("the workspace cannot be guarded"))?;
    scratch::note(plan, &guard.found)?;
    Ok(guard)
}

/// Returns true if the server has not closed its end of the connection to the sandbox. The server never sends data, so
/// if the connection is readable, the server has closed it.
fn server_waits() -> bool {
    let line = io::stdin();
    let mut watched = [PollFd::new(line.as_fd(), PollFlags::POLLIN)];
    poll(&mut watched, PollTimeout::ZERO) == Ok(0)
}

fn run_guarded(plan: &Plan, text: &str) -> Result<()> {
    if !plan.has_namespaces() {
        prctl::set_child_subreaper(true)?;
        return watch_over_command(plan, text, Scope::Descendants);
    }
    namespaces::leave(plan.network).map_err(because("namespaces cannot be created"))?;
    let init = next("init", text)?;
    let ended = supervise(&init, Scope::Child, plan.write_bytes)?;
    // Usually `init` has already reported, and the server ignores a second report. The report sent here matters only if
    // `init` was killed before it could report.
    if ended.is_some_and(|ended| ended != Report::Exited { code: 0 }) {
        Report::Failed { why: "the sandbox was killed from outside".to_owned() }.send();
    }
    Ok(())
}

/// Runs process 1 of the sandbox's new process namespace. When process 1 ends, the kernel kills every other process of
/// the namespace.
fn init(plan: &Plan, text: &str) -> Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    let found = found_in_workspace(plan)?;
    if plan.shows_a_layer() {
        plan.identities.iter().try_for_each(Identity::check).map_err(because(EXCHANGED))?;
    }
    view::enter(plan, &found).map_err(because("the sandbox's view of the file system cannot be created"))?;
    if !plan.network {
        // Ignores an error: without the loopback device, the only loss is that a program cannot connect to itself.
        let _ = namespaces::raise_loopback();
    }
    watch_over_command(plan, text, Scope::Namespace)
}

/// Returns the paths in the workspace that the command's view of the file system makes read-only, and the sockets and
/// pipes that the view makes unreachable.
fn found_in_workspace(plan: &Plan) -> Result<GuardFindings> {
    if plan.is_guarded() {
        return Ok(scratch::noted(&plan.guarded())?.found);
    }
    if !plan.closes_channels() {
        return Ok(GuardFindings::default());
    }
    let looked = Guard::look(&plan.workspace, &server_waits)
        .map_err(because("the workspace cannot be searched for sockets and pipes"))?;
    Ok(GuardFindings { channels: looked.found.channels, ..GuardFindings::default() })
}

fn watch_over_command(plan: &Plan, text: &str, scope: Scope) -> Result<()> {
    let command = next("confine", text)?;
    if let Some(report) = supervise(&command, scope, plan.write_bytes)? {
        report.send();
    }
    Ok(())
}

/// Gives up every privilege that the command must not have, and then replaces this process with the command.
fn confine(plan: &Plan) -> Result<()> {
    setsid()?;
    close_fds::set_fds_cloexec(3, &[]);
    limit::take_on(plan.cpu_s).map_err(because("no resource limits"))?;
    capabilities::give_up(geteuid().is_root()).map_err(because("capabilities cannot be dropped"))?;
    chdir(&plan.cwd).map_err(because("the working directory no longer exists"))?;
    // Over a layer the folders have different identities. The folders under the layer were already compared before the
    // command started.
    let identities = if plan.shows_a_layer() { &[] } else { plan.identities.as_slice() };
    for identity in identities {
        let is_here = identity.path == plan.cwd;
        let checked = if is_here { identity.check_here() } else { identity.check() };
        checked.map_err(because(EXCHANGED))?;
    }
    rustix::thread::set_no_new_privs(true)?;
    if plan.level > SandboxLevel::None {
        landlock::take_on(plan).map_err(because("no Landlock"))?;
        seccomp::take_on(plan).map_err(because("the system call filter cannot be installed"))?;
    }
    // This setting is made after the capabilities are dropped, because dropping capabilities may clear the setting.
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    let private = plan.private();
    let failed = Command::new(SHELL)
        .arg("-c")
        .arg(&plan.command)
        .env_clear()
        .envs(&plan.environment)
        .env("HOME", private.join("home"))
        .env("TMPDIR", &private)
        .stdin(Stdio::null())
        .exec();
    Err(because("the shell does not start")(failed))
}

/// Starts the next stage of the sandbox, which inherits the output, and the standard input, which is the connection to
/// the server.
fn next(stage: &str, plan: &str) -> Result<Child> {
    Command::new(THIS_PROGRAM)
        .args([SUBCOMMAND, stage, plan])
        .spawn()
        .map_err(because("the next stage does not start"))
}

fn because<E: std::fmt::Display>(what: &'static str) -> impl FnOnce(E) -> Box<dyn Error> {
    move |e| format!("{what}: {e}").into()
}
