//! Trials of commands of external agents, in the folder that the agent's key names.
//!
//! A trial runs before the agent's interrupt exists, without a run, a lock or an event. Its file contents are stored
//! before the interrupt is opened. Must never write to the folder: the agent carries out the released changes itself.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use data_encoding::BASE64;
use holdshort_core::digest::Digest;
use holdshort_core::gate::foreign::ForeignCall;
use holdshort_core::gate::foreign_trial::{AskedTrial, ForeignTrial, Streams, TriedCall};
use holdshort_core::tool::TrialResult;
use holdshort_tools::{Call, CommandTrialOutcome, Settings, Tools, Trial, Workspace};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::executor::RealExecutor;
use super::trial::{NotKept, keep, missing};
use crate::Error;

/// Maximum number of trials of one call, if files of the folder change during each trial.
const ATTEMPTS: usize = 3;

/// Folders that a trial shows as they are. A path in another folder outside the workspace is not shown.
const SHOWN: [&str; 8] = ["/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/sbin", "/usr"];

/// Result of one attempt.
enum Attempt {
    Tried(Box<TriedCall>),
    Untried(String),
    /// A file of the folder changed during the attempt.
    Changed,
}

impl From<NotKept> for Attempt {
    fn from(why: NotKept) -> Self {
        match why {
            NotKept::Changed => Self::Changed,
            NotKept::Store(why) => Self::Untried(format!("its changes could not be stored: {why}")),
        }
    }
}

impl RealExecutor {
    /// Tries the command of an external agent. `folder` is the folder of the agent's key, `secret` the digest of the
    /// secret with which the agent uses the approval. Dropping the future stops the command.
    pub async fn try_foreign(
        &self,
        folder: &str,
        call: &ForeignCall,
        secret: Digest,
        time: Duration,
    ) -> AskedTrial {
        let untried = |why: &str| AskedTrial::Untried(why.to_owned());
        if let Some(why) = call.why_untriable() {
            return untried(why);
        }
        let Some(cwd) = below(folder, call.cwd.as_deref().unwrap_or(folder)) else {
            return untried("its working directory is outside the folder of the key");
        };
        if let Some(why) = find_hidden(folder, call) {
            return AskedTrial::Untried(why);
        }
        let deadline = Instant::now() + time;
        for _ in 0..ATTEMPTS {
            let attempt = timeout_at(deadline, self.attempt(folder, call, &cwd, secret, deadline)).await;
            match attempt {
                Ok(Attempt::Tried(tried)) => return AskedTrial::Tried(tried),
                Ok(Attempt::Untried(why)) => return AskedTrial::Untried(why),
                Ok(Attempt::Changed) => {}
                Err(_) => {
                    return AskedTrial::Untried(format!("it did not end within {} s", time.as_secs_f64()));
                }
            }
        }
        untried("files that it changes were changed by other programs during each trial")
    }

    async fn attempt(
        &self,
        folder: &str,
        call: &ForeignCall,
        cwd: &str,
        secret: Digest,
        deadline: Instant,
    ) -> Attempt {
        let (tools, root) = match self.foreign_tools(folder, deadline) {
            Ok(opened) => opened,
            Err(why) => return Attempt::Untried(why),
        };
        let mut arguments = json!({ "command": call.command() });
        if !cwd.is_empty() {
            arguments["cwd"] = json!(cwd);
        }
        let wanted = Call { tool: "run_command".to_owned(), arguments };
        let trial = match tools.try_command(&wanted, &[], |_| {}).await {
            CommandTrialOutcome::Yielded(trial) => trial,
            CommandTrialOutcome::Changed { .. } => return Attempt::Changed,
            CommandTrialOutcome::Stopped { data, .. } => return Attempt::Untried(why_stopped(&data)),
            CommandTrialOutcome::Impossible { why } => return Attempt::Untried(why),
            CommandTrialOutcome::Failed { text } => return Attempt::Untried(text),
        };
        let bodies = self.bodies.clone();
        let read = move || read(trial, secret, root, |trial| keep(trial, &bodies));
        let read = tokio::task::spawn_blocking(read).await;
        read.unwrap_or_else(|e| Attempt::Untried(format!("the trial stopped unexpectedly: {e}")))
    }

