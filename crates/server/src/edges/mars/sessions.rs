//! `/api/sessions` (contract A30), as far as sessions of ours go: one is there with its first run, and its state is
//! that of its runs. Suspending pauses them; nothing is kept beside the journal.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use holdshort_core::event;
use holdshort_core::id::{RunId, SessionId, StreamId};
use holdshort_core::projection::{RunRow, Status};
use holdshort_core::run::{Fact, Input};
use holdshort_protocol::Code;
use holdshort_store::{Journal, RunFilter};
use serde::Deserialize;
use serde_json::{Value, json};

use super::config::{self, MODES, WORKFLOW};
use super::story::{State, Story};
use super::{CHANNEL, act};
use crate::app::App;
use crate::auth::Caller;
use crate::body::Body;
use crate::edges::follow::{self, News};
use crate::edges::who::Guest;
use crate::limits::{MARS_RUNS, PAGE, SESSION_RUNS};
use crate::problem::{Answer, Refused};
use crate::query::{Id, Params};

/// Runs read at once.
const READ_RUNS: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    #[expect(dead_code, reason = "read where the caller is let in")]
    token: Option<String>,
    status: Option<SessionStatus>,
    mode: Option<String>,
    limit: Option<u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoQuery {
    #[expect(dead_code, reason = "read where the caller is let in")]
    token: Option<String>,
}

/// The states of A30. None expires: what is idle holds nothing that would have to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SessionStatus {
    Active,
    Suspended,
    Completed,
    Expired,
}

impl SessionStatus {
    fn of(runs: &[RunRow]) -> Self {
        let live = || runs.iter().filter(|run| !run.status.is_terminal());
        match live().next() {
            None => Self::Completed,
            Some(_) if live().all(|run| run.status == Status::Paused) => Self::Suspended,
            Some(_) => Self::Active,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Completed => "completed",
            Self::Expired => "expired",
        }
    }
}

fn person(guest: Guest) -> Answer<Caller> {
    let caller = guest.through(CHANNEL);
    caller.require_operator()?;
    Ok(caller)
}

/// `GET /modes/list`.
pub(super) async fn modes(guest: Guest, _: Params<NoQuery>) -> Answer<Json<Value>> {
    person(guest)?;
    let listed = MODES.map(|(mode, description)| json!({ "mode": mode, "description": description }));
    Ok(Json(json!({ "modes": listed })))
}

/// `POST`: there is nothing to make.
pub(super) async fn make(guest: Guest) -> Answer<Response> {
    person(guest)?;
    let refused = Refused::new(
        Code::MethodNotAllowed,
        "a session begins with its first task: send {task, config} to /edges/mars/ws/{task_id}, and take its \
         `session_id` into the config of the next one",
    );
    Ok(([(header::ALLOW, "GET,HEAD")], refused).into_response())
}

/// `GET`: newest first.
pub(super) async fn list(guest: Guest, Params(query): Params<ListQuery>) -> Answer<Json<Value>> {
    let caller = person(guest)?;
    let limit = crate::query::limit(query.limit)?;
    let filter = RunFilter { workflow: Some(WORKFLOW.to_owned()), ..RunFilter::default() };
    let (mut order, mut by_session) = (Vec::new(), BTreeMap::<SessionId, Vec<RunRow>>::new());
    let (mut cursor, mut scanned) = (None, 0);
    loop {
        let page = caller.app.journal().runs(&filter, cursor.as_ref(), READ_RUNS).await?;
        scanned += page.items.len();
        for row in page.items {
            let runs = by_session.entry(row.session.clone()).or_default();
            if runs.is_empty() {
                order.push(row.session.clone());
            }
            runs.push(row);
        }
        cursor = page.next;
        if cursor.is_none() || scanned >= MARS_RUNS {
            break;
        }
    }
    let mut sessions = Vec::new();
    for id in order {
        let Some(runs) = by_session.get(&id) else { continue };
        if query.status.is_some_and(|status| status != SessionStatus::of(runs)) {
            continue;
        }
        let (shown, config) = show(&caller.app, &id, runs).await?;
        if query.mode.as_ref().is_some_and(|mode| !config::is_mode(mode, &config)) {
            continue;
        }
        sessions.push(shown);
        if sessions.len() == limit {
            break;
        }
    }
    Ok(Json(json!({ "sessions": sessions })))
}

