//! Reports that the stages of the sandbox send to the server. Each report is one JSON line, sent over the standard
//! input of the stages. A report says that the command begins, how the command ended, or which guarded paths the
//! command created.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use serde::{Deserialize, Serialize};

use super::guard::SetAside;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Report {
    /// The shell of the command exited.
    Exited { code: i32 },
    /// A signal ended the shell of the command.
    Signalled { signal: i32 },
    /// The command was stopped because it had too many processes.
    TooManyProcesses,
    /// The command was stopped because it wrote too many bytes.
    TooManyBytes,
    /// The layer that receives the command's writes could not be created in this workspace, so the command did not run.
    NoLayer { why: String },
    /// The command starts after this report of the sandbox. If the command may write, the guarded paths (such as Git
    /// hooks) were all found.
    Begins,
    /// Number of processes of the command that were still running when the shell of the command ended. Sent only if
    /// there were any.
    Left { processes: usize },
    /// Guarded paths (such as Git hooks) that the command created: those that were renamed, and those that could not be
    /// renamed. Sent after every command that may write, even if the command created no guarded path. If this report is
    /// missing, new guarded paths possibly remain.
    SetAside(SetAside),
    /// A stage of the sandbox could not do its work, so the command did not run.
    Failed { why: String },
}

impl Report {
    /// Sends the sandbox's report to the server. Errors are ignored, because a server that has ended does not need the
    /// report.
    pub(crate) fn send(&self) {
        let _ = self.try_send();
    }

    fn try_send(&self) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        File::from(io::stdin().as_fd().try_clone_to_owned()?).write_all(&line)
    }

    pub(crate) fn has_begun(sent: &[u8]) -> bool {
        lines(sent).any(|line| matches!(serde_json::from_slice(line), Ok(Self::Begins)))
    }

    pub(crate) fn has_ended(sent: &[u8]) -> bool {
        let is_end = |report: Self| !matches!(report, Self::Begins | Self::Left { .. } | Self::SetAside(_));
        lines(sent).any(|line| serde_json::from_slice(line).is_ok_and(is_end))
    }

    /// Returns the number of processes that still ran when the shell of the command ended, from the sandbox's reports
    /// so far.
    pub(crate) fn left_processes(sent: &[u8]) -> usize {
        let left = |line| match serde_json::from_slice(line) {
            Ok(Self::Left { processes }) => Some(processes),
            _ => None,
        };
        lines(sent).find_map(left).unwrap_or(0)
    }

    /// Parses the reports of the sandbox. Returns how the command ended, and which guarded paths (such as Git hooks) it
    /// created.
    pub(crate) fn parse(sent: &[u8]) -> (Self, Option<SetAside>) {
        let mut end = None;
        let mut aside = None;
        for line in lines(sent) {
            match serde_json::from_slice(line) {
                Ok(Self::Begins | Self::Left { .. }) | Err(_) => {}
                Ok(Self::SetAside(found)) => aside = Some(found),
                // If several reports state how the command ended, the first of these reports is used.
                Ok(report) => end = end.or(Some(report)),
            }
        }
        (end.unwrap_or_else(|| Self::Failed { why: "the sandbox ended without a report".to_owned() }), aside)
    }
}

/// Returns the complete lines of the reports so far, and an incomplete last line if it is still being sent. An
/// incomplete line does not parse as JSON.
fn lines(sent: &[u8]) -> impl Iterator<Item = &[u8]> {
    sent.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}
