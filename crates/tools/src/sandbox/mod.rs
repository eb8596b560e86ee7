//! The command sandbox: one hidden subcommand that restricts itself and then becomes `/bin/sh -c`.
//!
//! Three processes separate the server from the shell. Each runs the same program:
//!
//! - **start** (`stage::start`) leaves the server's session, finds the guarded paths of the workspace, and makes
//!   namespaces. After the command has ended, for whatever reason, it renames the guarded paths that the command
//!   created (*sets them aside*). The command cannot see this process;
//! - **init** (`stage::init`) is process 1 of the new namespace. `init` builds the view of the file system and
//!   supervises the command. When `init` ends, the kernel kills all processes of the namespace;
//! - **confine** (`stage::confine`) drops capabilities, applies Landlock, seccomp and resource limits, and becomes the
//!   shell.
//!
//! Below [`SandboxLevel::Full`](holdshort_core::tool::SandboxLevel::Full) there are no namespaces, and `start` does the
//! work of `init`. Every failure is safe: a stage that cannot do its work reports the failure, and the command does not
//! run. The server communicates with the stages over their standard input. When the server closes this connection, all
//! stages end.

mod capabilities;
mod folders;
mod guard;
mod landlock;
mod launch;
mod layer;
mod level;
mod limit;
mod mounts;
mod namespaces;
mod plan;
mod processes;
mod report;
mod scratch;
mod seccomp;
mod stage;
mod supervise;
mod unguarded;
mod view;
mod written_bytes;

use std::ffi::OsString;
use std::process::ExitCode;

pub(crate) use folders::{Tooling, tooling};
pub(crate) use guard::SetAside;
pub(crate) use launch::{Launch, Launched};
pub(crate) use layer::{Layer, Notes, take_after};
pub use level::level;
pub(crate) use mounts::mounted_below;
pub(crate) use plan::Identity;
pub(crate) use report::Report;
pub use scratch::clean_up;
pub(crate) use scratch::{Scratch, remove};
pub(crate) use unguarded::{is_unguarded, remember};

/// Name of the hidden subcommand that starts a command in the sandbox.
pub const SUBCOMMAND: &str = "sandbox-exec";

/// Runs the hidden subcommand that starts a command in the sandbox. `args` are the arguments after the name of the
/// subcommand.
///
///
/// Must be called while the process has only one thread, before an async runtime starts. People do not call this
/// subcommand: it has no help text and prints nothing.
pub fn exec(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    stage::run(args)
}