/// `GET /{id}`.
pub(super) async fn read(guest: Guest, Id(id): Id<SessionId>, _: Params<NoQuery>) -> Answer<Json<Value>> {
    let caller = person(guest)?;
    let runs = known(&caller.app, &id).await?;
    Ok(Json(show(&caller.app, &id, &runs).await?.0))
}

/// `GET /{id}/runs`: newest first.
pub(super) async fn runs(guest: Guest, Id(id): Id<SessionId>, _: Params<NoQuery>) -> Answer<Json<Value>> {
    let caller = person(guest)?;
    let mut listed = Vec::new();
    for row in known(&caller.app, &id).await?.into_iter().take(SESSION_RUNS) {
        let (task, config) = asked(&caller.app, &row.run).await?;
        listed.push(json!({
            "run_id": row.run.to_string(),
            "task": task,
            "mode": config::mode_of(&config),
            "status": state(row.status).as_str(),
            "started_at": row.created_at.to_string(),
            "updated_at": row.updated_at.to_string(),
            "reason": row.end_reason,
        }));
    }
    Ok(Json(json!({ "session_id": id.to_string(), "runs": listed })))
}

/// `GET /{id}/history`: what was said, by whom, oldest first: the newest ones, whole.
pub(super) async fn history(guest: Guest, Id(id): Id<SessionId>, _: Params<NoQuery>) -> Answer<Json<Value>> {
    let caller = person(guest)?;
    let mut history: Vec<Value> = Vec::new();
    // From the newest run backwards, until there is as much as is shown.
    for row in known(&caller.app, &id).await? {
        let mut said = said_in(&caller.app, &row).await?;
        said.append(&mut history);
        history = said;
        if history.len() >= PAGE.into() {
            break;
        }
    }
    let old = history.len().saturating_sub(PAGE.into());
    Ok(Json(json!({ "session_id": id.to_string(), "history": history.split_off(old) })))
}

/// What was said in a run, oldest first.
async fn said_in(app: &Arc<App>, row: &RunRow) -> Answer<Vec<Value>> {
    let mut said = Vec::new();
    let mut story = Story::new(row.run.as_str());
    let mut news = follow::run(app.clone(), row.run.clone(), 0);
    let mut seq = 0;
    while seq < row.seq {
        let event = match news.next().await {
            Some(News::Event { seq: next, event }) => {
                seq = next;
                event
            }
            Some(News::Preview(_)) => continue,
            Some(News::Problem(refused)) => return Err(refused),
            None => break,
        };
        for frame in story.tell(seq, &event) {
            let (agent, role, message) = match frame.event_type {
                "workflow_started" => (json!("user"), json!("user"), frame.data["task"].clone()),
                "agent_message" => {
                    let field = |key: &str| frame.data[key].clone();
                    (field("agent"), field("role"), field("message"))
                }
                _ => continue,
            };
            said.push(json!({
                "run_id": frame.run_id, "timestamp": frame.timestamp,
                "agent": agent, "role": role, "message": message,
            }));
        }
    }
    Ok(said)
}

/// `POST /{id}/suspend`: pauses what lives.
pub(super) async fn suspend(guest: Guest, Id(id): Id<SessionId>, body: Body) -> Answer<Json<Value>> {
    steer(guest, &id, Some(body), "nothing in it lives: there is nothing to suspend", || Input::Pause).await
}

/// `POST /{id}/resume`.
pub(super) async fn resume(guest: Guest, Id(id): Id<SessionId>, body: Body) -> Answer<Json<Value>> {
    steer(guest, &id, Some(body), "nothing in it lives: begin another task", || Input::Resume).await
}

