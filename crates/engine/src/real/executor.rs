//! The executor that has real effects: tools change the workspace, and models are called over the network.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use holdshort_core::definition::Definition;
use holdshort_core::id::RunId;
use holdshort_core::limits::TEXT_BYTES;
use holdshort_core::message::{Failure, FailureKind, Request};
use holdshort_core::run::undo::TOOL;
use holdshort_core::run::{self, ActionId, Config, Input, MissingPath, Remedy, Run};
use holdshort_core::schema::Problem;
use holdshort_core::tool::{InspectionOutcome, Outcome, Precondition, TrialOutcome};
use holdshort_models::{Model, Rehearsal};
use holdshort_store::Blob;
use holdshort_tools::{Call, Follow, InspectionResult, Settings, Tools, Toolset, Withhold, Workspace};
use holdshort_workflow::Library;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::bodies::Bodies;
use super::preview::{Kind, Preview, Previews};
use super::{layers, merge, trial, undo};
use crate::{Deliver, Error, Executor, Job, Unfit, Work};

/// Name of the model that replays the rehearsal of a workflow, which is a script stored with the workflow.
pub const REHEARSAL: &str = "rehearsal";

/// Time that a stopping process waits for running tools before it kills them. The time is shorter than ten seconds,
/// because a container runtime kills a process ten seconds after it was asked to stop. After the restart, a person is
/// asked about each command that was killed.
const DRAIN_TIME: Duration = Duration::from_secs(8);
/// Pause between two attempts to record a result that the store refused.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// Error codes with which a tool refuses a call because of the state of the workspace. For each code, the kind of call
/// that can remove the cause.
const OF_THE_WORKSPACE: &[(&str, Remedy)] = &[
    ("not_a_directory", Remedy::Command),
    ("not_a_file", Remedy::Command),
    // A folder is created together with the first file in it.
    ("not_found", Remedy::WritingBelow),
    ("not_readable", Remedy::Command),
    ("not_utf8", Remedy::WritingIt),
    ("old_not_found", Remedy::WritingIt),
    ("old_not_unique", Remedy::WritingIt),
    ("symlink", Remedy::Command),
];

/// Executor that spawns one task per job.
pub struct RealExecutor {
    pub(super) data: PathBuf,
    pub(super) library: Arc<Library>,
    pub(super) toolsets: Vec<&'static dyn Toolset>,
    pub(super) model: Option<Arc<dyn Model>>,
    pub(super) sandbox_program: PathBuf,
    pub(super) bodies: Bodies,
    pub(super) previews: Previews,
    pub(super) tasks: Arc<Mutex<BTreeMap<(RunId, ActionId), Task>>>,
}

pub(super) struct Task {
    handle: AbortHandle,
    /// True if a person has requested to stop the task.
    stop: watch::Sender<bool>,
    /// True if the task runs a tool. A process that stops waits for its tools.
    is_tool: bool,
}

impl RealExecutor {
    /// Returns the default model, for runs that name no model.
    pub fn model(&self) -> Option<&Arc<dyn Model>> {
        self.model.as_ref()
    }

    /// Waits for running tools. Model requests are dropped at once, because the next process sends them again.
    pub(super) async fn drain(&self) {
        self.tasks().retain(|_, task| {
            if !task.is_tool {
                task.handle.abort();
            }
            task.is_tool
        });
        let deadline = tokio::time::Instant::now() + DRAIN_TIME;
        while !self.tasks().is_empty() && tokio::time::Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        for ((run, action), task) in std::mem::take(&mut *self.tasks()) {
            tracing::warn!(
                %run, %action,
                "an action was aborted because it did not end in time; its outcome is determined at the next start"
            );
            task.handle.abort();
        }
    }

