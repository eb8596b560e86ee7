//! Trials: a command runs over a layer that takes everything it writes, and what it did is read from there.
//!
//! The workspace is never written, and nothing of a trial is left when it is dropped. Never decides what becomes of it.
//! Read `sandbox::layer` for how a layer is mounted and `read` for how it is read; `changeset` commits what was yielded.

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

pub(crate) use self::card::{Side, Source, of_changes};
pub(crate) use self::merge::merge;
use self::prepare::{MakeLayer, NotPrepared, Prepared};
use self::read::{Below, Time};
use self::split::Split;
use crate::changeset::{Root, entry, guard};
use crate::command::{Ended, How};
use crate::limits;
use crate::request::RunCommand;
use crate::run_layer::{Room, RunLayer};
use crate::sandbox::{Layer, Scratch};
use crate::tools::{Inner, Stop};

/// What a trial's layer may be. People have no setting for it; tests force one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layers {
    /// An overlay, or a copy where there can be none.
    #[default]
    Overlay,
    /// A copy.
    Copy,
    /// There are no trials.
    None,
}

/// What became of a trial.
#[derive(Debug)]
pub enum Tried {
    /// The command ended by itself.
    Yielded(Trial),
    /// It was stopped by a limit, by its time or by a person, or left more than can be kept. Nothing happened.
    Stopped { text: String, data: Value },
    /// A precondition no longer holds, or others changed these paths while it ran. Nothing happened.
    Changed { paths: Vec<String> },
    /// There can be no trial here, in words that follow "it could not be tried, since". Nothing ran.
    Impossible { why: String },
    /// The call is none that can run, or the sandbox failed. Nothing happened.
    Failed { text: String },
}

/// What a command did, and the bytes of it until this is dropped.
#[derive(Debug)]
pub struct Trial {
    pub changeset: Changeset,
    /// Changes of the run's layer, which need no release.
    pub run_layer: Option<LayerChanges>,
    /// Findings that ask whatever the rules allow: `hard_link`, `special_file`, `bare_repository`, `link_out`,
    /// `layer_full`.
    pub codes: Vec<String>,
    /// As of a command that ran: what it printed, and how it ended.
    pub text: String,
    pub data: Value,
    /// What it ran over.
    pub over: Layers,
    layer: Root,
    workspace: Root,
    /// Goes last. `None` where nothing ran.
    _scratch: Option<Scratch>,
}

impl Trial {
    /// Every file of the changeset, as it was and as it would be, once each: at most
    /// [`limits::CHANGED_FILE_BYTES`] at a time. An error where the workspace has changed since. Blocks.
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
    if Digest::of(&body) == digest {
        return Ok(body);
    }
    Err(io::Error::other(format!("`{}` was changed", String::from_utf8_lossy(path).escape_debug())))
}

/// Runs a command over a layer. Dropping the future stops it.
pub(crate) async fn run(
    inner: &Arc<Inner>,
    request: RunCommand,
    preconditions: &[Precondition],
    stop: Stop,
    mut output: impl FnMut(&str) + Send,
) -> Tried {
    let looked = {
        let inner = inner.clone();
        tokio::task::spawn_blocking(move || impossible(&inner)).await
    };
    match looked {
        Ok(None) => {}
        Ok(Some(why)) => return Tried::Impossible { why: why.to_owned() },
        Err(e) => return Tried::Failed { text: format!("the trial could not be prepared: {e}") },
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
            Ok(Err(NotPrepared::Changed(paths))) => return Tried::Changed { paths },
            Ok(Err(NotPrepared::Failed(text))) => return Tried::Failed { text },
            Err(e) => return Tried::Failed { text: format!("the trial could not be prepared: {e}") },
        };
        match prepared.run(&inner, stop.clone(), &mut output).await {
            Err(why) => whys.push(why),
            Ok(tried) => return tried,
        }
    }
    Tried::Impossible { why: whys.join(", and ") }
}

/// Returns why no command of these tools can be tried; `None` if it can. Blocks.
fn impossible(inner: &Inner) -> Option<&'static str> {
    if inner.settings.network {
        return Some("its commands reach the network, and nothing takes back what leaves");
    }
    match (inner.level(), inner.settings.layers) {
        (SandboxLevel::None | SandboxLevel::Partial, _) => {
            Some("this machine can not confine commands fully")
        }
        (SandboxLevel::Full, Layers::None) => Some("trials are switched off"),
        (SandboxLevel::Full, Layers::Overlay | Layers::Copy) => None,
    }
}

