//! Runs a command as a trial, and commits the changes of a trial. The tools read and write the files of the workspace.
//! The journal stores the content of these files until a person has decided. This module copies the content between the
//! tools and the journal.

use std::io;
use std::sync::Arc;

use holdshort_core::changeset::{self, Change, Changeset, Entry};
use holdshort_core::digest::Digest;
use holdshort_core::tool::{LayerChanges, Outcome, Precondition, TrialOutcome, TrialResult};
use holdshort_store::Blob;
use holdshort_tools::{Call, CommandTrialOutcome as Ran, Committed, Tools, Trial};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::bodies::Bodies;

/// Approximate number of bytes in one write to the journal.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// Runs a command as a trial. When it returns, the journal contains the content of the changed files, but not yet the
/// event that reports the changes.
pub(super) async fn try_command(
    tools: &Tools,
    bodies: &Bodies,
    call: &Call,
    preconditions: &[Precondition],
    output: impl Fn(&str) + Send,
) -> TrialOutcome {
    let trial = match tools.try_command(call, preconditions, output).await {
        Ran::Yielded(trial) => trial,
        Ran::Stopped { text, data } => return nothing(text, data),
        Ran::Changed { paths } => return TrialOutcome::Changed { paths },
        Ran::Impossible { why } => return TrialOutcome::Impossible { why },
        Ran::Failed { text } => return TrialOutcome::Impossible { why: text },
    };
    let bodies = bodies.clone();
    let kept = tokio::task::spawn_blocking(move || keep(trial, &bodies)).await;
    match kept {
        Ok(Ok(yielded)) => TrialOutcome::Yielded(yielded),
        Ok(Err(NotKept::Changed)) => TrialOutcome::Changed { paths: Vec::new() },
        Ok(Err(NotKept::Store(why))) => {
            TrialOutcome::Impossible { why: format!("the command's changes could not be stored: {why}") }
        }
        Err(e) => TrialOutcome::Impossible { why: format!("the command's changes could not be stored: {e}") },
    }
}

/// Returns the result for a command that was stopped. Its changes are discarded.
fn nothing(text: String, data: Value) -> TrialOutcome {
    let mut card = json!({ "output": text, "stopped": true, "files": 0, "deleted": 0, "changes": [] });
    if let Some(code) = data.get("not_kept") {
        card["not_kept"] = code.clone();
    }
    TrialOutcome::Yielded(TrialResult {
        changeset: Changeset::default(),
        layer: None,
        ask_because: Vec::new(),
        text,
        data,
        card,
    })
}

/// Reason why the changes of a trial could not be stored in the journal.
pub(super) enum NotKept {
    /// A file whose content must be stored was changed after the trial.
    Changed,
    Store(String),
}

pub(super) fn keep(trial: Trial, bodies: &Bodies) -> Result<TrialResult, NotKept> {
    let put = |batch: Vec<Blob>| {
        Handle::current().block_on(bodies.put(batch)).map_err(|e| NotKept::Store(e.to_string()))
    };
    let (mut batch, mut bytes) = (Vec::new(), 0);
    for body in trial.bodies() {
        let (digest, body) = body.map_err(|_| NotKept::Changed)?;
        bytes += body.len();
        batch.push(Blob { digest, bytes: body });
        if bytes >= BATCH_BYTES {
            put(std::mem::take(&mut batch))?;
            bytes = 0;
        }
    }
    if !batch.is_empty() {
        put(batch)?;
    }
    let card = trial.card();
    let Trial { changeset, run_layer, codes, text, data, .. } = trial;
    Ok(TrialResult { changeset, layer: run_layer.map(Box::new), ask_because: codes, text, data, card })
}

