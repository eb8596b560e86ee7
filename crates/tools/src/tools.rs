//! The four things that can be done with a call: inspect it, observe what it relies on, run it, probe it.
//!
//! Owns which tool does what. Never decides whether a call may run, and never keeps state between calls
//! but the sandbox's level.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use holdshort_command::guarded;
use holdshort_core::changeset::Changeset;
use holdshort_core::digest::Digest;
use holdshort_core::tool::{
    CommandEffect, Inspected, Inspection, Outcome, Precondition, Probed, SandboxLevel,
};
use serde_json::{Value, json};

use crate::changeset::{self, Committed, Root, State, Step};
use crate::command::{self, Command};
use crate::files::{self, Last, Planned, WorkspacePath};
use crate::limits;
use crate::places;
use crate::refusal::Refusal;
use crate::request::{Change, OnFiles, Request};
use crate::sandbox;
use crate::trial::{self, Layers, Tried};
use crate::turns::{self, Turn};
use crate::workspace::Workspace;

/// One call. The arguments were validated against the tool's schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub tool: String,
    pub arguments: Value,
}

/// What the tools of a run need to know about their surroundings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether commands reach the network.
    pub network: bool,
    /// The program that has the hidden subcommand `sandbox-exec`.
    pub sandbox_program: PathBuf,
    /// Commands never read it.
    pub data_dir: PathBuf,
    /// The person's home folder, which commands do not read, tool folders on `path` aside.
    pub home: Option<PathBuf>,
    /// `PATH` as commands shall see it; folders that they may not read are taken out.
    pub path: String,
    /// For a command whose call does not say.
    pub command_timeout_ms: u64,
    /// Bytes that one command may write to disks.
    pub write_bytes: u64,
    /// What a command is tried over.
    pub layers: Layers,
    /// Called while a changeset is committed.
    pub step: Step,
}

impl Settings {
    /// No network, the usual limits, `HOME` and `PATH` of this process.
    pub fn new(sandbox_program: PathBuf, data_dir: PathBuf) -> Self {
        Self {
            network: false,
            sandbox_program,
            data_dir,
            home: std::env::home_dir(),
            path: std::env::var("PATH").unwrap_or_default(),
            command_timeout_ms: limits::COMMAND_DEFAULT_MS,
            write_bytes: limits::WRITE_BYTES,
            layers: Layers::Overlay,
            step: |_| {},
        }
    }
}

/// The tools of one run, in its workspace. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tools(Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub workspace: Workspace,
    pub settings: Settings,
    level: OnceLock<SandboxLevel>,
}

impl Inner {
    /// What this host can reach, tried once.
    pub(crate) fn level(&self) -> SandboxLevel {
        *self.level.get_or_init(|| {
            let level = |network| sandbox::level(&self.settings.sandbox_program, network);
            // What only reads has no network, whatever the workflow says.
            if self.settings.network { level(true).min(level(false)) } else { level(false) }
        })
    }
}

impl Tools {
    pub fn new(workspace: Workspace, settings: Settings) -> Self {
        Self(Arc::new(Inner { workspace, settings, level: OnceLock::new() }))
    }

    /// Looks at a call without changing anything: what a person would see, and what it relies on.
    pub async fn inspect(&self, call: &Call) -> Inspected {
        let call = call.clone();
        let looked = self.blocking(move |inner| inspect(inner, &call)).await;
        looked.and_then(|inspected| inspected).map_or_else(Inspected::from, Inspected::Ready)
    }

    /// The present state of files, sorted by path. A place with no regular file of a size that the tools
    /// handle has [`Digest::ZERO`](holdshort_core::digest::Digest::ZERO), which no file has.
    pub async fn observe(&self, paths: &[String]) -> Vec<Precondition> {
        let wanted = paths.to_vec();
        let seen = self.blocking(move |inner| files::observe(&inner.workspace, &wanted)).await;
        seen.unwrap_or_default()
    }

