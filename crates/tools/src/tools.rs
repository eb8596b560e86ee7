//! The three operations on a call: inspect the call, observe its preconditions, run it.
//!
//! This module connects each tool with these operations. This module never decides whether a call may run, and stores
//! nothing between calls except the sandbox level.

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

/// A tool call whose arguments have been validated against the tool's schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub tool: String,
    pub arguments: Value,
}

/// Result of inspecting a tool call before it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct InspectionResult {
    pub inspected: InspectionOutcome,
    /// Contents of the files in the changes that the inspected call proposes.
    pub bodies: Vec<Vec<u8>>,
}

/// Settings for the tools of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// True if commands of the run have network access.
    pub network: bool,
    /// Ranges of non-public addresses from which web pages may be fetched.
    pub allow_addresses: Vec<String>,
    /// Function that decides which redirects `web_fetch` follows.
    pub follow: Follow,
    /// Function that decides which paths a search or a listing omits.
    pub withhold: Withhold,
    /// Time limit for fetching a web page.
    pub fetch_time: Duration,
    /// Executable that contains the hidden subcommand `sandbox-exec`.
    pub sandbox_program: PathBuf,
    /// Data folder of the server, which commands can never read.
    pub data_dir: PathBuf,
    /// Home folder of the person, which commands cannot read except for the folders in it that belong to tools on
    /// `path`.
    pub home: Option<PathBuf>,
    /// Search path of commands (`PATH`), without the folders that commands cannot read.
    pub path: String,
    /// Timeout, in milliseconds, of a command whose call has no `timeout_s`.
    pub command_timeout_ms: u64,
    /// Maximum number of bytes that one command may write to disks.
    pub write_bytes: u64,
    /// Kinds of folder (layer) that may receive the writes of a trial.
    pub layers: Layers,
    /// True if a trial captures standard output and standard error separately, and detects effects that the trial
    /// cannot show. Separate capture is used for the commands of external agents.
    pub capture: bool,
    /// Layer of the run. Without a layer, everything that a trial writes to ignored paths becomes a change of the
    /// workspace.
    pub run_layer: Option<RunLayer>,
    /// Tools that packs add to the server.
    pub toolsets: Vec<&'static dyn Toolset>,
    /// Input of the run, which the tools of packs read.
    pub input: Value,
}

impl Settings {
    /// Returns settings that allow no network access, no non-public addresses and no redirects. The limits are the
    /// default limits, and `HOME` and `PATH` are those of this process.
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
            capture: false,
            run_layer: None,
            toolsets: Vec::new(),
            input: Value::Null,
        }
    }
}

/// The tools of one run in its workspace. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tools(Arc<Inner>, Stop);

/// Signal that becomes true when a person stops the running command. `None` if no person can stop the command.
pub(crate) type Stop = Option<watch::Receiver<bool>>;

#[derive(Debug)]
pub(crate) struct Inner {
    pub workspace: Workspace,
    pub settings: Settings,
}

impl Inner {
    pub(crate) fn level(&self) -> SandboxLevel {
        let level = |network| sandbox::level(&self.settings.sandbox_program, network);
        // The level must also be available without network access, because a read-only command never has network
        // access.
        if self.settings.network { level(true).min(level(false)) } else { level(false) }
    }
}

impl Inner {
    /// Returns the folder with the content of the run's layer, which is mounted over the workspace. Returns `None` if
    /// the run has no layer.
    pub(crate) fn shown_layer(&self) -> Option<PathBuf> {
        let layer = self.settings.run_layer.as_ref()?;
        layer.open().map(|_| layer.content())
    }

    fn request(&self, call: &Call) -> Result<Request, Refusal> {
        Request::parse(&self.settings.toolsets, &call.tool, &call.arguments)
    }

    /// Returns the folder with the Git-ignored files of the run (its layer), which file tools search before the
    /// workspace. Returns `None` if the run has no such folder.
    fn layer_to_read(&self) -> Option<Workspace> {
        Workspace::open_layer(&self.shown_layer()?)
    }
}

impl Tools {
    pub fn new(workspace: Workspace, settings: Settings) -> Self {
        Self(Arc::new(Inner { workspace, settings }), None)
    }

    /// Returns these tools with a stop signal: when `stop` becomes true, their commands are stopped. A stopped command
    /// returns the output that it has printed so far.
    #[must_use]
    pub fn stopped_by(self, stop: watch::Receiver<bool>) -> Self {
        Self(self.0, Some(stop))
    }

