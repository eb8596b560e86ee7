//! Prepares a trial: the command that will be started, and the layer that receives its writes.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use holdshort_core::tool::{CommandEffect, Outcome, Precondition};

use super::copy::{copy as copy_all, copy_over};
use super::read::Time;
use crate::changeset::Root;
use crate::command::{self, Command};
use crate::refusal::Refusal;
use crate::request::RunCommand;
use crate::run_layer::RunLayer;
use crate::sandbox::{Launch, Layer, mounted_below};
use crate::tools::Inner;

pub(super) enum NotPrepared {
    /// A layer of this kind cannot be made in the workspace. Contains the reason.
    NoLayer(String),
    Changed(Vec<String>),
    Failed(String),
}

impl From<Refusal> for NotPrepared {
    fn from(refusal: Refusal) -> Self {
        Self::Failed(refusal.message)
    }
}

/// Function that makes a layer for a trial at a path that does not exist yet. If a layer of this kind is not possible,
/// the function returns the reason as a text.
pub(super) type MakeLayer = fn(PathBuf, &Inner) -> Result<Layer, String>;

pub(super) struct Prepared {
    pub command: Command,
    pub launch: Launch,
    pub layer: Layer,
    pub workspace: Root,
    pub since: Time,
}

impl Prepared {
    pub(super) fn new(
        inner: &Inner,
        request: &RunCommand,
        folders: &[Precondition],
        layer: MakeLayer,
    ) -> Result<Self, NotPrepared> {
        let prepared = command::prepare(inner, request, folders, CommandEffect::Guarded);
        let (command, mut launch) = prepared.map_err(|outcome| match outcome {
            Outcome::Changed { paths } => NotPrepared::Changed(paths),
            Outcome::Failed { text }
            | Outcome::Halfway { text }
            | Outcome::Stopped { text, .. }
            | Outcome::Done { text, .. }
            | Outcome::Confined { text, .. }
            | Outcome::SetAside { text, .. } => NotPrepared::Failed(text),
            Outcome::Held(held) => NotPrepared::Failed(held.title),
        })?;
        let unmade = |e: io::Error| {
            Refusal::new("internal", format!("the temporary directory for the trial cannot be created: {e}"))
        };
        if launch.plan.scratch.starts_with(inner.workspace.path()) {
            let why = "the directory for temporary files is inside the workspace";
            return Err(NotPrepared::NoLayer(why.to_owned()));
        }
        let since = now(&launch.plan.scratch).map_err(unmade)?;
        let workspace = Root::from_handle(inner.workspace.dir()).map_err(unmade)?;
        let layer = layer(launch.plan.scratch.join("layer"), inner).map_err(NotPrepared::NoLayer)?;
        launch.plan.layer = Some(layer.clone());
        launch.plan.run_layer = match &layer {
            Layer::Overlay { .. } => inner.shown_layer(),
            // A copy of the workspace already includes the run's layer.
            Layer::Copy { .. } => None,
        };
        Ok(Self { command, launch, layer, workspace, since })
    }
}

/// Returns the current time according to the file system of the folder.
fn now(folder: &Path) -> io::Result<Time> {
    let made = File::create(folder.join("since"))?.metadata()?;
    Ok((made.ctime(), made.ctime_nsec()))
}

/// Makes an overlay as the layer of a trial. Returns the reason as a text if an overlay is not possible.
pub(super) fn overlay(folder: PathBuf, inner: &Inner) -> Result<Layer, String> {
    let workspace = Path::new(inner.workspace.path());
    if let Some(inside) = mounted_below(workspace) {
        return Err(format!("another file system is mounted at `{inside}`"));
    }
    let owner = fs::metadata(workspace).map_err(|e| e.to_string())?.uid();
    let user = rustix::process::geteuid();
    if !user.is_root() && owner != user.as_raw() {
        return Err("the workspace belongs to another user".to_owned());
    }
    Layer::overlay(folder, workspace)
        .map_err(|e| format!("the directory for an overlay cannot be created: {e}"))
}

/// Copies the workspace as the layer of a trial. Returns the reason as a text if a copy is not possible.
pub(super) fn copy(folder: PathBuf, inner: &Inner) -> Result<Layer, String> {
    let root = Root::from_handle(inner.workspace.dir()).map_err(|e| e.to_string())?;
    copy_all(&root, Path::new(inner.workspace.path()), &folder).map_err(|e| e.to_string())?;
    if let Some(run_layer) = inner.settings.run_layer.as_ref().and_then(RunLayer::open) {
        copy_over(&run_layer, &folder).map_err(|e| e.to_string())?;
    }
    Ok(Layer::Copy { folder })
}
