//! The command sandbox: one hidden subcommand that restricts itself and then becomes `/bin/sh -c`.
//!
//! Three processes stand between the server and the shell, each the same program again:
//!
//! - **start** (`stage::start`) leaves the server's session, finds what is guarded in the workspace, and makes
//!   namespaces. When the command has ended, however it did, it sets aside what was made of guarded names. It cannot be
//!   seen from inside;
//! - **init** (`stage::init`) is process 1 of the new namespace: it builds the view of the file system, watches,
//!   and takes everything with it when it goes;
//! - **confine** (`stage::confine`) gives up capabilities, takes on Landlock, seccomp and resource limits for
//!   good, and becomes the shell.
//!
//! Below [`SandboxLevel::Full`](holdshort_core::tool::SandboxLevel::Full) there are no namespaces: `start` does what `init` does.
//! Everything fails closed: a stage that cannot do its part reports it and the command does not run.
//! The server talks to the stages over their standard input: its end closing means that all must end.

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
mod written;

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

/// The name of the hidden subcommand.
pub const SUBCOMMAND: &str = "sandbox-exec";

/// The body of the hidden subcommand; `args` are those that follow its name.
///
/// Must be called while the process has one thread, before any runtime starts. Not for people: it has no
/// help and prints nothing.
pub fn exec(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    stage::run(args)
}
