//! `/api/sessions` (contract A30). A session is created either by a client or by the first task in the session. The
//! engine suspends, resumes and closes sessions. The status that this edge reports is derived from the session and the
//! session's runs.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use holdshort_core::actor::Actor;
use holdshort_core::event;
use holdshort_core::id::{RunId, SessionId, StreamId};
use holdshort_core::projection::{RunRow, SessionRow};
use holdshort_core::run::{Fact, Run, undo};
use holdshort_core::session::{End, Open, Session, State as SessionState};
use holdshort_engine::{Executor, OpenSession};
use holdshort_protocol::Code;
use holdshort_store::{SessionFilter, Tables};
use holdshort_web::app::{App, detached};
use holdshort_web::auth::Caller;
use holdshort_web::body::{Body, read_strict};
use holdshort_web::limits::{PAGE, SCANNED_EVENTS, SESSION_RUNS};
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, Params};
use holdshort_web::view::session::opened_with;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::caller::{NoQuery, person};
use super::config::{self, Translated, WORKFLOW};
use super::frame::{Frame, null_is_nothing};
use super::past::PastFrames;
use super::projector::{State, agent_of, mode, model_of, work_dir};
use super::session_runs::{AT_ONCE, runs_of};
use super::{approval, start, tabs};
use crate::credentials::AuthenticatedCaller;
use crate::limits::{MARS_IDLE_MS, MARS_SESSIONS};
use crate::run_list::RunListReader;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    #[expect(dead_code, reason = "read during authentication")]
    token: Option<String>,
    status: Option<SessionStatus>,
    mode: Option<String>,
    limit: Option<u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryQuery {
    #[expect(dead_code, reason = "read during authentication")]
    token: Option<String>,
    limit: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Make {
    mode: Option<String>,
    #[serde(default, deserialize_with = "null_is_nothing")]
    config: Map<String, Value>,
    name: Option<String>,
}

/// Status of a session (contract A30).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SessionStatus {
    Active,
    Suspended,
    Completed,
    Expired,
}

impl SessionStatus {
    /// Returns the status of a session. If a task created the session, the session is completed once all its runs have
    /// ended. If a client created the session, the session stays active until the client ends it.
    fn from_session(session: &Session, runs: &[RunRow]) -> Self {
        match session.state {
            SessionState::Closed(End::Expired) => Self::Expired,
            SessionState::Suspended => Self::Suspended,
            SessionState::Open if session.opened.is_some() => Self::Active,
            SessionState::Open if runs.iter().any(|run| !run.status.is_terminal()) => Self::Active,
            SessionState::Open | SessionState::Closed(End::Completed) => Self::Completed,
        }
    }

    /// Returns the states that a session with this status can have in the journal. Sessions with another status can
    /// have the same states, so the caller must also compare the status of each session.
    fn states(self) -> BTreeSet<SessionState> {
        match self {
            Self::Active => [SessionState::Open].into(),
            Self::Suspended => [SessionState::Suspended].into(),
            Self::Completed => [SessionState::Open, SessionState::Closed(End::Completed)].into(),
            Self::Expired => [SessionState::Closed(End::Expired)].into(),
        }
    }
}

/// A session, and all runs of the session that this edge started, newest first.
struct SessionWithRuns {
    row: SessionRow,
    session: Arc<Session>,
    runs: Vec<RunRow>,
}

impl SessionWithRuns {
    async fn load(app: &App, row: SessionRow) -> Answer<Self> {
        let session = app.driver.session(&row.session).await?;
        let runs = runs_of(app, &row.session, WORKFLOW).await?;
        Ok(Self { row, session, runs })
    }

    fn status(&self) -> SessionStatus {
        SessionStatus::from_session(&self.session, &self.runs)
    }
}

/// `GET /modes/list`.
pub(super) async fn modes(guest: AuthenticatedCaller, _: Params<NoQuery>) -> Answer<Json<Value>> {
    person(guest)?;
    let listed = config::modes().map(|(mode, what)| json!({ "mode": mode, "description": what }));
    Ok(Json(json!({ "modes": listed.collect::<Vec<_>>() })))
}