/// Commits the changes of a trial, first those to the workspace and then those to the run's layer.
pub(super) async fn commit(
    tools: Tools,
    bodies: Bodies,
    changeset: Arc<Changeset>,
    layer: Option<Arc<LayerChanges>>,
    is_resumed: bool,
) -> Outcome {
    // A resumed commit must continue, so it skips this check and reports missing bytes later.
    if !is_resumed {
        let layer = layer.as_ref().map_or(&changeset::EMPTY, |layer| &layer.changes);
        match missing(&bodies, &[&changeset, layer]).await {
            Ok(paths) if paths.is_empty() => {}
            // The call is inspected or tried again. This stores the missing bytes again.
            Ok(paths) => return Outcome::Changed { paths },
            Err(e) => {
                return Outcome::Failed {
                    text: format!("nothing was changed: the new contents of the files cannot be read: {e}"),
                };
            }
        }
    }
    let turn = tools.turn(&changeset).await;
    let work = move || {
        let _turn = turn;
        let runtime = Handle::current();
        let body = |digest: Digest| {
            let found = runtime.block_on(bodies.get(digest)).map_err(io::Error::other)?;
            found.ok_or_else(|| io::Error::other("the journal no longer contains the content of a file"))
        };
        let committed = tools.commit(&changeset, body, is_resumed);
        if let (Committed::Done, Some(layer)) = (&committed, layer)
            && let Err(error) = tools.commit_to_layer(&layer, body)
        {
            tracing::warn!(%error, "the files of the run that git ignores could not be stored, so its next \
                commands do not see them");
        }
        committed
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(Committed::Done) => Outcome::Done { text: String::new(), data: Value::Null },
        Ok(Committed::Conflict { paths, done }) if done.is_empty() && !is_resumed => {
            Outcome::Changed { paths }
        }
        Ok(Committed::Conflict { paths, done }) => {
            let others = list_paths(&paths);
            Outcome::Halfway {
                text: format!(
                    "the changes stopped because another process has changed {others}; {}",
                    so_far(&done)
                ),
            }
        }
        Ok(Committed::Failed { text, done }) if done.is_empty() && !is_resumed => {
            Outcome::Failed { text: format!("nothing was changed: {text}") }
        }
        Ok(Committed::Failed { text, done }) => {
            Outcome::Halfway { text: format!("{text}; {}", so_far(&done)) }
        }
        Err(e) => Outcome::Halfway { text: format!("the commit stopped unexpectedly: {e}") },
    }
}

/// Returns the paths whose new content the journal no longer contains.
pub(super) async fn missing(
    bodies: &Bodies,
    changesets: &[&Changeset],
) -> Result<Vec<String>, holdshort_store::Error> {
    let wanted = |change: &Change| match (&change.before, &change.after) {
        // Only the mode of the file changes, so its content need not be stored.
        (Some(Entry::File { digest: before, .. }), Some(Entry::File { digest, .. })) if before == digest => {
            None
        }
        (_, Some(Entry::File { digest, .. })) => Some((*digest, change.path.clone())),
        (_, Some(Entry::Symlink { .. } | Entry::Folder { .. }) | None) => None,
    };
    let wanted: Vec<(Digest, String)> =
        changesets.iter().flat_map(|it| it.changes()).filter_map(wanted).collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let missing = bodies.missing(wanted.iter().map(|(digest, _)| *digest).collect()).await?;
    Ok(wanted.into_iter().filter(|(digest, _)| missing.contains(digest)).map(|(_, path)| path).collect())
}

fn so_far(done: &[String]) -> String {
    match done.len() {
        0 => "no path was changed before that".to_owned(),
        1 => format!("{} was changed before that", list_paths(done)),
        n => format!("{n} paths were changed before that"),
    }
}

/// Lists the first few paths for a message, and states the number of the remaining paths.
fn list_paths(paths: &[String]) -> String {
    const NAMED: usize = 5;
    let mut named: Vec<String> = paths.iter().take(NAMED).map(|path| format!("`{path}`")).collect();
    if paths.len() > NAMED {
        named.push(format!("{} more", paths.len() - NAMED));
    }
    named.join(", ")
}
