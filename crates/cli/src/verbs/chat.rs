//! `chat`: a conversation in the terminal, on the running server or on a server in this process. This module opens or
//! finds the session; `terminal/chat` contains the conversation.

use std::path::Path;

use holdshort_protocol::{Code, Info, OpenSession, RunConfig, Session, SessionState, plain};
use serde_json::Value;

use super::attach::{bring_along, over_journal};
use super::run::{end_of, has_model, is_rehearsal, no_model, workspace};
use super::{Scene, system};
use crate::args;
use crate::client::{self, Client, id_of};
use crate::data_dir::DataDir;
use crate::embed;
use crate::exit::{Exit, usage};
use crate::output::print_lines;
use crate::terminal::chat::{self, Talk};
use crate::terminal::paint::Paint;

/// Workflows that `chat` can use if the person names none. `chat` uses the first one that the server has.
const PARTNERS: [&str; 2] = ["copilot", "pair"];
const HISTORY: &str = "chat-history";

pub(super) async fn chat(scene: &Scene, args: args::Chat) -> anyhow::Result<Exit> {
    if scene.json {
        return Err(usage(
            "a conversation has no JSON output: programs use `POST /v1/sessions/{id}/messages`",
        ));
    }
    if let Some(session) = &args.session {
        id_of(session, "ses")?;
    }
    let data_dir = DataDir::resolve(scene.reach.data.as_deref())?;
    if scene.reach.server.is_some() || data_dir.listening().is_some() {
        if args.model.base_url.is_some() {
            return Err(usage(
                "the running server has its own model: restart that server with --base-url URL",
            ));
        }
        return talk(&scene.client()?, &data_dir, &args, None).await;
    }
    has_model(&args.model)?;
    let again = embed::again(&data_dir, &args.model);
    let embedded = if args.session.is_some() {
        over_journal(scene, data_dir.clone(), args.model.clone()).await?
    } else {
        bring_along(scene, data_dir.clone(), args.model.clone()).await?
    };
    let exit = talk(&embedded.client()?, &data_dir, &args, Some(&again)).await;
    end_of(embedded).await;
    exit
}

async fn talk(
    client: &Client,
    data_dir: &DataDir,
    args: &args::Chat,
    embedded: Option<&str>,
) -> anyhow::Result<Exit> {
    let session = match &args.session {
        Some(id) => found(client, id, args).await?,
        None => opened(client, args, embedded.is_some()).await?,
    };
    system::warn(client, |frozen| {
        let is_its = frozen.workflow.as_ref().is_none_or(|name| Some(name) == session.workflow.as_ref());
        frozen.run.is_none() && frozen.agent.is_none() && is_its
    })
    .await;
    introduce(&session, args.session.is_none());
    let history = data_dir.path.join(HISTORY);
    chat::chat(Talk { client, session, is_old: args.session.is_some(), history, embedded }).await
}

/// Returns the session with this id. Returns an error if the session accepts no messages.
async fn found(client: &Client, id: &str, args: &args::Chat) -> anyhow::Result<Session> {
    let session: Session = match client.get(&format!("/v1/sessions/{id}")).await {
        Err(error) if client::code(&error) == Some(Code::NotFound) => {
            return Err(usage(crate::output::error(&error)));
        }
        answer => answer?,
    };
    let Some(workflow) = &session.workflow else {
        return Err(usage(format!("{id} has no workflow, so it accepts no messages: name another session")));
    };
    if let Some(wanted) = args.workflow.as_ref().filter(|wanted| *wanted != workflow) {
        return Err(usage(format!(
            "{id} is a conversation with `{}`, not with `{}`: omit --workflow",
            plain::line(workflow),
            plain::line(wanted)
        )));
    }
    if session.state == SessionState::Closed {
        let why = session.end_reason.as_deref().unwrap_or_default();
        return Err(usage(format!("{id} is closed ({}): start another conversation", plain::line(why))));
    }
    Ok(session)
}

async fn opened(client: &Client, args: &args::Chat, is_embedded: bool) -> anyhow::Result<Session> {
    let workflow = match &args.workflow {
        Some(named) => named.clone(),
        None => partner(client).await?,
    };
    // An embedded server already has the model.
    let model = args.model.model.clone().filter(|_| !is_embedded);
    let path = args.workspace.as_deref().unwrap_or(Path::new("."));
    let info: Info = client.get("/v1/info").await?;
    if info.rehearsal && !is_rehearsal(&args.model) {
        return Err(no_model(client, &args.model));
    }
    let config = RunConfig { workspace: workspace(Some(path))?, model, ..RunConfig::default() };
    let open = OpenSession { workflow: Some(workflow), config: Some(config), ..OpenSession::default() };
    client.post("/v1/sessions", &open).await
}

async fn partner(client: &Client) -> anyhow::Result<String> {
    let known: Value = client.get("/v1/workflows").await?;
    let items = known.get("items").unwrap_or(&known).as_array().cloned().unwrap_or_default();
    let has = |name: &str| items.iter().any(|item| item.get("name").and_then(Value::as_str) == Some(name));
    let found = PARTNERS.into_iter().find(|name| has(name));
    found.map(str::to_owned).ok_or_else(|| {
        usage(
            "this server has neither `copilot` nor `pair`: name the workflow to talk to with --workflow NAME",
        )
    })
}

fn introduce(session: &Session, is_new: bool) {
    let paint = Paint::stdout();
    let workflow = plain::line(session.workflow.as_deref().unwrap_or_default()).into_owned();
    print_lines(&paint.message(&format!("{} {}", paint.bold(&workflow), paint.dim(&session.id)), 2));
    if is_new {
        print_lines(&paint.message(&paint.dim("Type a task; /help lists the commands."), 2));
    }
}
