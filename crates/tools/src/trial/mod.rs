//! Trials: a command runs over a layer that takes everything it writes, and what it did is read from there.
//!
//! The workspace is never written, and nothing of a trial is left when it is dropped. Never decides what becomes of it.
//! Read `sandbox::layer` for how a layer is mounted and `read` for how it is read; `changeset` commits what was yielded.

mod card;
mod copy;
pub(crate) mod ignored;
mod prepare;
mod read;

use std::collections::BTreeSet;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use holdshort_core::changeset::{Change, Changeset, Entry, bytes_of};
use holdshort_core::digest::Digest;
use holdshort_core::tool::{Precondition, SandboxLevel};
use rustix::fs::StatVfsMountFlags;
use serde_json::{Value, json};

pub(crate) use self::card::{Side, Source, of_changes};
use self::prepare::{MakeLayer, NotPrepared, Prepared};
use self::read::Time;
use crate::changeset::{Root, entry, guard};
use crate::command::{Ended, How};
use crate::request::RunCommand;
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
    /// Findings that ask whatever the rules allow: `hard_link`, `special_file`, `bare_repository`, `link_out`.
    pub codes: Vec<String>,
    /// As of a command that ran: what it printed, and how it ended.
    pub text: String,
    pub data: Value,
    /// What it ran over.
    pub over: Layers,
    layer: Root,
    workspace: Root,
    /// Goes last.
    _scratch: Scratch,
}

impl Trial {
    /// Every file of the changeset, as it was and as it would be, once each: at most
    /// [`limits::CHANGED_FILE_BYTES`] at a time. An error where the workspace has changed since. Blocks.
    pub fn bodies(&self) -> impl Iterator<Item = io::Result<(Digest, Vec<u8>)>> + '_ {
        let mut told = BTreeSet::new();
        let sides = |change: &'_ Change| {
            let sides = [(&self.workspace, change.before.clone()), (&self.layer, change.after.clone())];
            let path = bytes_of(&change.path).unwrap_or_default();
            sides.map(|(root, entry)| (root, path.clone(), entry))
        };
        self.changeset.changes().iter().flat_map(sides).filter_map(move |(root, path, entry)| match entry {
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
    if let Some(why) = impossible(inner) {
        return Tried::Impossible { why: why.to_owned() };
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

/// Why no command of these tools can be tried.
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
                let path = PathBuf::from(inner.workspace.path());
                let finish = move || yielded(told, scratch, &layer, workspace, &path, since);
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

/// Reads what was left.
fn yielded(told: Told, scratch: Scratch, layer: &Layer, workspace: Root, path: &Path, since: Time) -> Tried {
    let opened = Root::open(&layer.content());
    let read = match &opened {
        Ok(opened) => read::read(opened, &workspace, layer.notes(), since),
        Err(e) => return Tried::Failed { text: format!("what it left can not be read: {e}") },
    };
    let mut left = match read {
        Ok(left) => left,
        Err(read::Error::Meanwhile(paths)) => return Tried::Changed { paths },
        Err(e) => return told.not_kept(e.code(), &e.to_string()),
    };
    let is_read_only = || {
        rustix::fs::fstatvfs(workspace.as_fd()).is_ok_and(|it| it.f_flag.contains(StatVfsMountFlags::RDONLY))
    };
    if !left.changes.is_empty() && is_read_only() {
        return told.not_kept("read_only", "the workspace is on a read-only file system");
    }
    ignored::mark(&mut left.changes, &workspace);
    left.codes.extend(guard::findings(&left.changes, &workspace, path));
    let over = if layer.notes().is_some() { Layers::Overlay } else { Layers::Copy };
    match (Changeset::new(left.changes), opened) {
        (Ok(changeset), Ok(layer)) => Tried::Yielded(Trial {
            changeset,
            codes: left.codes.into_iter().map(ToOwned::to_owned).collect(),
            text: told.text,
            data: told.data,
            over,
            layer,
            workspace,
            _scratch: scratch,
        }),
        (Err(e), _) => Tried::Failed { text: format!("what it left is no changeset: {e}") },
        (_, Err(e)) => Tried::Failed { text: format!("what it left can not be read: {e}") },
    }
}
