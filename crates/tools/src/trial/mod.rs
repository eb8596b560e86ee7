//! Trials: a command runs over a layer (a folder that receives all its writes), and its changes are then read from the
//! layer.
//!
//! A trial never writes to the workspace. When a trial is dropped, it leaves no files behind. This module never decides
//! whether the changes of a trial are accepted. `sandbox::layer` mounts a layer, and `read` reads its changes.
//! `changeset` commits the changes.

mod capture;
mod card;
mod copy;
pub(crate) mod ignored;
mod merge;
mod prepare;
mod read;
mod split;

use std::collections::BTreeSet;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use holdshort_core::changeset::{Change, Changeset, Entry, bytes_of};
use holdshort_core::digest::Digest;
use holdshort_core::time::Timestamp;
use holdshort_core::tool::{LayerChanges, Precondition, SandboxLevel};
use rustix::fs::StatVfsMountFlags;
use serde_json::{Value, json};

pub use self::capture::Capture;
pub(crate) use self::card::{Side, Source, of_changes};
pub(crate) use self::merge::merge;
use self::prepare::{MakeLayer, NotPrepared, Prepared};
use self::read::{Below, Time};
use self::split::Split;
use crate::changeset::{Root, entry, guard};
use crate::command::{EndedCommand, ExitReason};
use crate::limits;
use crate::request::RunCommand;
use crate::run_layer::{Room, RunLayer};
use crate::sandbox::{Layer, Scratch};
use crate::tools::{Inner, Stop};

/// Kinds of layer (the folder that receives all writes of a trial). Only tests can choose the kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layers {
    /// An overlay receives the writes of a trial if one is possible, otherwise a copy.
    #[default]
    Overlay,
    /// Only a copy of the workspace receives the writes of a trial.
    Copy,
    /// No trials are possible.
    None,
}

/// Result of running a command as a trial, which does not change the workspace.
#[derive(Debug)]
pub enum CommandTrialOutcome {
    /// The command of the trial ended by itself.
    Yielded(Trial),
    /// The command of the trial was stopped by a limit, by its timeout or by a person, or it made more changes than the
    /// limits allow. The workspace was not changed.
    Stopped { text: String, data: Value },
    /// A precondition of the command is not met any more, or another process changed these paths while the command ran.
    /// The workspace was not changed.
    Changed { paths: Vec<String> },
    /// A trial is not possible on this host or in this workspace. No process ran. A person sees the reason `why` after
    /// the words "it could not be tried before you decide:".
    Impossible { why: String },
    /// The command cannot run, or the sandbox failed. The workspace was not changed.
    Failed { text: String },
}

/// Changes of a command that ran as a trial. The bytes of the changed files are available until this value is dropped.
#[derive(Debug)]
pub struct Trial {
    pub changeset: Changeset,
    /// Changes of Git-ignored files that the trial writes to the layer of the run, and not to the workspace. They need
    /// no approval.
    pub run_layer: Option<LayerChanges>,
    /// Codes of findings in a trial because of which the command needs an approval, even if the rules allow it:
    /// `hard_link`, `special_file`, `bare_repository`, `link_out`, `layer_full`.
    pub codes: Vec<String>,
    /// Output of the trial's command, and how it ended, in the same form as for a command that did not run as a trial.
    pub text: String,
    pub data: Value,
    /// Kind of folder (layer) that received the writes of the trial's command.
    pub over: Layers,
    /// Output streams and other effects of the trial's command, if the settings ask for them.
    pub capture: Option<Box<Capture>>,
    layer: Root,
    workspace: Root,
    /// Scratch folder in which the layer of the trial is stored. It must be dropped after all other fields. `None` if
    /// no command ran.
    _scratch: Option<Scratch>,
}