    fn tasks(&self) -> std::sync::MutexGuard<'_, BTreeMap<(RunId, ActionId), Task>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the model for a run of this workflow. `name` is the model that was requested for the run.
    fn model_for(&self, workflow: &str, name: Option<&str>) -> Option<Arc<dyn Model>> {
        if name == Some(REHEARSAL) {
            self.library
                .rehearsal(workflow)
                .cloned()
                .map(|script| -> Arc<dyn Model> { Arc::new(Rehearsal::new(script)) })
        } else {
            self.model.clone()
        }
    }

    fn worker(&self, job: &Job, stop: watch::Receiver<bool>) -> Worker {
        Worker {
            stop,
            data: self.data.clone(),
            sandbox_program: self.sandbox_program.clone(),
            toolsets: self.toolsets.clone(),
            bodies: self.bodies.clone(),
            model: self.model_for(&job.definition.name, job.config.model.as_deref()),
            previews: self.previews.clone(),
        }
    }

    /// Returns the tools with which a call of the run is inspected. An inspection only reads.
    fn looker(&self, run: &Run) -> Result<Tools, String> {
        let workspace = run.config().and_then(|config| config.workspace.as_deref());
        let input = run.started.as_ref().map_or(&Value::Null, |started| &started.input);
        let node =
            Node { data: &self.data, sandbox_program: &self.sandbox_program, toolsets: &self.toolsets };
        let asks = (Follow::never(), Withhold::nothing());
        tools(node, &run.id, workspace, &run.definition, input, asks)
    }
}

impl Executor for RealExecutor {
    async fn prepare(&self, definition: &Definition, mut config: Config) -> Result<Config, Vec<Problem>> {
        match &config.workspace {
            Some(path) => match Workspace::open(Path::new(path), &self.data) {
                Ok(workspace) => workspace.path().clone_into(config.workspace.get_or_insert_default()),
                Err(error) => return Err(vec![Problem::new("/config/workspace", error.to_string())]),
            },
            None if definition.works_on_files() => {
                let message = "is missing: the tools of this workflow need a workspace directory";
                return Err(vec![Problem::new("/config/workspace", message)]);
            }
            None => {}
        }
        let calls_models = !definition.agents.is_empty();
        match config.model.as_deref() {
            Some(REHEARSAL) if !self.library.has_rehearsal(&definition.name) => {
                let message = format!(
                    "the workflow `{}` has no rehearsal script: choose a configured model, or another \
                    workflow",
                    definition.name
                );
                Err(vec![Problem::new("/config/model", message)])
            }
            Some(name) if name.contains("://") => {
                Err(vec![Problem::new("/config/model", "must be the name of a configured model, not a URL")])
            }
            Some(REHEARSAL) => Ok(config),
            Some(_) | None if calls_models && self.model.is_none() => {
                let message = "no model is configured; start the server with a provider's key and --model NAME, or with \
                               --model NAME --base-url URL, or choose `rehearsal` for a shipped sample";
                Err(vec![Problem::new("/config/model", message)])
            }
            Some(_) | None => Ok(config),
        }
    }

    async fn observe(&self, run: &Run, paths: &[String]) -> Vec<Precondition> {
        match self.looker(run) {
            Ok(tools) => tools.observe(paths).await,
            Err(_) => Vec::new(),
        }
    }

    async fn check_call(&self, run: &Run, tool: &str, arguments: &Value) -> Result<(), Unfit> {
        let Ok(tools) = self.looker(run) else { return Ok(()) };
        let call = Call { tool: tool.to_owned(), arguments: arguments.clone() };
        match tools.inspect(&call).await.inspected {
            InspectionOutcome::Ready(_) | InspectionOutcome::Impossible { code: "internal", .. } => Ok(()),
            InspectionOutcome::Impossible { code, message } => {
                let pointer = holdshort_tools::argument(tool, code).map(|name| format!("/{name}"));
                let problem = Problem::new(pointer.unwrap_or_default(), message);
                let path = arguments.get(if tool == "run_command" { "cwd" } else { "path" });
                let path = path.and_then(Value::as_str).unwrap_or_default().to_owned();
                let mended_by = OF_THE_WORKSPACE.iter().find(|(of, _)| *of == code).map(|(_, by)| *by);
                Err(match mended_by {
                    Some(Remedy::WritingBelow) if is_of_a_file(tool) => {
                        Unfit::Now { problem, lack: MissingPath { path, mended_by: Remedy::WritingIt } }
                    }
                    Some(mended_by) => Unfit::Now { problem, lack: MissingPath { path, mended_by } },
                    None => Unfit::Always(problem),
                })
            }
        }
    }

