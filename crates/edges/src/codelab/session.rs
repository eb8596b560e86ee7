//! Session of a client: the client's name for a session of Holdshort. An idempotency key in the journal connects this
//! name to the id of the session of Holdshort. The key includes the person, so two people can use the same name for
//! different sessions.
//!
//! Earlier versions of Holdshort had no sessions, only runs: the first run was stored under the client's session name,
//! and each later run under the id of the preceding run (`runs_by_keys`). When a message arrives for a session of an
//! earlier version, its runs become the conversation of a new session.

use std::sync::{Arc, OnceLock};

use holdshort_core::definition::Definition;
use holdshort_core::digest::Digest;
use holdshort_core::id::{InterruptId, RunId, SessionId};
use holdshort_core::run::{Config, Input, Run};
use holdshort_core::session::Open;
use holdshort_core::shared::SharedList;
use holdshort_core::trace_parent::TraceParent;
use holdshort_engine::real::REHEARSAL;
use holdshort_engine::{IdempotencyKey, NextRun, OpenSession, Say};
use holdshort_protocol::Code;
use holdshort_store::{Log, Tables};
use holdshort_web::app::detached;
use holdshort_web::auth::Caller;
use holdshort_web::call_claims::Key;
use holdshort_web::limits::LINE_BYTES;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::view::session::opened_with;
use serde_json::{Map, Value, json};

use super::{WORKFLOW, names};

#[derive(Clone)]
pub(super) struct Session {
    pub(super) caller: Caller,
    /// Name that the client gives to its session.
    pub(super) name: String,
    id: Arc<OnceLock<SessionId>>,
    /// Trace that a run of the session becomes part of if the current request starts this run.
    trace: Option<TraceParent>,
}

/// Message of a person to a session, with the question that the message answers or the agent that receives the message.
#[derive(Clone, Copy, Default)]
pub(super) struct SessionMessage<'w> {
    pub(super) text: &'w str,
    /// Question that the person's message answers.
    pub(super) to: Option<&'w InterruptId>,
    pub(super) agent: Option<&'w str>,
    /// Reason that the person gave for choosing the agent that receives the message.
    pub(super) reason: Option<&'w str>,
}

impl Session {
    pub(super) fn from_name(person: Caller, name: String) -> Answer<Self> {
        if name.is_empty() || name.len() > LINE_BYTES || name.chars().any(char::is_control) {
            let rule = format!("is empty, longer than {LINE_BYTES} bytes or holds control characters");
            return Err(Refused::invalid_at("/session_id", rule));
        }
        Ok(Self { caller: person, name, id: Arc::default(), trace: None })
    }

    /// Returns the person's id and the name of the session, which together identify the session among all connections.
    pub(super) fn key(&self) -> Key {
        (self.caller.actor.id.clone(), self.name.clone())
    }

    /// Returns Holdshort's id of the session, or `None` before the session is opened.
    pub(super) async fn id(&self) -> Answer<Option<SessionId>> {
        if let Some(id) = self.id.get() {
            return Ok(Some(id.clone()));
        }
        let key = self.idempotency();
        if let Some(found) = self.caller.app.journal().key(&key.scope, &key.key).await? {
            return self.keep(&found.reference).map(Some);
        }
        if let Some(run) = self.first_by_keys().await? {
            return self.keep(self.caller.app.run_row(&run).await?.session.as_str()).map(Some);
        }
        // If a session was opened without a name, its id is its name.
        let Ok(id) = self.name.parse::<SessionId>() else { return Ok(None) };
        let row = self.caller.app.journal().session(&id).await?;
        match row.filter(|row| row.workflow.as_deref() == Some(WORKFLOW)) {
            Some(row) => self.keep(row.session.as_str()).map(Some),
            None => Ok(None),
        }
    }

    /// Opens a new session. The name of this session is its id.
    pub(super) async fn begin(person: Caller) -> Answer<Self> {
        let open = Open { workflow: Some(WORKFLOW.to_owned()), ..Open::default() };
        let (driver, actor) = (person.app.driver.clone(), person.actor.clone());
        let opened =
            detached(async move { driver.open_session(OpenSession { open, key: None }, actor).await })
                .await?;
        let session =
            Self { caller: person, name: opened.session.to_string(), id: Arc::default(), trace: None };
        session.keep(&session.name)?;
        Ok(session)
    }

    /// Sets the trace that a run of the session becomes part of if the current request starts this run.
    pub(super) fn joining(self, trace: Option<TraceParent>) -> Self {
        Self { trace, ..self }
    }

    async fn first_by_keys(&self) -> Answer<Option<RunId>> {
        self.by_key("first", &self.name).await
    }

    async fn by_key(&self, which: &str, key: &str) -> Answer<Option<RunId>> {
        let scope = format!("{} edges/codelab {which}", self.caller.actor.id);
        let Some(found) = self.caller.app.journal().key(&scope, key).await? else { return Ok(None) };
        found.reference.parse().map(Some).map_err(|_| Refused::from_code(Code::JournalDamaged))
    }

    /// Returns the runs of a session that an earlier version of Holdshort stored, oldest first.
    async fn runs_by_keys(&self) -> Answer<Vec<RunId>> {
        let mut runs = Vec::new();
        let mut next = self.first_by_keys().await?;
        while let Some(run) = next {
            next = self.by_key("next", run.as_str()).await?;
            runs.push(run);
        }
        Ok(runs)
    }

