//! The three operations on a call: inspect it, observe its preconditions, run it.
//!
//! Owns which tool does what. Must never decide whether a call may run, and must keep no state between calls except the
//! sandbox's level.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use holdshort_command::guarded;
use holdshort_core::changeset::{Change, Changeset};
use holdshort_core::digest::Digest;
use holdshort_core::gate::WithheldPaths;
use holdshort_core::run;
use holdshort_core::tool::{
    CommandEffect, Inspection, InspectionOutcome, LayerChanges, Outcome, Precondition, SandboxLevel,
};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::changeset::{self, Committed, Root};
use crate::command::{self, Command};
use crate::files::{self, Listed, Planned};
use crate::limits;
use crate::places;
use crate::refusal::Refusal;
use crate::request::{OnFiles, Request};
use crate::run_layer::RunLayer;
use crate::sandbox;
use crate::toolset::Toolset;
use crate::trial::{self, CommandTrialOutcome, Layers, Trial};
use crate::turns::{self, Turn};
use crate::undo::{self, Undoable};
use crate::web::{self, Follow};
use crate::withhold::Withhold;
use crate::workspace::Workspace;

/// A call. Its arguments were validated against the tool's schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub tool: String,
    pub arguments: Value,
}

/// Result of the inspection of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct InspectionResult {
    pub inspected: InspectionOutcome,
    /// Bytes of the files that the proposed changes name.
    pub bodies: Vec<Vec<u8>>,
}

/// Settings of the tools of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// True if commands reach the network.
    pub network: bool,
    /// Ranges of non-public addresses that a page may be fetched from.
    pub allow_addresses: Vec<String>,
    /// Decides which redirects are followed.
    pub follow: Follow,
    /// Decides which paths a search or a listing leaves out.
    pub withhold: Withhold,
    /// Time limit to fetch a page.
    pub fetch_time: Duration,
    /// Program with the hidden subcommand `sandbox-exec`.
    pub sandbox_program: PathBuf,
    /// Data folder, which commands never read.
    pub data_dir: PathBuf,
    /// Home folder of the person. Commands do not read it, except for tool folders on `path`.
    pub home: Option<PathBuf>,
    /// `PATH` for commands. Folders that they may not read are taken out.
    pub path: String,
    /// Timeout of a command whose call names none.
    pub command_timeout_ms: u64,
    /// Bytes that one command may write to disks.
    pub write_bytes: u64,
    /// Kinds of layer for the trial of a command.
    pub layers: Layers,
    /// Layer of the run. Without it, a tried command's writes to ignored paths are changes of the workspace.
    pub run_layer: Option<RunLayer>,
    /// Tools of packs.
    pub toolsets: Vec<&'static dyn Toolset>,
    /// Input of the run. Tools of packs read it.
    pub input: Value,
}

impl Settings {
    /// Returns settings with no network, no non-public address, no redirect, the usual limits, and `HOME` and `PATH` of
    /// this process.
    pub fn new(sandbox_program: PathBuf, data_dir: PathBuf) -> Self {
        Self {
            network: false,
            allow_addresses: Vec::new(),
            follow: Follow::never(),
            withhold: Withhold::nothing(),
            fetch_time: limits::FETCH_TIME,
            sandbox_program,
            data_dir,
            home: std::env::home_dir(),
            path: std::env::var("PATH").unwrap_or_default(),
            command_timeout_ms: limits::COMMAND_DEFAULT_MS,
            write_bytes: limits::WRITE_BYTES,
            layers: Layers::Overlay,
            run_layer: None,
            toolsets: Vec::new(),
            input: Value::Null,
        }
    }
}

/// The tools of one run, in its workspace. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tools(Arc<Inner>, Stop);

/// Turns to true when a person stops the running command. `None` if no person can stop it.
pub(crate) type Stop = Option<watch::Receiver<bool>>;

#[derive(Debug)]
pub(crate) struct Inner {
    pub workspace: Workspace,
    pub settings: Settings,
}

impl Inner {
    /// Returns the level that this host reaches for commands of this run.
    pub(crate) fn level(&self) -> SandboxLevel {
        let level = |network| sandbox::level(&self.settings.sandbox_program, network);
        // A command that only reads has no network, whatever the workflow says.
        if self.settings.network { level(true).min(level(false)) } else { level(false) }
    }
}