    fn has_model(&self, run: &Run) -> bool {
        let name = run.config().and_then(|config| config.model.as_deref());
        let found = if name == Some(REHEARSAL) {
            self.library.has_rehearsal(&run.definition.name)
        } else {
            self.model.is_some()
        };
        if !found {
            tracing::warn!(run = %run.id, "the run needs a model, but none is configured: it waits until the \
                server starts with one");
        }
        found
    }

    fn perform(&self, job: Job, deliver: Deliver) {
        let (stop, stopped) = watch::channel(false);
        let worker = self.worker(&job, stopped);
        let key = (job.run.clone(), job.action.clone());
        let is_tool = matches!(job.work, Work::Try { .. } | Work::Commit { .. } | Work::CallTool { .. });
        let tasks = self.tasks.clone();
        let mut table = self.tasks();
        let task = tokio::spawn({
            let key = key.clone();
            async move {
                let working = AssertUnwindSafe(worker.work(&job)).catch_unwind();
                let answer = working.await.unwrap_or_else(|_| broken_off(&job));
                // Retries until the store accepts the result, because the result of a side effect must not be lost.
                while let Err(error) = deliver(answer.clone()).await {
                    tracing::error!(run = %job.run, action = %job.action, %error, "the result of an action \
                        was not stored");
                    if !matches!(error, Error::Store(_) | Error::Busy) {
                        break;
                    }
                    tokio::time::sleep(STORE_PAUSE).await;
                }
                tasks.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
            }
        });
        table.insert(key, Task { handle: task.abort_handle(), stop, is_tool });
    }

    fn abort(&self, run: &RunId, action: &ActionId) {
        if let Some(task) = self.tasks().remove(&(run.clone(), action.clone())) {
            task.handle.abort();
        }
    }

    fn forget(&self, run: &RunId) {
        tokio::spawn(layers::remove(layers::for_run(&self.data, run)));
    }

    fn stop(&self, run: &RunId, action: &ActionId) {
        if let Some(task) = self.tasks().get(&(run.clone(), action.clone())) {
            task.stop.send_replace(true);
        }
    }
}

/// Returns true if this tool has an argument `path` that names a file.
fn is_of_a_file(tool: &str) -> bool {
    matches!(tool, "read_file" | "write_file" | "edit_file")
}

/// Returns the result of an action whose task panicked. Without a result, the run would wait forever. The result says
/// that a side effect may have happened.
fn broken_off(job: &Job) -> Input {
    tracing::error!(run = %job.run, action = %job.action, "an action panicked");
    let message = "the action was aborted because of an internal error of Holdshort".to_owned();
    match &job.work {
        Work::Inspect { call, revision, .. } => {
            let inspected = InspectionOutcome::Impossible { code: "internal", message };
            Input::Inspected { call: call.clone(), revision: *revision, inspected }
        }
        Work::Try { call, attempt, .. } => {
            let tried = TrialOutcome::Impossible { why: message };
            Input::Tried { call: call.clone(), attempt: *attempt, tried }
        }
        Work::Commit { call, attempt, .. } => {
            let outcome = Outcome::Halfway { text: message };
            Input::Ran { call: call.clone(), attempt: *attempt, outcome }
        }
        Work::CallTool { call, attempt, .. } => {
            let text = format!("{message}; it is unknown whether the call took effect");
            Input::Ran { call: call.clone(), attempt: *attempt, outcome: Outcome::Failed { text } }
        }
        Work::CallModel { turn, .. } => {
            let failure = Failure { kind: FailureKind::Unusable, retry_after_ms: None, message };
            Input::Failed { step: job.step.clone(), turn: *turn, failure }
        }
    }
}