    /// Returns Holdshort's id of the session. Opens the session if it does not exist.
    pub(super) async fn ensure_open(&self) -> Answer<SessionId> {
        if let Some(id) = self.id().await? {
            let driver = &self.caller.app.driver;
            if driver.session(&id).await?.front.runs.is_empty() {
                let runs = self.runs_by_keys().await?;
                driver.continue_session(&id, runs, &self.caller.actor).await?;
            }
            return Ok(id);
        }
        let open = Open {
            workflow: Some(WORKFLOW.to_owned()),
            name: Some(self.name.clone()).filter(|name| !name.trim().is_empty()),
            ..Open::default()
        };
        let open = OpenSession { open, key: Some(self.idempotency()) };
        let (driver, actor) = (self.caller.app.driver.clone(), self.caller.actor.clone());
        let opened = detached(async move { driver.open_session(open, actor).await }).await?;
        self.keep(opened.session.as_str())
    }

    fn keep(&self, id: &str) -> Answer<SessionId> {
        let id = id.parse().map_err(|_| Refused::from_code(Code::JournalDamaged))?;
        Ok(self.id.get_or_init(|| id).clone())
    }

    fn idempotency(&self) -> IdempotencyKey {
        IdempotencyKey {
            scope: format!("{} edges/codelab", self.caller.actor.id),
            key: self.name.clone(),
            digest: Digest::of_bytes(self.name.as_bytes()),
        }
    }

    /// Returns the runs of the session's conversation, oldest first.
    pub(super) async fn runs(&self) -> Answer<SharedList<RunId>> {
        let Some(id) = self.id().await? else { return Ok(SharedList::default()) };
        let runs = self.caller.app.driver.session(&id).await?.front.runs.clone();
        if runs.is_empty() { Ok(self.runs_by_keys().await?.into_iter().collect()) } else { Ok(runs) }
    }

    /// Returns the current state of the session's newest run.
    pub(super) async fn last(&self) -> Answer<Option<Arc<Run>>> {
        match self.runs().await?.last() {
            Some(run) => Ok(Some(self.load(run).await?)),
            None => Ok(None),
        }
    }

    /// Returns Holdshort's id of the session, or a 404 error if the session was never opened.
    pub(super) async fn require_id(&self) -> Answer<SessionId> {
        self.id().await?.ok_or_else(|| Refused::not_found("session"))
    }

    pub(super) async fn load(&self, run: &RunId) -> Answer<Arc<Run>> {
        Ok(self.caller.app.run_now(run).await?)
    }

    pub(super) async fn send(&self, run: &RunId, input: Input) -> Answer<Arc<Run>> {
        Ok(self.caller.app.send(run, input, self.caller.actor.clone()).await?)
    }

    pub(super) fn workflow(&self) -> Answer<Arc<Definition>> {
        Self::workflow_of(&self.caller)
    }

    pub(super) fn workflow_of(caller: &Caller) -> Answer<Arc<Definition>> {
        caller.app.library.get(WORKFLOW).ok_or_else(|| Refused::from_code(Code::UnknownWorkflow))
    }

    /// Converts the client's name of an agent to the workflow's name of this agent.
    pub(super) fn agent(&self, name: &str) -> Answer<String> {
        let definition = self.workflow()?;
        let agent = names::agent_of(&definition, name);
        if definition.agents.contains_key(agent) {
            return Ok(agent.to_owned());
        }
        let known: Vec<&str> = definition.agents.keys().map(|agent| names::agent(agent)).collect();
        let rule = format!("no agent is called `{name}`; the agents are: {}", known.join(", "));
        Err(Refused::invalid_at("/agent_type", rule))
    }

    /// Returns the workspace in which server-side tools of the session work. Only a session that was opened through the
    /// native API can have a workspace.
    async fn workspace(&self, session: &SessionId) -> Answer<Option<String>> {
        let app = &self.caller.app;
        let opened = opened_with(app, &*app.driver.session(session).await?).await?;
        Ok(opened.pointer("/config/workspace").and_then(Value::as_str).map(str::to_owned))
    }

    /// Sends a message to the session's current run or, if no run accepts the message, starts a run with the message.
    pub(super) async fn say(&self, words: SessionMessage<'_>) -> Answer<()> {
        let app = &self.caller.app;
        let definition = self.workflow()?;
        let mut input = Map::new();
        input.insert("session_id".to_owned(), json!(self.name));
        input.extend(words.reason.map(|reason| ("reason".to_owned(), json!(reason))));
        let session = self.ensure_open().await?;
        let config = Config {
            workspace: self.workspace(&session).await?,
            // Without a model the agents play their script. `session_info` reports this as `rehearsal`.
            model: app.model.rehearsal.then(|| REHEARSAL.to_owned()),
            ..Config::default()
        };
        let say = Say {
            session,
            text: words.text.to_owned(),
            to: words.to.cloned(),
            agent: words.agent.map(str::to_owned),
            reason: words.reason.map(str::to_owned),
            key: None,
            next: Some(NextRun { definition, config, input, trace: self.trace }),
        };
        let (driver, actor) = (app.driver.clone(), self.caller.actor.clone());
        let said = detached(async move { driver.say(&say, &actor).await }).await;
        said.map(drop).map_err(|error| translate_error(error.into()))
    }
}

/// Converts the field names in an error about a new run from the names of the native API to the names in the client's
/// message.
fn translate_error(refused: Refused) -> Refused {
    refused.map_field_errors(|error| {
        if error.pointer.starts_with("/input") {
            "/content".clone_into(&mut error.pointer);
        }
    })
}