impl Inner {
    /// Returns the folder of the run's layer that is shown over the workspace. `None` if there is no layer.
    pub(crate) fn shown_layer(&self) -> Option<PathBuf> {
        let layer = self.settings.run_layer.as_ref()?;
        layer.open().map(|_| layer.content())
    }

    /// Parses a call of a built-in tool or of a pack's tool.
    fn request(&self, call: &Call) -> Result<Request, Refusal> {
        Request::parse(&self.settings.toolsets, &call.tool, &call.arguments)
    }

    /// Returns the run's layer for the file tools that read. `None` if there is no layer.
    fn layer_to_read(&self) -> Option<Workspace> {
        Workspace::open_layer(&self.shown_layer()?)
    }
}

impl Tools {
    pub fn new(workspace: Workspace, settings: Settings) -> Self {
        Self(Arc::new(Inner { workspace, settings }), None)
    }

    /// Returns these tools with commands that end once `stop` turns to true. Such a command returns its output until
    /// then.
    #[must_use]
    pub fn stopped_by(self, stop: watch::Receiver<bool>) -> Self {
        Self(self.0, Some(stop))
    }

    /// Inspects a call without changing anything: what a person would see, its preconditions, and its proposed changes.
    pub async fn inspect(&self, call: &Call) -> InspectionResult {
        let call = call.clone();
        let looked = self.blocking(move |inner| inspect(inner, &call)).await;
        looked.and_then(|looked| looked).unwrap_or_else(|refusal| InspectionResult {
            inspected: InspectionOutcome::from(refusal),
            bodies: Vec::new(),
        })
    }

    /// Returns the present state of files, sorted by path. A path without a regular file of a supported size has
    /// [`Digest::ZERO`](holdshort_core::digest::Digest::ZERO), the digest of no real file.
    pub async fn observe(&self, paths: &[String]) -> Vec<Precondition> {
        let wanted = paths.to_vec();
        let seen = self.blocking(move |inner| files::observe(&inner.workspace, &wanted)).await;
        seen.unwrap_or_default()
    }

    /// Runs a call, after another check of its preconditions. A call that changes files is [committed](Self::commit)
    /// instead. `effect` is the permission of a command: without one it may read. `output` receives a command's output
    /// while it runs, as a preview.
    ///
    /// Dropping the future stops a command and every process that it started.
    pub async fn run(
        &self,
        call: &Call,
        preconditions: &[Precondition],
        effect: Option<&CommandEffect>,
        output: impl Fn(&str) + Send,
    ) -> Outcome {
        let changed = self.changed(preconditions).await;
        if !changed.is_empty() {
            return Outcome::Changed { paths: changed };
        }
        let request = match self.0.request(call) {
            Ok(request) => request,
            Err(refusal) => return refusal.into(),
        };
        match request {
            Request::Command(request) => {
                let effect = effect.cloned().unwrap_or(CommandEffect::Reads);
                command::run(&self.0, request, preconditions, effect, self.1.clone(), output).await
            }
            Request::Fetch(request) => web::run(&request, &self.0.settings).await,
            Request::Files(request) => {
                let withheld = match request {
                    OnFiles::List(_) | OnFiles::Search(_) => self.0.settings.withhold.paths().await,
                    OnFiles::Read(_) | OnFiles::Change(_) => Ok(WithheldPaths::default()),
                };
                let withheld = match withheld {
                    Ok(withheld) => withheld,
                    Err(refusal) => return refusal.into(),
                };
                let ran = self.blocking(move |inner: &Inner| run_on_files(inner, &request, &withheld)).await;
                ran.and_then(|ran| ran).unwrap_or_else(Outcome::from)
            }
            Request::Added(work) => {
                let ran =
                    self.blocking(move |inner: &Inner| work.run(&inner.workspace, &inner.settings.input));
                ran.await.and_then(|ran| ran).unwrap_or_else(Outcome::from)
            }
        }
    }

    /// Tries a command: returns what it would do without doing it. Checks preconditions as [`Tools::run`] does.
    ///
    /// Dropping the future stops the command and every process that it started.
    pub async fn try_command(
        &self,
        call: &Call,
        preconditions: &[Precondition],
        output: impl Fn(&str) + Send,
    ) -> CommandTrialOutcome {
        let changed = self.changed(preconditions).await;
        if !changed.is_empty() {
            return CommandTrialOutcome::Changed { paths: changed };
        }
        match self.0.request(call) {
            Ok(Request::Command(request)) => {
                trial::run(&self.0, request, preconditions, self.1.clone(), output).await
            }
            Ok(Request::Files(_) | Request::Fetch(_) | Request::Added(_)) => {
                CommandTrialOutcome::Impossible { why: "it is not a command".to_owned() }
            }
            Err(refusal) => CommandTrialOutcome::Failed { text: refusal.message },
        }
    }

