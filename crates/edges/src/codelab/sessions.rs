//! REST routes that list, open and restore the sessions of an IDE, and list agents (contract B15). All data is read
//! from the journal and its rows.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use holdshort_core::definition::{Agent, Definition};
use holdshort_core::policy::RuleAction;
use holdshort_core::projection::SessionRow;
use holdshort_core::session::State;
use holdshort_protocol::{Speaker, Utterance};
use holdshort_store::{SessionFilter, Tables};
use holdshort_web::auth::Caller;
use holdshort_web::body::{Body, read_strict};
use holdshort_web::limits::PAGE_DEFAULT;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, Params, limit};
use holdshort_web::view;
use serde::Deserialize;
use serde_json::{Value, json};

use super::person::Person;
use super::session::Session;
use super::{WORKFLOW, names};
use crate::limits::{CODELAB_HISTORY_EVENTS, CODELAB_SESSIONS};
use crate::run_list::RunListReader;

#[derive(Default, Deserialize)]
struct Begin {
    session_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    limit: Option<u16>,
    #[serde(default)]
    offset: usize,
    /// Token of a client that cannot send headers. `credentials.rs` reads the query parameter `token`.
    #[serde(rename = "token")]
    _token: Option<String>,
}

/// `POST /sessions`: opens a session, or returns the existing session with this name unchanged. If the client gives no
/// name, the session's id is the name.
pub(super) async fn begin(Person(caller): Person, body: Body) -> Answer<Response> {
    let Begin { session_id } =
        body.optional().await?.map(|value| read_strict(&value)).transpose()?.unwrap_or_default();
    let session = match session_id {
        Some(name) => Session::from_name(caller, name)?,
        None => Session::begin(caller).await?,
    };
    let id = session.ensure_open().await?;
    let row =
        session.caller.app.journal().session(&id).await?.ok_or_else(|| Refused::not_found("session"))?;
    let mut glance = RunListReader::new(&session.caller.app)?;
    let shown = show(&session.caller, &session.name, &row, &mut glance).await?;
    Ok((StatusCode::CREATED, Json(shown)).into_response())
}

/// `GET /sessions`: lists the sessions of all people at the codelab edge, newest first.
pub(super) async fn list(Person(caller): Person, Params(page): Params<Page>) -> Answer<Json<Value>> {
    let limit = limit(page.limit)?;
    let mut glance = RunListReader::new(&caller.app)?;
    let filter = SessionFilter { workflow: Some(WORKFLOW.to_owned()), ..SessionFilter::default() };
    let (mut sessions, mut cursor, mut total) = (Vec::new(), None, 0);
    loop {
        let found = caller.app.journal().sessions(&filter, cursor.as_ref(), PAGE_DEFAULT.into()).await?;
        for row in found.items {
            if total >= page.offset && sessions.len() < limit {
                let name = name(&caller, &row).await?;
                sessions.push(show(&caller, &name, &row, &mut glance).await?);
            }
            total += 1;
        }
        cursor = found.next;
        if cursor.is_none() || total >= CODELAB_SESSIONS {
            let offset = page.offset;
            return Ok(Json(
                json!({ "sessions": sessions, "total": total, "limit": limit, "offset": offset }),
            ));
        }
    }
}

/// Returns the name with which the caller opened a session, if this name still identifies the session. If the name
/// identifies another session or none, returns the session's id.
pub(super) async fn name(caller: &Caller, row: &SessionRow) -> Answer<String> {
    let opened_with =
        view::session::opened_with(&caller.app, &*caller.app.driver.session(&row.session).await?).await?;
    let given = opened_with.get("name").and_then(Value::as_str).map(str::to_owned);
    let given = match given {
        Some(given) => Some(given),
        None => name_in_its_runs(caller, row).await?,
    };
    if let Some(given) = given
        && let Ok(session) = Session::from_name(caller.clone(), given)
        && session.id().await?.as_ref() == Some(&row.session)
    {
        return Ok(session.name);
    }
    Ok(row.session.to_string())
}

/// Returns the name of a session that an earlier version of Holdshort stored. That version stored the name only in the
/// session's runs.
async fn name_in_its_runs(caller: &Caller, row: &SessionRow) -> Answer<Option<String>> {
    let runs = view::session::newest_runs(&caller.app, &row.session).await?;
    let Some(run) = runs.last() else { return Ok(None) };
    let run = caller.app.driver.load_at(&run.run, 1).await?;
    let input = run.started.as_ref().map(|started| &started.input);
    Ok(input.and_then(|input| input.get("session_id")?.as_str()).map(str::to_owned))
}

async fn show(caller: &Caller, name: &str, row: &SessionRow, glance: &mut RunListReader) -> Answer<Value> {
    let session = caller.app.driver.session(&row.session).await?;
    let known = view::session::session(&caller.app, row).await?;
    Ok(json!({
        "id": name,
        "session_id": name,
        "title": known.name.as_deref().unwrap_or(name),
        "message_count": session.said,
        "current_agent": agent(caller, name, glance).await?,
        "is_active": !matches!(session.state, State::Closed(_)),
        "created_at": known.created_at,
        "updated_at": known.updated_at,
        "last_activity": known.updated_at,
    }))
}