    /// Returns the tools for the folder of a key, and the device and inode of the folder.
    fn foreign_tools(&self, folder: &str, deadline: Instant) -> Result<(Tools, String), String> {
        let workspace = Workspace::open(Path::new(folder), &self.data).map_err(|error| error.to_string())?;
        if workspace.path() != folder {
            return Err("the folder of the key is now a link".to_owned());
        }
        let root =
            identity(folder).map_err(|error| format!("the folder of the key cannot be read: {error}"))?;
        let mut settings = Settings::new(self.sandbox_program.clone(), self.data.clone());
        settings.capture = true;
        let left = deadline.saturating_duration_since(Instant::now());
        settings.command_timeout_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1);
        Ok((Tools::new(workspace, settings), root))
    }

    /// Returns the reason why released changes can no longer be carried out: a file has changed since the trial, a new
    /// content is no longer stored, or the folder was replaced or cannot be opened. Returns `None` if they can be carried
    /// out.
    pub async fn why_void(&self, folder: &str, trial: &ForeignTrial) -> Result<Option<String>, Error> {
        let gone = missing(&self.bodies, &[&trial.changeset]).await?;
        if let Some(path) = gone.first() {
            return Ok(Some(format!("the new content of `{path}` is no longer stored")));
        }
        let (tools, root) = match self.foreign_tools(folder, Instant::now()) {
            Ok(opened) => opened,
            Err(why) => return Ok(Some(why)),
        };
        if root != trial.root {
            return Ok(Some("another directory has replaced the folder of the key".to_owned()));
        }
        let changeset = trial.changeset.clone();
        let compared = tokio::task::spawn_blocking(move || tools.undoable(&changeset, BTreeMap::new())).await;
        let compared = compared.map_err(|error| Error::Internal(error.to_string()))?;
        Ok(match compared {
            Ok(found) => found.left.keys().next().map(|path| format!("`{path}` has changed since the trial")),
            Err(error) => Some(format!("the folder of the key cannot be compared: {error}")),
        })
    }

    /// Returns the stored content with this digest.
    pub async fn stored_body(&self, digest: Digest) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.bodies.get(digest).await?)
    }
}

/// Reads the result of a trial that ended by itself. Blocks.
fn read(
    trial: Trial,
    secret: Digest,
    root: String,
    keep: impl FnOnce(Trial) -> Result<TrialResult, NotKept>,
) -> Attempt {
    let Some(capture) = trial.capture.clone() else {
        return Attempt::Untried("its output was not captured".to_owned());
    };
    let code = trial.data.get("exit_code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    if let Some(why) = capture.why_doubtful(code) {
        return Attempt::Untried(why);
    }
    let Some(exit_code) = code else { return Attempt::Untried("a signal ended it".to_owned()) };
    let kept = match keep(trial) {
        Ok(kept) => kept,
        Err(why) => return why.into(),
    };
    let streams = &capture.streams;
    let tried = ForeignTrial {
        secret,
        changeset: kept.changeset,
        ask_because: kept.ask_because,
        exit_code,
        environment: capture.environment,
        root,
        stdout: Digest::of_bytes(&streams.stdout),
        stderr: Digest::of_bytes(&streams.stderr),
    };
    let streams = Streams { stdout: BASE64.encode(&streams.stdout), stderr: BASE64.encode(&streams.stderr) };
    Attempt::Tried(Box::new(TriedCall { trial: tried, streams, card: kept.card }))
}

/// Returns the reason why a trial was stopped.
fn why_stopped(data: &Value) -> String {
    if data.get("timed_out") == Some(&Value::Bool(true)) {
        return "it did not end in time".to_owned();
    }
    match data.get("not_kept").and_then(Value::as_str) {
        Some(code) => format!("its changes cannot be stored ({code})"),
        None => "it exceeded a limit of the sandbox".to_owned(),
    }
}

/// Returns a path relative to the root. Returns `None` if the path is not in the root.
fn below(root: &str, path: &str) -> Option<String> {
    match path.strip_prefix(root)? {
        "" => Some(String::new()),
        rest => rest.strip_prefix('/').map(str::to_owned),
    }
}

/// Returns the reason why a trial would not show a file that the line names. A trial shows the folder and the system's
/// programs. A path that does not exist needs no view.
fn find_hidden(folder: &str, call: &ForeignCall) -> Option<String> {
    let Some(paths) = call.named_paths() else { return Some("it names too many paths".to_owned()) };
    let mut hidden = paths.into_iter().filter(|path| {
        below(folder, path).is_none()
            && SHOWN.iter().all(|shown| below(shown, path).is_none())
            && fs::symlink_metadata(path).is_ok()
    });
    hidden.next().map(|path| format!("it names `{}`, which a trial does not show", path.escape_debug()))
}

fn identity(folder: &str) -> std::io::Result<String> {
    let found = fs::metadata(folder)?;
    Ok(format!("{}:{}", found.dev(), found.ino()))
}