    /// Runs a call. Preconditions are checked once more, and a file is replaced only if it still is the one
    /// that was shown. `effect` is what a command may do: without one it may read. `output` gets what a command prints
    /// while it runs: a preview.
    ///
    /// Dropping the future stops a command and everything that it started.
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
        let request = match Request::parse(&call.tool, &call.arguments) {
            Ok(request) => request,
            Err(refusal) => return refusal.into(),
        };
        match request {
            Request::Command(request) => {
                let effect = effect.cloned().unwrap_or(CommandEffect::Reads);
                command::run(&self.0, request, preconditions, effect, output).await
            }
            Request::Files(request) => {
                let preconditions = preconditions.to_vec();
                // What a person lets it write there shall not pass for what a command made.
                let turn = match &request {
                    OnFiles::Change(change) if guarded::guards(change.path().split('/')).is_some() => {
                        Some(turns::wait(Path::new(self.0.workspace.path())).await)
                    }
                    OnFiles::Change(_) | OnFiles::Read(_) | OnFiles::List(_) | OnFiles::Search(_) => None,
                };
                let work = move |inner: &Inner| {
                    let _turn = turn;
                    run_on_files(inner, &request, &preconditions)
                };
                let ran = self.blocking(work).await;
                ran.and_then(|ran| ran).unwrap_or_else(Outcome::from)
            }
        }
    }

    /// Tries a command: what it would do, with nothing of it done. Preconditions are checked as by [`Tools::run`].
    ///
    /// Dropping the future stops the command and everything that it started.
    pub async fn try_command(
        &self,
        call: &Call,
        preconditions: &[Precondition],
        output: impl Fn(&str) + Send,
    ) -> Tried {
        let changed = self.changed(preconditions).await;
        if !changed.is_empty() {
            return Tried::Changed { paths: changed };
        }
        match Request::parse(&call.tool, &call.arguments) {
            Ok(Request::Command(request)) => trial::run(&self.0, request, preconditions, output).await,
            Ok(Request::Files(_)) => Tried::Impossible { why: "it is no command".to_owned() },
            Err(refusal) => Tried::Failed { text: refusal.message },
        }
    }

    /// Waits until no command that may write runs in the workspace: it would take what is committed for its own.
    pub async fn turn(&self) -> Turn {
        turns::wait(Path::new(self.0.workspace.path())).await
    }

    /// Brings every path of a changeset from its `before` to its `after`; nothing is touched where one is not as it was.
    ///
    /// `body` gives the bytes of a file. `resumed`: the commit was begun before a crash, so that paths may have their
    /// `after` already. A changeset is taken back by committing its inverse. Blocks.
    pub fn commit(
        &self,
        changeset: &Changeset,
        body: impl Fn(Digest) -> io::Result<Vec<u8>>,
        resumed: bool,
    ) -> Committed {
        match Root::of(self.0.workspace.dir()) {
            Ok(root) => changeset::commit(&root, changeset, body, resumed, self.0.settings.step),
            Err(e) => {
                Committed::Failed { text: format!("the workspace can not be opened: {e}"), done: Vec::new() }
            }
        }
    }

    /// How each path of a changeset stands. Blocks.
    pub fn probe_changeset(&self, changeset: &Changeset) -> Vec<(String, State)> {
        let paths = || changeset.changes().iter().map(|change| (change.path.clone(), State::Other));
        Root::of(self.0.workspace.dir())
            .map_or_else(|_| paths().collect(), |root| changeset::probe(&root, changeset))
    }

    /// Looks after a crash whether a call that was started happened.
    pub async fn probe(&self, call: &Call, preconditions: &[Precondition]) -> Probed {
        let (call, preconditions) = (call.clone(), preconditions.to_vec());
        let probed = self.blocking(move |inner| probe(inner, &call, &preconditions)).await;
        probed.unwrap_or_else(|refusal| Probed::Unclear { why: refusal.message })
    }

    /// The paths whose state is not the expected one.
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

    /// File work blocks, so it happens off the async threads.
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