/// `POST`: creates a session without a task. The session's config is checked like the config of a task.
pub(super) async fn make(guest: AuthenticatedCaller, _: Params<NoQuery>, body: Body) -> Answer<Response> {
    let Caller { app, actor, .. } = person(guest)?;
    let Make { mode, mut config, name } =
        body.optional().await?.map(|value| read_strict(&value)).transpose()?.unwrap_or_default();
    let says_mode = mode.is_some();
    if let Some(mode) = mode {
        let known = config.insert("mode".to_owned(), json!(mode));
        if known.is_some_and(|known| known != json!(mode)) {
            return Err(Refused::invalid_at("/mode", "contradicts the mode of `config`"));
        }
    }
    let translated = config::translate(&config, &*start::base(&app)?).map_err(|mut problems| {
        for problem in problems.iter_mut().filter(|each| says_mode && each.pointer == "/config/mode") {
            "/mode".clone_into(&mut problem.pointer);
        }
        Refused::invalid(problems)
    })?;
    if translated.session.is_some() {
        return Err(Refused::invalid_at(
            "/config/session_id",
            "names another session, but this request creates a new one: omit it",
        ));
    }
    look(&app, translated).await?;
    let open = Open {
        workflow: Some(WORKFLOW.to_owned()),
        idle_ms: Some(MARS_IDLE_MS),
        name,
        config: Value::Object(config),
    };
    let driver = app.driver.clone();
    let opened = detached(async move { driver.open_session(OpenSession { open, key: None }, actor).await });
    let known = find_session(&app, &opened.await?.session).await?;
    Ok((StatusCode::CREATED, render_session(&app, &known).await?).into_response())
}

/// Checks that everything that the config names is available, as at the start of a task. A value that the config omits
/// is not a problem, because a task can add it. An unusable `work_dir` is accepted, because a task uses a new directory
/// instead (contract E40).
async fn look(app: &App, translated: Translated) -> Answer<()> {
    let Translated { mut definition, config, .. } = translated;
    let [folder, model] = [&config.workspace, &config.model].map(Option::is_some);
    if !folder {
        definition.tools.clear();
    }
    let looked = app.driver.executor().prepare(&definition, config).await;
    let mut problems = looked.err().unwrap_or_default();
    problems.retain(|problem| match problem.pointer.as_str() {
        "/config/workspace" => false,
        "/config/model" => model,
        _ => true,
    });
    if problems.is_empty() { Ok(()) } else { Err(start::translate_error(Refused::invalid(problems))) }
}

/// `GET`: lists sessions, newest first.
pub(super) async fn list(
    guest: AuthenticatedCaller,
    Params(query): Params<ListQuery>,
) -> Answer<Json<Value>> {
    let caller = person(guest)?;
    let limit = holdshort_web::query::limit(query.limit)?;
    let filter = SessionFilter {
        states: query.status.map(SessionStatus::states).unwrap_or_default(),
        workflow: Some(WORKFLOW.to_owned()),
    };
    let (mut sessions, mut cursor, mut scanned) = (Vec::new(), None, 0);
    let mut glance = RunListReader::new(&caller.app)?;
    loop {
        let page = caller.app.journal().sessions(&filter, cursor.as_ref(), AT_ONCE).await?;
        scanned += page.items.len();
        for row in page.items {
            if sessions.len() == limit {
                break;
            }
            let known = SessionWithRuns::load(&caller.app, row).await?;
            if query.status.is_some_and(|status| status != known.status()) {
                continue;
            }
            let (shown, config) = show(&caller.app, &known, &mut glance).await?;
            if query.mode.as_ref().is_none_or(|mode| config::is_mode(mode, &config)) {
                sessions.push(shown);
            }
        }
        cursor = page.next;
        if cursor.is_none() || sessions.len() == limit || scanned >= MARS_SESSIONS {
            return Ok(Json(json!({ "sessions": sessions })));
        }
    }
}

/// `GET /{id}`.
pub(super) async fn read(
    guest: AuthenticatedCaller,
    Id(id): Id<SessionId>,
    _: Params<NoQuery>,
) -> Answer<Json<Value>> {
    let caller = person(guest)?;
    let known = find_session(&caller.app, &id).await?;
    let Json(mut shown) = render_session(&caller.app, &known).await?;
    shown["conversation_history"] = load_messages(&caller.app, &known, PAGE.into()).await?.into();
    if let Some(newest) = known.runs.first() {
        let run = caller.app.run_now(&newest.run).await?;
        shown["context_variables"] = variables(&run).into();
        shown["plan_data"] = run.plan_at_work().map(|(_, plan)| approval::plan(&json!(plan))).into();
    }
    Ok(Json(shown))
}

/// `GET /{id}/runs`: lists the runs of a session, newest first, including undos.
pub(super) async fn runs(
    guest: AuthenticatedCaller,
    Id(id): Id<SessionId>,
    _: Params<NoQuery>,
) -> Answer<Json<Value>> {
    let caller = person(guest)?;
    let mut listed = Vec::new();
    let mut rows = find_session(&caller.app, &id).await?.runs;
    rows.extend(runs_of(&caller.app, &id, undo::WORKFLOW).await?);
    rows.sort_by(|one, other| (other.created_at, &other.run).cmp(&(one.created_at, &one.run)));
    for row in rows.into_iter().take(SESSION_RUNS) {
        let begun = caller.app.driver.load_at(&row.run, 1).await?;
        let task = begun.task();
        listed.push(json!({
            "id": row.run.to_string(),
            "run_id": row.run.to_string(),
            "task": task,
            "task_description": task,
            "agent": agent_of(&begun),
            "model": model_of(&begun),
            "completed_at": row.ended_seq.map(|_| row.updated_at.to_string()),
            "is_branch": false,
            "meta": { "work_dir": work_dir(&begun) },
            "mode": mode(&begun),
            "status": State::from(row.status),
            "started_at": row.created_at.to_string(),
            "updated_at": row.updated_at.to_string(),
            "reason": row.end_reason,
        }));
    }
    Ok(Json(json!({ "session_id": id.to_string(), "runs": listed })))
}

