//! Exit codes. The one place where an error becomes a code.

use std::process::ExitCode;

use holdshort_protocol::Code;

use crate::client::Refused;

/// As documented in `--help`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Completed, or done what was asked.
    Ok,
    /// It failed, or was refused for what it met: somebody else has decided, or whoever asks may not.
    Failed,
    /// Usage or configuration: the same again will not help.
    Usage,
    Cancelled,
    /// The run goes on without us, or waits for a person.
    Waiting,
}

pub(crate) const HELP: &str = "\
Exit codes:
  0  completed, whole or in part; or done
  1  failed, or refused: whoever asks may not, or it has changed meanwhile
  2  usage or configuration
  3  cancelled
  4  left waiting: detached, end of input, or no terminal to decide in";

impl Exit {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Cancelled => 3,
            Self::Waiting => 4,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

pub(crate) const NO_SERVER: &str = "no_server";

/// Something that the person who started this has to change.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Usage {
    /// What scripts branch on.
    pub code: &'static str,
    message: String,
}

/// Shorthand for an error that says what to change.
pub fn usage(message: impl Into<String>) -> anyhow::Error {
    Usage { code: "usage", message: message.into() }.into()
}

/// Shorthand for an error that says that nobody answers, and how to change that.
pub(crate) fn no_server(message: impl Into<String>) -> anyhow::Error {
    Usage { code: NO_SERVER, message: message.into() }.into()
}

/// Shorthand for an error that says that the journal is damaged, and what to do.
pub(crate) fn damage(message: impl Into<String>) -> anyhow::Error {
    Usage { code: Code::JournalDamaged.as_str(), message: message.into() }.into()
}

/// Whether the error says that nobody answers.
pub(crate) fn is_no_server(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Usage>().is_some_and(|usage| usage.code == NO_SERVER)
}

pub(crate) fn of_error(error: &anyhow::Error) -> Exit {
    let refused = error.downcast_ref::<Refused>();
    if error.is::<Usage>() || refused.is_some_and(Refused::is_usage) { Exit::Usage } else { Exit::Failed }
}
