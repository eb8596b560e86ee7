//! What the stages tell the server, one JSON line each over their standard input: that the command begins, how it
//! ended, and what became of the guarded paths that it made.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use serde::{Deserialize, Serialize};

use super::guard::SetAside;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Report {
    /// The shell ended.
    Exited { code: i32 },
    /// The shell was ended by a signal.
    Signalled { signal: i32 },
    /// It was stopped for having too many processes.
    TooManyProcesses,
    /// It was stopped for having written too much.
    TooManyBytes,
    /// There can be no layer over this workspace, so nothing ran.
    NoLayer { why: String },
    /// Before the command, where it may write: what is guarded was found, and the command begins.
    Begins,
    /// After the command: what became of the guarded paths that it made. Sent also where there are none: without it
    /// nobody knows.
    SetAside(SetAside),
    /// A stage could not do its part, so nothing ran.
    Failed { why: String },
}

impl Report {
    /// Sends it. A server that is gone needs none.
    pub(crate) fn send(&self) {
        let _ = self.try_send();
    }

    fn try_send(&self) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        File::from(io::stdin().as_fd().try_clone_to_owned()?).write_all(&line)
    }

    /// Whether the command has begun, of what was sent so far.
    pub(crate) fn begins(sent: &[u8]) -> bool {
        lines(sent).any(|line| matches!(serde_json::from_slice(line), Ok(Self::Begins)))
    }

    /// Whether the command has ended, of what was sent so far.
    pub(crate) fn ended(sent: &[u8]) -> bool {
        let is_end = |report: Self| !matches!(report, Self::Begins | Self::SetAside(_));
        lines(sent).any(|line| serde_json::from_slice(line).is_ok_and(is_end))
    }

    /// Reads what was sent: how the command ended, and what became of the guarded paths that it made.
    pub(crate) fn parse(sent: &[u8]) -> (Self, Option<SetAside>) {
        let mut end = None;
        let mut aside = None;
        for line in lines(sent) {
            match serde_json::from_slice(line) {
                Ok(Self::Begins) | Err(_) => {}
                Ok(Self::SetAside(found)) => aside = Some(found),
                // The first one counts.
                Ok(report) => end = end.or(Some(report)),
            }
        }
        (end.unwrap_or_else(|| Self::Failed { why: "the sandbox ended without a word".to_owned() }), aside)
    }
}

/// The one that is being sent is no line yet, and can not be read.
fn lines(sent: &[u8]) -> impl Iterator<Item = &[u8]> {
    sent.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}
