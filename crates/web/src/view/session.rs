//! Sessions and grants, in the form that clients receive.

use holdshort_core::envelope::Content;
use holdshort_core::gate::{Grant, Refusal};
use holdshort_core::id::{SessionId, StreamId};
use holdshort_core::projection::{RunRow, SessionRow};
use holdshort_core::session::{Session, State};
use holdshort_protocol as wire;
use holdshort_store::{RunFilter, Tables};
use serde_json::Value;

use crate::app::App;
use crate::limits::SESSION_RUNS;
use crate::problem::Answer;

pub async fn session(app: &App, row: &SessionRow) -> Answer<wire::Session> {
    let session = app.driver.session(&row.session).await?;
    let runs = newest_runs(app, &row.session).await?;
    let changes = runs.iter().map(|run| run.updated_at).chain([row.changed_at, session.last_at]);
    let opened_with = opened_with(app, &session).await?;
    let used = app.journal().session_usage(&row.session).await?;
    let (usage, costs, duration_ms) = super::usage::of_session(used);
    let (state, end_reason) = match session.state {
        State::Open => (wire::SessionState::Open, None),
        State::Suspended => (wire::SessionState::Suspended, None),
        State::Closed(end) => (wire::SessionState::Closed, Some(end.as_str().to_owned())),
    };
    Ok(wire::Session {
        id: session.id.to_string(),
        name: opened_with.get("name").and_then(Value::as_str).map(str::to_owned),
        workflow: row.workflow.clone(),
        front_run: session.front_run().map(ToString::to_string),
        state,
        end_reason,
        expires_when_idle_ms: row.idle_ms,
        grants: session.active_grants(app.now()).map(|grant| grant.id.to_string()).collect(),
        usage,
        costs,
        duration_ms,
        created_at: row.created_at.to_string(),
        updated_at: changes.max().unwrap_or(row.changed_at).to_string(),
        runs: runs.into_iter().map(|row| row.run.to_string()).collect(),
    })
}

/// Returns the object `{name?, config?}` with which a client opened the session. Returns null if a run created the
/// session, or if the content was erased.
pub async fn opened_with(app: &App, session: &Session) -> Answer<Value> {
    if session.opened.is_none() {
        return Ok(Value::Null);
    }
    let Content { data, .. } = app.event(&StreamId::Session(session.id.clone()), 1).await?.content;
    Ok(data)
}

/// Returns the newest runs of a session.
pub async fn newest_runs(app: &App, session: &SessionId) -> Answer<Vec<RunRow>> {
    let filter = RunFilter { session: Some(session.clone()), ..RunFilter::default() };
    Ok(app.journal().runs(&filter, None, SESSION_RUNS).await?.items)
}

pub fn refusal(session: &SessionId, refusal: &Refusal) -> wire::Refusal {
    wire::Refusal {
        interrupt: refusal.interrupt.to_string(),
        session: session.to_string(),
        run: refusal.run.to_string(),
        tool: refusal.call.tool.clone(),
        words: refusal.describe(),
        by: refusal.by.clone(),
        refused_at: refusal.at.to_string(),
        revoked_at: refusal.revoked_at.map(|at| at.to_string()),
    }
}

pub fn grant(session: &SessionId, grant: &Grant) -> wire::Grant {
    wire::Grant {
        id: grant.id.to_string(),
        session: session.to_string(),
        tool: grant.matcher.tool.clone(),
        workspace: grant.matcher.workspace.clone(),
        words: grant.matcher.describe(),
        category: grant.matcher.category.map(|category| category.as_str().to_owned()),
        commands: grant
            .matcher
            .commands
            .iter()
            .map(|command| wire::GrantCommand {
                program: command.program.clone(),
                subcommand: command.subcommand.clone(),
                writes: command.writes,
                files: command.files.clone(),
                options: command.options.clone(),
                folder: command.folder.clone(),
            })
            .collect(),
        owner: grant.owner.clone(),
        run: grant.run.to_string(),
        interrupt: grant.interrupt.to_string(),
        added_at: grant.added_at.to_string(),
        expires_at: grant.expires_at.map(|at| at.to_string()),
        revoked_at: grant.revoked_at.map(|at| at.to_string()),
    }
}
