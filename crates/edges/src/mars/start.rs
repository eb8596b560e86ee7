//! Maps a task to its run: the first frame for a task starts the run, and later frames find it (lesson 26). The task id
//! that a client chooses becomes an idempotency key, which also contains the client's user. Two connections for the
//! same task therefore never start a second run.

use std::sync::{Arc, LazyLock};

use holdshort_core::definition::{Definition, PhaseKind};
use holdshort_core::digest::Digest;
use holdshort_core::id::{RunId, SessionId};
use holdshort_core::projection::RunRow;
use holdshort_core::run::{Origin, undo};
use holdshort_core::trace_parent::TraceParent;
use holdshort_engine::{Error, IdempotencyKey, StartRun, TakesFront};
use holdshort_protocol::Code;
use holdshort_store::{Log, Tables};
use holdshort_web::app::{App, detached};
use holdshort_web::auth::Caller;
use holdshort_web::problem::{Answer, Refused};
use serde_json::json;

use super::config::{self, UnusedKey, WORKFLOW};
use super::connections::TaskConnections;
use super::frame::ClientFrame;
pub(super) use super::frame::Start;
use super::task_id::TaskId;
use super::{folder, resume, sessions};

/// Returns the run of a task, or `None` if the task has not been started. An undo has no task, so its run's id is used
/// instead.
pub(super) async fn find(app: &App, task: &TaskId) -> Answer<Option<RunId>> {
    let known = app.journal().key(&task.scope(), task.name()).await?;
    match known {
        Some(key) => key.reference.parse().map(Some).map_err(|_| Refused::from_code(Code::Internal)),
        None => undo_of_this_name(app, task).await,
    }
}

async fn undo_of_this_name(app: &App, task: &TaskId) -> Answer<Option<RunId>> {
    let Ok(run) = task.name().parse::<RunId>() else { return Ok(None) };
    let row = app.journal().run(&run).await?;
    let Some(row) = row.filter(|row| row.workflow == undo::WORKFLOW) else { return Ok(None) };
    Ok(is_visible(app, &row).await?.then_some(run))
}

/// Returns true if clients of this edge may see a run. The run must belong to a task, or be an undo in a session of
/// this edge.
pub(super) async fn is_visible(app: &App, row: &RunRow) -> Answer<bool> {
    match row.workflow.as_str() {
        WORKFLOW => Ok(true),
        undo::WORKFLOW => sessions::is_ours(app, &row.session).await,
        _ => Ok(false),
    }
}

/// Result of starting a task.
pub(super) struct StartedTask {
    pub(super) run: RunId,
    pub(super) is_new: bool,
    /// True if the task is attached to a run that another task of its session started.
    pub(super) is_resumed: bool,
    /// Config keys that have no effect. Empty unless the task is new, because they are reported once.
    pub(super) idle: Vec<UnusedKey>,
}

impl StartedTask {
    pub(super) fn existing(run: RunId) -> Self {
        Self { run, is_new: false, is_resumed: false, idle: Vec::new() }
    }
}

/// Returns the digest of a task's text and config. A later frame for the same task must have the same digest.
pub(super) fn digest(start: &Start) -> Digest {
    Digest::of_json(&json!({ "task": start.task, "config": start.config }))
}