    /// Waits until no command that may write runs in the workspace. Such a command would take the committed files for
    /// its own.
    pub async fn turn(&self, changeset: &Changeset) -> Option<Turn> {
        let is_guarded = |change: &Change| guarded::guards(change.path.split('/')).is_some();
        if !changeset.changes().iter().any(is_guarded) {
            return None;
        }
        Some(turns::wait(Path::new(self.0.workspace.path())).await)
    }

    /// Brings every path of a changeset from its `before` to its `after`. Touches nothing if one path differs from its
    /// `before`.
    ///
    /// `body` returns the bytes of a file. `resumed`: the commit was begun before a crash, so that paths may already
    /// have their `after`. Committing the inverse of a changeset undoes it. Blocks.
    pub fn commit(
        &self,
        changeset: &Changeset,
        body: impl Fn(Digest) -> io::Result<Vec<u8>>,
        resumed: bool,
    ) -> Committed {
        let committed = match Root::from_handle(self.0.workspace.dir()) {
            Ok(root) => changeset::commit(&root, changeset, body, resumed),
            Err(e) => {
                Committed::Failed { text: format!("the workspace cannot be opened: {e}"), done: Vec::new() }
            }
        };
        if let (Some(layer), Committed::Done) = (&self.0.settings.run_layer, &committed) {
            layer.forget(changeset);
        }
        committed
    }

    /// Makes the changes of the run's layer. An error leaves the run without a layer, which does no harm. Blocks.
    pub fn commit_to_layer(
        &self,
        changes: &LayerChanges,
        body: impl Fn(Digest) -> io::Result<Vec<u8>>,
    ) -> io::Result<()> {
        match &self.0.settings.run_layer {
            Some(layer) => layer.commit(Path::new(self.0.workspace.path()), changes, body),
            None => Ok(()),
        }
    }

    /// Returns the part of a changeset that can be committed to the workspace now, without the paths in `left`. Blocks.
    pub fn undoable(&self, wanted: &Changeset, left: BTreeMap<String, &'static str>) -> io::Result<Undoable> {
        undo::undoable(&Root::from_handle(self.0.workspace.dir())?, wanted, left)
    }

    /// Compares the layer of a run with the workspace, at these paths or at all of them. Blocks.
    pub fn merge(&self, layer: &RunLayer, paths: &BTreeSet<String>) -> io::Result<Trial> {
        let workspace = &self.0.workspace;
        trial::merge(Root::from_handle(workspace.dir())?, Path::new(workspace.path()), layer, paths)
    }

    /// Returns the paths whose state differs from the expected one.
    async fn changed(&self, expected: &[Precondition]) -> Vec<String> {
        let paths: Vec<_> = expected.iter().map(|precondition| precondition.path.clone()).collect();
        let seen = self.observe(&paths).await;
        let mut changed: Vec<_> = expected
            .iter()
            .filter(|precondition| !seen.contains(precondition))
            .map(|precondition| precondition.path.clone())
            .collect();
        changed.sort();
        changed.dedup();
        changed
    }

    /// Runs file work, which blocks, off the async threads.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let inner = self.0.clone();
        tokio::task::spawn_blocking(move || work(&inner))
            .await
            .map_err(|e| Refusal::new("internal", format!("the tool stopped unexpectedly: {e}")))
    }
}