/// `DELETE /{id}`: cancels what lives. What has happened stays in the journal.
pub(super) async fn end(guest: Guest, Id(id): Id<SessionId>, _: Params<NoQuery>) -> Answer<Json<Value>> {
    steer(guest, &id, None, "", || Input::Cancel { text: Some("its session was deleted".to_owned()) }).await
}

/// The same input to each run that lives. `else_why` refuses where none does, unless it is empty.
async fn steer(
    guest: Guest,
    id: &SessionId,
    body: Option<Body>,
    else_why: &str,
    input: impl Fn() -> Input,
) -> Answer<Json<Value>> {
    let caller = person(guest)?;
    let live: Vec<RunRow> =
        known(&caller.app, id).await?.into_iter().filter(|run| !run.status.is_terminal()).collect();
    if let Some(body) = body
        && let Some(value) = body.optional().await?
        && !value.as_object().is_some_and(serde_json::Map::is_empty)
    {
        return Err(Refused::invalid_at("", "nothing is expected here"));
    }
    if live.is_empty() && !else_why.is_empty() {
        return Err(Refused::new(Code::RunEnded, else_why));
    }
    for row in live {
        match act::steer(&caller, &row.run, input()).await {
            // It came to its end meanwhile.
            Err(refused) if refused.code() == Code::RunEnded => {}
            done => done?,
        }
    }
    let runs = known(&caller.app, id).await?;
    Ok(Json(show(&caller.app, id, &runs).await?.0))
}

/// All of the session's runs of this edge, newest first. One without any is not there.
async fn known(app: &App, id: &SessionId) -> Answer<Vec<RunRow>> {
    let filter =
        RunFilter { workflow: Some(WORKFLOW.to_owned()), session: Some(id.clone()), ..RunFilter::default() };
    let (mut runs, mut cursor) = (Vec::new(), None);
    loop {
        let page = app.journal().runs(&filter, cursor.as_ref(), READ_RUNS).await?;
        runs.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    if runs.is_empty() { Err(Refused::not_found("session")) } else { Ok(runs) }
}

/// A session, and the config of its newest run.
async fn show(app: &App, id: &SessionId, runs: &[RunRow]) -> Answer<(Value, Value)> {
    let newest = runs.first().ok_or_else(|| Refused::not_found("session"))?;
    let (task, config) = asked(app, &newest.run).await?;
    let created = runs.iter().map(|run| run.created_at).min().unwrap_or(newest.created_at);
    let updated = runs.iter().map(|run| run.updated_at).max().unwrap_or(newest.updated_at);
    let shown = json!({
        "session_id": id.to_string(),
        "name": task.chars().take(80).collect::<String>(),
        "mode": config::mode_of(&config),
        "config": config,
        "status": SessionStatus::of(runs).as_str(),
        "run_count": runs.len(),
        "created_at": created.to_string(),
        "updated_at": updated.to_string(),
    });
    Ok((shown, config))
}

/// What a run was asked: the task, and the config as it was sent.
async fn asked(app: &App, run: &RunId) -> Answer<(String, Value)> {
    let first = app.event(&StreamId::Run(run.clone()), 1).await?;
    let event::Fact::Run(Fact::RunStarted { .. }) = &first.fact else {
        return Err(Refused::of(Code::JournalDamaged));
    };
    let input = first.content.data;
    let task = input.get("task").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok((task, input.get("config").cloned().unwrap_or_else(|| json!({}))))
}

/// The words of A29 from a row, which does not know whether a run plans.
fn state(status: Status) -> State {
    match status {
        Status::Queued => State::Draft,
        Status::Running => State::Executing,
        Status::Waiting => State::WaitingApproval,
        Status::Paused => State::Paused,
        Status::Completed => State::Completed,
        Status::Failed => State::Failed,
        Status::Cancelled => State::Cancelled,
    }
}
