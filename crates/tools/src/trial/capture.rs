//! Data that a trial captures for an external agent: both output streams, and the reasons to doubt the trial. A trial
//! is doubtful if the command, run in the agent's own shell, possibly has other effects than in the trial.
//!
//! The server cannot tell an external agent later that the sandbox denied an operation, so a doubtful trial is
//! discarded. Other effects are detected from the output of the command. If a command does not report a denial, this
//! module does not detect it. The sandbox has enforced a denial that was not detected: the command has done nothing but
//! what the trial shows.

use std::fs;
use std::path::Path;

use holdshort_core::digest::Digest;

use crate::command::Streams;
use crate::limits;

/// Data about a command that a trial captures in addition to the changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    pub streams: Streams,
    /// Digest of the environment variables of the command.
    pub environment: Digest,
    left: usize,
    /// The first files that the command wrote outside the workspace, with the paths that the command used.
    outside: Vec<String>,
}

/// Messages of the system in a command's output that say that an operation on a file was denied.
const DENIED: [&str; 4] =
    ["Read-only file system", "Permission denied", "Operation not permitted", "Operation not supported"];

/// Messages in a command's output that say that a program cannot reach the network or a service of the machine.
const UNREACHED: [&str; 11] = [
    "Cannot connect to",
    "Connection refused",
    "Could not resolve host",
    "EAI_AGAIN",
    "ENETUNREACH",
    "ENOTFOUND",
    "Name or service not known",
    "Network is unreachable",
    "Temporary failure in name resolution",
    "Temporary failure resolving",
    "getaddrinfo",
];

/// Folders in the home folder of a command whose content programs can create again at any time.
const CACHES: [&str; 2] = [".cache", ".npm"];

impl Capture {
    /// Collects the data that a trial captures about a command. `private` is the folder on this host that the command
    /// saw as `/tmp`, with its home folder. Blocks.
    pub(super) fn new(streams: Streams, left: usize, environment: Digest, private: &Path) -> Self {
        Self { streams, environment, left, outside: find_outside(private) }
    }

    /// Returns the reason why the command, run in the agent's own shell, possibly has other effects than in the trial.
    /// The text completes a sentence such as "not tried: …".
    pub fn why_doubtful(&self, exit_code: Option<i32>) -> Option<String> {
        if self.streams.is_cut {
            return Some(format!("it printed more than {} KiB", limits::CAPTURED_BYTES / 1024));
        }
        if self.left > 0 {
            return Some("it left a process running".to_owned());
        }
        if !self.outside.is_empty() {
            return Some(format!("it wrote outside the folder: {}", self.outside.join(", ")));
        }
        // A successful command may have printed a file that contains such a message.
        let errors = String::from_utf8_lossy(&self.streams.stderr);
        let output = String::from_utf8_lossy(&self.streams.stdout);
        let says = |message: &&&str| {
            errors.contains(**message) || (exit_code != Some(0) && output.contains(**message))
        };
        if let Some(message) = DENIED.iter().find(says) {
            return Some(format!("the sandbox may have denied it something (\"{message}\")"));
        }
        let message = UNREACHED.iter().find(says)?;
        Some(format!("it may need the network or a service (\"{message}\")"))
    }
}

/// Returns the first files that a command of a trial wrote into its private folder, with the paths that the command
/// used.
fn find_outside(private: &Path) -> Vec<String> {
    let home = private.join("home");
    let mut found = Vec::new();
    let mut seen = 0;
    let mut ahead = vec![private.to_owned()];
    while let Some(folder) = ahead.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            found.push(name(&folder, private));
            continue;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            seen += 1;
            let is_cache = CACHES.iter().any(|cache| path == home.join(cache));
            if path == home || (!is_cache && entry.file_type().is_ok_and(|kind| kind.is_dir())) {
                ahead.push(path);
            } else if !is_cache {
                found.push(name(&path, private));
            }
            if found.len() >= limits::OUTSIDE_NAMED || seen >= limits::OUTSIDE_ENTRIES {
                found.sort();
                return if found.is_empty() { vec![name(&folder, private)] } else { found };
            }
        }
    }
    found.sort();
    found
}

/// Returns the path that a command uses for a path in its private folder.
fn name(path: &Path, private: &Path) -> String {
    let below = path.strip_prefix(private).unwrap_or(path).to_string_lossy().into_owned();
    let named = match below.strip_prefix("home/") {
        Some(below) => format!("~/{below}"),
        None => format!("/tmp/{below}"),
    };
    format!("`{}`", named.escape_debug())
}