impl Trial {
    /// Returns the content of every file that the trial changed, before and after the change. If two contents are
    /// equal, only one of them is returned. Files are read one at a time, so at most [`limits::CHANGED_FILE_BYTES`] are
    /// in memory. Fails if a file has changed since the trial. Blocks.
    pub fn bodies(&self) -> impl Iterator<Item = io::Result<(Digest, Vec<u8>)>> + '_ {
        let mut told = BTreeSet::new();
        let sides = |change: &Change| {
            let sides = [(&self.workspace, change.before.clone()), (&self.layer, change.after.clone())];
            let path = bytes_of(&change.path).unwrap_or_default();
            sides.map(|(root, entry)| (root, path.clone(), entry))
        };
        let of_layer = self.run_layer.iter().flat_map(|layer| layer.changes.changes());
        let of_layer = of_layer.map(|change| Change { before: None, ..change.clone() });
        let changes = self.changeset.changes().iter().cloned().chain(of_layer);
        changes.flat_map(move |change| sides(&change)).filter_map(move |(root, path, entry)| match entry {
            Some(Entry::File { digest, bytes, .. }) if told.insert(digest) => {
                Some(body(root, &path, digest, bytes).map(|body| (digest, body)))
            }
            _ => None,
        })
    }
}

fn body(root: &Root, path: &[u8], digest: Digest, bytes: u64) -> io::Result<Vec<u8>> {
    let (folder, name) = root.parent(path)?;
    let body = entry::bytes(folder, name, bytes + 1)?;
    if Digest::of_bytes(&body) == digest {
        return Ok(body);
    }
    Err(io::Error::other(format!("`{}` was changed", String::from_utf8_lossy(path).escape_debug())))
}

/// Runs a command as a trial, so that its writes go to a folder over the workspace. Dropping the future stops the
/// command.
pub(crate) async fn run(
    inner: &Arc<Inner>,
    request: RunCommand,
    preconditions: &[Precondition],
    stop: Stop,
    mut output: impl FnMut(&str) + Send,
) -> CommandTrialOutcome {
    let looked = {
        let inner = inner.clone();
        tokio::task::spawn_blocking(move || impossible(&inner)).await
    };
    match looked {
        Ok(None) => {}
        Ok(Some(why)) => return CommandTrialOutcome::Impossible { why: why.to_owned() },
        Err(e) => {
            return CommandTrialOutcome::Failed { text: format!("the trial could not be prepared: {e}") };
        }
    }
    let kinds: &[MakeLayer] = match inner.settings.layers {
        Layers::Overlay => &[prepare::overlay, prepare::copy],
        Layers::Copy => &[prepare::copy],
        Layers::None => &[],
    };
    let request = Arc::new(request);
    let folders: Arc<[Precondition]> =
        preconditions.iter().filter(|it| it.path.ends_with('/')).cloned().collect();
    let mut whys = Vec::new();
    for kind in kinds {
        let (inner, request, folders, kind) = (inner.clone(), request.clone(), folders.clone(), *kind);
        let prepared = {
            let inner = inner.clone();
            tokio::task::spawn_blocking(move || Prepared::new(&inner, &request, &folders, kind)).await
        };
        let prepared = match prepared {
            Ok(Ok(prepared)) => prepared,
            Ok(Err(NotPrepared::NoLayer(why))) => {
                whys.push(why);
                continue;
            }
            Ok(Err(NotPrepared::Changed(paths))) => return CommandTrialOutcome::Changed { paths },
            Ok(Err(NotPrepared::Failed(text))) => return CommandTrialOutcome::Failed { text },
            Err(e) => {
                return CommandTrialOutcome::Failed { text: format!("the trial could not be prepared: {e}") };
            }
        };
        match prepared.run(&inner, stop.clone(), &mut output).await {
            Err(why) => whys.push(why),
            Ok(tried) => return tried,
        }
    }
    CommandTrialOutcome::Impossible { why: whys.join(", and ") }
}

/// Returns the reason why no command of the run can be tried on this host. Returns `None` if trials are possible.
/// Blocks.
fn impossible(inner: &Inner) -> Option<&'static str> {
    if inner.settings.network {
        return Some("commands of this run can reach the network, and sent data cannot be taken back");
    }
    match (inner.level(), inner.settings.layers) {
        (SandboxLevel::None | SandboxLevel::Partial, _) => Some("this machine cannot confine commands fully"),
        (SandboxLevel::Full, Layers::None) => Some("trials are switched off"),
        (SandboxLevel::Full, Layers::Overlay | Layers::Copy) => None,
    }
}

