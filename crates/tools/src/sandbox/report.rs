//! What the stages tell the server, one JSON line each over their standard input. The first line says how the command
//! ended; others may follow.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use serde::{Deserialize, Serialize};

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
    /// After the command: what it had made of what is guarded was renamed.
    HeldBack { paths: Vec<String> },
    /// After the command: what is guarded could not be looked for.
    Unguarded { why: String },
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

    /// Reads what was sent: how the command ended, and what was said after it.
    pub(crate) fn parse(sent: &[u8]) -> (Self, Vec<Self>) {
        let mut lines = sent.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let unreadable = || Self::Failed { why: "the sandbox ended without a word".to_owned() };
        let first =
            lines.next().and_then(|line| serde_json::from_slice(line).ok()).unwrap_or_else(unreadable);
        (first, lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }
}
