//! A client's session: a name for one of ours. The journal's idempotency keys hold which: the first run of a session
//! is started under its name, each later one under the run before it. So a session never has two runs at once,
//! however many clients speak at the same time.

use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::definition::{Definition, PhaseKind};
use holdshort_core::digest::Digest;
use holdshort_core::id::{Draw, RunId, SessionId};
use holdshort_core::projection::RunRow;
use holdshort_core::run::{Config, Origin, Run};
use holdshort_engine::live::REHEARSAL;
use holdshort_engine::{Clock, Error, IdempotencyKey, StartRun};
use holdshort_protocol::Code;
use holdshort_store::{Journal, RunFilter};
use serde_json::json;

use super::{WORKFLOW, history};
use crate::app::{App, detached};
use crate::auth::Operator;
use crate::limits::LINE_BYTES;
use crate::problem::{Answer, Refused};

#[derive(Clone)]
pub(super) struct Session {
    pub(super) app: Arc<App>,
    pub(super) actor: Actor,
    /// As the client calls it.
    pub(super) name: String,
}

impl Session {
    pub(super) fn of(person: Operator, name: String) -> Answer<Self> {
        if name.is_empty() || name.len() > LINE_BYTES || name.chars().any(char::is_control) {
            let rule = format!("is empty, longer than {LINE_BYTES} bytes or holds control characters");
            return Err(Refused::invalid_at("/session_id", rule));
        }
        Ok(Self { app: person.app, actor: person.actor, name })
    }

    /// Ours, once it has a run.
    pub(super) async fn ours(&self) -> Answer<Option<SessionId>> {
        let Some(key) = self.app.journal().key(&self.first(), &self.name).await? else { return Ok(None) };
        let run: RunId = key.reference.parse().map_err(|_| Refused::of(Code::JournalDamaged))?;
        Ok(Some(self.app.run_row(&run).await?.session))
    }

    /// The same where it must be there.
    pub(super) async fn known(&self) -> Answer<SessionId> {
        self.ours().await?.ok_or_else(|| Refused::not_found("session"))
    }

    /// Its runs, newest first.
    pub(super) async fn runs(&self, limit: usize) -> Answer<Vec<RunRow>> {
        let Some(session) = self.ours().await? else { return Ok(Vec::new()) };
        let filter = RunFilter { session: Some(session), ..RunFilter::default() };
        Ok(self.app.journal().runs(&filter, None, limit).await?.items)
    }

    pub(super) async fn newest(&self) -> Answer<Option<RunId>> {
        Ok(self.runs(1).await?.into_iter().next().map(|row| row.run))
    }

    /// The newest run as it is now.
    pub(super) async fn last(&self) -> Answer<Option<Arc<Run>>> {
        match self.newest().await? {
            Some(run) => Ok(Some(self.load(&run).await?)),
            None => Ok(None),
        }
    }

    pub(super) async fn load(&self, run: &RunId) -> Answer<Arc<Run>> {
        match self.app.driver.current(run).await {
            Some(run) => Ok(run),
            None => Ok(self.app.driver.load(run).await?),
        }
    }

    /// Starts the session's next run, with the agent in front that the one before had, or with another one.
    /// `false`: somebody else was first.
    pub(super) async fn start(&self, last: Option<&Run>, agent: Option<&str>, said: &str) -> Answer<bool> {
        let base = self.app.library.get(WORKFLOW).ok_or_else(|| Refused::of(Code::UnknownWorkflow))?;
        let before = last.and_then(|run| front_of(&run.definition));
        let agent = agent.or(before.filter(|agent| base.agents.contains_key(*agent)));
        let earlier = history::of(self).await?;
        let key = match last {
            Some(run) => IdempotencyKey { scope: self.next(), key: run.id.to_string(), digest: self.nonce() },
            None => IdempotencyKey { scope: self.first(), key: self.name.clone(), digest: self.nonce() },
        };
        let start = StartRun {
            definition: match agent {
                Some(agent) => begun_by(base, agent)?,
                None => base,
            },
            session: last.and_then(|run| run.session().cloned()),
            config: Config {
                // Without a model the agents play their script, and `session_info` says so.
                model: self.app.model.rehearsal.then(|| REHEARSAL.to_owned()),
                ..Config::default()
            },
            input: json!({ "task": history::task(&earlier, said), "said": said, "session_id": self.name }),
            origin: Origin::Native,
            ask: None,
            key: Some(key),
        };
        let (driver, actor) = (self.app.driver.clone(), self.actor.clone());
        match detached(async move { driver.start(start, actor).await }).await {
            Ok(_) => Ok(true),
            Err(Error::KeyReused) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the workflow has an agent of this name.
    pub(super) fn has_agent(&self, agent: &str) -> Answer<()> {
        let base = self.app.library.get(WORKFLOW).ok_or_else(|| Refused::of(Code::UnknownWorkflow))?;
        if base.agents.contains_key(agent) {
            return Ok(());
        }
        let known: Vec<&str> = base.agents.keys().map(String::as_str).collect();
        let rule = format!("no agent is called `{agent}`; there are: {}", known.join(", "));
        Err(Refused::invalid_at("/agent_type", rule))
    }

    fn first(&self) -> String {
        format!("{} edges/codelab first", self.actor.id)
    }

    fn next(&self) -> String {
        format!("{} edges/codelab next", self.actor.id)
    }

    /// Two messages are two, also where their words are the same: none passes for a repeat of another.
    fn nonce(&self) -> Digest {
        let clock = self.app.driver.clock();
        let id: RunId = Draw::new(clock.seed(), clock.now()).id();
        Digest::of(id.as_str().as_bytes())
    }
}

/// The workflow with another agent in front: as data, and pinned into the run like any other.
fn begun_by(base: Arc<Definition>, agent: &str) -> Answer<Arc<Definition>> {
    if front_of(&base) == Some(agent) {
        return Ok(base);
    }
    let mut variant = (*base).clone();
    match variant.phases.first_mut().map(|phase| &mut phase.kind) {
        Some(PhaseKind::Planning(planning)) => agent.clone_into(&mut planning.planner),
        Some(PhaseKind::OneShot { agent: first }) => agent.clone_into(first),
        _ => return Err(Refused::invalid_at("/agent_type", "this workflow does not begin with one agent")),
    }
    Ok(Arc::new(variant))
}

/// The agent that a workflow begins with.
pub(super) fn front_of(definition: &Definition) -> Option<&str> {
    match &definition.phases.first()?.kind {
        PhaseKind::Planning(planning) => Some(&planning.planner),
        PhaseKind::OneShot { agent } => Some(agent),
        _ => None,
    }
}

/// The agent at work in a run; otherwise the one that it began with, which hears the next word.
pub(super) fn agent_of(run: &Run) -> Option<&str> {
    let at_work = run.steps.values().find(|step| step.end.is_none() && run.ended.is_none());
    at_work.map(|step| step.agent.as_str()).or_else(|| front_of(&run.definition))
}