impl Prepared {
    /// Runs the trial of a command. Returns an error if the kernel cannot make this kind of layer. In this case, no
    /// command has run.
    async fn run(
        self,
        inner: &Inner,
        stop: Stop,
        output: &mut (impl FnMut(&str) + Send),
    ) -> Result<CommandTrialOutcome, String> {
        let Self { command, launch, layer, workspace, since } = self;
        let environment = Digest::of_json(&launch.plan.environment);
        let private = launch.plan.private_on_host();
        let begun = Instant::now();
        let program = &inner.settings.sandbox_program;
        let ended = match command.follow(launch, program, stop, output).await {
            Ok(ended) => ended,
            Err(text) => return Ok(CommandTrialOutcome::Failed { text }),
        };
        let told = command.render_output(&ended, begun.elapsed());
        let EndedCommand { how, scratch, streams, left, .. } = ended;
        Ok(match (how, scratch) {
            (ExitReason::NoLayer(why), _) => return Err(why),
            (ExitReason::Exited(_) | ExitReason::Signalled(_), Some(scratch)) => {
                let run_layer = inner.settings.run_layer.clone();
                let path = PathBuf::from(inner.workspace.path());
                let places = Places { workspace, path, run_layer };
                let finish = move || {
                    let capture = streams
                        .map(|streams| Capture::new(streams, left, environment, &private))
                        .map(Box::new);
                    with_capture(yielded(told, scratch, &layer, places, since), capture)
                };
                let finished = tokio::task::spawn_blocking(finish).await;
                finished.unwrap_or_else(|e| CommandTrialOutcome::Failed {
                    text: format!("the trial stopped unexpectedly: {e}"),
                })
            }
            // The person who stopped the command gives the reason, so no reason is added here.
            (ExitReason::Stopped, _) => CommandTrialOutcome::Stopped { text: told.text, data: told.data },
            (ExitReason::Failed(_) | ExitReason::Exited(_) | ExitReason::Signalled(_), _) => {
                CommandTrialOutcome::Failed { text: told.text }
            }
            (
                ExitReason::TimedOut
                | ExitReason::TooManyProcesses
                | ExitReason::TooMuchOutput
                | ExitReason::TooManyBytes
                | ExitReason::Abandoned,
                _,
            ) => told.stopped(),
        })
    }
}

pub(crate) struct CommandOutput {
    pub text: String,
    pub data: Value,
}

impl CommandOutput {
    fn stopped(self) -> CommandTrialOutcome {
        let text = format!("{}\nIt ran only in a trial, so nothing has changed.", self.text);
        CommandTrialOutcome::Stopped { text, data: self.data }
    }

    /// Returns the result of a trial whose command has ended but whose changes must be discarded. `code` is the stable
    /// code of the reason.
    fn not_kept(mut self, code: &str, why: &str) -> CommandTrialOutcome {
        self.text = format!("{}\nnot kept: {why}", self.text);
        self.data["not_kept"] = json!(code);
        self.stopped()
    }
}

/// Places to which the changes of a trial can be written: the workspace, with its path, and the layer of the run.
struct Places {
    workspace: Root,
    path: PathBuf,
    run_layer: Option<RunLayer>,
}

