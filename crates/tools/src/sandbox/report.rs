//! Reports of the stages to the server, one JSON line each over their standard input. They tell the begin and the end
//! of the command, and the guarded paths that it made.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use serde::{Deserialize, Serialize};

use super::guard::SetAside;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Report {
    /// The shell exited.
    Exited { code: i32 },
    /// A signal ended the shell.
    Signalled { signal: i32 },
    /// The command was stopped because it had too many processes.
    TooManyProcesses,
    /// The command was stopped because it wrote too much.
    TooManyBytes,
    /// This workspace cannot have a layer, so nothing ran.
    NoLayer { why: String },
    /// The command begins. If it may write, its guarded paths have been found.
    Begins,
    /// Outcome for the guarded paths that the command made. Sent after the command, even if there are none: without
    /// this report the outcome is unknown.
    SetAside(SetAside),
    /// A stage could not do its part, so nothing ran.
    Failed { why: String },
}

impl Report {
    /// Sends the report. Ignores errors, since a server that is gone needs no report.
    pub(crate) fn send(&self) {
        let _ = self.try_send();
    }

    fn try_send(&self) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        File::from(io::stdin().as_fd().try_clone_to_owned()?).write_all(&line)
    }

    /// Returns true if the reports sent so far say that the command has begun.
    pub(crate) fn has_begun(sent: &[u8]) -> bool {
        lines(sent).any(|line| matches!(serde_json::from_slice(line), Ok(Self::Begins)))
    }

    /// Returns true if the reports sent so far say that the command has ended.
    pub(crate) fn has_ended(sent: &[u8]) -> bool {
        let is_end = |report: Self| !matches!(report, Self::Begins | Self::SetAside(_));
        lines(sent).any(|line| serde_json::from_slice(line).is_ok_and(is_end))
    }

    /// Parses the reports: the end of the command, and the guarded paths that it made.
    pub(crate) fn parse(sent: &[u8]) -> (Self, Option<SetAside>) {
        let mut end = None;
        let mut aside = None;
        for line in lines(sent) {
            match serde_json::from_slice(line) {
                Ok(Self::Begins) | Err(_) => {}
                Ok(Self::SetAside(found)) => aside = Some(found),
                // The first end wins.
                Ok(report) => end = end.or(Some(report)),
            }
        }
        (end.unwrap_or_else(|| Self::Failed { why: "the sandbox ended without a report".to_owned() }), aside)
    }
}

/// Returns the lines sent. A line that is still being sent is incomplete and does not parse.
fn lines(sent: &[u8]) -> impl Iterator<Item = &[u8]> {
    sent.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}