impl Prepared {
    /// `Err`: the kernel makes no such layer, and nothing ran.
    async fn run(
        self,
        inner: &Inner,
        stop: Stop,
        output: &mut (impl FnMut(&str) + Send),
    ) -> Result<Tried, String> {
        let Self { command, launch, layer, workspace, since } = self;
        let begun = Instant::now();
        let program = &inner.settings.sandbox_program;
        let ended = match command.follow(launch, program, stop, output).await {
            Ok(ended) => ended,
            Err(text) => return Ok(Tried::Failed { text }),
        };
        let told = command.told(&ended, begun.elapsed());
        let Ended { how, scratch, .. } = ended;
        Ok(match (how, scratch) {
            (How::NoLayer(why), _) => return Err(why),
            (How::Exited(_) | How::Signalled(_), Some(scratch)) => {
                let run_layer = inner.settings.run_layer.clone();
                let path = PathBuf::from(inner.workspace.path());
                let places = Places { workspace, path, run_layer };
                let finish = move || yielded(told, scratch, &layer, places, since);
                let finished = tokio::task::spawn_blocking(finish).await;
                finished.unwrap_or_else(|e| Tried::Failed {
                    text: format!("the trial stopped unexpectedly: {e}"),
                })
            }
            // Whoever stopped it says the rest.
            (How::Stopped, _) => Tried::Stopped { text: told.text, data: told.data },
            (How::Failed(_) | How::Exited(_) | How::Signalled(_), _) => Tried::Failed { text: told.text },
            (
                How::TimedOut
                | How::TooManyProcesses
                | How::TooMuchOutput
                | How::TooManyBytes
                | How::Abandoned,
                _,
            ) => told.stopped(),
        })
    }
}

/// What a command printed and how it ended.
pub(crate) struct Told {
    pub text: String,
    pub data: Value,
}

impl Told {
    fn stopped(self) -> Tried {
        let text = format!("{}\nIt was only tried: nothing has changed.", self.text);
        Tried::Stopped { text, data: self.data }
    }

    /// It came to its end, and left what can not be kept: `code` is stable.
    fn not_kept(mut self, code: &str, why: &str) -> Tried {
        self.text = format!("{}\nnot kept: {why}", self.text);
        self.data["not_kept"] = json!(code);
        self.stopped()
    }
}

/// Places that the changes of a trial are for: the workspace, its path, and the run's layer.
struct Places {
    workspace: Root,
    path: PathBuf,
    run_layer: Option<RunLayer>,
}

/// Reads the changes that a trial left.
fn yielded(told: Told, scratch: Scratch, layer: &Layer, places: Places, since: Time) -> Tried {
    let Places { workspace, path, run_layer } = places;
    let run_layer = run_layer.as_ref();
    let opened = match Root::open(&layer.content()) {
        Ok(opened) => opened,
        Err(e) => return Tried::Failed { text: format!("what it left can not be read: {e}") },
    };
    let shown = run_layer.and_then(RunLayer::open);
    let below = Below { run_layer: shown.as_ref(), workspace: &workspace };
    let mut left = match read::read(&opened, below, layer.notes(), since) {
        Ok(left) => left,
        Err(read::Error::Meanwhile(paths)) => return Tried::Changed { paths },
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
        Err(e) => return Tried::Failed { text: format!("the layers of runs can not be read: {e}") },
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
        (Ok(changeset), Ok(run_layer)) => Tried::Yielded(Trial {
            changeset,
            run_layer,
            codes: codes.into_iter().map(ToOwned::to_owned).collect(),
            text,
            data: told.data,
            over,
            layer: opened,
            workspace,
            _scratch: Some(scratch),
        }),
        (Err(e), _) | (_, Err(e)) => Tried::Failed { text: format!("what it left is no changeset: {e}") },
    }
}

/// Returns true if the run's layer can take these changes.
fn has_room(run_layer: &RunLayer, layer: &Layer, changes: &[Change]) -> io::Result<bool> {
    if changes.is_empty() {
        return Ok(true);
    }
    let room = match layer {
        Layer::Overlay { .. } => Room { paths: limits::LAYER_PATHS, bytes: limits::LAYER_BYTES },
        // The next trial copies all of it.
        Layer::Copy { .. } => Room { paths: limits::COPIED_PATHS, bytes: limits::COPIED_BYTES },
    };
    let left = limits::LAYERS_BYTES.saturating_sub(run_layer.bytes_of_others()?);
    let room = Room { bytes: room.bytes.min(left), ..room };
    Ok(!run_layer.usage()?.exceeds_with(changes, room))
}

/// Sentence for the agent about files that the workspace does not get.
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
        "\nignored by git, so kept for the commands of this run and not written to the workspace: {named}{more}"
    )
}

fn made_at((seconds, nanoseconds): Time) -> Timestamp {
    let millis = seconds.saturating_mul(1000).saturating_add(nanoseconds / 1_000_000);
    Timestamp::from_millis(millis)
}
