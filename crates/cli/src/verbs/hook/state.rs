//! State of one session of a coding agent, in `state/` next to the configuration: requests that nobody waits for any
//! more, and calls that were just decided.
//!
//! An approval is used at the server, once. Only the second event about the same call takes over the decision of the
//! first, shortly after it. A lost state causes further questions.

use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use holdshort_core::digest::Digest;
use holdshort_http::secret_file;
use rustix::process::{Pid, getpid, test_kill_process};
use serde::{Deserialize, Serialize};

use crate::limits::{HOOK_CALLS, HOOK_STATE_BYTES};

/// Age after which the state of a session is deleted. Claude Code keeps a session for 30 days.
const KEPT: Duration = Duration::from_hours(31 * 24);
/// Longest time between a decision and the second event about the same call.
const SETTLED: Duration = Duration::from_mins(1);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionState {
    /// Run of the session.
    pub run: Option<String>,
    pub pending: Vec<Pending>,
    pub settled: Vec<Settled>,
    pub written: Vec<Written>,
    /// Open incidents of the session.
    pub incidents: Vec<String>,
}

/// Request that was not decided yet, or whose approval was not used yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pending {
    /// Digest by which the same call is recognized.
    pub call: Digest,
    /// Digest to which the approval is bound.
    pub bound: Digest,
    pub interrupt: String,
    /// Event that asked.
    pub event: String,
    /// Process that waits for the decision.
    pub waiting: i32,
    /// Text from which the secret of the call is derived, if the server has tried the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried_as: Option<String>,
}

/// Decision that a second event about the same call takes over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settled {
    pub call: Digest,
    pub interrupt: String,
    pub event: String,
    pub turn: Option<String>,
    /// Reason of a denial. `None`: the call may run.
    pub denied: Option<String>,
    /// True if a person decided, false if a rule or a grant allowed the call.
    pub by_person: bool,
    /// True if `call` is the command line that replaced a tried command.
    #[serde(default)]
    pub is_released: bool,
    /// Unix time in seconds.
    pub at: u64,
}

/// Content of a file that a person approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    pub call_id: String,
    pub interrupt: String,
    pub path: PathBuf,
    pub content: Digest,
}

impl Pending {
    /// Returns true if another process still waits for the decision.
    pub(super) fn is_waited_for(&self) -> bool {
        let other = Pid::from_raw(self.waiting).filter(|pid| *pid != getpid());
        other.is_some_and(|pid| test_kill_process(pid).is_ok())
    }
}

/// File with the state of one session.
#[derive(Debug)]
pub(super) struct StateFile {
    path: PathBuf,
}

impl StateFile {
    /// `config`: the path of the hook's configuration.
    pub(super) fn open(config: &Path, session: &Digest) -> anyhow::Result<Self> {
        let folder = folder(config);
        let shown = || format!("{} cannot be created", folder.display());
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).with_context(shown)?;
        let path = folder.join(format!("{session}.json"));
        if !path.exists() {
            remove_old(&folder);
        }
        Ok(Self { path })
    }

    /// Changes the state. Other processes of the session wait until the change is written.
    pub(super) fn update<T>(&self, change: impl FnOnce(&mut SessionState) -> T) -> anyhow::Result<T> {
        let shown = || format!("{} cannot be used", self.path.display());
        let lock = self.path.with_extension("lock");
        let lock = File::options().create(true).truncate(false).write(true).open(lock).with_context(shown)?;
        lock.lock().with_context(shown)?;
        let before = self.read()?;
        let mut state = before.clone();
        let result = change(&mut state);
        state.forget_old();
        if state != before {
            let folder = self.path.parent().with_context(shown)?;
            let mut file = tempfile::NamedTempFile::new_in(folder).with_context(shown)?;
            file.write_all(&serde_json::to_vec(&state)?).with_context(shown)?;
            file.persist(&self.path).with_context(shown)?;
        }
        Ok(result)
    }

    fn read(&self) -> anyhow::Result<SessionState> {
        let shown = self.path.display();
        match secret_file::read(&self.path, HOOK_STATE_BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .with_context(|| format!("{shown} is damaged: delete it, and repeat the call")),
            Err(secret_file::Error::Io(error)) if error.kind() == ErrorKind::NotFound => {
                Ok(SessionState::default())
            }
            Err(error) => anyhow::bail!("{shown} {error}"),
        }
    }
}

impl SessionState {
    fn forget_old(&mut self) {
        let oldest = now().saturating_sub(SETTLED.as_secs());
        self.settled.retain(|settled| settled.at >= oldest);
        shorten(&mut self.pending);
        shorten(&mut self.settled);
        shorten(&mut self.written);
        shorten(&mut self.incidents);
    }
}

/// Keeps the newest entries.
fn shorten<T>(entries: &mut Vec<T>) {
    let surplus = entries.len().saturating_sub(HOOK_CALLS);
    entries.drain(..surplus);
}

/// Returns the folder with the states of all sessions of an installed hook.
pub(super) fn folder(config: &Path) -> PathBuf {
    config.with_file_name("state")
}

/// Returns the Unix time in seconds.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Removes the files of old sessions. A file that cannot be removed is harmless.
fn remove_old(folder: &Path) {
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let changed = file.metadata().and_then(|found| found.modified()).ok();
        if changed.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > KEPT) {
            let _ = fs::remove_file(file.path());
        }
    }
}