/// `GET /{id}/history`: the newest messages with their senders, oldest first. Messages are not truncated.
pub(super) async fn history(
    guest: AuthenticatedCaller,
    Id(id): Id<SessionId>,
    Params(query): Params<HistoryQuery>,
) -> Answer<Json<Value>> {
    let caller = person(guest)?;
    let limit = query.limit.map(Some).map_or(Ok(PAGE.into()), tabs::limit)?;
    let messages = load_messages(&caller.app, &find_session(&caller.app, &id).await?, limit).await?;
    let total = messages.len();
    Ok(Json(json!({ "session_id": id.to_string(), "messages": messages, "total": total })))
}

/// Returns the newest messages of a session, oldest first. Reads no further run as soon as it has read the maximum
/// number of events for one response.
async fn load_messages(app: &Arc<App>, known: &SessionWithRuns, limit: usize) -> Answer<Vec<Value>> {
    let mut history: Vec<Value> = Vec::new();
    let mut events = 0;
    // Reads the runs from the newest to the oldest until there are enough messages.
    for row in &known.runs {
        if history.len() == limit || events >= SCANNED_EVENTS {
            break;
        }
        let mut past = PastFrames::open(app, &row.run).await?;
        events += past.events();
        let mut said = past.newest(limit - history.len(), |_, frame| message(frame)).await?;
        said.append(&mut history);
        history = said;
    }
    Ok(history)
}

/// Returns the message of the conversation that a frame contains, if any.
fn message(frame: &Frame) -> Option<Value> {
    let field = |key: &str| frame.data[key].clone();
    let (agent, role, content) = match frame.event_type {
        "workflow_started" => (json!("user"), json!("user"), field("task")),
        "agent_message" => (field("agent"), field("role"), field("message")),
        _ => return None,
    };
    Some(json!({
        "run_id": frame.run_id, "timestamp": frame.timestamp, "agent": agent, "role": role, "content": content,
    }))
}

/// `POST /{id}/suspend`: pauses the running tasks of a session. New tasks are rejected until the session is resumed.
pub(super) async fn suspend(
    guest: AuthenticatedCaller,
    Id(id): Id<SessionId>,
    body: Body,
) -> Answer<Json<Value>> {
    let Caller { app, actor, .. } = steered(guest, &id, body, "there is nothing to suspend").await?;
    let (driver, session) = (app.driver.clone(), id.clone());
    detached(async move { driver.suspend_session(&session, actor).await }).await?;
    render_session(&app, &find_session(&app, &id).await?).await
}

/// `POST /{id}/resume`.
pub(super) async fn resume(
    guest: AuthenticatedCaller,
    Id(id): Id<SessionId>,
    body: Body,
) -> Answer<Json<Value>> {
    let Caller { app, actor, .. } = steered(guest, &id, body, "begin another task").await?;
    let (driver, session) = (app.driver.clone(), id.clone());
    detached(async move { driver.resume_session(&session, actor).await }).await?;
    render_session(&app, &find_session(&app, &id).await?).await
}

/// `DELETE /{id}`: closes a session and cancels its running tasks. The events stay in the journal.
pub(super) async fn end(
    guest: AuthenticatedCaller,
    Id(id): Id<SessionId>,
    _: Params<NoQuery>,
) -> Answer<Json<Value>> {
    let Caller { app, actor, .. } = person(guest)?;
    // Closing is repeated for a closed session, because the earlier close may not have reached all runs of the session.
    let (why, actor) = match find_session(&app, &id).await?.session.state {
        SessionState::Closed(End::Expired) => (End::Expired, Actor::engine()),
        SessionState::Open | SessionState::Suspended | SessionState::Closed(End::Completed) => {
            (End::Completed, actor)
        }
    };
    let (driver, session) = (app.driver.clone(), id.clone());
    detached(async move { driver.close_session(&session, why, actor).await }).await?;
    render_session(&app, &find_session(&app, &id).await?).await
}