    /// Inspects a tool call without changing anything. Returns the data that is shown to a person (the card), the
    /// preconditions, and the changes that the call proposes.
    pub async fn inspect(&self, call: &Call) -> InspectionResult {
        let call = call.clone();
        let looked = self.blocking(move |inner| inspect(inner, &call)).await;
        looked.and_then(|looked| looked).unwrap_or_else(|refusal| InspectionResult {
            inspected: InspectionOutcome::from(refusal),
            bodies: Vec::new(),
        })
    }

    /// Returns the current state of the files at these paths, sorted by path. A path without a regular file of a
    /// supported size has [`Digest::ZERO`](holdshort_core::digest::Digest::ZERO), which is the digest of no real file.
    pub async fn observe(&self, paths: &[String]) -> Vec<Precondition> {
        let wanted = paths.to_vec();
        let seen = self.blocking(move |inner| files::observe(&inner.workspace, &wanted)).await;
        seen.unwrap_or_default()
    }

    /// Runs a tool call after checking its preconditions again. A call that changes files is not run here: its proposed
    /// changes are [committed](Self::commit) instead. `effect` is what a command is allowed to do. Without an effect,
    /// the command is only allowed to read. `output` receives the output of a running command as a preview.
    ///
    ///
    /// Dropping the future stops a command and every process that the command started.
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

    /// Runs a command as a trial: returns the changes that the command would make, without making them. Preconditions
    /// are checked as in [`Tools::run`].
    ///
    ///
    /// Dropping the future stops the command and every process that the command started.
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
                CommandTrialOutcome::Impossible {
                    why: "this call is not a command, so it cannot run as a trial".to_owned(),
                }
            }
            Err(refusal) => CommandTrialOutcome::Failed { text: refusal.message },
        }
    }

    /// Waits until no command that may write is running in the workspace, so that committed files are not mistaken for
    /// files of such a command. Returns `None` without waiting if the changeset changes no guarded path.
    pub async fn turn(&self, changeset: &Changeset) -> Option<Turn> {
        let is_guarded = |change: &Change| guarded::guards(change.path.split('/')).is_some();
        if !changeset.changes().iter().any(is_guarded) {
            return None;
        }
        Some(turns::wait(Path::new(self.0.workspace.path())).await)
    }

    /// Changes every path of a changeset in the workspace from the state `before` to the state `after`. If any path is
    /// not in the state `before`, nothing is changed.
    ///
    ///
    /// `body` returns the bytes of a file by its digest. `resumed` is true if this commit was started before a crash.
    /// Some paths may then already be in the state `after`. To undo a changeset, commit its inverse. Blocks.
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

    /// Applies changes to the layer of the run, which contains the stored Git-ignored files. If an error occurs, the
    /// layer is removed, which is harmless, because it is only a cache. Blocks.
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

    /// Returns the changes of a changeset that can be committed to the workspace now. Excludes the paths that are keys
    /// of `left`. Blocks.
    pub fn undoable(&self, wanted: &Changeset, left: BTreeMap<String, &'static str>) -> io::Result<Undoable> {
        undo::undoable(&Root::from_handle(self.0.workspace.dir())?, wanted, left)
    }

    /// Compares the Git-ignored files of a run (the layer of this run) with the workspace, at `paths`, or at all paths
    /// if `paths` is empty. Blocks.
    pub fn merge(&self, layer: &RunLayer, paths: &BTreeSet<String>) -> io::Result<Trial> {
        let workspace = &self.0.workspace;
        trial::merge(Root::from_handle(workspace.dir())?, Path::new(workspace.path()), layer, paths)
    }

    /// Returns the paths of preconditions whose current state is not the expected one.
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

    /// Runs blocking work on files outside the async threads.
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
        // The changes of this tool are computed later, when the call runs as a trial.
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
        // Tools of packs may read the whole workspace and nothing else, so there is nothing to inspect.
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

/// Returns the data of a tool's result: how many entries are shown, and how many paths were omitted.
fn counted(what: &str, shown: usize, left_out: usize) -> Value {
    let mut data = json!({ what: shown });
    if left_out > 0 {
        data["left_out"] = json!(left_out);
    }
    data
}

fn only_in_layer(path: &str) -> Refusal {
    let message = format!(
        "`{}` is stored only for the commands of this run, because git ignores it; change the file with \
         run_command, or write it to the workspace with write_file",
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
            // A change that was not inspected must never run. After this outcome, the engine inspects the call again.
            Outcome::Changed { paths: vec![change.path().to_owned()] }
        }
    })
}
