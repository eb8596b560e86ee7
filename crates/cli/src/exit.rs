//! Exit codes, and the only mapping from errors to exit codes.

use std::process::ExitCode;

use holdshort_protocol::Code;

use crate::client::Refused;

/// Outcome of a command, as documented in `--help`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The run completed, or the command of the person succeeded.
    Ok,
    /// The command failed, or the server rejected its request. For example, the interrupt is already decided, or a
    /// permission is missing.
    Failed,
    /// The command line or the configuration is wrong. A retry does not help.
    Usage,
    Cancelled,
    /// The run continues on a server after this command ends, or waits for a person.
    Waiting,
    /// Exit code of a command that ran as a trial, which `holdshort exec` passes on.
    Captured(u8),
}

pub(crate) const HELP: &str = "\
Exit codes:
  0  run completed, fully or in part; or command succeeded
  1  failed or refused: no permission, or the state has changed
  2  usage or configuration error
  3  run cancelled
  4  run not ended: you detached, input ended, or no terminal to decide in";

impl Exit {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Cancelled => 3,
            Self::Waiting => 4,
            Self::Captured(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

pub(crate) const NO_SERVER: &str = "no_server";

/// Error in a command line or configuration that the person has to fix.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Usage {
    /// Stable code of a command's error, for scripts.
    pub code: &'static str,
    message: String,
}

/// Returns a usage error, whose message explains what the person at the command line has to change.
pub fn usage(message: impl Into<String>) -> anyhow::Error {
    Usage { code: "usage", message: message.into() }.into()
}

/// Returns an error for a missing server. The message explains how to start or select a server.
pub(crate) fn no_server(message: impl Into<String>) -> anyhow::Error {
    Usage { code: NO_SERVER, message: message.into() }.into()
}

/// Returns an error for a damaged journal. The message explains how to repair the journal.
pub(crate) fn damage(message: impl Into<String>) -> anyhow::Error {
    Usage { code: Code::JournalDamaged.as_str(), message: message.into() }.into()
}

pub(crate) fn is_no_server(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Usage>().is_some_and(|usage| usage.code == NO_SERVER)
}

pub(crate) fn of_error(error: &anyhow::Error) -> Exit {
    let refused = error.downcast_ref::<Refused>();
    if error.is::<Usage>() || refused.is_some_and(Refused::is_usage) { Exit::Usage } else { Exit::Failed }
}