fn inspect(inner: &Inner, call: &Call) -> Result<Inspection, Refusal> {
    let workspace = &inner.workspace;
    let mut inspection = Inspection {
        workspace: workspace.path().to_owned(),
        cwd: workspace.path().to_owned(),
        preconditions: Vec::new(),
        sandbox: None,
        ask_because: Vec::new(),
        places: Vec::new(),
        card: Value::Null,
    };
    let path = call.arguments.get("path").and_then(Value::as_str);
    inspection.places = path.map(|path| places::of_path(workspace.path(), path)).unwrap_or_default();
    match Request::parse(&call.tool, &call.arguments)? {
        Request::Files(OnFiles::Read(read)) => {
            let (place, _) = files::read_text(workspace, &read.path)?;
            inspection.card = json!({"path": place.to_string()});
        }
        Request::Files(OnFiles::List(list)) => {
            let place = files::folder(workspace, list.path.as_deref())?;
            inspection.card = json!({"path": place.to_string()});
        }
        Request::Files(OnFiles::Search(search)) => {
            let place = files::check_search(workspace, &search)?.place;
            inspection.card = json!({"path": place.to_string(), "pattern": search.pattern});
        }
        Request::Files(OnFiles::Change(change)) => {
            let planned = Planned::new(workspace, &change)?;
            if planned.has_other_names() {
                inspection.ask_because.push("hard_link".to_owned());
            }
            if planned.makes_a_repository(workspace) {
                inspection.ask_because.push("bare_repository".to_owned());
            }
            inspection.preconditions.push(planned.precondition());
            inspection.card = planned.card();
        }
        Request::Command(request) => {
            let command = Command::new(inner, &request)?;
            command.look(inner, &mut inspection);
            inspection.places =
                places::of_command(workspace.path(), request.cwd.as_deref(), &command.cwd, &request.command);
        }
    }
    Ok(inspection)
}

fn run_on_files(
    inner: &Inner,
    request: &OnFiles,
    preconditions: &[Precondition],
) -> Result<Outcome, Refusal> {
    let workspace = &inner.workspace;
    Ok(match request {
        OnFiles::Read(read) => {
            let (place, text) = files::read_text(workspace, &read.path)?;
            let data = json!({"path": place.to_string(), "bytes": text.len()});
            Outcome::Done { text, data }
        }
        OnFiles::List(list) => {
            let (text, entries) = files::list(workspace, list.path.as_deref())?;
            Outcome::Done { text, data: json!({"entries": entries}) }
        }
        OnFiles::Search(search) => {
            let (text, hits) = files::search(workspace, search)?;
            Outcome::Done { text, data: json!({"hits": hits}) }
        }
        OnFiles::Change(change) => {
            Planned::new(workspace, change)?.carry_out(workspace, preconditions, inner.settings.step)
        }
    })
}

fn probe(inner: &Inner, call: &Call, preconditions: &[Precondition]) -> Probed {
    match Request::parse(&call.tool, &call.arguments) {
        Err(refusal) => Probed::Unclear { why: refusal.message },
        Ok(Request::Files(OnFiles::Read(_) | OnFiles::List(_) | OnFiles::Search(_))) => Probed::NotHappened,
        Ok(Request::Files(OnFiles::Change(change))) => probe_change(inner, &change, preconditions),
        Ok(Request::Command(_)) => Probed::Unclear {
            why: "nobody can tell how far the command came; look at what it does".to_owned(),
        },
    }
}

fn probe_change(inner: &Inner, change: &Change, preconditions: &[Precondition]) -> Probed {
    let place =
        WorkspacePath::resolve(&inner.workspace, change.path(), Last::Refuse).map(|place| place.to_string());
    match (place, preconditions) {
        (Ok(place), [before]) if before.path == place => Planned::probe(&inner.workspace, change, before),
        (Ok(_), _) => Probed::Unclear { why: "the call's precondition is not that of its file".to_owned() },
        (Err(refusal), _) => Probed::Unclear { why: refusal.message },
    }
}