/// Reads the changes that a command made during its trial from the folder that received its writes.
fn yielded(
    told: CommandOutput,
    scratch: Scratch,
    layer: &Layer,
    places: Places,
    since: Time,
) -> CommandTrialOutcome {
    let Places { workspace, path, run_layer } = places;
    let run_layer = run_layer.as_ref();
    let opened = match Root::open(&layer.content()) {
        Ok(opened) => opened,
        Err(e) => return CommandTrialOutcome::Failed { text: format!("the changes cannot be read: {e}") },
    };
    let shown = run_layer.and_then(RunLayer::open);
    let below = Below { run_layer: shown.as_ref(), workspace: &workspace };
    let mut left = match read::read(&opened, below, layer.notes(), since) {
        Ok(left) => left,
        Err(read::Error::Meanwhile(paths)) => return CommandTrialOutcome::Changed { paths },
        Err(e) => return told.not_kept(e.code(), &e.to_string()),
    };
    ignored::mark(&mut left.changes, &workspace);
    let split = match run_layer {
        None => Ok(split::without_layer(&left)),
        Some(run_layer) => {
            let split = split::with_layer(&left, &workspace, run_layer);
            has_room(run_layer, layer, &split.layer).map(|has_room| {
                if has_room { split } else { split::with_full_layer(&left, &workspace, run_layer) }
            })
        }
    };
    let Split { workspace: changes, layer: in_layer, mut codes } = match split {
        Ok(split) => split,
        Err(e) => {
            return CommandTrialOutcome::Failed { text: format!("the layers of runs cannot be read: {e}") };
        }
    };
    let is_read_only = || {
        rustix::fs::fstatvfs(workspace.as_fd()).is_ok_and(|it| it.f_flag.contains(StatVfsMountFlags::RDONLY))
    };
    if !changes.is_empty() && is_read_only() {
        return told.not_kept("read_only", "the workspace is on a read-only file system");
    }
    codes.extend(guard::findings(&changes, &workspace, &path));
    let over = if layer.notes().is_some() { Layers::Overlay } else { Layers::Copy };
    let text = format!("{}{}", told.text, note_of_layer(&in_layer));
    let layer_changes = match Changeset::new(in_layer) {
        Ok(changes) if changes.is_empty() => Ok(None),
        Ok(changes) => Ok(Some(LayerChanges { changes, made_at: made_at(since) })),
        Err(e) => Err(e),
    };
    match (Changeset::new(changes), layer_changes) {
        (Ok(changeset), Ok(run_layer)) => CommandTrialOutcome::Yielded(Trial {
            changeset,
            run_layer,
            codes: codes.into_iter().map(ToOwned::to_owned).collect(),
            text,
            data: told.data,
            over,
            capture: None,
            layer: opened,
            workspace,
            _scratch: Some(scratch),
        }),
        (Err(e), _) | (_, Err(e)) => {
            CommandTrialOutcome::Failed { text: format!("the changes are not a valid changeset: {e}") }
        }
    }
}

/// Adds the captured data to the result of a trial whose command ended by itself.
fn with_capture(outcome: CommandTrialOutcome, capture: Option<Box<Capture>>) -> CommandTrialOutcome {
    match outcome {
        CommandTrialOutcome::Yielded(trial) => CommandTrialOutcome::Yielded(Trial { capture, ..trial }),
        other => other,
    }
}

/// Returns true if the layer of a run stays within its limits when these changes are added.
fn has_room(run_layer: &RunLayer, layer: &Layer, changes: &[Change]) -> io::Result<bool> {
    if changes.is_empty() {
        return Ok(true);
    }
    let room = match layer {
        Layer::Overlay { .. } => Room { paths: limits::LAYER_PATHS, bytes: limits::LAYER_BYTES },
        // The limits of a copy apply, because the next trial copies the whole layer of the run.
        Layer::Copy { .. } => Room { paths: limits::COPIED_PATHS, bytes: limits::COPIED_BYTES },
    };
    let left = limits::LAYERS_BYTES.saturating_sub(run_layer.bytes_of_others()?);
    let room = Room { bytes: room.bytes.min(left), ..room };
    Ok(!run_layer.usage()?.exceeds_with(changes, room))
}

/// Returns a sentence that tells the agent which changed files are kept in the run's layer and not written to the
/// workspace.
fn note_of_layer(changes: &[Change]) -> String {
    const NAMED: usize = 3;
    let written = |change: &&Change| change.is_of_content() && !change.deletes();
    let mut paths: Vec<&str> = changes.iter().filter(written).map(|change| change.path.as_str()).collect();
    paths.sort_unstable();
    let more = match paths.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    if paths.is_empty() {
        return String::new();
    }
    let named = paths[..paths.len().min(NAMED)].join(", ");
    format!(
        "\nignored by git, so kept for this run's commands and not written to the workspace: {named}{more}"
    )
}

fn made_at((seconds, nanoseconds): Time) -> Timestamp {
    let millis = seconds.saturating_mul(1000).saturating_add(nanoseconds / 1_000_000);
    Timestamp::from_millis(millis)
}