/// Paths on this node that the tools of a run need, and the tools of the installed packs.
#[derive(Clone, Copy)]
struct Node<'a> {
    data: &'a Path,
    sandbox_program: &'a Path,
    toolsets: &'a [&'static dyn Toolset],
}

/// Returns the tools of a run, in the workspace of the run and with the access that its workflow allows.
fn tools(
    Node { data, sandbox_program, toolsets }: Node<'_>,
    run: &RunId,
    workspace: Option<&str>,
    definition: &Definition,
    input: &Value,
    (follow, withhold): (Follow, Withhold),
) -> Result<Tools, String> {
    let path = workspace.ok_or("the run has no workspace")?;
    let workspace = Workspace::open(Path::new(path), data).map_err(|error| error.to_string())?;
    let mut settings = Settings::new(sandbox_program.to_owned(), data.to_owned());
    settings.network = definition.network;
    settings.run_layer = Some(layers::for_run(data, run));
    settings.allow_addresses.clone_from(&definition.web.allow_addresses);
    settings.follow = follow;
    settings.withhold = withhold;
    settings.toolsets = toolsets.to_vec();
    settings.input.clone_from(input);
    Ok(Tools::new(workspace, settings))
}

struct Worker {
    stop: watch::Receiver<bool>,
    data: PathBuf,
    sandbox_program: PathBuf,
    toolsets: Vec<&'static dyn Toolset>,
    bodies: Bodies,
    model: Option<Arc<dyn Model>>,
    previews: Previews,
}

impl Worker {
    async fn work(&self, job: &Job) -> Input {
        let workspace = job.config.workspace.as_deref();
        let definition = &*job.definition;
        let tools = || {
            let asks = (job.follow.clone(), job.withhold.clone());
            let tools = tools(
                Node { data: &self.data, sandbox_program: &self.sandbox_program, toolsets: &self.toolsets },
                &job.run,
                workspace,
                definition,
                &job.input,
                asks,
            )?;
            Ok::<_, String>(tools.stopped_by(self.stop.clone()))
        };
        match &job.work {
            Work::Inspect { call, revision, tool, arguments } => {
                let inspected = match tools() {
                    Ok(tools) => {
                        let wanted = Call { tool: tool.clone(), arguments: arguments.clone() };
                        let InspectionResult { inspected, bodies } = tools.inspect(&wanted).await;
                        self.keep(job, bodies).await;
                        inspected
                    }
                    Err(message) => InspectionOutcome::Impossible { code: "no_workspace", message },
                };
                Input::Inspected { call: call.clone(), revision: *revision, inspected }
            }
            Work::CallTool { call, attempt, tool, arguments, preconditions, effect } => {
                let outcome = match tools() {
                    Ok(tools) => {
                        let show = |text: &str| self.preview(job, Some(call), Kind::Output, text);
                        let wanted = Call { tool: tool.clone(), arguments: arguments.clone() };
                        tools.run(&wanted, preconditions, effect.as_ref(), show).await
                    }
                    Err(text) => Outcome::Failed { text },
                };
                Input::Ran { call: call.clone(), attempt: *attempt, outcome }
            }
            Work::Try { call, attempt, tool, arguments, preconditions } => {
                let tried = match tools() {
                    Ok(tools) if *tool == TOOL => undo::try_undo(tools, self.bodies.clone(), arguments).await,
                    Ok(tools) if *tool == run::merge::TOOL => {
                        merge::try_merge(tools, self.bodies.clone(), self.data.clone(), arguments).await
                    }
                    Ok(tools) => {
                        let show = |text: &str| self.preview(job, Some(call), Kind::Output, text);
                        let wanted = Call { tool: tool.clone(), arguments: arguments.clone() };
                        trial::try_command(&tools, &self.bodies, &wanted, preconditions, show).await
                    }
                    Err(why) => TrialOutcome::Impossible { why },
                };
                Input::Tried { call: call.clone(), attempt: *attempt, tried }
            }
            Work::Commit { call, attempt, changeset, layer, merges, is_resumed } => {
                let failed = |text: String| {
                    if *is_resumed { Outcome::Halfway { text } } else { Outcome::Failed { text } }
                };
                let outcome = match (tools(), changeset) {
                    (Ok(tools), Some(changeset)) => {
                        let (bodies, changeset) = (self.bodies.clone(), changeset.clone());
                        let outcome =
                            trial::commit(tools, bodies, changeset.clone(), layer.clone(), *is_resumed).await;
                        if let (Outcome::Done { .. }, Some(run)) = (&outcome, merges) {
                            layers::forget(layers::for_run(&self.data, run), changeset).await;
                        }
                        outcome
                    }
                    (Ok(_), None) => failed("the journal no longer contains the approved changes".to_owned()),
                    (Err(text), _) => failed(text),
                };
                Input::Ran { call: call.clone(), attempt: *attempt, outcome }
            }
            Work::CallModel { turn, request } => self.call_model(job, *turn, request).await,
        }
    }