/// Returns the caller of a request to suspend or resume a session. Rejects an unknown session, a request body that is
/// not empty, and an open session whose tasks have all ended.
async fn steered(guest: AuthenticatedCaller, id: &SessionId, body: Body, else_why: &str) -> Answer<Caller> {
    let caller = person(guest)?;
    let known = find_session(&caller.app, id).await?;
    if let Some(value) = body.optional().await?
        && !value.as_object().is_some_and(Map::is_empty)
    {
        return Err(Refused::invalid_at("", "must be empty: this request takes no body"));
    }
    if known.session.state == SessionState::Open && known.status() == SessionStatus::Completed {
        return Err(Refused::new(Code::RunEnded, format!("all tasks of the session have ended: {else_why}")));
    }
    Ok(caller)
}

/// Returns the config with which a client created the session, for the tasks of the session. The config is empty if a
/// task created the session.
pub(super) async fn config_of(app: &App, id: &SessionId) -> Answer<Map<String, Value>> {
    let made_with = opened_with(app, &*app.driver.session(id).await?).await?;
    Ok(made_with.get("config").and_then(Value::as_object).cloned().unwrap_or_default())
}

/// Returns the session if it was created on this edge or contains a run of this edge.
async fn find_session(app: &App, id: &SessionId) -> Answer<SessionWithRuns> {
    let none = || Refused::not_found("session");
    let known = SessionWithRuns::load(app, app.journal().session(id).await?.ok_or_else(none)?).await?;
    let is_ours = known.row.workflow.as_deref() == Some(WORKFLOW) || !known.runs.is_empty();
    if is_ours { Ok(known) } else { Err(none()) }
}

/// Returns true if a session was created on this edge or contains a run of this edge.
pub(super) async fn is_ours(app: &App, id: &SessionId) -> Answer<bool> {
    match find_session(app, id).await {
        Ok(_) => Ok(true),
        Err(refused) if refused.code() == Code::NotFound => Ok(false),
        Err(refused) => Err(refused),
    }
}

async fn render_session(app: &App, known: &SessionWithRuns) -> Answer<Json<Value>> {
    Ok(Json(show(app, known, &mut RunListReader::new(app)?).await?.0))
}

/// Returns a session for a response, and the config of the session's newest run. If the session has no run yet, returns
/// the config with which the session was created.
async fn show(app: &App, known: &SessionWithRuns, glance: &mut RunListReader) -> Answer<(Value, Value)> {
    let SessionWithRuns { row, session, runs } = known;
    let made_with = opened_with(app, session).await?;
    let (task, config) = match runs.first() {
        Some(newest) => load_task_and_config(app, &newest.run).await?,
        None => (String::new(), made_with.get("config").cloned().unwrap_or_else(|| json!({}))),
    };
    let name = made_with.get("name").and_then(Value::as_str);
    let updated = runs.iter().map(|run| run.updated_at).fold(row.changed_at, Ord::max);
    let newest = match runs.first() {
        Some(newest) => glance.run(app, newest).await?,
        None => None,
    };
    let (phase, step) = newest.as_deref().map(at).unwrap_or_default();
    let shown = json!({
        "session_id": row.session.to_string(),
        "name": name.map_or_else(|| task.chars().take(80).collect(), str::to_owned),
        "mode": config::mode_of(&config),
        "config": config,
        "status": known.status(),
        "current_phase": phase,
        "current_step": step,
        "conversation_history": [],
        "context_variables": {},
        "plan_data": null,
        "run_count": runs.len(),
        "version": session.seq,
        "created_at": row.created_at.to_string(),
        "updated_at": updated.to_string(),
    });
    Ok((shown, config))
}

/// Returns the id of the current phase, and the number of the plan's current step.
fn at(run: &Run) -> (Option<String>, Option<usize>) {
    let at_work = run.steps.iter().filter(|(_, step)| step.end.is_none());
    let step = at_work.filter_map(|(id, _)| run.part(id)).map(|part| part.number).min();
    (run.at_phases().first().map(|phase| phase.id.clone()), step)
}

/// Returns the working directory and the output of each ended step.
fn variables(run: &Run) -> Map<String, Value> {
    let outputs =
        run.steps.iter().filter_map(|(id, step)| Some((id.clone(), json!(step.output.as_deref()?))));
    let folder = Some(work_dir(run)).filter(|folder| !folder.is_empty());
    folder.map(|folder| ("work_dir".to_owned(), json!(folder))).into_iter().chain(outputs).collect()
}

/// Returns the task and the config with which a run was started.
async fn load_task_and_config(app: &App, run: &RunId) -> Answer<(String, Value)> {
    let first = app.event(&StreamId::Run(run.clone()), 1).await?;
    let event::Fact::Run(Fact::RunStarted { .. }) = &first.fact else {
        return Err(Refused::from_code(Code::JournalDamaged));
    };
    let input = first.content.data;
    let task = input.get("task").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok((task, input.get("config").cloned().unwrap_or_else(|| json!({}))))
}