/// Returns the current agent of a session, or the agent that receives the next message. If the current request has
/// already read the maximum number of events, returns the first agent of the newest run.
async fn agent(caller: &Caller, name: &str, glance: &mut RunListReader) -> Answer<String> {
    let session = Session::from_name(caller.clone(), name.to_owned())?;
    let agent = match session.runs().await?.last() {
        Some(newest) => match glance.run(&caller.app, &caller.app.run_row(newest).await?).await? {
            Some(run) => run.agent_in_front().map(str::to_owned),
            None => caller.app.driver.load_at(newest, 1).await?.agent_in_front().map(str::to_owned),
        },
        None => session.workflow()?.front_agent().map(str::to_owned),
    };
    Ok(names::agent(&agent.unwrap_or_default()).to_owned())
}

/// `GET /sessions/{id}/history`: lists the newest messages of a session, oldest first.
pub(super) async fn history(Person(caller): Person, Id(name): Id<String>) -> Answer<Json<Value>> {
    let (session, said) = load_messages(caller, name).await?;
    let mut glance = RunListReader::new(&session.caller.app)?;
    let messages: Vec<Value> = said.iter().map(message).collect();
    Ok(Json(json!({
        "session_id": session.name,
        "messages": messages,
        "message_count": messages.len(),
        "last_activity": said.last().map(|last| &last.at),
        "current_agent": agent(&session.caller, &session.name, &mut glance).await?,
        "agent_history": switches(&said),
    })))
}

fn message(said: &Utterance) -> Value {
    let mut message = match said.speaker {
        Speaker::Agent => json!({ "role": "assistant", "name": names::agent(&said.by) }),
        Speaker::Person => json!({ "role": "user" }),
    };
    // An erased message has no text.
    if let Some(text) = &said.text {
        message["content"] = json!(text);
    }
    message["timestamp"] = json!(said.at);
    message
}

/// Returns an entry for each message of a session whose agent differs from the agent of the preceding message.
fn switches(said: &[Utterance]) -> Vec<Value> {
    let agents: Vec<&Utterance> = said.iter().filter(|said| matches!(said.speaker, Speaker::Agent)).collect();
    let switched = agents.windows(2).filter(|pair| pair[0].by != pair[1].by);
    let shown = |pair: &[&Utterance]| {
        let (from, to) = (names::agent(&pair[0].by), names::agent(&pair[1].by));
        json!({ "from": from, "to": to, "timestamp": pair[1].at })
    };
    switched.map(shown).collect()
}

async fn load_messages(caller: Caller, name: String) -> Answer<(Session, Vec<Utterance>)> {
    let session = Session::from_name(caller, name).map_err(|_| Refused::not_found("session"))?;
    let id = session.require_id().await?;
    let app = &session.caller.app;
    let mut said = Vec::new();
    let mut after = app.driver.session(&id).await?.seq.saturating_sub(CODELAB_HISTORY_EVENTS);
    loop {
        let page = view::conversation::page(app, &id, after, PAGE_DEFAULT.into()).await?;
        said.extend(page.items);
        match page.next_cursor.and_then(|next| next.parse().ok()) {
            Some(next) => after = next,
            None => return Ok((session, said)),
        }
    }
}

/// `GET /agents`: lists the agents of the workflow, with the names that the IDE uses.
pub(super) async fn agents(Person(caller): Person) -> Answer<Json<Value>> {
    let definition = Session::workflow_of(&caller)?;
    let listed: Vec<Value> =
        definition.agents.iter().map(|(name, agent)| describe_agent(&definition, name, agent)).collect();
    Ok(Json(json!(listed)))
}

fn describe_agent(definition: &Definition, name: &str, agent: &Agent) -> Value {
    let restricted = definition.gates.rules.iter().any(|rule| {
        rule.action == RuleAction::Forbid && !rule.paths.is_empty() && rule.agents.iter().any(|of| of == name)
    });
    json!({
        "type": names::agent(name),
        "name": names::agent(name),
        "description": agent.instructions.lines().next().unwrap_or_default(),
        "allowed_tools": agent.tools.iter().map(|tool| names::tool(tool)).collect::<Vec<_>>(),
        "has_file_restrictions": restricted,
    })
}

/// `GET /agents/{id}/current`: returns the current agent of a session, and the earlier changes of the agent.
pub(super) async fn current(Person(caller): Person, Id(name): Id<String>) -> Answer<Json<Value>> {
    let (session, said) = load_messages(caller, name).await?;
    let mut glance = RunListReader::new(&session.caller.app)?;
    let switches = switches(&said);
    Ok(Json(json!({
        "session_id": session.name,
        "current_agent": agent(&session.caller, &session.name, &mut glance).await?,
        "switch_count": switches.len(),
        "agent_history": switches,
    })))
}