    async fn call_model(&self, job: &Job, turn: u32, request: &Request) -> Input {
        let Some(model) = &self.model else {
            let message = "no model is configured".to_owned();
            let failure = Failure { kind: FailureKind::Rejected, retry_after_ms: None, message };
            return Input::Failed { step: job.step.clone(), turn, failure };
        };
        let said = Mutex::new(String::new());
        let show = |text: &str| {
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            // A reply above the maximum length is cut.
            let room = TEXT_BYTES.saturating_sub(said.len());
            said.push_str(&text[..text.floor_char_boundary(room)]);
            drop(said);
            self.preview(job, None, Kind::Text, text);
        };
        let mut request = request.clone();
        if request.model.as_deref() == Some(REHEARSAL) {
            request.model = None;
        }
        let mut stop = self.stop.clone();
        let answer = tokio::select! {
            // If the response and the stop arrive at the same moment, the complete response is used.
            biased;
            answer = model.call(&request, &show) => answer,
            // If the sender of the stop was dropped, no person can stop the request any more. The request continues.
            Ok(_) = stop.wait_for(|stopped| *stopped) => {
                let text = std::mem::take(&mut *said.lock().unwrap_or_else(PoisonError::into_inner));
                return Input::Stopped { step: job.step.clone(), turn, text };
            }
        };
        match answer {
            Ok(reply) => Input::Replied { step: job.step.clone(), turn, reply },
            Err(failure) => Input::Failed { step: job.step.clone(), turn, failure },
        }
    }

    /// Stores in the journal the bytes that an inspection found. Retries until the store has written them.
    async fn keep(&self, job: &Job, bodies: Vec<Vec<u8>>) {
        let blobs: Vec<Blob> = bodies.into_iter().map(Blob::new).collect();
        while !blobs.is_empty() {
            match self.bodies.put(blobs.clone()).await {
                Ok(()) => break,
                Err(error) => {
                    tracing::error!(run = %job.run, action = %job.action, %error, "the content of a file was \
                        not stored");
                    tokio::time::sleep(STORE_PAUSE).await;
                }
            }
        }
    }

    fn preview(&self, job: &Job, call: Option<&String>, kind: Kind, text: &str) {
        self.previews.send(Preview {
            run: job.run.clone(),
            step: job.step.clone(),
            call: call.cloned(),
            kind,
            text: text.to_owned(),
        });
    }
}