/// Starts a task, or returns the existing run of the task. Rejects a task id that was already used with a different
/// task text or config. A new run joins `trace`. `resume.rs` decides whether a new task attaches to a run of its session.
pub(super) async fn start(
    caller: &Caller,
    (task, attached): (&TaskId, &TaskConnections),
    start: &Start,
    trace: Option<TraceParent>,
) -> Answer<StartedTask> {
    let app = &caller.app;
    if start.task.trim().is_empty() {
        return Err(Refused::invalid_at("/task", "is empty: describe the task"));
    }
    let key = IdempotencyKey { scope: task.scope(), key: task.name().to_owned(), digest: digest(start) };
    // The server may now parse the same config differently than at the first start. An existing run of the task is
    // therefore searched before the config is parsed.
    match app.driver.made_with(Some(&key)).await {
        Ok(None) => {}
        Ok(Some(run)) => {
            return run.parse().map(StartedTask::existing).map_err(|_| Refused::from_code(Code::Internal));
        }
        Err(Error::KeyReused) => return Err(another()),
        Err(error) => return Err(error.into()),
    }
    if undo_of_this_name(app, task).await?.is_some() {
        return Err(another());
    }
    let named = config::find_value(&json!(start.config), "session_id");
    let session = match caller.session(named.as_ref().and_then(|named| named.as_str())).await {
        Err(refused) if refused.code() == Code::UnknownSession => return Err(unknown_session()),
        found => found?,
    };
    let mut config = start.config.clone();
    if let Some(session) = &session {
        config = config::within(&sessions::config_of(app, session).await?, &config);
        if let Some(run) = resume::find_run(caller, (task, attached), session, &config).await? {
            return Ok(StartedTask { is_resumed: true, ..StartedTask::existing(run) });
        }
    }
    let base = base(app)?;
    let mut used = config.clone();
    let foreign = config::remove_foreign_models(&mut used, &base, &app.model);
    let mut translated = config::translate(&used, &base).map_err(Refused::invalid)?;
    translated.idle.extend(foreign);
    let front = match translated.definition.phases.first().map(|phase| &phase.kind) {
        Some(PhaseKind::Copilot(_)) => front(app, session.as_ref()).await?,
        _ => None,
    };
    // A task may name files of the earlier tasks in its conversation, so it gets the workspace of the run before.
    if translated.config.workspace.is_none()
        && let Some(before) = front.as_ref().and_then(|front| front.after.as_ref())
    {
        let before = app.driver.load_at(before, 1).await?;
        translated.config.workspace = before.config().and_then(|config| config.workspace.clone());
    }
    folder::ensure_workspace(app, task, &mut translated).await?;
    let idle = translated.idle;
    let start = StartRun {
        definition: Arc::new(translated.definition),
        session,
        config: translated.config,
        input: json!({ "task": start.task, "config": config }),
        origin: Origin::Native,
        ask: None,
        key: Some(key),
        front,
        trace,
    };
    let (driver, actor) = (app.driver.clone(), caller.actor.clone());
    let started = detached(async move {
        match driver.start(start.clone(), actor.clone()).await {
            // A different task has become the front run of the session in the meantime, so this task starts without
            // becoming the front run.
            Err(Error::FrontTaken) => driver.start(StartRun { front: None, ..start }, actor).await,
            started => started,
        }
    });
    match started.await {
        Ok(started) if started.is_replayed() => Ok(StartedTask::existing(started.run)),
        Ok(started) => Ok(StartedTask { run: started.run, is_new: true, is_resumed: false, idle }),
        Err(Error::KeyReused) => Err(another()),
        Err(Error::NotFound) => Err(unknown_session()),
        Err(error) => Err(translate_error(error.into())),
    }
}

/// Returns the front run that a copilot's task replaces, so that the task continues the conversation of the session
/// (contract A32). Returns `None` while an earlier task of the session is still running.
async fn front(app: &App, session: Option<&SessionId>) -> Answer<Option<TakesFront>> {
    let Some(session) = session else { return Ok(Some(TakesFront { agent: None, after: None })) };
    let after = app.driver.session(session).await?.front_run().cloned();
    if let Some(before) = &after
        && app.driver.now(before).await?.ended.is_none()
    {
        return Ok(None);
    }
    Ok(Some(TakesFront { agent: None, after }))
}

/// An error of the native API names fields of its own request. Converts these names to the fields of the first frame
/// that the client sent.
pub(super) fn translate_error(refused: Refused) -> Refused {
    refused.map_field_errors(|error| error.pointer = in_a_start(&error.pointer))
}

/// Converts the path of a field in the native API's request to its path in the client's first frame.
fn in_a_start(pointer: &str) -> String {
    match pointer {
        "/config/workspace" => "/config/work_dir".to_owned(),
        // The config was already checked, so an error in the input is about the task.
        "/input" => "/task".to_owned(),
        other => other.strip_prefix("/input").unwrap_or(other).to_owned(),
    }
}

fn unknown_session() -> Refused {
    let rule = "is not the id of a session: omit it, and the task creates a session; or create a session \
                with POST /edges/mars/api/sessions";
    let mut refused = Refused::new(Code::UnknownSession, format!("/config/session_id {rule}"));
    refused.0.errors = Refused::invalid_at("/config/session_id", rule).0.errors;
    refused
}

/// Refusal of a frame whose task id was already used with a different task.
pub(super) fn another() -> Refused {
    let rule = "this task id was already used with a different task or config; use another id for a new \
                task, or send the original task and config to follow the original run";
    Refused::new(Code::IdempotencyKeyReused, rule)
}

/// Returns the base workflow, with the agents and templates of this edge. A workflow `mars` in the server's workflow
/// folder replaces the shipped base workflow.
pub(super) fn base(app: &App) -> Answer<Arc<Definition>> {
    if let Some(own) = app.library.get(WORKFLOW) {
        return Ok(own);
    }
    shipped().map(Arc::new).map_err(|problems| {
        tracing::error!(?problems, "the workflow of the MARS edge cannot be read");
        Refused::from_code(Code::Internal)
    })
}

/// Returns the shipped base workflow, with the agents and templates of this edge.
pub fn shipped() -> Result<Definition, Vec<holdshort_workflow::Problem>> {
    holdshort_workflow::parse("mars/base.yaml", include_str!("base.yaml"), &holdshort_tools::catalogue(&[]))
}

/// Checks the config in a first frame against the shipped base workflow.
pub(super) fn check(frame: &ClientFrame) -> Answer<()> {
    static BASE: LazyLock<Option<Definition>> = LazyLock::new(|| shipped().ok());
    let ClientFrame::Start(start) = frame else { return Ok(()) };
    let base = BASE.as_ref().ok_or_else(|| Refused::from_code(Code::Internal))?;
    config::translate(&start.config, base).map(drop).map_err(Refused::invalid)
}