fn inspect(inner: &Inner, call: &Call) -> Result<InspectionResult, Refusal> {
    let workspace = &inner.workspace;
    let mut inspection = Inspection {
        workspace: workspace.path().to_owned(),
        cwd: workspace.path().to_owned(),
        preconditions: Vec::new(),
        sandbox: None,
        ask_because: Vec::new(),
        places: Vec::new(),
        card: Value::Null,
        proposed: None,
    };
    let mut bodies = Vec::new();
    let path = call.arguments.get("path").and_then(Value::as_str);
    inspection.places = path.map(|path| places::of_path(workspace.path(), path)).unwrap_or_default();
    let worked_out = [(run::undo::TOOL, "undo"), (run::merge::TOOL, "merge")];
    if let Some((_, code)) = worked_out.iter().find(|(tool, _)| *tool == call.tool) {
        // Its changes are worked out in the trial.
        inspection.ask_because.push((*code).to_owned());
        return Ok(InspectionResult { inspected: InspectionOutcome::Ready(inspection), bodies });
    }
    match inner.request(call)? {
        Request::Files(OnFiles::Read(read)) => {
            let (place, _) = files::read_text(workspace, inner.layer_to_read().as_ref(), &read.path)?;
            inspection.card = json!({"path": place.to_string()});
        }
        Request::Files(OnFiles::List(list)) => {
            let layer = inner.layer_to_read();
            let in_layer = layer.and_then(|layer| files::folder(&layer, list.path.as_deref()).ok());
            let place = match (files::folder(workspace, list.path.as_deref()), in_layer) {
                (Ok(place), _) | (Err(_), Some(place)) => place,
                (Err(refusal), None) => return Err(refusal),
            };
            inspection.card = json!({"path": place.to_string()});
        }
        Request::Files(OnFiles::Search(search)) => {
            let place = files::check_search(workspace, &search)?.place;
            inspection.card = json!({"path": place.to_string(), "pattern": search.pattern});
        }
        Request::Files(OnFiles::Change(change)) => {
            let planned = Planned::new(workspace, &change).map_err(|refusal| {
                let is_in_layer = |layer: Workspace| files::read_text(&layer, None, change.path()).is_ok();
                if refusal.code == "not_found" && inner.layer_to_read().is_some_and(is_in_layer) {
                    return only_in_layer(change.path());
                }
                refusal
            })?;
            if planned.has_other_names() {
                inspection.ask_because.push("hard_link".to_owned());
            }
            inspection.preconditions.push(planned.precondition());
            inspection.card = planned.card();
            let (proposed, findings) = planned.proposed(workspace)?;
            inspection.ask_because.extend(findings.into_iter().map(ToOwned::to_owned));
            inspection.proposed = Some(Box::new(proposed));
            bodies = planned.into_bodies();
        }
        // These tools read the whole workspace and nothing else.
        Request::Added(_) => {}
        Request::Fetch(request) => web::look(&request, &inner.settings.allow_addresses, &mut inspection)?,
        Request::Command(request) => {
            let command = Command::new(inner, &request)?;
            command.look(inner, &mut inspection);
            inspection.places =
                places::of_command(workspace.path(), request.cwd.as_deref(), &command.cwd, &request.command);
        }
    }
    Ok(InspectionResult { inspected: InspectionOutcome::Ready(inspection), bodies })
}

/// Returns the data of a result: the number of lines shown, and of paths left out.
fn counted(what: &str, shown: usize, left_out: usize) -> Value {
    let mut data = json!({ what: shown });
    if left_out > 0 {
        data["left_out"] = json!(left_out);
    }
    data
}

fn only_in_layer(path: &str) -> Refusal {
    let message = format!(
        "`{}` exists only in the layer of this run, because git ignores it: change it with run_command, or \
         use write_file to write it to the workspace",
        files::escape_path(path)
    );
    Refusal::new("only_in_layer", message)
}

fn run_on_files(inner: &Inner, request: &OnFiles, withheld: &WithheldPaths) -> Result<Outcome, Refusal> {
    let workspace = &inner.workspace;
    Ok(match request {
        OnFiles::Read(read) => {
            let (place, text) = files::read_text(workspace, inner.layer_to_read().as_ref(), &read.path)?;
            let data = json!({"path": place.to_string(), "bytes": text.len()});
            Outcome::Done { text, data }
        }
        OnFiles::List(list) => {
            let layer = inner.layer_to_read();
            let Listed { text, shown, left_out } =
                files::list(workspace, layer.as_ref(), list.path.as_deref(), withheld)?;
            Outcome::Done { text, data: counted("entries", shown, left_out) }
        }
        OnFiles::Search(search) => {
            let Listed { text, shown, left_out } = files::search(workspace, search, withheld)?;
            Outcome::Done { text, data: counted("hits", shown, left_out) }
        }
        OnFiles::Change(change) => {
            // Its proposed change was not inspected.
            Outcome::Changed { paths: vec![change.path().to_owned()] }
        }
    })
}
